"""Triggers and foreign edits on the simulated watcher: what happened is told, every reason with its code."""

import json
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mindspeed_mm_train_profiler import dynamic_profile
from mindspeed_mm_train_profiler.dynamic_profile import follow, logs, windows
from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.options import ProfileOptions
from mindspeed_mm_train_profiler.simulator import switches, watcher
from mindspeed_mm_train_profiler.simulator.request import Place
from mindspeed_mm_train_profiler.simulator.watcher import DynamicProfiler


class Run:
    """One simulated rank; its steps and its watcher's looks are in the test's hand, and so is the clock."""

    def __init__(self, folder: Path, release: str) -> None:
        self.folder, self.out, self.release = folder / "dynamic", folder / "out", release
        given = {"SIMULATED_NPU_TORCH_NPU": release, "SIMULATED_NPU_SHM": str(folder / "shm"), "SIMULATED_NPU_MS": "0"}
        self.profiler = DynamicProfiler(str(self.folder), switches.read(given), Place(0, 1, 0))
        self.profiler.start()
        self.steps_done = 0

    def look(self) -> None:
        assert self.profiler._monitor is not None
        self.profiler._monitor._look()

    def step(self, count: int = 1) -> None:
        for _ in range(count):
            self.profiler.step()
            self.steps_done += 1

    def trigger(self, start: Any = "now", steps: int = 1, **values: Any) -> dict[str, Any]:
        given: dict[str, Any] = {"ranks": [0], "current_step": self.steps_done, "step_s": 1.0} | values
        return dynamic_profile.trigger(
            self.folder,
            ProfileOptions(),
            dynamic_profile.generation(self.release),
            start=start,
            steps=steps,
            save_path=str(self.out),
            **given,
        )

    def edit(self, *, text: str | None = None, stamp: int | None = None, **values: Any) -> dict[str, Any]:
        """Somebody's own edit; returns the record to follow it with."""
        record = follow.hand_edit(None, logs.sizes(self.folder))
        file = self.folder / follow.FILE
        row = dynamic_profile.generation(self.release)
        made = dynamic_profile.make_config(
            ProfileOptions(), row, start_step=5, steps=1, save_path=str(self.out), ranks=[0]
        )
        file.write_text(json.dumps(made | values) if text is None else text, encoding="utf-8")
        at = int(time.time()) + 5 if stamp is None else stamp
        os.utime(file, (at, at))
        self.look()
        return record

    def told(self, record: dict[str, Any], **values: Any) -> tuple[str, list[str]]:
        progress = dynamic_profile.status(self.folder, record, **values)
        return progress.state, [note.code for note in progress.reasons]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Run]:
    monkeypatch.setattr(watcher, "FIRST_POLL_S", 3600)
    monkeypatch.setenv("MINDSPEED_MM_TRAIN_PROFILER_STATE", str(tmp_path / "state"))
    made = Run(tmp_path, getattr(request, "param", "26.0.0"))
    yield made
    made.profiler.stop()


RELEASES = pytest.mark.parametrize("run", ["6.0.0", "7.0.0", "7.2.0", "26.1.0"], indirect=True)


@RELEASES
def test_a_trigger_is_followed_to_its_end(run: Run) -> None:
    """SK-43."""
    record = run.trigger(steps=2)
    assert run.told(record) == ("waiting", [])
    run.look()
    run.step(max(record["start_step"], 1))
    progress = dynamic_profile.status(run.folder, record)
    assert (progress.state, progress.started) == ("running", {0: max(record["start_step"], 1)})
    run.step(2)
    progress = dynamic_profile.status(run.folder, record)
    assert (progress.state, progress.stopped) == ("stopped", {0: max(record["start_step"], 1) + 2})
    assert progress.parse_off == [0] and progress.notes[0].code == "dynamic_parse_off"


def test_same_window_is_followed_another_is_refused(run: Run) -> None:
    record = run.trigger()
    assert run.trigger()["id"] == record["id"]
    with pytest.raises(CodedError, match="dynamic_running"):
        run.trigger(steps=3)
    assert len(dynamic_profile.history(run.folder)) == 1


def test_start_too_near_and_clock_ahead(run: Run) -> None:
    with pytest.raises(CodedError, match="dynamic_start_too_near"):
        run.trigger(start=2)
    os.utime(run.folder / follow.FILE, (time.time() + 3600,) * 2)
    with pytest.raises(CodedError, match="dynamic_clock_ahead"):
        run.trigger()
    assert dynamic_profile.history(run.folder) == []


def test_no_watcher(tmp_path: Path, run: Run) -> None:
    (tmp_path / "other").mkdir()
    run.folder = tmp_path / "other"
    with pytest.raises(CodedError, match="dynamic_watcher_absent"):
        run.trigger()


IGNORED: list[tuple[str, dict[str, Any], str]] = [
    ("a", {"stamp": 1_700_000_000}, "dynamic_ignored_before_launch"),
    ("d", {"text": '{"active": '}, "dynamic_ignored_invalid_json"),
    ("e", {"text": ""}, "dynamic_ignored_empty_file"),
    ("f", {"start_step": 3}, "dynamic_ignored_start_passed"),
    ("g", {"rank_list": [7]}, "dynamic_ignored_rank_not_listed"),
    ("h", {"metadata": {"long": "x" * (1 << 20)}}, "dynamic_ignored_too_large"),
    ("zero", {"start_step": 0}, "dynamic_ignored_start_zero"),
]


@RELEASES
@pytest.mark.parametrize(("values", "code"), [row[1:] for row in IGNORED], ids=[row[0] for row in IGNORED])
def test_ignored_and_why(run: Run, values: dict[str, Any], code: str) -> None:
    run.step(4)
    record = run.edit(**values)
    run.step()
    assert run.told(record, current_step=run.steps_done) == ("ignored", [code])


def test_second_edit_in_one_second_and_older_edit(run: Run) -> None:
    stamp = int(time.time()) + 5
    run.edit(stamp=stamp, start_step=500)
    run.step()
    first = {"mtime": stamp, "text": (run.folder / follow.FILE).read_text()}
    for at, code in ((stamp, "dynamic_ignored_same_second"), (stamp - 1, "dynamic_ignored_older")):
        record = run.edit(stamp=at, start_step=600) | follow.hand_edit(first, logs.sizes(run.folder))
        run.step()
        assert run.told(record) == ("ignored", [code])


def test_attached_to_a_dead_jobs_memory(tmp_path: Path, run: Run) -> None:
    other = Run.__new__(Run)
    other.folder = tmp_path / "second"
    given = {"SIMULATED_NPU_TORCH_NPU": "26.0.0", "SIMULATED_NPU_SHM": str(tmp_path / "shm"), "SIMULATED_NPU_MS": "0"}
    DynamicProfiler(str(other.folder), switches.read(given), Place(0, 1, 0)).start()
    record = follow.hand_edit(None, {})
    assert not follow.foreign_segment(run.folder)
    assert other.told(record) == ("ignored", ["dynamic_ignored_foreign_segment"])


@pytest.mark.slow
@pytest.mark.parametrize("run", ["7.0.0", "26.0.0"], indirect=True)
def test_200_triggers_none_lost_or_doubled(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    chance, now = random.Random(8), time.time()
    clock = [now]
    monkeypatch.setattr(windows.time, "time", lambda: clock[0])
    asked = []
    for _ in range(200):
        clock[0] += chance.random() * 4
        run.step(chance.randrange(4))
        steps = chance.randrange(1, 4)
        record = run.trigger(steps=steps)
        run.look()
        for _ in range(60):
            run.step()
            progress = dynamic_profile.status(run.folder, record, current_step=run.steps_done)
            if progress.state == "stopped":
                break
        assert progress.state == "stopped", progress
        windows.settle(run.folder, record["id"], progress)
        asked.append((progress.started[0], progress.stopped[0]))
    assert len(set(asked)) == 200 and asked == sorted(asked)
    assert len(list(run.out.glob("*_ascend_pt"))) == 200


def test_worker_that_is_not_watching_yet(run: Run) -> None:
    """Its log is there before the watcher is: an edit now would be lost."""
    log = run.folder / "log" / "dp_host_99_rank_1.log"
    log.write_text("2026-01-01 10:00:00,000 [INFO] [99] utils: Rank 1 shared memory is connected.\n")
    with pytest.raises(CodedError, match="dynamic_watcher_absent"):
        run.trigger()
    log.unlink()
    assert run.trigger()["state"] == "waiting"


def test_an_error_of_several_lines_is_a_failed_load() -> None:
    """torch_npu's own exceptions end in a second line with a code."""
    line = (
        "Dynamic profiler process load json failed, Failed to read the file: /a/b.json\n[ERROR] ERR04009 has occur!\n"
    )
    found = logs.FAILED.search(line)
    assert found and found[1] == "Failed to read the file: /a/b.json"
    short = logs.FAILED.search("Dynamic profiler process load json failed, Expecting value: line 1 has occur!\n")
    assert short and short[1] == "Expecting value: line 1"


def test_a_profiler_that_fails_in_the_training_is_told(run: Run) -> None:
    record = run.trigger(steps=1)
    run.look()
    log = "2026-01-01 00:00:00 [ERROR] [7] profiler.py: Call step failed. Exception: no device\n iteration 4/9\n"
    state, codes = run.told(record, train_log=log)
    assert (state, codes) == ("ignored", ["dynamic_ignored_call_failed"])


HAND = pytest.mark.parametrize("run", ["7.0.0", "7.2.0", "26.1.0"], indirect=True)


@HAND
def test_an_edit_by_hand_that_takes_a_windows_place_is_told(run: Run) -> None:
    """The other's window starts and stops; it is not told as ours."""
    run.step(2)
    record = run.trigger(start=40)
    run.look()
    run.step()
    run.edit(start_step=20, stamp=record["mtime"] + 1)
    run.step(30)
    progress = dynamic_profile.status(run.folder, record, current_step=run.steps_done)
    assert progress.accepted == [0] and progress.started == {}
    assert [note.code for note in progress.reasons] == ["dynamic_ignored_replaced"]
    assert progress.reasons[0].params == {"start": 20}


@HAND
def test_an_edit_by_hand_before_ours_was_read_is_told(run: Run) -> None:
    run.step(2)
    record = run.trigger(start=40)
    run.edit(start_step=20, stamp=record["mtime"] + 1)
    assert run.told(record) == ("waiting", []), "a worker may still take what the watcher read"
    run.step()
    run.edit(start_step=21, stamp=record["mtime"] + 2)
    assert run.told(record) == ("ignored", ["dynamic_ignored_replaced"])


@HAND
@pytest.mark.parametrize("values", [{"text": "{"}, {"rank_list": [5]}, {"metadata": {"x": "y" * (1 << 20)}}], ids=list)
def test_an_edit_that_torch_npu_drops_leaves_ours_standing(run: Run, values: dict[str, Any]) -> None:
    run.step(2)
    record = run.trigger(start=20)
    run.look()
    run.step()
    run.edit(stamp=record["mtime"] + 1, **values)
    run.step(2)
    assert run.told(record, current_step=run.steps_done) == ("waiting", [])
    run.step(20)
    assert dynamic_profile.status(run.folder, record).started == {0: 20}


@HAND
def test_a_window_by_hand_is_not_overwritten(run: Run) -> None:
    run.step(2)
    run.edit(start_step=50)
    with pytest.raises(CodedError, match="dynamic_hand_window"):
        run.trigger(start=80)
    run.edit(start_step=0, stamp=int(time.time()) + 1)
    assert run.trigger(start=80)["state"] == "waiting"


def test_a_window_by_hand_that_is_over_is_in_nobodys_way(run: Run) -> None:
    run.step(2)
    run.edit(start_step=6, stamp=int(time.time()) + 1)
    run.step(8)
    assert run.trigger(start=80)["state"] == "waiting"


def lines(run: Run, name: str, *messages: str) -> Path:
    path = run.folder / "log" / name
    with path.open("a", encoding="utf-8") as file:
        file.writelines(f"2026-01-01 10:00:00,000 [INFO] [99] utils: {message}\n" for message in messages)
    return path


def test_a_window_is_over_when_every_rank_is(run: Run) -> None:
    log = "dp_host_99_rank_1.log"
    lines(run, log, "Rank 1 shared memory is created.", "Rank 1 no need to create process.")
    record = run.trigger(start=20, ranks=[0, 1])
    run.look()
    run.step(21)
    assert run.told(record, current_step=21) == ("running", []), "rank 1 has yet to begin"
    lines(run, log, "Start step will be set to 20.", "Start Dynamic Profiler at 20 step.")
    assert run.told(record, current_step=30)[0] == "running"
    lines(run, log, "Stop Dynamic Profiler at 21 step.")
    assert run.told(record, current_step=21) == ("stopped", [])


def test_a_rank_that_never_begins_is_told_and_not_waited_for(run: Run) -> None:
    lines(run, "dp_host_99_rank_1.log", "Rank 1 shared memory is created.", "Rank 1 no need to create process.")
    record = run.trigger(start=20, ranks=[0, 1])
    run.look()
    run.step(21)
    progress = dynamic_profile.status(run.folder, record, current_step=25)
    assert (progress.state, progress.notes[-1].code) == ("stopped", "dynamic_rank_not_started")
    assert progress.notes[-1].params == {"ranks": "1"}


@pytest.mark.parametrize("run", ["26.1.0"], indirect=True)
def test_several_ranks_get_a_step_that_all_can_reach(run: Run) -> None:
    run.step(3)
    record = run.trigger(ranks=[0])
    assert record["start_step"] == -1
    windows.settle(run.folder, record["id"], follow.Progress("stopped"))
    assert run.trigger(ranks=[0, 1])["start_step"] > 3


def test_the_watchers_own_interval_counts(run: Run) -> None:
    """It is the length of step 11, for the whole run."""
    run.step(12)
    before = windows.margin(1.0, 12, dynamic_profile.generation("7.0.0"), logs.interval(run.folder))
    log = next((run.folder / "log").glob("dp_*.log")).name
    lines(run, log, "Dynamic profiling monitor process query cfg file interval time change to 120s")
    assert logs.interval(run.folder) == 120
    assert windows.margin(1.0, 12, dynamic_profile.generation("7.0.0"), 120) == before + 2 * 118
    assert windows.margin(1.0, 12, dynamic_profile.generation("26.0.0"), 120) == before + 2 * 48


def test_logs_of_an_earlier_launch_in_the_same_directory(run: Run) -> None:
    """Its watcher is dead; the new workers attached to what it left."""
    (old,) = (run.folder / "log").glob("dp_*.log")
    record = run.trigger()
    os.utime(old, (1_700_000_000, 1_700_000_000))
    name = f"dp_{logs.host_of(old)}_99_rank_0.log"
    lines(run, name, "Rank 0 shared memory is connected.", "Rank 0 no need to create process.")
    assert follow.foreign_segment(run.folder)
    assert run.told(record) == ("ignored", ["dynamic_ignored_foreign_segment"])


def test_one_host_of_two_without_a_watcher_is_told(run: Run) -> None:
    lines(run, "dp_other-host_99_rank_8.log", "Rank 8 no need to create process.")
    record = run.trigger(start=20, ranks=None)
    notes = dynamic_profile.status(run.folder, record).notes
    assert [(note.code, note.params) for note in notes] == [("dynamic_host_foreign", {"hosts": "other-host"})]


def test_a_log_that_lost_its_beginning_still_tells_a_birth(run: Run) -> None:
    (log,) = (run.folder / "log").glob("dp_*.log")
    log.rename(log.with_name(log.name + ".1")).write_text("2026-01-01 10:00:00,000 [INFO] [1] utils: later\n")
    log.write_text("2026-01-01 11:00:00,000 [INFO] [1] utils: later still\n")
    assert follow.worker_born(run.folder) is not None


def test_workers_that_began_anew_take_nothing_written_before(run: Run) -> None:
    record = run.trigger()
    (old,) = (run.folder / "log").glob("dp_*.log")
    stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(record["mtime"] + 5))
    os.utime(old, (1_700_000_000, 1_700_000_000))
    new = run.folder / "log" / f"dp_{logs.host_of(old)}_99_rank_0.log"
    new.write_text(f"{stamp},000 [INFO] [9] u: Dynamic monitor process has been created by rank 0.\n")
    assert run.told(record) == ("ignored", ["dynamic_ignored_before_launch"])
