"""A run's life on tiny fake trainings: launched once, followed, stopped, lost, explained."""

import inspect
import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.runs import folder as folders
from mindspeed_mm_train_profiler.runs import launch, launcher, poll, processes, stop, this_host
from mindspeed_mm_train_profiler.runs.folder import RunFolder

LINE = 'echo " iteration        $i/       $N | elapsed time per iteration (ms): 20.0 |"'
GOOD = f"N=5\nfor i in 1 2 3 4 5; do {LINE}; sleep 0.02; done\n"


def manifest(tmp_path: Path, script: str, **more: Any) -> dict[str, Any]:
    path = tmp_path / "copy.sh"
    path.write_text(script, encoding="utf-8")
    return {
        "config_id": "build-20260101-000000-abcdef",
        "argv": ["bash", str(path)],
        "workdir": str(tmp_path),
        "save_path": str(tmp_path / "profiles"),
        "window": {"first_iteration": 3, "last_iteration": 4},
        "train_iters": 5,
        "options": {},
        **more,
    }


def begin(tmp_path: Path, script: str, key: str | None = None, **more: Any) -> RunFolder:
    build = manifest(tmp_path, script, **more)
    with launch.launch_lock(build["config_id"]):
        return launch.existing(build["config_id"], key) or this_host.start(build, dict(os.environ), key)


def wait(run: RunFolder, until: Callable[[dict[str, Any]], bool], bound_s: float = 30) -> dict[str, Any]:
    deadline = time.monotonic() + bound_s
    while time.monotonic() < deadline:
        facts = poll.poll(run)
        if until(facts):
            return facts
        time.sleep(0.05)
    raise AssertionError(f"not within {bound_s} s: {poll.poll(run)}")


def ended(facts: dict[str, Any]) -> bool:
    return facts["state"] not in poll.ACTIVE


@pytest.fixture(autouse=True)
def no_process_left(own_state: Path) -> Any:
    yield
    for run in folders.all_runs():
        stop.stop(run, 0.2)
        assert processes.members(run) == []


def test_what_a_script_leaves_with_an_empty_environment_is_still_the_runs(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    detach = f"env -i setsid sh -c 'echo $$ > {told}; sleep 60' < /dev/null > /dev/null 2>&1 &"
    run = begin(tmp_path, f"(\n{detach}\n)\nenv -i sh -c 'sleep 0.1 &'\nsleep 60\n")
    wait(run, lambda facts: told.exists() and bool(told.read_text(encoding="utf-8").strip()))
    left = psutil.Process(int(told.read_text(encoding="utf-8")))
    supervisor = (run.read("supervisor") or {})["pid"]
    deadline = time.monotonic() + 10
    while left.ppid() != supervisor:
        assert time.monotonic() < deadline, "an orphan falls to the supervisor"
        time.sleep(0.02)
    assert left in processes.members(run)
    while any(child.status() == psutil.STATUS_ZOMBIE for child in psutil.Process(supervisor).children()):
        assert time.monotonic() < deadline, "orphans that ended are reaped"
        time.sleep(0.02)
    stop.stop(run, 0.5)
    assert not left.is_running() or left.status() == psutil.STATUS_ZOMBIE


def test_a_good_run(tmp_path: Path) -> None:
    """SK-29."""
    began = time.monotonic()
    run = begin(tmp_path, GOOD)
    assert time.monotonic() - began < 2
    facts = wait(run, ended)
    assert (facts["state"], facts["phase"], facts["iteration"], facts["train_iters"]) == ("succeeded", "done", 5, 5)
    assert facts["exit_code"] == 0 and facts["ms_per_iteration"] == 20.0
    assert facts["diagnosis"] == [] or facts["diagnosis"][0]["code"] == "window_passed_no_session"
    assert run.log.stat().st_mode & 0o777 == 0o600
    assert run.path.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("${MM_PROFILER_RECORD-} sh -c 'exit 7' 2>&1 | tee x.log\necho statistics\n", 7),
        ("${MM_PROFILER_RECORD-} sh -c 'exit 7'\nexit 0\n", 7),
        ("${MM_PROFILER_RECORD-} sh -c 'sleep 0.3; exit 7' &\nexit 0\n", 7),
        ("nohup ${MM_PROFILER_RECORD-} sh -c 'exit 7' > y.log 2>&1 &\nwait\necho end\n", 7),
        ("A=1 ${MM_PROFILER_RECORD-} sh -c 'exit 0' | cat\nfalse\n", 0),
        ("exit 5\n", 5),
    ],
    ids=["tee", "exit 0", "background", "nohup", "failing statistics", "no launcher"],
)
def test_the_launchers_exit_code_is_known(script: str, code: int, tmp_path: Path) -> None:
    facts = wait(begin(tmp_path, script), ended)
    assert facts["exit_code"] == code
    assert facts["state"] == ("succeeded" if code == 0 else "failed")


@pytest.mark.parametrize(
    ("script", "state", "code"),
    [
        ('for i in 1 2; do ${MM_PROFILER_RECORD-} sh -c "[ $i = 2 ]" && break; sleep 1.1; done\n', "succeeded", 0),
        ("${MM_PROFILER_RECORD-} true; sleep 1.1; ${MM_PROFILER_RECORD-} sh -c 'exit 4'\n", "failed", 4),
        (
            "${MM_PROFILER_RECORD-} sh -c 'sleep 0.2; exit 4' & ${MM_PROFILER_RECORD-} sh -c 'sleep 0.5' & wait\n",
            "failed",
            4,
        ),
        (
            "${MM_PROFILER_RECORD-} sh -c 'sleep 0.5; exit 4' & sleep 0.2; ${MM_PROFILER_RECORD-} sleep 1.5; wait\n",
            "failed",
            4,
        ),
    ],
    ids=["tried again", "second fails", "two at once", "overlapping"],
)
def test_of_several_launcher_calls_the_last_round_counts(script: str, state: str, code: int, tmp_path: Path) -> None:
    facts = wait(begin(tmp_path, script), ended)
    assert (facts["state"], facts["exit_code"]) == (state, code)
    if state == "succeeded":
        told = {item["code"]: item["evidence"] for item in facts["diagnosis"]}
        assert told["earlier_launch_failed"].endswith(": 1")


@pytest.mark.parametrize(
    ("again", "state", "code"),
    [("true", "succeeded", 0), ("sh -c 'exit 3'", "failed", 3), ("sh -c 'kill -9 $PPID'", "failed", None)],
)
def test_a_recorder_that_was_killed_does_not_count_once_the_script_tried_again(
    again: str, state: str, code: int | None, tmp_path: Path
) -> None:
    script = f"${{MM_PROFILER_RECORD-}} sh -c 'kill -9 $PPID' || ${{MM_PROFILER_RECORD-}} {again}\nexit 0\n"
    facts = wait(begin(tmp_path, script), ended)
    assert (facts["state"], facts["exit_code"]) == (state, code if code is not None else 0)
    if state == "succeeded":
        told = {item["code"]: item["evidence"] for item in facts["diagnosis"]}
        assert told["earlier_launch_failed"].endswith(": killed")


def test_a_killed_recorder_beside_one_that_succeeds_is_a_failure(tmp_path: Path) -> None:
    script = (
        "${MM_PROFILER_RECORD-} sh -c 'sleep 1; kill -9 $PPID' & sleep 0.3; ${MM_PROFILER_RECORD-} sleep 1.5; wait\n"
    )
    assert wait(begin(tmp_path, script), ended)["state"] == "failed"


def test_a_training_outlives_its_killed_recorder(tmp_path: Path) -> None:
    """The run lasts as long as the training: it is not told as ended, nor started again, while that goes on."""
    run = begin(tmp_path, "${MM_PROFILER_RECORD-} sh -c 'kill -9 $PPID; sleep 3; :'\nexit 0\n")
    time.sleep(1.5)
    assert poll.poll(run)["state"] == "running"
    assert begin(tmp_path, GOOD).run_id == run.run_id
    assert wait(run, ended)["state"] == "failed"
    assert processes.members(run) == []


def test_of_very_many_launcher_calls_the_newest_are_looked_at(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    for number in range(100):
        record = {"pid": 1000 - number, "started": 5.0 + number, "ended": 5.5 + number, "exit_code": int(number < 99)}
        run.write(f"launcher-{1000 - number}-{1700000000 + number}", record)
    assert run.launcher_codes() == [0]


def test_every_launcher_has_what_the_interface_asks_for() -> None:
    wanted = {name for name, value in vars(launcher.Launcher).items() if callable(value) and not name.startswith("_")}
    assert {"findings", "start", "active", "orphaned", "state", "poll", "stop", "log"} <= wanted
    for name in launcher.MODULES:
        module = launcher.named(name)
        for method in wanted:
            asked = list(inspect.signature(getattr(launcher.Launcher, method)).parameters)[1:]
            given = list(inspect.signature(getattr(module, method)).parameters)
            assert given[: len(asked)] == asked, (name, method)


def test_a_failure_is_explained_from_the_log(tmp_path: Path) -> None:
    script = "echo \"OSError: [Errno 98] Address already in use\"\necho 'exitcode  : -15 (pid: 3)'\n${MM_PROFILER_RECORD-} sh -c 'exit 1'\n"
    facts = wait(begin(tmp_path, script), ended)
    assert [item["code"] for item in facts["diagnosis"]] == ["port_in_use"]


def test_a_failure_after_the_last_iteration_is_told_apart(tmp_path: Path) -> None:
    facts = wait(begin(tmp_path, GOOD + "${MM_PROFILER_RECORD-} sh -c 'exit 1'\n"), ended)
    assert "failed_after_training" in [item["code"] for item in facts["diagnosis"]]


def test_a_script_that_reads_stdin_gets_its_end(tmp_path: Path) -> None:
    facts = wait(begin(tmp_path, "read -p 'sure? ' answer || echo nobody\n" + GOOD), ended)
    assert facts["state"] == "succeeded"


def test_a_script_that_kills_its_parent_loses_nothing(tmp_path: Path) -> None:
    facts = wait(begin(tmp_path, "kill -TERM $PPID\nkill -HUP $PPID\n" + GOOD), ended)
    assert (facts["state"], facts["iteration"]) == ("succeeded", 5)


def test_the_same_configuration_is_not_started_twice(tmp_path: Path) -> None:
    first = begin(tmp_path, "sleep 20\n")
    assert begin(tmp_path, "sleep 20\n").run_id == first.run_id
    stop.stop(first, 0.2)
    assert begin(tmp_path, GOOD).run_id != first.run_id


def test_the_same_key_always_means_the_same_run(tmp_path: Path) -> None:
    first = begin(tmp_path, GOOD, key="k")
    wait(first, ended)
    assert begin(tmp_path, GOOD, key="k").run_id == first.run_id
    assert begin(tmp_path, GOOD, key="other").run_id != first.run_id


def test_racing_launchers_start_one(tmp_path: Path) -> None:
    ids: list[str] = []
    threads = [threading.Thread(target=lambda: ids.append(begin(tmp_path, "sleep 5\n").run_id)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(ids) == 6 and len(set(ids)) == 1


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_server_killed_100_times_loses_no_run_and_starts_none_twice(tmp_path: Path) -> None:
    """A process that launches and polls is killed -9 at any moment of a run's life; the next one goes on with it."""
    chance = random.Random(7)
    script = "sleep 0.8\n" + GOOD
    started: set[str] = set()
    for _ in range(100):
        child = os.fork()
        if child == 0:  # the server: no pytest in here
            try:
                while True:
                    run = begin(tmp_path, script)
                    poll.poll(run)
            finally:
                os._exit(0)
        time.sleep(chance.uniform(0.0, 0.25))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        living = [run.run_id for run in folders.all_runs() if processes.members(run)]
        assert len(living) <= 1, "a second training was started"
        started |= set(living)
    last = begin(tmp_path, script)
    wait(last, ended)
    found = {run.run_id: poll.poll(run)["state"] for run in folders.all_runs()}
    assert started | {last.run_id} <= set(found), "every run is found again"
    assert len(started) > 5
    # a launcher killed between making a folder and starting the supervisor leaves a folder that never ran
    assert all(found[run_id] == "succeeded" for run_id in started), found


def test_a_killed_supervisor_is_lost_not_failed(tmp_path: Path) -> None:
    run = begin(tmp_path, "sleep 30\n")
    os.kill(run.read("supervisor")["pid"], signal.SIGKILL)  # type: ignore[index]
    facts = wait(run, ended)
    assert facts["state"] == "lost"
    assert facts["diagnosis"][0]["code"] == "run_lost"
    stop.stop(run, 0.2)
    assert poll.poll(run)["state"] == "stopped"


def test_another_boot_means_lost(tmp_path: Path) -> None:
    run = begin(tmp_path, "sleep 30\n")
    real = run.read("supervisor")
    assert real is not None
    run.write("supervisor", {**real, "boot_id": "another"})
    assert poll.poll(run)["state"] == "lost"
    run.write("supervisor", real)


def test_a_reused_pid_is_not_ours(tmp_path: Path) -> None:
    run = begin(tmp_path, GOOD)
    wait(run, ended)
    bystander = subprocess.Popen(["sleep", "30"])
    try:
        run.file("end").unlink()
        run.write("script", {"pid": bystander.pid, "started": 1.0, "boot_id": folders.boot_id()})
        stop.stop(run, 0.1)
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_stopping_ends_children_that_ignore_term_and_leave_their_session(tmp_path: Path) -> None:
    script = "trap '' TERM\nsetsid sh -c \"trap '' TERM; sleep 60\" &\nsetsid nohup sleep 60 &\nsleep 60\n"
    run = begin(tmp_path, script)
    deadline = time.monotonic() + 10
    while len(processes.members(run)) < 4 and time.monotonic() < deadline:
        time.sleep(0.05)
    bystander = subprocess.Popen(["sleep", "60"])
    try:
        done = stop.stop(run, 0.3)
        assert done["killed"] and not done["left"]
        assert processes.members(run) == []
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()
    assert poll.poll(run)["state"] == "stopped"
    assert stop.stop(run, 0.1)["already_ended"]


def test_a_script_that_starts_while_it_is_stopped_is_ended_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stop looked before the supervisor had started the script: what comes after that look is ended too."""
    run = begin(tmp_path, "sleep 60\n")
    real, first = stop.members, iter([True, True, True])

    def members(folder: RunFolder) -> list[psutil.Process]:
        return [] if next(first, False) else real(folder)

    monkeypatch.setattr(stop, "members", members)
    assert stop.stop(run, 0.2)["left"] == []
    assert real(run) == [] and poll.poll(run)["state"] == "stopped"


def test_a_profiler_gets_its_grace(tmp_path: Path) -> None:
    script = "trap 'echo flushed > flushed; exit 0' TERM\nwhile :; do sleep 0.05; done\n"
    run = begin(tmp_path, script)
    time.sleep(0.3)
    assert stop.stop(run, 10)["killed"] == []
    assert (tmp_path / "flushed").exists()


def test_a_corrupted_folder_breaks_nothing(tmp_path: Path, own_state: Path) -> None:
    run = begin(tmp_path, GOOD)
    wait(run, ended)
    for number, content in enumerate([b"", b"{", b"[]", b"\xff\xfe"]):
        bad = own_state / "runs" / f"run-20260101-00000{number}-aaaaaa"
        bad.mkdir()
        (bad / "run.json").write_bytes(content)
        poll.poll(RunFolder(bad))
    assert run.run_id in [found.run_id for found in folders.all_runs()]


def test_a_deleted_log_is_survived(tmp_path: Path) -> None:
    run = begin(tmp_path, GOOD + "sleep 0.5\n")
    run.log.unlink()
    facts = wait(run, ended)
    assert facts["state"] == "succeeded" and facts["log_tail"] == []


@pytest.mark.parametrize("name", ["../x", "", "run-1", "run-20260101-000000-abcdef", "run-" + "a" * 70, "run-\x00"])
def test_unknown_ids_are_coded(name: str) -> None:
    with pytest.raises(CodedError, match="run_unknown"):
        folders.find(name)


def test_no_zombie_and_no_descriptor_is_left(tmp_path: Path) -> None:
    run = begin(tmp_path, GOOD)
    wait(run, ended)
    me = psutil.Process()
    before = me.num_fds()
    for _ in range(1000):
        poll.poll(run)
    assert me.num_fds() <= before + 2
    assert [child for child in me.children() if child.status() == psutil.STATUS_ZOMBIE] == []


def test_50_polls_at_once_over_10_runs(tmp_path: Path) -> None:
    runs = []
    for number in range(10):
        (tmp_path / str(number)).mkdir()
        runs.append(begin(tmp_path / str(number), GOOD, config_id=f"build-20260101-000000-aaaa{number:02}"))
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda run=run: found.append(poll.poll(run)["run_id"]))
        for run in runs
        for _ in range(5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(found) == sorted(run.run_id for run in runs for _ in range(5))
    assert len({run.run_id for run in runs}) == 10
    for run in runs:
        assert wait(run, ended, 60)["state"] == "succeeded"


def test_a_run_that_ends_between_two_looks_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = begin(tmp_path, GOOD)
    wait(run, ended)
    deadline = time.monotonic() + 20
    while folders.alive(run.read("supervisor")) and time.monotonic() < deadline:
        time.sleep(0.02)  # it writes the end, then goes
    real, looks = RunFolder.read, []

    def late(self: RunFolder, name: str) -> dict[str, Any] | None:
        looks.append(name)
        return None if name == "end" and looks.count("end") <= 2 else real(self, name)

    monkeypatch.setattr(RunFolder, "read", late)
    assert poll.state_of(run)[0] == "succeeded"


def test_a_clock_that_is_set_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """psutil computes start times from the wall clock; the kernel's ticks since the boot do not move."""
    run = begin(tmp_path, "sleep 30\n")
    real = psutil.Process.create_time
    monkeypatch.setattr(psutil.Process, "create_time", lambda self: real(self) + 7200)
    assert poll.poll(run)["state"] == "running"
    monkeypatch.setattr(time, "time", lambda: 1.0)
    assert poll.poll(run)["state"] == "running"
    monkeypatch.undo()
    stop.stop(run, 0.5)
    assert poll.poll(run)["state"] == "stopped"


@pytest.mark.skipif(os.geteuid() != 0, reason="a small file system wants root")
def test_a_full_disk_is_told_and_loses_nothing(tmp_path: Path, own_state: Path) -> None:
    """The log's own disk runs full while training prints: the run's end is known all the same."""
    small = own_state / "runs"
    small.mkdir(exist_ok=True)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(small)], capture_output=True)
    if done.returncode:
        pytest.skip("tmpfs cannot be mounted here")
    try:
        run = begin(tmp_path, "head -c 2000000 /dev/zero | tr '\\0' x\nsleep 0.3\nexit 7\n")
        deadline = time.monotonic() + 30
        while launch.active(run) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not launch.active(run)
        facts = poll.poll(run)
        assert facts["state"] in {"failed", "lost"}  # with no byte left even the end may not be written
        if facts["state"] == "failed":
            assert facts["exit_code"] == 7
        assert processes.members(run) == []
    finally:
        subprocess.run(["umount", "-l", str(small)], capture_output=True, check=False)


RECORD = "${MM_PROFILER_RECORD-} "


@pytest.mark.parametrize("how", ["its supervisor is killed", "the script kills its parent"])
def test_a_training_without_its_supervisor_is_not_started_again(tmp_path: Path, how: str) -> None:
    run = begin(tmp_path, "sleep 0.3\n" + ("kill -9 $PPID\n" if "script" in how else "") + RECORD + "sleep 60\n")
    if "supervisor" in how:
        os.kill(run.read("supervisor")["pid"], signal.SIGKILL)  # type: ignore[index]
    assert wait(run, ended)["state"] == "lost"
    assert processes.members(run)
    assert begin(tmp_path, GOOD).run_id == run.run_id, "it trains on: another launch means this run"
    stop.stop(run, 0.2)
    again = begin(tmp_path, GOOD)
    assert again.run_id != run.run_id
    assert wait(again, ended)["state"] == "succeeded"


@pytest.mark.parametrize(
    "script",
    [
        f"exit 0\n{RECORD}true\n",
        f"false && {RECORD}true\nexit 0\n",
        f"if [ -e /none ]; then {RECORD}true; fi\necho x\n",
    ],
)
def test_a_script_that_never_reaches_its_launcher_did_not_succeed(tmp_path: Path, script: str) -> None:
    facts = wait(begin(tmp_path, script), ended)
    assert (facts["state"], facts["script_exit_code"]) == ("failed", 0)
    assert [row["code"] for row in facts["diagnosis"]] == ["launcher_not_reached"]


def test_a_launcher_that_left_the_group_is_waited_for(tmp_path: Path) -> None:
    run = begin(tmp_path, f"setsid {RECORD}sh -c 'sleep 1.5; exit 5' &\nexit 0\n")
    facts = wait(run, ended)
    assert (facts["state"], facts["exit_code"], facts["script_exit_code"]) == ("failed", 5, 0)
    assert processes.members(run) == []


def test_a_launcher_that_is_not_there(tmp_path: Path) -> None:
    facts = wait(begin(tmp_path, f"{RECORD}no-such-torchrun a 2>&1 | tee x.log\necho done\nexit 0\n"), ended)
    assert (facts["state"], facts["exit_code"]) == ("failed", 127)
    assert facts["diagnosis"][0]["code"] == "launcher_missing"


@pytest.mark.parametrize(
    "how", ["> train.log 2>&1", ">> train.log 2>&1", "2>&1 | tee train.log", "2>&1 | tee -a train.log"]
)
def test_the_scripts_own_log_is_read_beside_the_runs_and_without_what_was_in_it(tmp_path: Path, how: str) -> None:
    """A script that prints a word itself and sends its trainer's lines to a file; the file has an earlier run's lines."""
    old = " iteration        9/       9 | elapsed time per iteration (ms): 9.0 |\nOSError: [Errno 98] Address in use\n"
    (tmp_path / "train.log").write_text(old, encoding="utf-8")
    script = f"echo starting\nsleep 0.7\n{RECORD}bash train.sh {how}\nexit 0\n"
    (tmp_path / "train.sh").write_text(GOOD + "echo 'ValueError: x'\nexit 4\n", encoding="utf-8")
    facts = wait(begin(tmp_path, script, log_file=str(tmp_path / "train.log")), ended)
    assert (facts["state"], facts["iteration"], facts["train_iters"]) == ("failed", 5, 5)
    codes = [item["code"] for item in facts["diagnosis"]]
    assert "value_error" in codes and "port_in_use" not in codes
    assert "ValueError: x" in facts["log_tail"]


def test_the_last_word_without_a_line_end_counts(tmp_path: Path) -> None:
    facts = wait(
        begin(tmp_path, f"{RECORD}sh -c 'printf \"OSError: [Errno 98] Address already in use\"; exit 1'\n"), ended
    )
    assert facts["diagnosis"][0]["code"] == "port_in_use"
