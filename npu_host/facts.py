"""What the host's kernel counts, to tell one cause of death from another: read before a run and after it.

"Signal 9" has several owners, and torch blames shared memory for all of them: the cgroup's own counter of processes
that the kernel killed for want of memory settles it (cgroup v2: memory.events; v1: memory.oom_control).
"""

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.npu_host import local

SHM = Path("/dev/shm")


def oom_kills(proc: Path = Path("/proc/self/cgroup"), root: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Processes of this cgroup (and those below it) killed by the kernel for memory; None where it is not told."""
    try:
        lines = proc.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    for line in lines:
        number, _, rest = line.partition(":")
        controllers, _, place = rest.partition(":")
        if number == "0" and not controllers:
            candidates = [root / place.lstrip("/") / "memory.events", root / "memory.events"]
        elif "memory" in controllers.split(","):
            base = root / "memory"
            candidates = [base / place.lstrip("/") / "memory.oom_control", base / "memory.oom_control"]
        else:
            continue
        for file in candidates:
            with suppress(OSError, ValueError):
                for row in file.read_text(encoding="utf-8").splitlines():
                    name, _, value = row.partition(" ")
                    if name == "oom_kill":
                        return int(value)
    return None


def free_bytes(path: Path) -> int | None:
    """Free bytes of the file system of the nearest folder that exists."""
    for folder in (path, *path.parents):
        with suppress(OSError):
            return shutil.disk_usage(folder).free
    return None


def snapshot(save_path: str | None, port: int | None = None) -> dict[str, Any]:
    """Counters and free space now; None for what is not told here."""
    return {
        "oom_kills": oom_kills(),
        "shm_free": free_bytes(SHM) if SHM.is_dir() else None,
        "disk_free": free_bytes(Path(save_path)) if save_path else None,
        "port_holder": local.port_holder(port) if port is not None else None,
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }
