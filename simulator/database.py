"""ascend_pytorch_profiler_<rank>.db and analysis.db: the tables a reader of profiles looks into.

Columns: torch_npu/profiler/analysis/prof_view/prof_db_parse/ and CANN's msprof database. Names are ids into STRING_IDS;
times in TASK, COMMUNICATION_OP and STEP_TIME are ns, in StepTraceTime us.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

from mindspeed_mm_train_profiler.simulator.session import NOTE, group_name
from mindspeed_mm_train_profiler.simulator.source import Source
from mindspeed_mm_train_profiler.simulator.workload import Kernel, Step, step_times

PROFILER_TABLES = {
    "META_DATA": "name TEXT, value TEXT",
    "HOST_INFO": "hostUid TEXT, hostName TEXT",
    "NPU_INFO": "id INTEGER, name TEXT",
    "RANK_DEVICE_MAP": "rankId INTEGER, deviceId INTEGER",
    "SESSION_TIME_INFO": "startTimeNs INTEGER, endTimeNs INTEGER",
    "STEP_TIME": "id INTEGER, startNs INTEGER, endNs INTEGER",
    "STRING_IDS": "id INTEGER PRIMARY KEY, value TEXT",
    "TASK": "startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER, "
    "globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER, taskId INTEGER, modelId INTEGER, "
    "depth INTEGER",
    "COMPUTE_TASK_INFO": "name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockDim INTEGER, mixBlockDim INTEGER, "
    "taskType INTEGER, opType INTEGER, inputFormats INTEGER, inputDataTypes INTEGER, inputShapes INTEGER, "
    "outputFormats INTEGER, outputDataTypes INTEGER, outputShapes INTEGER, attrInfo INTEGER, waitNs INTEGER",
    "COMMUNICATION_OP": "opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER, groupName INTEGER, "
    "opId INTEGER PRIMARY KEY, relay INTEGER, retry INTEGER, dataType INTEGER, algType INTEGER, count NUMERIC, "
    "opType INTEGER, waitNs INTEGER",
}
STEP_TRACE = (
    "step TEXT, computing NUMERIC, communication_not_overlapped NUMERIC, overlapped NUMERIC, communication NUMERIC, "
    "free NUMERIC, stage NUMERIC, bubble NUMERIC, communication_not_overlapped_and_exclude_receive NUMERIC, "
    "preparing NUMERIC"
)
COMM_TIME = (
    "hccl_op_name TEXT, group_name TEXT, start_timestamp NUMERIC, elapse_time NUMERIC, transit_time NUMERIC, "
    "wait_time NUMERIC, synchronization_time NUMERIC, idle_time NUMERIC, step TEXT, type TEXT"
)
MODEL, CONTEXT = 4294967295, 4294967295


class Strings:
    """Texts and their ids."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        return self.ids.setdefault(text, len(self.ids))


def _fill(db: sqlite3.Connection, table: str, columns: str, rows: Iterable[Sequence[object]]) -> None:
    db.execute(f"CREATE TABLE {table} ({columns})")
    for row in rows:
        db.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)


def _span(step: Step, task: Kernel) -> tuple[int, int]:
    begin = step.start + round(task.start * 1000)
    return begin, begin + round(task.duration * 1000)


def write_databases(output: Path, source: Source) -> None:
    """Both files. Without host events there are no steps: STEP_TIME stays away."""
    text = Strings()
    tasks: list[tuple[object, ...]] = []
    kernels: list[tuple[object, ...]] = []
    operations: list[tuple[object, ...]] = []
    for step in source.steps:
        for task in step.kernels:
            number = len(tasks)
            common = (source.device, number, number, 1, text(task.core), CONTEXT, 2, number, MODEL, 0)
            tasks.append((*_span(step, task), *common))
            shapes = [text("1,4096,2048") if index % 3 == 2 else text("N/A") for index in range(6)]
            wait = round(task.wait * 1000)
            kernels.append(
                (text(task.name), number, 24, 0, text(task.core), text(task.type), *shapes, text("N/A"), wait)
            )
        for task in step.collectives:
            number = len(operations)
            begin, end = _span(step, task)
            group, kind = text(group_name(source.world_size)), text(task.type)
            operations.append(
                (text(task.name), begin, end, number, group, number, 0, 0, 4, text("RING"), 1, kind, 1990)
            )
    rows: dict[str, list[tuple[object, ...]]] = {
        "META_DATA": [("SCHEMA_VERSION", "1.0.0"), ("simulated", NOTE)],
        "HOST_INFO": [("0", "simulated")],
        "NPU_INFO": [(source.device, "Ascend910B (simulated)")],
        "RANK_DEVICE_MAP": [(source.rank, source.device)],
        "SESSION_TIME_INFO": [(source.steps[0].start, source.steps[-1].end)] if source.steps else [],
        "STEP_TIME": [(step.number, step.start, step.end) for step in source.steps],
        "TASK": [*tasks],
        "COMPUTE_TASK_INFO": [*kernels],
        "COMMUNICATION_OP": [*operations] if source.level1 else [],
        "STRING_IDS": [(number, value) for value, number in text.ids.items()],
    }
    if not source.cpu:
        del rows["STEP_TIME"]
    with closing(sqlite3.connect(output / f"ascend_pytorch_profiler_{source.rank}.db")) as db, db:
        for table, content in rows.items():
            if content:
                _fill(db, table, PROFILER_TABLES[table], content)
    with closing(sqlite3.connect(output / "analysis.db")) as db, db:
        head = "deviceId INTEGER, " if source.generation.device_column else ""
        _fill(db, "StepTraceTime", head + STEP_TRACE, [_step_row(source, step) for step in source.steps])
        if source.level1 and source.world_size > 1:
            _fill(db, "CommAnalyzerTime", COMM_TIME, _communication_rows(source))


def _step_row(source: Source, step: Step) -> tuple[object, ...]:
    times = step_times(step)
    first = (source.device,) if source.generation.device_column else ()
    number = str(step.number) if source.cpu else ""
    exposed = times.not_overlapped
    row = (times.computing, exposed, times.overlapped, times.communication, times.free, times.stage, 0, exposed)
    return (*first, number, *row, times.preparing)


def _communication_rows(source: Source) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for step in source.steps:
        for task in step.collectives:
            elapsed, wait = task.duration / 1000, task.duration / 3000
            key = f"step{step.number}" if source.cpu else "step"
            start = float(step.moment(task.start))
            times = (start, elapsed, elapsed - wait, wait, wait, 0.0)
            rows.append((task.name, group_name(source.world_size), *times, key, "collective"))
    return rows
