"""Who runs on which simulated device: one small file for each rank in the host's folder, read by npu-smi."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

FOLDER = "running"


@contextmanager
def occupied(home: str | None, device: int) -> Iterator[None]:
    """While the block runs, this process is seen on ``device``. Without a home nobody keeps a record."""
    if not home:
        yield
        return
    folder = Path(home) / FOLDER
    mark = folder / f"{device}.{os.getpid()}"
    with suppress(OSError):
        folder.mkdir(exist_ok=True)
        mark.touch()
    try:
        yield
    finally:
        with suppress(OSError):
            mark.unlink(missing_ok=True)


def running(home: str | None) -> dict[int, list[int]]:
    """device -> pids of living ranks; marks that a killed rank left behind are passed over."""
    found: dict[int, list[int]] = {}
    folder = Path(home) / FOLDER if home else None
    if folder is None or not folder.is_dir():
        return found
    for mark in sorted(folder.iterdir()):
        device, _, pid = mark.name.partition(".")
        if device.isdecimal() and pid.isdecimal() and _alive(int(pid)):
            found.setdefault(int(device), []).append(int(pid))
    return found


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not _zombie(pid)


def _zombie(pid: int) -> bool:
    """Ended, and nobody has asked how: it holds no device any more."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return text.rpartition(")")[2].split()[:1] == ["Z"]
