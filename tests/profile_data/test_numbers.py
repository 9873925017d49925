"""Numbers on real samples equal an independent computation; what was not measured is None."""

import csv
import sqlite3
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest

from mindspeed_mm_train_profiler.profile_data.numbers import session_numbers


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
