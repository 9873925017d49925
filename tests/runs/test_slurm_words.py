"""Slurm's own words, from stand-ins of its commands: what squeue has forgotten, scontrol or accounting still knows."""

import os
from pathlib import Path

import pytest

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.runs import slurm, slurm_array, slurm_job, slurm_launcher, slurm_poll
from mindspeed_mm_train_profiler.runs.folder import RunFolder

SILENT = "exit 0"
FORGOTTEN = "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1"
UNREACHED = "echo 'Unable to contact slurm controller (connect failure)' >&2; exit 1"


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path


def say(folder: Path, **programs: str) -> None:
    for name in ("squeue", "scontrol", "sacct", "sbatch", "scancel", "srun"):
        program = folder / name
        program.write_text(f"#!/bin/sh\n{programs.get(name, 'exit 1')}\n", encoding="utf-8")
        program.chmod(0o755)


@pytest.mark.parametrize(
    ("programs", "expected"),
    [
        ({"squeue": "echo 'PENDING|Resources|'"}, ("PENDING", "Resources", None, None)),
        ({"squeue": "echo 'RUNNING|None|n[1-2]'"}, ("RUNNING", None, "n[1-2]", None)),
        (
            {
                "squeue": SILENT,
                "scontrol": "echo 'JobId=7 JobState=FAILED Reason=NonZeroExitCode ExitCode=3:0 NodeList=n1'",
            },
            ("FAILED", "NonZeroExitCode", "n1", 3),
        ),
        ({"squeue": SILENT, "sacct": "echo 'COMPLETED|0:0|n[1-4]'"}, ("COMPLETED", None, "n[1-4]", 0)),
        ({"squeue": SILENT, "sacct": "echo 'CANCELLED by 1000|0:15|n1'"}, ("CANCELLED", None, "n1", 143)),
        ({"squeue": SILENT, "sacct": "echo 'OUT_OF_MEMORY|0:125|n1'"}, ("OUT_OF_MEMORY", None, "n1", 253)),
        ({"squeue": SILENT, "sacct": "echo 'CANCELLED+|0:15|n1'"}, ("CANCELLED", None, "n1", 143)),
        # an array: one task that runs, one that failed, speak for all
        ({"squeue": "printf 'PENDING|Priority|\\nRUNNING|None|n2\\n'"}, ("RUNNING", None, "n2", None)),
        (
            {"squeue": SILENT, "scontrol": "printf 'JobState=COMPLETED\\nJobState=FAILED ExitCode=2:0\\n'"},
            ("FAILED", None, None, 2),
        ),
        # a comment's words are no fields
        ({"scontrol": "echo 'JobState=FAILED ExitCode=1:0 Comment=a JobState=RUNNING'"}, ("FAILED", None, None, 1)),
        ({"squeue": "echo 'slurm: garbage'", "scontrol": "echo garbage"}, (None, None, None, None)),
        ({"squeue": SILENT, "sacct": SILENT}, (None, None, None, None)),
        ({}, (None, None, None, None)),
    ],
    ids=[
        "pending",
        "running",
        "scontrol",
        "accounting",
        "cancelled",
        "memory",
        "cut short",
        "array running",
        "array ended",
        "comment",
        "garbage",
        "forgotten",
        "no answer",
    ],
)
def test_where_a_state_comes_from(
    commands: Path, programs: dict[str, str], expected: tuple[str | None, str | None, str | None, int | None]
) -> None:
    say(commands, **programs)
    found = slurm.state("7")
    assert (found.state, found.reason, found.nodes, found.exit_code) == expected


@pytest.fixture
def run(commands: Path, tmp_path: Path) -> RunFolder:
    """A run of two nodes, job 7, that has begun."""
    folder = RunFolder(tmp_path / "run-20260101-000000-abcdef")
    (folder.path / "nodes" / "0").mkdir(parents=True)
    folder.write("run", {"launcher": "slurm", "nodes": 2, "job_id": "7", "created": 0})
    folder.write("job", {"job_id": "7", "nodes": ["n1", "n2"]})
    return folder


def test_a_controller_that_gives_no_answer_ends_no_run(commands: Path, run: RunFolder) -> None:
    """Nobody knows: the run is neither lost nor free to be launched again, and a stop says that it failed."""
    say(commands, squeue=UNREACHED, scontrol="touch $0.asked; " + UNREACHED, scancel=UNREACHED)
    assert slurm_poll.state_of(run)[0] == "running" and slurm_launcher.active(run)
    assert not (commands / "scontrol.asked").exists(), "it would wait as long"
    assert [row["code"] for row in slurm_poll.poll_job(run, None, 5)["diagnosis"]] == ["slurm_silent"]
    with pytest.raises(CodedError, match="slurm_refused"):
        slurm_launcher.stop(run, 0)
    assert run.read("stop") is None, "nothing was asked to end"
    for number in (0, 1):
        slurm.node_folder(run, number).path.mkdir(exist_ok=True)
        slurm.node_folder(run, number).write("end", {"script_exit_code": 0, "ended": 1.0})
    assert slurm_poll.state_of(run)[0] == "succeeded" and not slurm_launcher.active(run)
    assert slurm_poll.poll_job(run, None, 5)["diagnosis"] == []


@pytest.mark.parametrize("sacct", [SILENT, "echo 'Slurm accounting storage is disabled' >&2; exit 1"])
def test_a_job_that_slurm_has_forgotten_is_lost(commands: Path, run: RunFolder, sacct: str) -> None:
    say(commands, squeue=FORGOTTEN, scontrol=FORGOTTEN, sacct=sacct)
    assert slurm_poll.state_of(run)[0] == "lost" and not slurm_launcher.active(run)


def test_an_end_is_remembered_when_slurm_forgets(commands: Path, run: RunFolder) -> None:
    say(commands, squeue=SILENT, scontrol="echo 'JobState=TIMEOUT Reason=TimeLimit ExitCode=0:15'")
    assert slurm_poll.state_of(run)[0] == "failed"
    say(commands, squeue="echo 'RUNNING|None|n9|of somebody else'", scontrol=FORGOTTEN)
    told = slurm_poll.poll_job(run, None, 5)
    assert (told["state"], told["slurm"]["state"], told["diagnosis"][0]["code"]) == (
        "failed",
        "TIMEOUT",
        "slurm_timeout",
    )


@pytest.mark.parametrize("asked", ["squeue", "scontrol"])
def test_a_number_that_means_another_job_by_now_is_not_ours(commands: Path, run: RunFolder, asked: str) -> None:
    others = {"squeue": "echo 'RUNNING|None|n9|train'", "scontrol": "echo 'JobName=train JobState=RUNNING'"}
    say(commands, scancel="touch $0.asked", **{asked: others[asked]})
    assert not slurm_launcher.active(run)
    assert slurm_launcher.stop(run, 0)["already_ended"] and not (commands / "scancel.asked").exists()


def test_a_job_whose_number_was_never_written_down_is_known_by_its_name(commands: Path, run: RunFolder) -> None:
    """The server ended between sbatch and its record."""
    run.write("run", {"launcher": "slurm", "nodes": 2, "job_id": None, "created": 0})
    run.file("job").unlink()
    say(
        commands,
        squeue=f'case "$*" in *--name={slurm.name_of(run)}*) echo 8;; *"-j 8"*) echo "PENDING|Priority|";; esac',
    )
    assert slurm_launcher.active(run) and slurm_poll.state_of(run)[0] == "starting"


def test_a_suspended_job_runs_and_says_so(commands: Path, run: RunFolder) -> None:
    say(commands, squeue="echo 'SUSPENDED|None|n1'")
    told = slurm_poll.poll_job(run, None, 5)
    assert told["state"] == "running" and told["diagnosis"][0]["code"] == "slurm_suspended"


@pytest.mark.parametrize(
    ("sbatch", "job"),
    [
        ("echo 7", "7"),
        ("echo '7;big'", "7;big"),
        ("echo 'Welcome to the cluster'; echo 7", "7"),
        ("echo 'Submitted batch job 7'", "7"),
        ("echo 'sbatch: warning' >&2; echo 7", "7"),
        ("echo 'Welcome'", None),
        ("echo 7; exit 1", None),
    ],
)
def test_what_sbatch_prints(commands: Path, run: RunFolder, sbatch: str, job: str | None) -> None:
    say(commands, sbatch=sbatch, squeue='echo "$@" >$0.asked; echo "CLUSTER: big"; echo "RUNNING|None|n1"')
    if job is None:
        with pytest.raises(CodedError, match="slurm_refused"):
            slurm.submit(run, 2, {}, os.environ)
        return
    assert slurm.submit(run, 2, {}, os.environ) == job
    assert slurm.state(job).state == "RUNNING"
    assert ("--clusters=big" in (commands / "squeue.asked").read_text()) == (job == "7;big")


def test_a_job_that_sbatch_does_not_tell_in_time_is_found(
    commands: Path, run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mindspeed_mm_train_profiler.runs.slurm_state.TIMEOUT_S", 0.5)
    say(commands, sbatch="exec sleep 20", squeue="echo 9")
    assert slurm.submit(run, 2, {}, os.environ) == "9"
    say(commands, sbatch="exec sleep 20", squeue=SILENT)
    with pytest.raises(CodedError, match="slurm_no_answer"):
        slurm.submit(run, 2, {}, os.environ)


def test_a_users_defaults_change_nothing(commands: Path, run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("SQUEUE_STATES", "SCANCEL_INTERACTIVE", "SACCT_FORMAT", "SBATCH_WAIT", "SBATCH_ARRAY_INX")
    for name in names:
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("SLURM_CONF", "kept")
    dump = "env >$0.env; "
    say(commands, squeue=dump, sacct=dump, scancel=dump, sbatch=dump + "echo 7")
    slurm.submit(run, 2, {}, os.environ)
    slurm.state("7")
    slurm.cancel("7")
    for command in ("squeue", "sacct", "scancel", "sbatch"):
        seen = (commands / f"{command}.env").read_text()
        assert "SLURM_CONF=kept" in seen
        assert not [name for name in names if name.lower().startswith(command) and f"{name}=" in seen]


@pytest.mark.parametrize(
    "asked",
    [
        {"partition": "main\n"},
        {"partition": "a b"},
        {"account": "x;y"},
        {"time": "1$(id)"},
        *({"sbatch": [word]} for word in ("--wait", "--requeue", "--req", "--test-only", "--open-mode=truncate", "-W")),
        *({"sbatch": [word]} for word in ("gres=npu:8", "--gres npu:8", "--comment=a\nb", "--arr=1-9", "--wrap")),
    ],
)
def test_options_that_are_not_passed_on(asked: dict[str, object]) -> None:
    with pytest.raises(CodedError, match="slurm_option_invalid"):
        slurm.options(asked)


def test_tasks_get_the_node_settings_and_processors_whatever_the_job_exports(
    commands: Path, run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.file("job").unlink()
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n[1-2,07]")
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", "24")
    hosts = "printf 'n1\\nn2\\nn07\\n'"
    say(
        commands,
        scontrol=f'case "$*" in *hostnames*) {hosts};; *) echo "NodeName=n1 NodeAddr=10.0.0.1";; esac',
        srun='echo "$@" >$0.asked; env >$0.env; exit 3',
    )
    assert slurm_job.batch(run) == 3
    asked, seen = (commands / "srun.asked").read_text(), (commands / "srun.env").read_text()
    assert "--export=ALL" in asked and "--cpus-per-task=24" in asked and "--ntasks=3" in asked
    assert "MM_PROFILER_NNODES=3\n" in seen and "MM_PROFILER_MASTER_ADDR=10.0.0.1\n" in seen
    assert (run.path / "hostfile").read_text() == "10.0.0.1\nn2\nn07\n"


def test_a_nodes_number_is_its_place_in_the_allocation(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """An arbitrary distribution orders srun's tasks otherwise; rank 0 must be where its address is."""
    monkeypatch.setenv("SLURM_NODEID", "0")
    monkeypatch.setenv("SLURMD_NODENAME", "n2")
    assert slurm_job.place_of(run) == 1
    monkeypatch.setenv("SLURMD_NODENAME", "n9")
    assert slurm_job.place_of(run) == 0


def test_an_array_of_which_slurm_tells_nothing_runs(commands: Path, run: RunFolder) -> None:
    run.write("job", {"sessions": [{"session": "a", "state": "waiting"}]})
    say(commands, squeue=UNREACHED, scontrol=UNREACHED)
    assert slurm_array.state(run)[0] == "running" and slurm_array.active(run)


def test_what_is_no_job_asks_nobody(commands: Path) -> None:
    say(commands, squeue="touch $0.asked; exit 0")
    assert slurm.state("7; rm -rf x").state is None
    assert not (commands / "squeue.asked").exists()
