"""How much data a collection may write: told only where an earlier one on this host is there to measure."""

import os
import re
import shutil
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.errors import CodedError, Note
from mindspeed_mm_train_profiler.options import ProfileOptions
from mindspeed_mm_train_profiler.state import read_json

SESSION = re.compile(r".+_\d+_\d{14,17}_ascend_pt")
MAX_FILES = 20_000
MAX_FOLDERS = 200
RESERVE = 20
"""torch_npu's documents ask for twenty times the raw data's size on the disk where it is parsed."""


def _sessions(folder: Path) -> list[Path]:
    found: list[Path] = []
    try:
        children = sorted((c for c in folder.iterdir() if c.is_dir()), reverse=True)[:MAX_FOLDERS]
    except OSError:
        return found
    for child in children:
        if SESSION.fullmatch(child.name):
            found.append(child)
        elif len(found) < MAX_FOLDERS:
            try:
                found += [c for c in child.iterdir() if c.is_dir() and SESSION.fullmatch(c.name)]
            except OSError:
                continue
    return found


def _bytes(folder: Path) -> int | None:
    """Size of a session without its parsed output; None where it is too large to walk."""
    total, count = 0, 0
    for place, folders, files in os.walk(folder):
        if Path(place) == folder and "ASCEND_PROFILER_OUTPUT" in folders:
            folders.remove("ASCEND_PROFILER_OUTPUT")
        for name in files:
            count += 1
            if count > MAX_FILES:
                return None
            try:
                total += (Path(place) / name).lstat().st_size
            except OSError:
                continue
    return total


def _schedule(session: Path) -> tuple[int, str | None] | None:
    """(steps, level) that a session was collected with."""
    info = next(iter(sorted(session.glob("profiler_info*.json"))), None)
    config = (read_json(info) or {}).get("config") if info else None
    if not isinstance(config, dict):
        return None
    schedule = (config.get("common_config") or {}).get("schedule") or {}
    level = (config.get("experimental_config") or {}).get("_profiler_level")
    active = schedule.get("active") if isinstance(schedule, dict) else None
    return (active, level) if isinstance(active, int) and active > 0 else None


def volume(base: Path, save: Path, options: ProfileOptions, world: int | None) -> dict[str, Any] | None:
    """{bytes, basis}: raw bytes from the newest earlier session of the same level; None without one."""
    if options.profile_type == "dynamic":
        return None
    ranks = world if options.ranks == "all" else len(set(options.ranks))
    for folder in dict.fromkeys((save, save.parent, base / "npu_profiling")):
        for session in sorted(_sessions(folder), key=lambda s: s.name.rpartition("_ascend")[0][-17:], reverse=True)[:5]:
            seen = _schedule(session)
            if seen is None or (seen[1] or "").lower() != options.level or not ranks:
                continue
            size = _bytes(session)
            if size:
                per_step = size / seen[0]
                total = int(per_step * (options.end_step - options.start_step) * ranks)
                return {"bytes": total, "basis": str(session)}
    return None


def free_bytes(path: Path) -> int | None:
    """Free bytes of the file system that ``path`` will lie on."""
    for folder in (path, *path.parents):
        if folder.exists():
            try:
                return shutil.disk_usage(folder).free
            except OSError:
                return None
    return None


def check_space(guess: dict[str, Any] | None, save: Path, options: ProfileOptions, notes: list[Note]) -> None:
    """Error: ``disk_too_small`` where the estimate does not fit (acknowledge large_data)."""
    free = free_bytes(save)
    if guess is None or free is None:
        return
    if guess["bytes"] > free and "large_data" not in options.acknowledge:
        raise CodedError("disk_too_small", found=free, expected=guess["bytes"], basis=guess["basis"], path=save)
    if options.analyse_flag and guess["bytes"] * RESERVE > free:
        notes.append(Note("disk_tight", {"free": free, "bytes": guess["bytes"], "path": save}))
