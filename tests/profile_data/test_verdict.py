"""The ladder: a sound session is complete, and each single damage gives its one code."""

import gzip
import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.profile_data import Expectation, verify

OUT = "ASCEND_PROFILER_OUTPUT"


def codes(path: Path, expected: Expectation | None = None, *, deep: bool = False) -> tuple[str, set[str]]:
    verdict = verify(path, expected, deep=deep)
    found = {p.code for p in verdict.problems if not p.remark}
    return verdict.word, found | {p.code for r in verdict.ranks for p in r.problems if not p.remark}


def snapshot(root: Path) -> list[tuple[str, int, int]]:
    return sorted((str(p), p.lstat().st_mtime_ns, p.lstat().st_size) for p in root.rglob("*"))


def test_sound_sessions_at_any_depth_are_complete(tmp_path: Path, sessions: ModuleType) -> None:
    sessions.write_session(tmp_path / "a" / "b", 0)
    sessions.write_session(tmp_path / "a" / "c" / "d", 1, device=7)
    for rank in (0, 1):  # two ranks: communication is expected
        out = next(tmp_path.rglob(f"*_{100 + rank}_*_ascend_pt")) / OUT
        for name in ("communication.json", "communication_matrix.json"):
            sessions.put(out / name, '{"step4": {"p2p": {}}}')
    before = snapshot(tmp_path)
    verdict = verify(tmp_path, Expectation(ranks=[0, 1], steps=[4, 5], level="level1", with_cpu=True), deep=True)
    assert (verdict.word, [r.problems for r in verdict.ranks]) == ("complete", [[], []])
    assert [(r.rank, r.device, r.steps) for r in verdict.ranks] == [(0, 3, [4, 5]), (1, 7, [4, 5])]
    assert snapshot(tmp_path) == before


def test_renamed_session_is_found(tmp_path: Path, sessions: ModuleType) -> None:
    sessions.write_session(tmp_path).rename(tmp_path / "my profile")
    assert codes(tmp_path) == ("complete", set())


def test_without_cpu_steps_are_unknown_and_that_is_no_error(tmp_path: Path, sessions: ModuleType) -> None:
    sessions.write_session(tmp_path, cpu=False)
    verdict = verify(tmp_path, Expectation(ranks=[0], steps=[4, 5]))
    assert (verdict.word, verdict.ranks[0].steps) == ("complete", None)


def prof(session: Path) -> Path:
    return next(session.glob("PROF_*"))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-4])


DAMAGES: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "killed in the window": (
        lambda s: (s / "profiler_info_0.json").unlink(),
        "session_record_missing",
        "partial",
    ),
    "record cut": (lambda s: cut(s / "profiler_info_0.json"), "session_record_broken", "partial"),
    "not stopped": (lambda s: (prof(s) / "host" / "end_info.done").unlink(), "collection_not_stopped", "partial"),
    "device gone": (lambda s: shutil.rmtree(prof(s) / "device_3"), "device_data_missing", "partial"),
    "prof gone": (lambda s: shutil.rmtree(prof(s)), "prof_missing", "partial"),
    "framework gone": (lambda s: shutil.rmtree(s / "FRAMEWORK"), "framework_missing", "partial"),
    "payload cut": (
        lambda s: cut(prof(s) / "host" / "data" / "stars_soc.data.slice_0"),
        "payload_truncated",
        "partial",
    ),
    "trace cut": (lambda s: cut(s / OUT / "trace_view.json"), "output_broken", "partial"),
    "table cut": (lambda s: cut(s / OUT / "kernel_details.csv"), "output_broken", "partial"),
    "table gone": (lambda s: (s / OUT / "op_statistic.csv").unlink(), "output_missing", "partial"),
    "table empty": (lambda s: (s / OUT / "kernel_details.csv").write_text(""), "output_empty", "partial"),
    "never parsed": (lambda s: shutil.rmtree(s / OUT), "not_parsed", "unparsed"),
    "parse left only its mark": (
        lambda s: (shutil.rmtree(s / OUT), (s / OUT).mkdir(), (s / OUT / "analyse.done").touch()),
        "parse_failed",
        "unparsed",
    ),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_each_damage_has_its_one_code(name: str, tmp_path: Path, sessions: ModuleType) -> None:
    """SK-40."""
    damage, code, word = DAMAGES[name]
    damage(sessions.write_session(tmp_path))
    assert codes(tmp_path) == (word, {code})


def with_version(session: Path, sessions: ModuleType, version: str | None) -> Path:
    info = sessions.information(0)
    info["torch_npu_version"] = version
    sessions.put(session / "profiler_info_0.json", json.dumps(info))
    return session


@pytest.mark.parametrize(
    ("version", "wanted"),
    [
        (None, False),
        ("2.7.1", False),
        ("2.7.1.post2", False),
        ("2.7.1.post4", True),
        ("2.7.1+git1234", False),
        ("2.9.0.post6+git1234", True),
        ("2.10.0", True),
        ("2.13.0", True),
        ("nonsense", False),
    ],
)
def test_from_26_on_an_analysis_ends_with_its_mark(
    version: str | None, wanted: bool, tmp_path: Path, sessions: ModuleType
) -> None:
    session = with_version(sessions.write_session(tmp_path), sessions, version)
    (session / OUT / "analyse.done").unlink(missing_ok=True)
    assert codes(tmp_path) == (("partial", {"analysis_unfinished"}) if wanted else ("complete", set()))
    assert [p.code for p in verify(tmp_path).ranks[0].problems if p.remark] == ["reparse_possible"] * wanted
    (session / OUT / "analyse.done").touch()
    assert codes(tmp_path) == ("complete", set())


def enlarge(path: Path, size: int, end: bytes) -> None:
    with path.open("r+b") as file:
        file.truncate(size)
        file.seek(size - len(end))
        file.write(end)


def test_a_huge_trace_costs_no_reading_unless_asked(tmp_path: Path, sessions: ModuleType) -> None:
    trace = sessions.write_session(tmp_path) / OUT / "trace_view.json"
    trace.write_bytes(b"[{}" + b" " * (40 * 2**20) + b"x]")
    assert codes(tmp_path) == ("complete", set())
    assert codes(tmp_path, deep=True) == ("partial", {"output_broken"})
    enlarge(trace, 3 * 2**30, b"\n,")
    assert codes(tmp_path) == ("partial", {"output_broken"})


@pytest.mark.parametrize("name", ["trace_view.json", "kernel_details.csv"])
@pytest.mark.parametrize("written", [True, False], ids=["written", "a hole"])
@pytest.mark.parametrize("size", [3 * 2**12, 3 * 2**22], ids=["small", "large"])
def test_zeros_inside_are_seen(name: str, written: bool, size: int, tmp_path: Path, sessions: ModuleType) -> None:
    """Pages that a full disk or a lost host never wrote, between a sound beginning and a sound end."""
    table = sessions.write_session(tmp_path) / OUT / name
    sound = table.read_bytes()
    with table.open("wb") as file:
        file.write(sound.rstrip(b"]\n") + b" " * 2**16)
        file.write(b"\0" * size) if written else file.seek(size, 1)
        file.write(b" " * 2**16 + sound[-1:])
    verdict = verify(tmp_path)
    assert [p.code for p in verdict.ranks[0].problems if not p.remark] == ["output_broken"]
    assert "zeros from byte" in next(p.looked for p in verdict.ranks[0].problems if p.code == "output_broken")


def test_huge_raw_data_is_foretold(tmp_path: Path, sessions: ModuleType) -> None:
    session = sessions.write_session(tmp_path, analysed=False)
    payload = prof(session) / "host" / "data" / "stars_soc.data.slice_0"
    enlarge(payload, 2 * 2**30, b"x")
    payload.with_name(payload.name + ".done").write_text(f"filesize:{2 * 2**30}")
    verdict = verify(tmp_path)
    assert verdict.word == "unparsed" and "raw_large" in [p.code for p in verdict.ranks[0].problems]


def test_a_training_of_one_process_is_rank_0(tmp_path: Path, sessions: ModuleType) -> None:
    """Without RANK and without a group torch_npu names no rank, neither in the file's name nor inside."""
    session = sessions.write_session(tmp_path)
    told = session / "profiler_info_0.json"
    record = json.loads(told.read_text(encoding="utf-8"))
    del record["rank_id"]
    told.unlink()
    (session / "profiler_info.json").write_text(json.dumps(record), encoding="utf-8")
    assert codes(tmp_path, Expectation(ranks=[0], steps=[4, 5])) == ("complete", set())
    assert verify(tmp_path, Expectation(ranks=[0])).ranks[0].rank == 0
    assert codes(tmp_path, Expectation(ranks=[0], world_size=8))[0] == "partial"
    assert codes(tmp_path, Expectation(ranks=[0, 1]))[0] == "partial"
    sessions.write_session(tmp_path / "other", rank=7)
    assert codes(tmp_path, Expectation(ranks=[0]))[0] == "partial"


def test_a_foreign_session_is_told_apart(tmp_path: Path, sessions: ModuleType) -> None:
    """A rank nobody asked for is a remark; a second session of a rank that was asked for makes it ambiguous."""
    sessions.write_session(tmp_path / "ours")
    sessions.write_session(tmp_path / "foreign", rank=7)
    verdict = verify(tmp_path, Expectation(ranks=[0]))
    assert verdict.word == "complete"
    assert {r.rank: [p.code for p in r.problems] for r in verdict.ranks} == {0: [], 7: ["rank_unexpected"]}
    sessions.write_session(tmp_path / "another")
    assert codes(tmp_path, Expectation(ranks=[0])) == ("partial", {"rank_duplicate"})


@pytest.mark.parametrize(
    ("expected", "code"),
    [
        (Expectation(ranks=[0, 2]), "rank_missing"),
        (Expectation(steps=[4]), "steps_differ"),
        (Expectation(level="level2"), "request_differs"),
        (Expectation(with_memory=True), "request_differs"),
        (Expectation(aic_metrics_type="ArithmeticUtilization"), "request_differs"),
    ],
)
def test_request_against_what_is_there(expected: Expectation, code: str, tmp_path: Path, sessions: ModuleType) -> None:
    sessions.write_session(tmp_path)
    assert codes(tmp_path, expected) == ("partial", {code})


def test_level0_drops_metrics_and_that_is_no_difference(tmp_path: Path, sessions: ModuleType) -> None:
    session = sessions.write_session(tmp_path)
    info = sessions.information(0)
    info["config"]["experimental_config"] |= {"_profiler_level": "Level0", "_aic_metrics": "ACL_AICORE_NONE"}
    sessions.put(session / "profiler_info_0.json", json.dumps(info))
    asked = Expectation(level="level0", aic_metrics_type="PipeUtilization")
    assert codes(tmp_path, asked) == ("complete", set())


def test_stale_sessions_do_not_count(tmp_path: Path, sessions: ModuleType) -> None:
    session = sessions.write_session(tmp_path)
    os.utime(session / "profiler_info_0.json", (1000, 1000))
    verdict = verify(tmp_path, Expectation(ranks=[0], since=2000))
    assert verdict.word == "missing"
    assert [p.code for p in verdict.problems] == ["session_stale"]


def test_two_sessions_of_one_rank(tmp_path: Path, sessions: ModuleType) -> None:
    sessions.write_session(tmp_path / "a")
    sessions.write_session(tmp_path / "b")
    assert codes(tmp_path) == ("partial", {"rank_duplicate"})


def test_empty_and_missing(tmp_path: Path) -> None:
    assert verify(tmp_path).word == "missing"
    (tmp_path / "h_1_20260102030405678_ascend_pt").mkdir()
    assert verify(tmp_path).word == "empty"


def test_prof_alone(tmp_path: Path, sessions: ModuleType) -> None:
    folder = prof(sessions.write_session(tmp_path))
    assert "prof_alone" in codes(folder)[1]


def test_writable_by_others_is_foretold(tmp_path: Path, sessions: ModuleType) -> None:
    session = sessions.write_session(tmp_path, analysed=False)
    (prof(session) / "host").chmod(0o777)
    assert "parse_mode" in {p.code for p in verify(tmp_path).ranks[0].problems}


def test_paths_that_are_no_folder(tmp_path: Path) -> None:
    with pytest.raises(CodedError) as missing:
        verify(tmp_path / "no")
    (tmp_path / "file").touch()
    with pytest.raises(CodedError) as file:
        verify(tmp_path / "file")
    assert (missing.value.code, file.value.code) == ("output_path_missing", "output_path_not_directory")


NAMES = st.sampled_from(
    ["FRAMEWORK", OUT, "PROF_1_2_ABCDE", "profiler_info_0.json", "profiler_metadata.json", "logs/profiler_1_2.log",
     f"{OUT}/step_trace_time.csv", f"{OUT}/trace_view.json", f"{OUT}/kernel_details.csv", f"{OUT}/analysis.db",
     f"{OUT}/ascend_pytorch_profiler_0.db", "PROF_1_2_ABCDE/device_0/end_info.0", "PROF_1_2_ABCDE/host/data/a.slice_0",
     "PROF_1_2_ABCDE/host/data/a.slice_0.done"]
)  # fmt: skip
CONTENT = st.one_of(
    st.binary(max_size=200),
    st.sampled_from(
        [b"SQLite format 3\0" + b"\1" * 100, b'{"config": []}', b"[" * 5000, b'{"rank_id": true}', b"Step\n\0"]
    ),
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(NAMES, CONTENT, max_size=8))
def test_any_garbage_gets_a_verdict(files: dict[str, bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        session = Path(folder) / "h_1_20260102030405678_ascend_pt"
        session.mkdir()
        for name, content in files.items():
            target = session / name
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
            except OSError:
                continue  # a name that is already the other kind
        assert verify(session, Expectation(ranks=[0]), deep=True).word in ("partial", "empty", "unparsed")


def test_pipes_do_not_block(tmp_path: Path) -> None:
    session = tmp_path / "x_ascend_pt"
    (session / OUT).mkdir(parents=True)
    for name in ("profiler_info_0.json", "profiler_metadata.json", f"{OUT}/trace_view.json"):
        os.mkfifo(session / name)
    assert verify(session).word == "partial"


def test_real_profiles(tmp_path: Path, profiler_shared: Path) -> None:
    source = profiler_shared / "cases" / "profiles"
    assert codes(source / "db-level1", Expectation(ranks=[0, 1], steps=[50]), deep=True) == ("complete", set())
    assert codes(source / "st-level2", Expectation(ranks=[0, 1], steps=[13])) == ("partial", {"output_missing"})
    copy = shutil.copytree(source / "text-level1", tmp_path / "text")
    for packed in copy.rglob("*.gz"):
        packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
    assert codes(copy, Expectation(ranks=[0, 1], steps=[50]), deep=True) == ("complete", set())


def test_parsed_offline_into_the_other_form(tmp_path: Path, sessions: ModuleType) -> None:
    session = sessions.write_session(tmp_path, analysed=False)
    (session / OUT).mkdir()
    with closing(sqlite3.connect(session / OUT / "ascend_pytorch_profiler_0.db")) as db:
        db.execute("create table STEP_TIME (id integer, startNs integer, endNs integer)")
        db.execute("insert into STEP_TIME values (4, 0, 1), (5, 1, 2)")
        db.commit()
    assert codes(tmp_path, Expectation(ranks=[0], steps=[4, 5]), deep=True) == ("complete", set())
    cut(session / OUT / "ascend_pytorch_profiler_0.db")
    assert codes(tmp_path) == ("partial", {"output_broken"})
