"""Numbers of any table equal plain arithmetic; text and database of the same kernels tell the same."""

import csv
import sqlite3
import tempfile
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mindspeed_mm_train_profiler.profile_data.numbers import COMMUNICATION_CORES, number, session_numbers
from mindspeed_mm_train_profiler.profile_data.steps import step_number

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0", exclude_categories=["Cs"]), min_size=1)
CORES = st.sampled_from(["AI_CORE", "AI_VECTOR_CORE", "AI_CPU", "MIX_AIC", "HCCL", "COMMUNICATION", "N/A", ""])
NANOSECONDS = st.integers(0, 10**12)
KERNELS = st.lists(st.tuples(NAMES, st.sampled_from(["MatMul", "Add", "N/A", ""]), CORES, NANOSECONDS), max_size=30)


def told(cell: str) -> str | None:
    return None if cell in ("", "N/A") else cell


def by_hand(rows: list[tuple[str, str, str, int]]) -> dict[tuple[str, str | None, str | None], tuple[int, float]]:
    counts: Counter[tuple[str, str, str]] = Counter()
    times: Counter[tuple[str, str, str]] = Counter()
    for name, kind, core, ns in rows:
        if core not in COMMUNICATION_CORES:
            counts[name, kind, core] += 1
            times[name, kind, core] += ns
    # cells that tell nothing are one kind only where the rest is the same, too
    return {(n, told(k), told(c)): (counts[n, k, c], times[n, k, c] / 1000) for n, k, c in counts}


@settings(max_examples=60, deadline=None)
@given(
    KERNELS, st.booleans(), st.permutations(["Name", "Type", "Accelerator Core", "Duration(us)", "Step Id", "Extra"])
)
def test_any_kernel_table(rows: list[tuple[str, str, str, int]], tab: bool, columns: list[str]) -> None:
    rows = [(name, "" if kind == "N/A" else kind, "" if core == "N/A" else core, ns) for name, kind, core, ns in rows]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "ASCEND_PROFILER_OUTPUT"
        folder.mkdir()
        with (folder / "kernel_details.csv").open("w", encoding="utf-8", newline="") as file:
            table = csv.writer(file)
            table.writerow(columns)
            for name, kind, core, ns in rows:
                cells = {"Name": name, "Type": kind, "Accelerator Core": core, "Step Id": "4", "Extra": "x,y"}
                cells["Duration(us)"] = f"{ns / 1000:.3f}" + ("\t" if tab else "")
                table.writerow([cells[column] for column in columns])
        found = session_numbers(Path(place), top=None)
    wanted = by_hand(rows)
    assert {
        (row.name, row.type, row.core): (row.count, pytest.approx(row.total_us)) for row in found.operators
    } == wanted
    total = sum(us for _, us in wanted.values())
    assert found.kernel_total_us == (pytest.approx(total) if wanted else None)
    if total:
        assert sum(row.share or 0 for row in found.operators) == pytest.approx(1)
        assert not found.core_shares or sum(found.core_shares.values()) == pytest.approx(1)
    assert [row.total_us for row in found.operators] == sorted((row.total_us for row in found.operators), reverse=True)


@settings(max_examples=30, deadline=None)
@given(KERNELS)
def test_the_database_of_the_same_kernels(rows: list[tuple[str, str, str, int]]) -> None:
    rows = [row for row in rows if row[2] not in COMMUNICATION_CORES and "N/A" not in row]  # a database has no N/A
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "ASCEND_PROFILER_OUTPUT"
        folder.mkdir()
        with closing(sqlite3.connect(folder / "ascend_pytorch_profiler_0.db")) as db:
            db.execute("create table STRING_IDS (id integer, value text)")
            db.execute("create table TASK (globalTaskId integer, startNs integer, endNs integer)")
            db.execute("create table COMPUTE_TASK_INFO (globalTaskId, name, opType, taskType, inputShapes)")
            ids: dict[str, int] = {}
            for number_, (name, kind, core, ns) in enumerate(rows):
                texts = [ids.setdefault(text, len(ids)) for text in (name, kind, core)]
                db.execute("insert into TASK values (?, ?, ?)", (number_, 10, 10 + ns))
                db.execute("insert into COMPUTE_TASK_INFO values (?, ?, ?, ?, null)", (number_, *texts))
            db.executemany("insert into STRING_IDS values (?, ?)", [(id_, text) for text, id_ in ids.items()])
            db.commit()
        found = session_numbers(Path(place), top=None)
    operators = {(row.name, row.type, row.core): (row.count, pytest.approx(row.total_us)) for row in found.operators}
    assert operators == by_hand(rows) and not found.problems


@given(st.text(max_size=30))
def test_any_cell_is_a_number_or_none(cell: str) -> None:
    value = number(cell)
    assert value is None or value == float(cell)


@pytest.mark.parametrize(
    ("cell", "value"), [("1736408883704643.212\t", 1736408883704643.212), ("", None), ("N/A", None), ("inf", None)]
)
def test_cells_of_real_tables(cell: str, value: float | None) -> None:
    assert number(cell) == value


@given(st.integers(0, 10**11))
def test_a_step_in_each_way_of_writing(step: int) -> None:
    assert {step_number(cell) for cell in (step, str(step), f"step{step}", f"step {step}", f" {step}.0")} == {step}


@given(st.text(max_size=12))
def test_no_text_breaks_a_step_cell(cell: str) -> None:
    assert step_number(cell) is None or any(letter.isdecimal() for letter in cell)
