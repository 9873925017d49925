"""What was measured: step breakdown, operators, memory peak, per session. Streams; a number not measured is None.

Text results are read row by row with the csv module (a kernel table can hold millions of rows); where there is no
text, the databases answer the same questions. Times in us, memory in MB.
Sources: ``step_trace_time.csv`` or ``StepTraceTime`` in
analysis.db; ``kernel_details.csv`` or TASK with COMPUTE_TASK_INFO; ``memory_record.csv`` or MEMORY_RECORD.
"""

import csv
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from math import isfinite
from pathlib import Path

from mindspeed_mm_train_profiler.profile_data import layout, table
from mindspeed_mm_train_profiler.profile_data.communication import Communication, communication
from mindspeed_mm_train_profiler.profile_data.loadable import open_db
from mindspeed_mm_train_profiler.profile_data.problems import Problem
from mindspeed_mm_train_profiler.profile_data.record import read_record
from mindspeed_mm_train_profiler.profile_data.steps import MAX_ROWS, step_number

# kernel_details.csv lists communication (older releases: HCCL) beside the compute kernels; its time is in the steps
COMMUNICATION_CORES = frozenset({"COMMUNICATION", "HCCL"})
BRIEF_BYTES = 16 * 2**20
NOT_TOLD = frozenset({"", "N/A"})
"""Cells that tell nothing: at Level0 type, core and shapes are N/A."""
STEP_FIELDS = {
    "compute_us": ("Computing", "computing"),
    "communication_us": ("Communication", "communication"),
    "communication_not_overlapped_us": ("Communication(Not Overlapped)", "communication_not_overlapped"),
    "overlapped_us": ("Overlapped", "overlapped"),
    "free_us": ("Free", "free"),
    "bubble_us": ("Bubble", "bubble"),
}


@dataclass(slots=True)
class StepNumbers:
    """``step`` None: without CPU activity there are no step ids."""

    step: int | None
    values: dict[str, float | None]
    source: str
    device: int | None = None
    """Index of the device on its host; None where the release does not tell it (before torch_npu 7.1)."""


@dataclass(slots=True)
class Operator:
    """All kernels of one name, type and core. ``share`` of the total kernel time, 0 to 1. None: not told."""

    name: str
    type: str | None
    core: str | None
    count: int | None
    total_us: float
    share: float | None = None
    shapes: str | None = None


@dataclass(slots=True)
class SessionNumbers:
    """``window``: steps that the record's schedule captures; what a row without step ids spans."""

    session: Path
    rank: int | None
    window: int | None = None
    steps: list[StepNumbers] = field(default_factory=list)
    operators: list[Operator] = field(default_factory=list)
    core_shares: dict[str, float] = field(default_factory=dict)
    kernel_total_us: float | None = None
    kernel_source: str | None = None
    memory_peak_mb: float | None = None
    memory_source: str | None = None
    communication: Communication | None = None
    problems: list[Problem] = field(default_factory=list)


def step_labels(numbers: Sequence[SessionNumbers]) -> list[tuple[str, int | None, StepNumbers]]:
    """(``rank 0 step 5``, rank, row) of every row; with the device where a session holds several."""
    found = []
    for item in numbers:
        several = len({row.device for row in item.steps}) > 1
        for row in item.steps:
            device = f" device {_shown(row.device)}" if several else ""
            found.append((f"rank {_shown(item.rank)}{device} step {_shown(row.step)}", item.rank, row))
    return found


def _shown(value: object) -> str:
    return "?" if value is None else str(value)


def number(cell: object) -> float | None:
    """A finite number from a cell (which may end in a tab); None for an empty cell, N/A and the like."""
    try:
        value = float(str(cell))
    except ValueError:
        return None
    return value if isfinite(value) else None


def session_numbers(session: Path, *, top: int | None = 10, shapes: bool = False) -> SessionNumbers:
    """Numbers of one session; what cannot be read is named in ``problems`` and left out.

    ``top`` None: all operators; ``shapes``: operators of one name apart by their input shapes.
    """
    record = read_record(session)
    found = SessionNumbers(session, record.rank, len(record.steps) if record.steps else None)
    folder = layout.results_folder(session)
    database = None
    try:
        database = next((folder / e.name for e in layout.entries(folder) if layout.DB_NAME.match(e.name)), None)
    except OSError:
        return found
    kernels_csv, kernels_db = partial(_kernels_csv, shapes=shapes), partial(_kernels_db, shapes=shapes)
    for text, db, from_text, from_db in (
        ("step_trace_time.csv", folder / "analysis.db", _steps_csv, _steps_db),
        ("kernel_details.csv", database, kernels_csv, kernels_db),
        ("memory_record.csv", database, _memory_csv, _memory_db),
    ):
        path = folder / text
        try:
            if path.is_file():
                from_text(path, found)
            elif db is not None and db.is_file():
                path = db
                from_db(db, found)
        except (OSError, csv.Error, sqlite3.Error, UnicodeError, ValueError) as error:
            found.problems.append(Problem("number_unreadable", looked=f"{path}: {error}", remark=True))
    try:
        found.communication = communication(folder)
    except (OSError, sqlite3.Error, ValueError, AttributeError, RecursionError) as error:
        found.problems.append(Problem("number_unreadable", looked=f"{folder}/communication: {error}", remark=True))
    _shares(found, top)
    return found


def brief_numbers(session: Path, *, top: int = 5) -> SessionNumbers:
    """Steps, and operators by type from torch_npu's own statistic: small files only, whatever the profile's size."""
    found = SessionNumbers(session, read_record(session).rank)
    folder = layout.results_folder(session)
    steps, database, statistic = folder / "step_trace_time.csv", folder / "analysis.db", folder / "op_statistic.csv"
    with suppress(OSError, csv.Error, sqlite3.Error, UnicodeError, ValueError):
        if steps.is_file():
            _steps_csv(steps, found)
        elif database.is_file():
            _steps_db(database, found)
    with suppress(OSError, csv.Error, UnicodeError, ValueError):
        if statistic.is_file() and statistic.stat().st_size <= BRIEF_BYTES:
            groups: dict[Group, list[float | None]] = {}
            for kind, core, count, total in table.rows(statistic, "OP Type", "Core Type", "Count", "Total Time(us)"):
                us = number(total)
                if us is not None and core not in COMMUNICATION_CORES:
                    groups[kind, kind, core, ""] = [number(count), us]
            _add_operators(groups, statistic, found)
    _shares(found, top)
    return found


def _shares(found: SessionNumbers, top: int | None) -> None:
    total = found.kernel_total_us
    if total:
        cores: dict[str, float] = {}
        for operator in found.operators:
            operator.share = operator.total_us / total
            cores[operator.core or "?"] = cores.get(operator.core or "?", 0.0) + operator.total_us
        if cores.keys() != {"?"}:  # no kernel tells its core: not measured
            found.core_shares = {core: us / total for core, us in sorted(cores.items())}
    found.operators = sorted(found.operators, key=lambda op: (-op.total_us, op.name))[:top]


def _steps_csv(path: Path, found: SessionNumbers) -> None:
    names = list(STEP_FIELDS)
    columns = ("Step", "Device_id", *(columns[0] for columns in STEP_FIELDS.values()))
    for step, device, *cells in islice(table.rows(path, *columns), MAX_ROWS):
        values = {name: number(cell) for name, cell in zip(names, cells, strict=True)}
        found.steps.append(StepNumbers(step_number(step), values, str(path), step_number(device)))
    _in_order(found)


def _steps_db(path: Path, found: SessionNumbers) -> None:
    columns = ", ".join(column for _, column in STEP_FIELDS.values())
    with closing(open_db(path)) as db:
        told = any(row[1] == "deviceId" for row in db.execute("pragma table_info(StepTraceTime)"))
        device_column = "deviceId" if told else "null"
        rows = db.execute(f"select step, {device_column}, {columns} from StepTraceTime").fetchmany(MAX_ROWS)
    for step, device, *cells in rows:
        values = {name: number(cell) for name, cell in zip(STEP_FIELDS, cells, strict=True)}
        found.steps.append(StepNumbers(step_number(step), values, str(path), step_number(device)))
    _in_order(found)


def _in_order(found: SessionNumbers) -> None:
    """First and last are told by the step, not by the row."""
    found.steps.sort(key=lambda row: (row.step is None, row.step or 0, row.device or 0))


Group = tuple[str, str, str, str]
"""Name, type, core, input shapes (empty where they are not asked for)."""


def _add_operators(groups: Mapping[Group, Sequence[float | None]], path: Path, found: SessionNumbers) -> None:
    found.operators = [
        Operator(name, _told(kind), _told(core), None if count is None else int(count), total, shapes=_told(shapes))
        for (name, kind, core, shapes), (count, total) in groups.items()
        if total is not None
    ]
    found.kernel_source = str(path)
    found.kernel_total_us = sum(row.total_us for row in found.operators) if found.operators else None


def _told(cell: str) -> str | None:
    return None if cell in NOT_TOLD else cell


def _kernels_csv(path: Path, found: SessionNumbers, *, shapes: bool) -> None:
    as_written: dict[tuple[str, ...], list[float]] = {}
    for cells in table.rows(
        path, "Duration(us)", "Name", "Type", "Accelerator Core", *(["Input Shapes"] if shapes else [])
    ):
        # of millions of rows: nothing that can be done once a group is done here
        try:
            us = float(cells[0])
        except ValueError:
            continue
        if not isfinite(us):
            continue
        group = as_written.get(cells[1:])
        if group is None:
            as_written[cells[1:]] = [1, us]
        else:
            group[0] += 1
            group[1] += us
    groups: dict[Group, list[float]] = {}
    for (name, kind, core, *shape), (count, total) in as_written.items():
        if core not in COMMUNICATION_CORES:
            sums = groups.setdefault((name, kind, core, shape[0].replace('"', "") if shape else ""), [0, 0.0])
            sums[0] += count
            sums[1] += total
    _add_operators(groups, path, found)


KERNELS = """select n.value, o.value, c.value, {shapes}, count(*), sum(t.endNs - t.startNs) / 1000.0
from COMPUTE_TASK_INFO k join TASK t on t.globalTaskId = k.globalTaskId
left join STRING_IDS n on n.id = k.name left join STRING_IDS o on o.id = k.opType
left join STRING_IDS c on c.id = k.taskType left join STRING_IDS s on s.id = k.inputShapes group by 1, 2, 3, 4"""


def _kernels_db(path: Path, found: SessionNumbers, *, shapes: bool) -> None:
    groups: dict[Group, list[float | None]] = {}
    with closing(open_db(path)) as db:
        for name, kind, core, shape, count, total in db.execute(KERNELS.format(shapes="s.value" if shapes else "''")):
            key = (str(name or "?"), str(kind or ""), str(core or ""), str(shape or "").replace('"', ""))
            groups[key] = [count, number(total)]
    _add_operators(groups, path, found)


def _memory_csv(path: Path, found: SessionNumbers) -> None:
    """Peak of what the framework (PTA, with GE where both report) reserved: APP counts the whole process."""
    peak: float | None = None
    for component, reserved in table.rows(path, "Component", "Total Reserved(MB)"):
        mb = number(reserved)
        if component in ("PTA", "PTA+GE") and mb is not None and (peak is None or mb > peak):
            peak = mb
    found.memory_peak_mb, found.memory_source = peak, str(path) if peak is not None else None


MEMORY = """select max(m.totalReserved) / 1048576.0 from MEMORY_RECORD m join STRING_IDS s on s.id = m.component
where s.value in ('PTA', 'PTA+GE')"""


def _memory_db(path: Path, found: SessionNumbers) -> None:
    with closing(open_db(path)) as db:
        if not db.execute("select 1 from sqlite_master where name = 'MEMORY_RECORD'").fetchone():
            return
        peak = db.execute(MEMORY).fetchone()[0]
    found.memory_peak_mb, found.memory_source = peak, str(path) if peak is not None else None
