"""Results stay within their bounds, whatever the profile; good results are not given away for a new parse."""

import json
import os
import shutil
from pathlib import Path
from types import ModuleType

import pytest

from mindspeed_mm_train_profiler.profile_data import parse_worker
from mindspeed_mm_train_profiler.tools.common import Result, printable
from mindspeed_mm_train_profiler.tools.compare_profiles import compare_profiles
from mindspeed_mm_train_profiler.tools.parse_offline import choose
from mindspeed_mm_train_profiler.tools.summarize_profile import summarize_profile
from mindspeed_mm_train_profiler.tools.verify_output import Asked, verify_output

OUT = "ASCEND_PROFILER_OUTPUT"
CAP = 8_000
STALE = {"since": "2026-01-01T00:00:00"}


def tokens(result: Result) -> float:
    structured = json.dumps(printable(result.model_dump(mode="json")), ensure_ascii=False)
    return max(len(structured.encode()), len(result.render("en").encode())) / 4


def write_kernels(session: Path, name: str, count: int = 300) -> None:
    lines = [f"{name}{number},T{number},C{number},{number}.5" for number in range(count)]
    table = "\n".join(["Name,Type,Accelerator Core,Duration(us)", *lines]) + "\n"
    (session / OUT / "kernel_details.csv").write_text(table, encoding="utf-8")


@pytest.mark.parametrize("analysed", [True, False])
def test_many_sessions(tmp_path: Path, sessions: ModuleType, analysed: bool) -> None:
    for rank in range(300):
        sessions.write_session(tmp_path, rank, analysed=analysed)
    found = verify_output(path=str(tmp_path))
    assert tokens(found) < CAP
    (note,) = [warning for warning in found.warnings if warning.code == "rows_left_out"]
    assert f"{len(found.ranks)} of 300" in note.message and ("invalid" if analysed else "unparsed") in note.message


def test_many_missing_duplicate_and_stale(tmp_path: Path, sessions: ModuleType) -> None:
    sessions.write_session(tmp_path / "a")
    missing = verify_output(path=str(tmp_path), expected=Asked(ranks=list(range(3000))))
    assert tokens(missing) < CAP and missing.ranks[0].state == "missing"
    for number in range(100):
        session = sessions.write_session(tmp_path / str(number))
        os.utime(session / "profiler_info_0.json", (1000, 1000))
    assert tokens(verify_output(path=str(tmp_path))) < CAP
    stale = verify_output(path=str(tmp_path), expected=Asked(**STALE))
    assert [check.name for check in stale.checks] == ["session_stale"] * 4 and "(+" in stale.checks[-1].detail


def test_many_steps(tmp_path: Path, sessions: ModuleType) -> None:
    session = sessions.write_session(tmp_path)
    rows = "".join(f"3,{step},10,4,1,5,2,17,0\n" for step in range(20_000))
    sessions.put(session / OUT / "step_trace_time.csv", sessions.STEP_HEAD + rows)
    found = verify_output(path=str(tmp_path))
    assert found.ranks[0].steps == list(range(64)) and tokens(found) < CAP
    assert any("64/20000" in warning.message for warning in found.warnings)
    assert tokens(summarize_profile(path=str(tmp_path))) < CAP
    assert tokens(compare_profiles(str(tmp_path), str(tmp_path))) < CAP


@pytest.mark.parametrize("name", ["aclnnSomeLongOperatorName_WithSuffix_AiCore_MatMulV2", "算子" * 3000])
def test_many_and_long_names(tmp_path: Path, sessions: ModuleType, name: str) -> None:
    for rank in range(3):
        session = sessions.write_session(tmp_path, rank)
        write_kernels(session, name)
        sessions.put(session / OUT / "op_statistic.csv", f"OP Type,Core Type,Count,Total Time(us)\n{name},A,1,3.5\n")
    told = summarize_profile(path=str(tmp_path), top=100)
    assert tokens(told) < CAP
    assert len(told.top_operators) + told.omitted["top_operators"] == 300
    assert all(len(rank.core_shares or {}) <= 12 for rank in told.ranks)
    changed = compare_profiles(str(tmp_path), str(tmp_path), top=100)
    assert tokens(changed) < CAP and len(changed.operators) + changed.omitted in (300, 301)
    assert tokens(verify_output(path=str(tmp_path))) < CAP


@pytest.mark.timeout(30)
def test_a_pipe_as_metadata_does_not_block(tmp_path: Path, sessions: ModuleType) -> None:
    os.mkfifo(sessions.write_session(tmp_path) / "profiler_metadata.json")
    assert summarize_profile(path=str(tmp_path)).steps


def test_ranks_as_the_profiler_itself_says_all(tmp_path: Path, sessions: ModuleType) -> None:
    sessions.write_session(tmp_path)
    assert verify_output(path=str(tmp_path), expected=Asked(ranks=[-1])).verdict == "complete"
    several = verify_output(path=str(tmp_path), expected=Asked(ranks=[-1], world_size=3))
    assert [(rank.rank, rank.state) for rank in several.ranks][1:] == [(1, "missing"), (2, "missing")]
    assert len(verify_output(path=str(tmp_path), expected=Asked(ranks=[5, 5])).ranks) == 2


@pytest.mark.parametrize("half", [OUT, "FRAMEWORK"])
def test_the_half_of_a_session_means_the_whole(tmp_path: Path, sessions: ModuleType, half: str) -> None:
    session = sessions.write_session(tmp_path)
    found = verify_output(path=str(session / half))
    assert (found.verdict, found.path) == ("complete", str(session))
    inner = sessions.write_session(tmp_path / "x" / half)
    assert verify_output(path=str(inner.parent)).path == str(inner.parent)


def test_good_results_over_damaged_raw_data_are_left_alone(tmp_path: Path, sessions: ModuleType) -> None:
    session = sessions.write_session(tmp_path)
    shutil.rmtree(next(session.glob("PROF_*")) / "device_3")
    chosen, skipped, _ = choose(tmp_path, None, overwrite=False)
    assert chosen == [] and [row.code for row in skipped] == ["already_parsed"]
    assert len(choose(tmp_path, None, overwrite=True)[0]) == 1


@pytest.mark.parametrize("imperfect", [True, False])
def test_a_parse_that_leaves_less_gives_the_earlier_results_back(
    tmp_path: Path, sessions: ModuleType, monkeypatch: pytest.MonkeyPatch, imperfect: bool
) -> None:
    session = sessions.write_session(tmp_path)
    shutil.rmtree(next(session.glob("PROF_*")) / "device_3")
    if imperfect:
        (session / OUT / "op_statistic.csv").unlink()
    before = sorted(path.name for path in (session / OUT).iterdir())

    def destroy(place: Path, job: object) -> None:
        shutil.rmtree(place / OUT, ignore_errors=True)
        sessions.put(place / OUT / "analyse.done", "")

    monkeypatch.setattr(parse_worker, "run", destroy)
    row: dict[str, object] = {}
    parse_worker.parse_session(session, {}, row)
    assert sorted(path.name for path in (session / OUT).iterdir()) == before
    assert row["kept_earlier"] is True and row["state"] == "failed"
