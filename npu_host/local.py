"""Ports, disks and variables of this machine."""

import errno
import os
import shutil
import socket
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

DISABLING = ("PROFILING_MODE", "PROFILER_SAMPLECONFIG")
"""Set to anything, they disable every torch_npu profiler call (torch_npu ``profiler/_utils.check_msprof_env``)."""
OOTB = "OOTB_OPTIMIZER_PROFILING"


@dataclass(frozen=True, slots=True)
class Disk:
    """``path``: as asked; the numbers are its file system's, bytes. None where it cannot be read."""

    path: str
    free_bytes: int | None


def disk(path: Path) -> Disk:
    """Free space where ``path`` lies or will lie."""
    place = path
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        return Disk(str(path), shutil.disk_usage(place).free)
    except OSError:
        return Disk(str(path), None)


def port_free(port: int, host: str = "127.0.0.1") -> bool | None:
    """Nobody listens, and it can be bound. None where neither can be tried.

    Bound as torch's TCPStore binds it, with SO_REUSEADDR: connections of a job that has just ended (TIME_WAIT, a
    minute), or another server that tries the same port this instant, are no reason to refuse a launch.
    """
    try:
        with closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as knock:
            knock.settimeout(0.5)
            if knock.connect_ex((host, port)) == 0:
                return False
        with closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as own:
            own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            own.bind(("0.0.0.0", port))
    except (OSError, OverflowError) as error:
        return False if getattr(error, "errno", None) == errno.EADDRINUSE else None
    return True


def port_holder(port: int) -> str | None:
    """``pid 77 (python)`` of who listens on a port; None where nobody does, or the kernel does not tell us."""
    import psutil

    try:
        for row in psutil.net_connections(kind="tcp"):
            if row.laddr and row.laddr.port == port and row.status == psutil.CONN_LISTEN and row.pid:
                return f"pid {row.pid} ({psutil.Process(row.pid).name()})"
    except (psutil.Error, OSError):
        return None
    return None


def disabling_variables(environment: Mapping[str, str]) -> list[str]:
    """Variables in force that silently disable the profiler."""
    found = [name for name in DISABLING if name in environment]
    if environment.get(OOTB, "").upper() == "TRUE":
        found.append(OOTB)
    return found


def umask() -> int:
    """This process's umask, read without changing it for longer than an instant."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
