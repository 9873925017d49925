"""verify_output and summarize_profile as a caller meets them."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

from mindspeed_mm_train_profiler import state
from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.tools.summarize_profile import summarize_profile
from mindspeed_mm_train_profiler.tools.verify_output import Asked, verify_output
from mindspeed_mm_train_profiler.tools.verify_rows import ranges

_spec = importlib.util.spec_from_file_location(
    "token_budget", Path(__file__).parent.parent / "protocol" / "test_token_budget.py"
)
assert _spec and _spec.loader
budget = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(budget)


def test_nothing_there(tmp_path: Path) -> None:
    found = verify_output(path=str(tmp_path), expected=Asked(ranks=[1]))
    assert (found.verdict, found.ok) == ("missing", False)
    assert [(rank.rank, rank.state, rank.problems[0].code) for rank in found.ranks] == [(1, "missing", "rank_missing")]
    with pytest.raises(CodedError) as error:
        summarize_profile(path=str(tmp_path))
    assert error.value.code == "summary_nothing"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_problem_has_words(tmp_path: Path, language: str) -> None:
    (tmp_path / "h_1_20260102030405678_ascend_pt").mkdir()
    found = verify_output(path=str(tmp_path), expected=Asked(ranks=[0]), language=language)  # type: ignore[arg-type]
    assert found.verdict == "empty"
    assert all(problem.detail and problem.fix for rank in found.ranks for problem in rank.problems)


def test_a_run_is_judged_by_its_own_request(tmp_path: Path) -> None:
    """SK-40."""
    folder = state.private_folder(state.state_dir() / "runs" / "run-20260102-030405-abcdef")
    build = {"save_path": str(tmp_path / "never"), "expected": {"ranks": [0, 2], "steps": [3]}, "options": {}}
    state.write_json(folder / "run.json", {"created": 1.0})
    state.write_json(folder / "build.json", build)
    found = verify_output(run_id=folder.name)
    assert found.verdict == "missing"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({}, "run_id_or_path"),
        ({"run_id": "../x"}, "run_unknown"),
        ({"path": "/", "expected": Asked(since="soon")}, "since_invalid"),
    ],
)
def test_bad_arguments(arguments: dict[str, object], code: str) -> None:
    with pytest.raises(CodedError) as error:
        verify_output(**arguments)  # type: ignore[arg-type]
    assert error.value.code == code


def test_the_report_names_place_settings_sketch_and_viewer(tmp_path: Path, sessions: ModuleType) -> None:
    """SK-41."""
    session = sessions.write_session(tmp_path)
    found = verify_output(path=str(tmp_path))
    assert found.verdict == "complete" and found.path == str(tmp_path)
    assert (found.ranks[0].rank, found.ranks[0].level) == (0, "level1")
    assert str(session) in found.tree and "ASCEND_PROFILER_OUTPUT/kernel_details.csv" in found.tree
    assert found.viewer_hint and "MindStudio Insight" in found.viewer_hint and str(tmp_path) in found.viewer_hint
    assert found.next_step is not None and found.next_step.tool == "summarize_profile"


@pytest.mark.parametrize("count", [64, 500])
@pytest.mark.parametrize("broken", [False, True])
def test_many_ranks_stay_within_the_budget(count: int, broken: bool, tmp_path: Path, sessions: ModuleType) -> None:
    """The hard cap of a result holds however many ranks there are and whatever is wrong with each."""
    place = tmp_path / "npu_profiling" / "run_20261202_101112"
    for rank in range(count):
        session = sessions.write_session(place, rank=rank)
        for name in ("communication.json", "communication_matrix.json"):
            sessions.put(session / "ASCEND_PROFILER_OUTPUT" / name, '{"step": {}}')
        if broken:
            (session / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv").unlink()
            (session / "ASCEND_PROFILER_OUTPUT" / "op_statistic.csv").write_text("")
            next(session.glob("PROF_*/host/end_info.done")).unlink()
    found = verify_output(path=str(place), expected=Asked(ranks=list(range(count + 1))), language="en")
    cost = max(budget.estimate(found.render("en")), budget.estimate(json.dumps(found.model_dump(mode="json"))))
    assert cost <= 8_000, cost
    assert f"of {count + 1} ranks" in found.summary and f"{count} sessions" in found.summary
    if not broken:
        unsound = [rank.rank for rank in found.ranks if rank.state != "valid"]
        assert count in unsound, "what is not sound is listed first"
    assert all(rank.problems for rank in found.ranks if rank.state != "valid")
    told = {row.code: row.message for row in found.warnings}
    assert ("rows_left_out" in told) == (count + 1 > len(found.ranks))
    assert str(count - 1) in told["rows_left_out"]


def test_ranges() -> None:
    assert ranges([3, 1, 2, 7, None, None]) == "1-3, 7, 2 x ?"


@pytest.mark.parametrize("field", [{"level": "level9"}, {"aic_metrics_type": "L2"}])
def test_a_request_that_no_profile_can_meet_is_refused(field: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="one of"):
        Asked(**field)  # type: ignore[arg-type]


def test_sessions_and_ranks_are_counted_apart(tmp_path: Path, sessions: ModuleType) -> None:
    sessions.write_session(tmp_path / "a")
    sessions.write_session(tmp_path / "b")
    text = verify_output(path=str(tmp_path)).render("en")
    assert "1 of 1 rank " in text and "2 sessions" in text and "[rank_duplicate]" in text and "None" not in text


def test_complaints_in_the_training_log_are_told(tmp_path: Path) -> None:
    folder = state.private_folder(state.state_dir() / "runs" / "run-20260102-030405-abcdef")
    save = tmp_path / "never"
    state.write_json(folder / "run.json", {"created": 1.0})
    state.write_json(folder / "build.json", {"save_path": str(save), "expected": {"ranks": [0]}, "options": {}})
    assert verify_output(run_id=folder.name).checks == []
    line = "[ERROR] Export CANN Profiling data failed! 'msprof' command not found!"
    (folder / "output.log").write_text(f"iteration 1\n{line}\n{line}\n" + "x" * 9000 + "\n", encoding="utf-8")
    (check,) = verify_output(run_id=folder.name).checks
    assert (check.name, check.ok) == ("training_log_errors", False)
    assert check.detail.count("command not found") == 1


def test_many_ranks_are_told_shortly(tmp_path: Path) -> None:
    for rank in range(20):
        out = tmp_path / f"h_{rank}_20260102030405678_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        out.mkdir(parents=True)
        (out / "trace_view.json").write_text('[{"ph": "X"}]', encoding="utf-8")
    found = verify_output(path=str(tmp_path))
    assert len(found.ranks) == 20
    assert [rank.files is None for rank in found.ranks] == [False] * 8 + [True] * 12
    assert [warning.code for warning in found.warnings] == ["rows_shortened"]
