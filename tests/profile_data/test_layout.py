"""Which folders are sessions, whatever lies around them."""

import shutil
from pathlib import Path
from types import ModuleType

import pytest

from mindspeed_mm_train_profiler.profile_data import Expectation, layout, verify
from mindspeed_mm_train_profiler.profile_data.numbers import session_numbers


def found(root: Path) -> list[str]:
    return [str(path.relative_to(root)) for path in layout.find_sessions(root).sessions]


def test_results_that_were_copied_away_can_be_looked_at(tmp_path: Path, sessions: ModuleType) -> None:
    source = sessions.write_session(tmp_path / "save", 3)
    copy = tmp_path / "from node 3" / "rank3"
    shutil.copytree(source / layout.OUTPUT, copy)
    (copy / "ascend_pytorch_profiler_3.db").touch()
    shutil.rmtree(tmp_path / "save")
    assert found(tmp_path) == ["from node 3/rank3"]
    verdict = verify(tmp_path)
    assert verdict.word == "partial"
    (rank,) = verdict.ranks
    assert (rank.rank, rank.steps) == (3, [4, 5]) and "kernel_details.csv" in rank.files
    assert "results_alone" in {problem.code for problem in rank.problems}
    assert "raw_removed" not in {problem.code for problem in rank.problems}
    numbers = session_numbers(copy)
    assert [row.step for row in numbers.steps] == [4, 5] and numbers.operators[0].name == "MatMul1"


def test_results_alone_are_the_only_complaint_about_a_sound_copy(tmp_path: Path, sessions: ModuleType) -> None:
    sessions.write_results(tmp_path / "copy")
    (rank,) = verify(tmp_path / "copy").ranks
    assert [problem.code for problem in rank.problems] == ["results_alone"] and rank.rank is None
    assert rank.good_results


@pytest.mark.parametrize("record", [True, False])
def test_results_gathered_under_the_sessions_name(tmp_path: Path, sessions: ModuleType, record: bool) -> None:
    session = sessions.write_session(tmp_path / "save", 2)
    flat = tmp_path / "flat" / session.name
    (session / layout.OUTPUT).rename(tmp_path / "out")
    flat.parent.mkdir()
    (tmp_path / "out").rename(flat)
    if record:
        (session / "profiler_info_2.json").rename(flat / "profiler_info_2.json")
    (rank,) = verify(flat).ranks
    assert rank.steps == [4, 5] and [row.step for row in session_numbers(flat).steps] == [4, 5]
    codes = {problem.code for problem in rank.problems}
    if record:  # a rank above 0 says that there are others, whose communication is not told
        assert rank.rank == 2 and "raw_removed" in codes and "session_record_missing" not in codes
    else:
        assert codes == {"results_alone"}


@pytest.mark.parametrize("name", ["trace_view.json", "kernel_details.csv", "ascend_pytorch_profiler_0.db"])
def test_a_stray_table_beside_sessions_is_no_session(tmp_path: Path, sessions: ModuleType, name: str) -> None:
    session = sessions.write_session(tmp_path / "save")
    (tmp_path / "save" / name).write_text("x", encoding="utf-8")
    assert layout.find_sessions(tmp_path).sessions == [session]
    assert verify(tmp_path).word == "complete"


def test_other_tools_tables_are_no_results(tmp_path: Path) -> None:
    for name in ("cluster_step_trace_time.csv", "cluster_analysis.db", "trace.json", "op_summary_20260101.csv"):
        (tmp_path / name).write_text("x", encoding="utf-8")
    assert found(tmp_path) == [] and verify(tmp_path).word == "missing"


def test_a_run_leaves_whole_sessions(tmp_path: Path, sessions: ModuleType) -> None:
    sessions.write_results(tmp_path / "copy")
    verdict = verify(tmp_path, Expectation(ranks=[0], since=1.0))
    assert verdict.word == "missing"
    assert [rank.state for rank in verdict.ranks] == ["missing"]


def test_the_bound_of_the_search_is_told(tmp_path: Path, sessions: ModuleType) -> None:
    for number in range(4):
        sessions.write_session(tmp_path / f"node{number}", number)
    whole = layout.find_sessions(tmp_path)
    cut = layout.find_sessions(tmp_path, limit=3)
    assert (len(whole.sessions), whole.cut) == (4, False)
    assert len(cut.sessions) < 4 and cut.cut
