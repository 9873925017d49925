"""Segments that torch_npu's dynamic profiler left in shared memory, and who holds them.

The name has the hour in it and nothing of the job (_dynamic_profiler_monitor_shm.py): a rank that finds one of a dead
job younger than 15 minutes attaches to it, and nothing ever triggers.
"""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from mindspeed_mm_train_profiler.errors import CodedError

FOLDER = Path("/dev/shm")
PATTERN = "DynamicProfileNpuShm*"
FIRST_PID_NAMESPACE = "pid:[4026531836]"  # PROC_PID_INIT_INO of include/linux/proc_ns.h
PROCESS_LIMIT = 20_000
TIME_LIMIT_S = 5.0


@dataclass(frozen=True, slots=True)
class Segment:
    """``holders``: pids that map it. ``complete`` False: some process could not be looked at, or the bound was met."""

    path: Path
    age_s: float
    holders: tuple[int, ...]
    complete: bool

    @property
    def owner_dead(self) -> bool | None:
        """True: provably nobody holds it; None: could not be told."""
        if self.holders:
            return False
        return True if self.complete else None


def _sees_all() -> bool:
    """A container may share /dev/shm with the host, whose processes it does not see."""
    try:
        return os.readlink("/proc/self/ns/pid") == FIRST_PID_NAMESPACE  # noqa: PTH115 (no path: a name in brackets)
    except OSError:
        return False


def _holders(paths: list[Path]) -> tuple[dict[Path, list[int]], bool]:
    found: dict[Path, list[int]] = {path: [] for path in paths}
    complete, ends = _sees_all(), time.monotonic() + TIME_LIMIT_S
    names = {f" {path}": path for path in paths}
    for count, entry in enumerate(Path("/proc").glob("[0-9]*")):
        if count >= PROCESS_LIMIT or time.monotonic() > ends:
            return found, False
        try:
            text = (entry / "maps").read_text(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            continue  # ended meanwhile
        except OSError:
            complete = False
            continue
        for name, path in names.items():
            if name in text:
                found[path].append(int(entry.name))
    return found, complete


def find_segments(folder: Path = FOLDER) -> list[Segment]:
    """Segments in ``folder``, with the processes of this pid namespace that map them."""
    paths = sorted(folder.glob(PATTERN))
    if not paths:
        return []
    holders, complete = _holders(paths)
    segments = []
    for path in paths:
        try:
            age = max(0.0, time.time() - path.stat().st_ctime)
        except OSError:
            continue
        segments.append(Segment(path, age, tuple(holders[path]), complete))
    return segments


def remove_segment(path: Path, folder: Path = FOLDER) -> None:
    """Remove one segment that provably nobody holds. Errors: ``dynamic_segment_absent``, ``dynamic_segment_held``."""
    segment = next((item for item in find_segments(folder) if item.path == path), None)
    if segment is None or path.is_symlink():
        raise CodedError("dynamic_segment_absent", found=path)
    if segment.owner_dead is not True:
        raise CodedError("dynamic_segment_held", found=path, pids=", ".join(map(str, segment.holders)) or "?")
    path.unlink()
