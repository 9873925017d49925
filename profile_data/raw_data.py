"""The raw half of a session: FRAMEWORK and PROF_*, and whether the native collector was stopped cleanly.

Layout by torch_npu ``csrc/profiler/profiler_mgr.cpp`` and msprof ``common_func/file_name_manager.py``. torch_npu itself
checks none of this before it analyses. ``*.complete`` files are left by parsing and say nothing about collecting.
"""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from mindspeed_mm_train_profiler.profile_data import layout
from mindspeed_mm_train_profiler.profile_data.problems import Problem
from mindspeed_mm_train_profiler.profile_data.record import SessionRecord

SIZE = re.compile(rb"filesize\D{0,3}(\d{1,18})")
BIG = 2**30
OPERATORS = ("torch.op_range", "mindspore.op_range")


@dataclass(slots=True)
class RawData:
    """``present``: some raw data is there at all. ``captured``: payload bytes were found."""

    present: bool = False
    captured: bool = False
    bytes: int = 0
    devices: list[int] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def inspect_raw(session: Path, record: SessionRecord, *, analysed: bool) -> RawData:
    """Sound or not, by names and sizes (and the few bytes of ``.done`` twins)."""
    raw = RawData()
    profs = layout.prof_folders(session)
    # up to torch_npu 6.0 (no version in the record) analysis with data_simplification removes FRAMEWORK itself
    framework = session / layout.FRAMEWORK
    raw.present = bool(profs) or framework.is_dir()
    wanted = record.activities
    if not raw.present:
        if analysed:
            raw.problems.append(Problem("raw_removed", looked=str(session), remark=True))
        elif record.path is not None:
            raw.problems.append(Problem("raw_missing", looked=str(session)))
        return raw
    if framework.is_dir():
        sizes = {path.name: size for path, size in layout.walk_files(framework)}
        raw.bytes += sum(sizes.values())
        raw.captured = raw.captured or any(sizes.values())
        if closed := layout.unreadable(framework):
            raw.problems.append(Problem("folder_unreadable", looked=closed))
        elif not any(sizes.get(name) for name in OPERATORS) and (wanted is None or "CPU" in wanted):
            raw.problems.append(Problem("framework_empty", looked=str(framework / "torch.op_range")))
    elif wanted and "CPU" in wanted and not layout.PROF_NAME.match(session.name):
        simplified = analysed and record.torch_npu is None and record.simplified is True
        raw.problems.append(Problem("framework_missing", looked=str(framework), remark=simplified))
    if not profs:
        if wanted is None or "NPU" in wanted:
            raw.problems.append(Problem("prof_missing", looked=str(session / "PROF_*")))
    elif len(profs) > 1:
        raw.problems.append(Problem("prof_several", looked=", ".join(path.name for path in profs)))
    for prof in profs[:1]:
        _inspect_prof(prof, raw)
    if raw.bytes > BIG and not analysed:
        raw.problems.append(Problem("raw_large", looked=f"{raw.bytes / 2**30:.1f} GiB", remark=True))
    return raw


def _inspect_prof(prof: Path, raw: RawData) -> None:
    halves: list[tuple[Path, str]] = []
    try:
        names = [entry.name for entry in layout.entries(prof) if layout.is_folder(entry)]
    except OSError as error:
        raw.problems.append(Problem("folder_unreadable", looked=f"{prof}: {error.strerror}"))
        return
    for name in names:
        if match := layout.DEVICE_NAME.match(name):
            raw.devices.append(int(match["id"]))
            halves.append((prof / name, f".{match['id']}"))
    if not raw.devices:
        raw.problems.append(Problem("device_data_missing", looked=str(prof / "device_*")))
    if "host" in names:
        halves.insert(0, (prof / "host", ""))
    else:
        raw.problems.append(Problem("host_data_missing", looked=str(prof / "host")))
    for folder, suffix in halves:
        _inspect_half(folder, suffix, raw)


def _inspect_half(folder: Path, suffix: str, raw: RawData) -> None:
    if closed := layout.unreadable(folder) or layout.unreadable(folder / "data"):
        raw.problems.append(Problem("folder_unreadable", looked=closed))
        return
    end = folder / f"end_info{suffix}"
    if not _size(end) or not end.with_name(end.name + ".done").is_file():
        raw.problems.append(Problem("collection_not_stopped", looked=str(end)))
    payloads = dict(layout.walk_files(folder / "data"))
    data = {path: size for path, size in payloads.items() if not path.name.endswith((".done", ".complete"))}
    raw.bytes += sum(payloads.values())
    raw.captured = raw.captured or any(data.values())
    slices = {path: size for path, size in data.items() if ".slice_" in path.name}
    if not any(data.values()):
        code = "device_data_missing" if suffix else "host_data_missing"
        raw.problems.append(Problem(code, looked=str(folder / "data")))
        return
    cut: list[str] = []
    for path, size in slices.items():
        twin = path.with_name(path.name + ".done")
        if twin not in payloads:
            cut.append(f"{path.name}: no .done")
        elif (told := _told_size(twin)) is not None and told != size:
            cut.append(f"{path.name}: {size} of {told} bytes")
    if cut:
        more = f" (+{len(cut) - 3})" if len(cut) > 3 else ""
        raw.problems.append(Problem("payload_truncated", looked=f"{folder / 'data'}: {'; '.join(cut[:3])}{more}"))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:
        return 0


def _told_size(twin: Path) -> int | None:
    try:
        handle = os.open(twin, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        match = SIZE.search(os.read(handle, 256))
    except OSError:
        return None
    finally:
        os.close(handle)
    return int(match[1]) if match else None
