"""Which steps a session really holds: the N of ProfilerStep#N, from the smallest file that knows it.

Step (step_trace_time.csv) = STEP_TIME.id = ``step<N>`` (communication.json): the profiler's 0-based counter. Without
CPU activity there are no step ids at all: unknown (None), not an error.
"""

import csv
import re
import sqlite3
from contextlib import closing
from pathlib import Path

from mindspeed_mm_train_profiler.profile_data import layout
from mindspeed_mm_train_profiler.profile_data.loadable import csv_rows, open_db

MAX_ROWS = 100_000


def captured_steps(session: Path) -> list[int] | None:
    """Sorted step numbers; None where nothing tells them."""
    folder = layout.results_folder(session)
    found = _from_csv(folder / "step_trace_time.csv")
    if found is not None:
        return found or None
    try:
        names = sorted(entry.name for entry in layout.entries(folder))
    except OSError:
        return None
    for name in names:
        if layout.DB_NAME.match(name) and (steps := _from_db(folder / name, "select id from STEP_TIME")):
            return steps
    return _from_db(folder / "analysis.db", "select step from StepTraceTime")


def step_number(cell: object) -> int | None:
    """The N of a Step cell; None for an empty one, and for anything that is no counter."""
    match = re.fullmatch(r"(?:step\s*)?(\d{1,12})(?:\.0+)?", str(cell).strip())
    return int(match[1]) if match else None


def _from_csv(path: Path) -> list[int] | None:
    if not path.is_file():
        return None
    steps: set[int] = set()
    try:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            rows = csv_rows(file)
            header = [cell.strip() for cell in next(rows, [])]
            if "Step" not in header:
                return None
            column = header.index("Step")
            for count, row in enumerate(rows):
                if count > MAX_ROWS:
                    break
                if len(row) > column and (number := step_number(row[column])) is not None:
                    steps.add(number)
    except (OSError, csv.Error):
        return None
    return sorted(steps)


def _from_db(path: Path, query: str) -> list[int] | None:
    if not path.is_file():
        return None
    try:
        with closing(open_db(path, seconds=5)) as db:
            rows = db.execute(query).fetchmany(MAX_ROWS)
    except (sqlite3.Error, UnicodeError):
        return None
    return sorted({number for (cell,) in rows if (number := step_number(cell)) is not None}) or None
