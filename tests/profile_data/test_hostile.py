"""Shapes that other releases, other tools and plain bad luck leave: each judged as what it is, none blocks or crashes."""

import json
import os
import shutil
import sqlite3
import time
import tracemalloc
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest

from mindspeed_mm_train_profiler.profile_data import Expectation, loadable, verify
from mindspeed_mm_train_profiler.profile_data.communication import communication
from mindspeed_mm_train_profiler.profile_data.compare import inner_steps, operators_changed
from mindspeed_mm_train_profiler.profile_data.loadable import open_db
from mindspeed_mm_train_profiler.profile_data.numbers import SessionNumbers, StepNumbers, brief_numbers, session_numbers

OUT = "ASCEND_PROFILER_OUTPUT"
STEPS = "step_trace_time.csv"


def codes(path: Path, expected: Expectation | None = None, *, deep: bool = False) -> tuple[str, set[str]]:
    verdict = verify(path, expected, deep=deep)
    found = {p.code for p in verdict.problems if not p.remark}
    return verdict.word, found | {p.code for r in verdict.ranks for p in r.problems if not p.remark}


def database(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as db:
        db.executescript(script)
        db.commit()


def steps_of(session: Path, sessions: ModuleType, *rows: str) -> None:
    sessions.put(session / OUT / STEPS, sessions.STEP_HEAD + "".join(f"{row}\n" for row in rows))


@pytest.mark.timeout(20)
def test_a_pipe_among_the_logs_does_not_block(tmp_path: Path, sessions: ModuleType) -> None:
    session = sessions.write_session(tmp_path)
    (session / "logs").mkdir()
    os.mkfifo(session / "logs" / "profiler_20260102030405_1.log")
    assert codes(tmp_path) == ("complete", set())


@pytest.mark.timeout(40)
def test_a_view_that_never_ends_is_given_up(tmp_path: Path, sessions: ModuleType) -> None:
    session = sessions.write_session(tmp_path, analysed=False)
    endless = "with recursive c(i) as (select 1 union all select i + 1 from c) select count(*) as id from c"
    path = session / OUT / "ascend_pytorch_profiler_0.db"
    database(path, f"create table t (a); create view STEP_TIME as {endless};")
    begun = time.monotonic()
    with closing(open_db(path, seconds=0.5)) as db, pytest.raises(sqlite3.OperationalError):
        db.execute("select id from STEP_TIME").fetchall()
    assert time.monotonic() - begun < 10


def test_a_link_to_a_session_is_no_second_one(tmp_path: Path, sessions: ModuleType) -> None:
    session = sessions.write_session(tmp_path)
    (tmp_path / "latest_ascend_pt").symlink_to(session.name)
    assert [rank.session for rank in verify(tmp_path).ranks] == [session]
    elsewhere = tmp_path / "other"
    elsewhere.mkdir()
    (elsewhere / "only_ascend_pt").symlink_to(session)
    assert codes(elsewhere) == ("complete", set())


def test_a_folder_of_sessions_may_end_like_one(tmp_path: Path, sessions: ModuleType) -> None:
    sessions.write_session(tmp_path / "run_ascend_pt")
    assert codes(tmp_path) == ("complete", set())


def test_gathered_prof_folders_are_sessions_of_their_own(tmp_path: Path, sessions: ModuleType) -> None:
    prof = next(sessions.write_session(tmp_path / "a").glob("PROF_*"))
    for number in (1, 2):
        shutil.copytree(prof, tmp_path / "b" / f"PROF_00000{number}_20260102030405678_QWERTYUIOP")
    verdict = verify(tmp_path / "b")
    assert len(verdict.ranks) == 2
    assert {p.code for rank in verdict.ranks for p in rank.problems} == {"prof_alone", "not_parsed"}


def test_a_schedule_that_repeats_leaves_one_session_for_each_window(tmp_path: Path, sessions: ModuleType) -> None:
    for number, first in enumerate((4, 6)):
        session = sessions.write_session(tmp_path / str(number))
        info = sessions.information(0)
        info["config"]["common_config"]["schedule"]["repeat"] = 2
        sessions.put(session / "profiler_info_0.json", json.dumps(info))
        steps_of(session, sessions, *(f"3,{step},10,4,1,5,2,17,0" for step in (first, first + 1)))
    assert codes(tmp_path) == ("complete", set())
    steps_of(session, sessions, "3,7,10,4,1,5,2,17,0")
    assert codes(tmp_path) == ("partial", {"steps_differ"})


def test_no_communication_in_the_window_leaves_no_file_about_it(tmp_path: Path, sessions: ModuleType) -> None:
    for rank in (0, 1):
        session = sessions.write_session(tmp_path, rank)
        steps_of(session, sessions, *(f"3,{step},10,0,0,0,2,12,0" for step in (4, 5)))
    assert codes(tmp_path) == ("complete", set())
    steps_of(session, sessions, "3,4,10,0,0,0,2,12,0", "3,5,10,4,1,5,2,17,0")
    assert codes(tmp_path) == ("partial", {"output_missing"})


def test_first_torch_npu_release(tmp_path: Path, sessions: ModuleType) -> None:
    """torch_npu 5.0 recorded its own attributes, and wrote no op_statistic and no api_statistic."""
    session = sessions.write_session(tmp_path)
    info = sessions.information(0)
    common = info["config"]["common_config"]
    common["schedule"] = {f"_{key}": value for key, value in common["schedule"].items()}
    sessions.put(session / "profiler_info_0.json", json.dumps(info))
    for name in ("op_statistic.csv", "api_statistic.csv"):
        (session / OUT / name).unlink()
    assert codes(tmp_path) == ("complete", set())
    steps_of(session, sessions, "3,4,10,4,1,5,2,17,0")
    assert codes(tmp_path) == ("partial", {"steps_differ"})


def test_mindspore_sessions_are_read_as_they_are(tmp_path: Path, sessions: ModuleType) -> None:
    session = sessions.write_session(tmp_path).rename(tmp_path / "node_1_20260102030405678_ascend_ms")
    (session / "FRAMEWORK" / "torch.op_range").rename(session / "FRAMEWORK" / "mindspore.op_range")
    (session / OUT / "operator_details.csv").unlink()
    assert codes(tmp_path) == ("complete", set())


def test_payload_behind_a_link_has_its_own_size(tmp_path: Path, sessions: ModuleType) -> None:
    session = sessions.write_session(tmp_path)
    payload = next(session.rglob("stars_soc.data.slice_0"))
    shutil.move(payload, tmp_path / "moved")
    payload.symlink_to(tmp_path / "moved")
    assert codes(session) == ("complete", set())


def test_cells_longer_than_the_csv_module_expects(tmp_path: Path, sessions: ModuleType) -> None:
    session = sessions.write_session(tmp_path)
    shapes = "4096,4096;" * 20_000
    table = f'Name,Type,Accelerator Core,Duration(us),Input Shapes\nA,ForeachAdd,AI_VECTOR_CORE,3,"""{shapes}"""\n'
    sessions.put(session / OUT / "kernel_details.csv", table)
    assert codes(tmp_path, deep=True) == ("complete", set())
    assert session_numbers(session).kernel_total_us == 3


def test_only_files_of_the_folder_itself_are_results(tmp_path: Path, sessions: ModuleType) -> None:
    out = sessions.write_session(tmp_path) / OUT
    (out / "sub").mkdir()
    (out / "kernel_details.csv").rename(out / "sub" / "kernel_details.csv")
    assert codes(tmp_path) == ("partial", {"output_missing"})


def test_records_of_several_ranks_and_ranks_that_are_none(tmp_path: Path, sessions: ModuleType) -> None:
    session = sessions.write_session(tmp_path)
    sessions.put(session / "profiler_info_5.json", json.dumps(sessions.information(5)))
    assert codes(tmp_path) == ("partial", {"session_record_broken"})
    (session / "profiler_info_5.json").unlink()
    (session / "profiler_info_0.json").unlink()
    sessions.put(session / "profiler_info.json", json.dumps({**sessions.information(0), "rank_id": -1}))
    assert verify(tmp_path).ranks[0].rank is None and codes(tmp_path) == ("complete", set())


def test_database_export_without_the_second_database(tmp_path: Path, sessions: ModuleType) -> None:
    session = sessions.write_session(tmp_path, analysed=False)
    info = sessions.information(0)
    info["config"]["experimental_config"]["_export_type"] = ["db"]
    sessions.put(session / "profiler_info_0.json", json.dumps(info))
    database(
        session / OUT / "ascend_pytorch_profiler_0.db",
        "create table STEP_TIME (id); insert into STEP_TIME values (4), (5);",
    )
    assert codes(tmp_path) == ("partial", {"output_missing"})


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
@pytest.mark.parametrize("place", [OUT, "FRAMEWORK", "PROF_000001_20260102030405678_QWERTYUIOP/host/data"])
def test_a_folder_that_may_not_be_read_is_not_empty(tmp_path: Path, sessions: ModuleType, place: str) -> None:
    folder = sessions.write_session(tmp_path) / place
    folder.chmod(0)
    try:
        assert "folder_unreadable" in codes(tmp_path)[1]
        assert not codes(tmp_path)[1] & {"parse_failed", "framework_empty", "host_data_missing"}
    finally:
        folder.chmod(0o750)


def blank_lines(text: bytes) -> bytes:
    return text + b"\n\n"


def double_returns(text: bytes) -> bytes:
    return text.replace(b"\n", b"\r\r\n")


@pytest.mark.parametrize("change", [blank_lines, double_returns])
def test_blank_lines_are_no_steps(tmp_path: Path, sessions: ModuleType, change: Callable[[bytes], bytes]) -> None:
    table = sessions.write_session(tmp_path) / OUT / STEPS
    table.write_bytes(change(table.read_bytes()))
    assert [row.step for row in session_numbers(table.parent.parent).steps] == [4, 5]


def test_steps_are_told_by_their_number_not_by_their_row(tmp_path: Path, sessions: ModuleType) -> None:
    session = sessions.write_session(tmp_path)
    steps_of(
        session, sessions, *(f"3,{step},{us},4,1,5,2,17,0" for step, us in ((6, 1), (4, 1000), (5, 10), (1e300, 7)))
    )
    numbers = session_numbers(session)
    assert [row.step for row in numbers.steps] == [4, 5, 6, None]
    assert [row.values["compute_us"] for row in inner_steps(numbers)] == [10]
    rows = [StepNumbers(step, {}, "x") for step in (1, 1, 2, 2)]  # two devices
    assert len(inner_steps(SessionNumbers(tmp_path, 0, steps=rows))) == 4


def test_a_huge_step_table_is_read_to_its_bound(tmp_path: Path, sessions: ModuleType) -> None:
    session = sessions.write_session(tmp_path)
    steps_of(session, sessions, *(f"3,{step},10,4,1,5,2,17,0" for step in range(100_500)))
    assert len(brief_numbers(session).steps) == 100_000


def test_what_is_not_told_is_none(tmp_path: Path, sessions: ModuleType) -> None:
    session = sessions.write_session(tmp_path)
    operator = '"hcom_allReduce__1_0_1@g": {"Communication Time Info": {"Elapse Time(ms)": NaN}, "Communication Bandwidth Info": {"HCCS": {}}}'
    sessions.put(session / OUT / "communication.json", f'{{"step4": {{"collective": {{{operator}}}}}}}')
    found = communication(session / OUT)
    assert found is not None and found.links == []
    assert (found.collectives[0].count, found.collectives[0].elapsed_us, found.collectives[0].wait_us) == (
        1,
        None,
        None,
    )
    sessions.put(session / OUT / "op_statistic.csv", "OP Type,Core Type,Total Time(us)\nMatMul,AI_CORE,3.5\n")
    assert brief_numbers(session).operators[0].count is None
    # Level0
    sessions.put(session / OUT / "kernel_details.csv", "Name,Type,Accelerator Core,Duration(us)\nMatMul1,N/A,N/A,3.5\n")
    level0 = session_numbers(session)
    assert (level0.operators[0].type, level0.operators[0].core, level0.core_shares) == (None, None, {})


def test_text_and_database_of_level0_are_aligned(tmp_path: Path, sessions: ModuleType) -> None:
    text = sessions.write_session(tmp_path / "text")
    sessions.put(text / OUT / "kernel_details.csv", "Name,Type,Accelerator Core,Duration(us)\nMatMul1,N/A,N/A,3\n")
    other = sessions.write_session(tmp_path / "db", analysed=False)
    database(
        other / OUT / "ascend_pytorch_profiler_0.db",
        "create table STRING_IDS (id, value); insert into STRING_IDS values (1, 'MatMul1'), (2, 'N/A');"
        "create table COMPUTE_TASK_INFO (name, globalTaskId, taskType, opType, inputShapes);"
        "insert into COMPUTE_TASK_INFO values (1, 7, 2, 2, 2);"
        "create table TASK (startNs, endNs, globalTaskId); insert into TASK values (0, 5000, 7);",
    )
    sides = [[session_numbers(session, top=None, shapes=True)] for session in (text, other)]
    assert [(row.name, row.before_us > 0, row.after_us > 0) for row in operators_changed(*sides)] == [
        ("MatMul1", True, True)
    ]


def test_damaged_tables_are_remarks_with_the_file_that_was_read(tmp_path: Path, sessions: ModuleType) -> None:
    session = sessions.write_session(tmp_path)
    sessions.put(session / OUT / "communication.json", "[" * 200_000)
    assert [problem.code for problem in session_numbers(session).problems] == ["number_unreadable"]
    other = sessions.write_session(tmp_path / "db", analysed=False)
    path = other / OUT / "ascend_pytorch_profiler_0.db"
    database(
        path,
        "create table STRING_IDS (id, value); create table TASK (startNs, endNs, globalTaskId);"
        "create table COMPUTE_TASK_INFO (name, globalTaskId, taskType, opType, inputShapes);"
        "insert into COMPUTE_TASK_INFO values (1, 7, 2, 2, 2); insert into TASK values (0, null, 7);",
    )
    found = session_numbers(other)
    assert (found.operators, found.kernel_total_us) == ([], None)
    database(path, "drop table COMPUTE_TASK_INFO;")
    assert str(path) in session_numbers(other).problems[0].looked


@pytest.mark.timeout(30)
def test_a_line_without_an_end_is_not_read_whole(tmp_path: Path, sessions: ModuleType) -> None:
    """A table whose end was never written: zeros to its length."""
    table = sessions.write_session(tmp_path) / OUT / STEPS
    with table.open("r+b") as file:
        file.seek(4 * 2**30)
        file.write(b"\n")
    tracemalloc.start()
    verify(tmp_path)
    session_numbers(table.parent.parent)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 400 * 2**20


@pytest.mark.parametrize(
    ("text", "sound"),
    [
        ('[{"a": "]}\\\\"}, {"b": "\\"["}]', True),
        ('[{"a": [1, 2}]', False),
        ('[{"a": "cut]', False),
        ('[{"a": 1}, {"b": {}, {"c": 2}]', False),
    ],
)
@pytest.mark.parametrize("piece", [1, 3, 4096])
def test_large_json_is_checked_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, sound: bool, piece: int
) -> None:
    monkeypatch.setattr(loadable, "DEEP_JSON_LIMIT", 1)
    monkeypatch.setattr(loadable, "PIECE", piece)
    path = tmp_path / "trace_view.json"
    path.write_text(text, encoding="utf-8")
    assert (loadable.defect(path, deep=True) is None) is sound


def test_a_schema_that_is_no_text_is_a_broken_database(tmp_path: Path) -> None:
    path = tmp_path / "analysis.db"
    database(path, "create table StepTraceTime (step);")
    path.write_bytes(path.read_bytes().replace(b"(step)", b"(st\xfb!)").replace(b"CREATE TABLE", b"CREATE \xfbABLE"))
    assert loadable.defect(path)


def test_communication_beyond_its_bound_is_said(
    tmp_path: Path, sessions: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = sessions.write_session(tmp_path)
    sessions.put(session / OUT / "communication.json", "{" + " " * 100 + "}")
    monkeypatch.setattr("mindspeed_mm_train_profiler.profile_data.communication.MAX_BYTES", 50)
    found = session_numbers(session)
    assert found.communication is None and [problem.code for problem in found.problems] == ["number_unreadable"]
