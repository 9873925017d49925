"""Numbers on real samples equal an independent computation; what was not measured is None."""

import csv
import sqlite3
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest

from mindspeed_mm_train_profiler.profile_data.numbers import session_numbers, step_labels


def test_text_equals_plain_arithmetic(profiler_shared: Path) -> None:
    session = profiler_shared / "cases" / "profiles" / "text-level1" / "rank0_ascend_pt"
    out = session / "ASCEND_PROFILER_OUTPUT"
    found = session_numbers(session, top=3)
    with (out / "step_trace_time.csv").open() as file:
        step = next(csv.DictReader(file))
    assert found.steps[0].values["compute_us"] == float(step["Computing"])
    assert found.steps[0].values["free_us"] == float(step["Free"])
    totals: dict[str, float] = {}
    with (out / "kernel_details.csv").open() as file:
        for row in csv.DictReader(file):
            if row["Accelerator Core"] != "HCCL":
                totals[row["Name"]] = totals.get(row["Name"], 0) + float(row["Duration(us)"])
    best = max(totals, key=lambda name: totals[name])
    assert (found.operators[0].name, found.operators[0].total_us) == (best, pytest.approx(totals[best]))
    assert found.kernel_total_us == pytest.approx(sum(totals.values()))


def test_db_equals_sql(profiler_shared: Path) -> None:
    session = profiler_shared / "cases" / "profiles" / "db-level1" / "rank0_ascend_pt"
    found = session_numbers(session)
    database = session / "ASCEND_PROFILER_OUTPUT" / "analysis.db"
    with closing(sqlite3.connect(f"file:{database}?mode=ro&immutable=1", uri=True)) as db:
        computing = db.execute("select computing from StepTraceTime").fetchone()[0]
    assert found.steps[0].values["compute_us"] == computing
    assert found.kernel_total_us == pytest.approx(computing)
    assert found.memory_peak_mb == 1526.75


def test_not_measured_is_none(tmp_path: Path, sessions: ModuleType) -> None:
    found = session_numbers(sessions.write_session(tmp_path, cpu=False))
    assert (found.steps[0].step, found.memory_peak_mb) == (None, None)
    bare = session_numbers(sessions.write_session(tmp_path / "raw", analysed=False))
    assert (bare.steps, bare.operators, bare.kernel_total_us) == ([], [], None)


def test_devices_of_one_session_are_told_apart(tmp_path: Path, sessions: ModuleType) -> None:
    session = sessions.write_session(tmp_path)
    table = session / "ASCEND_PROFILER_OUTPUT" / "step_trace_time.csv"
    cells = "10,4,1,5,2,17,0"
    table.write_text(
        sessions.STEP_HEAD + "".join(f"{device},{step},{cells}\n" for device in (7, 6) for step in (4, 5)),
        encoding="utf-8",
    )
    numbers = session_numbers(session)
    assert [(row.step, row.device) for row in numbers.steps] == [(4, 6), (4, 7), (5, 6), (5, 7)]
    assert [label for label, _, _ in step_labels([numbers])][:2] == ["rank 0 device 6 step 4", "rank 0 device 7 step 4"]
    old = table.read_text(encoding="utf-8").replace("Device_id,", "").replace("7,4", "4").replace("7,5", "5")
    table.write_text(old.replace("6,4", "4").replace("6,5", "5"), encoding="utf-8")
    before = session_numbers(session)  # before torch_npu 7.1
    assert {row.device for row in before.steps} == {None}
    assert next(label for label, _, _ in step_labels([before])) == "rank 0 step 4"


@pytest.mark.parametrize("column", ["deviceId INTEGER, ", ""])
def test_the_device_from_a_database(tmp_path: Path, sessions: ModuleType, column: str) -> None:
    session = sessions.write_session(tmp_path)
    output = session / "ASCEND_PROFILER_OUTPUT"
    (output / "step_trace_time.csv").unlink()
    with closing(sqlite3.connect(output / "analysis.db")) as db:
        names = "computing, communication, communication_not_overlapped, overlapped, free, bubble"
        db.execute(f"create table StepTraceTime ({column}step text, {names})")
        values = (2, "4", 10, 5, 4, 1, 2, 0) if column else ("4", 10, 5, 4, 1, 2, 0)
        db.execute(f"insert into StepTraceTime values ({', '.join('?' * len(values))})", values)
        db.commit()
    (output / "ascend_pytorch_profiler_0.db").touch()
    (row,) = session_numbers(session).steps
    assert (row.step, row.device, row.values["free_us"]) == (4, 2 if column else None, 2)
