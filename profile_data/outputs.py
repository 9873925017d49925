"""The analysed half of a session: are the expected files there, and can they be loaded."""

import csv
import re
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from mindspeed_mm_train_profiler.profile_data import layout, loadable, releases
from mindspeed_mm_train_profiler.profile_data.expected_outputs import TEXT_ROWS, applies
from mindspeed_mm_train_profiler.profile_data.problems import Problem
from mindspeed_mm_train_profiler.profile_data.record import SessionRecord

ERROR_LINE = re.compile(
    r"\[ERROR\]|Task \[?\w+\]? (?:run failed|has not run successfully)|Failed to export|Traceback \("
)
LOG_BYTES = 256 * 1024
MAX_LOGS = 40
MAX_STEPS = 10_000
# DB parser's complaint where there are no step ids (with_cpu false): harmless
HARMLESS = re.compile(r"trace_step_time_db")


@dataclass(slots=True)
class Outputs:
    """``analysed``: results are there (maybe with problems). ``tried``: analysis began, whatever became of it."""

    folder: Path
    analysed: bool = False
    tried: bool = False
    done: bool = False
    bytes: int = 0
    files: list[str] = field(default_factory=list)
    text: bool = False
    db: bool = False
    problems: list[Problem] = field(default_factory=list)


def inspect_outputs(session: Path, record: SessionRecord, world_size: int | None, *, deep: bool = False) -> Outputs:
    """Names, sizes and edges of the result files; the whole of them with ``deep``."""
    folder = layout.results_folder(session)
    found = Outputs(folder)
    if closed := layout.unreadable(folder):
        found.tried = True
        found.problems.append(Problem("folder_unreadable", looked=closed))
        return found
    files = list(layout.walk_files(folder)) if folder.is_dir() else []
    sizes = {path.name: size for path, size in files if path.parent == folder}
    found.tried = folder.is_dir()
    found.done = "analyse.done" in sizes
    found.files = sorted(name for name in sizes if name != "analyse.done")
    found.bytes = sum(sizes.values())
    databases = sorted(name for name in sizes if layout.DB_NAME.match(name))
    known = {row.name for row in TEXT_ROWS}
    found.text = any(name in known for name in sizes)
    found.db = bool(databases)
    found.analysed = found.text or found.db
    errors = _log_errors(session)
    if not found.analysed:
        if found.tried or errors:
            looked = errors[0] if errors else f"{folder}: {', '.join(sizes) or 'empty'}"
            found.problems.append(Problem("parse_failed", looked=looked))
        else:
            found.problems.append(Problem("not_parsed", looked=str(folder)))
        return found
    # analyse(export_type=...) may have been asked for another form than the record says: judge the form that is there
    if found.text:
        for row in TEXT_ROWS:
            if row.name in sizes:
                _check(folder / row.name, sizes[row.name], row.header, deep, found)
            elif applies(row, record, world_size):
                # nothing was sent in the window, so there was nothing to write
                silent = row.several_ranks and _no_communication(folder / "step_trace_time.csv")
                found.problems.append(Problem("output_missing", looked=str(folder / row.name), remark=silent))
    elif "analysis.db" not in sizes and "db" in (record.exports or ()) and "CPU" in (record.activities or ()):
        found.problems.append(Problem("output_missing", looked=str(folder / "analysis.db")))
    if not found.db and record.exports and {"text", "db"} <= set(record.exports):
        found.problems.append(Problem("output_missing", looked=str(folder / "ascend_pytorch_profiler_<rank>.db")))
    for name in [*databases, *(["analysis.db"] if "analysis.db" in sizes else [])]:
        _check(folder / name, sizes[name], (), deep, found)
    reached = releases.release(record.torch_npu)
    if not found.done and reached is not None and reached >= releases.DONE_FILE_SINCE:
        found.problems.append(Problem("analysis_unfinished", looked=f"{folder / 'analyse.done'} ({record.torch_npu})"))
    if errors:
        found.problems.append(Problem("parse_errors", looked=errors[0], remark=not found.problems))
    return found


def _check(path: Path, size: int, header: tuple[str, ...], deep: bool, found: Outputs) -> None:
    if size == 0:
        found.problems.append(Problem("output_empty", looked=str(path)))
    elif wrong := loadable.defect(path, header, deep=deep):
        found.problems.append(Problem("output_broken", looked=f"{path}: {wrong}"))


def _no_communication(steps: Path) -> bool:
    """Whether the steps were measured, and none of them communicated."""
    try:
        with steps.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            rows = [row for row in islice(loadable.csv_rows(file), MAX_STEPS) if row]
        place = rows[0].index("Communication")
        return len(rows) > 1 and all(float(row[place]) == 0 for row in rows[1:])
    except (OSError, csv.Error, ValueError, IndexError):
        return False


def _log_errors(session: Path) -> list[str]:
    """First error line of each log of the newest parse; reads the ends of files only."""
    logs = [path for path, _ in layout.walk_files(session / "logs") if path.suffix == ".log" and path.is_file()]
    stamps = {path: match[1] for path in logs if (match := re.match(r"profiler_(\d{14})_", path.name))}
    if stamps:
        newest = max(stamps.values())
        logs = [path for path in logs if stamps.get(path, newest)[:12] >= newest[:12]]
    lines: list[str] = []
    for path in sorted(logs)[:MAX_LOGS]:
        try:
            with path.open("rb") as file:
                file.seek(max(0, path.stat().st_size - LOG_BYTES))
                text = file.read(LOG_BYTES).decode("utf-8", "replace")
        except OSError:
            continue
        for line in text.splitlines():
            if ERROR_LINE.search(line) and not HARMLESS.search(line):
                lines.append(f"{path}: {line.strip()[:300]}")
                break
    return lines
