"""What is told of a run's single nodes: their logs, their ends, and a job that no node could start."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.runs import parse_job, slurm, slurm_array, slurm_poll
from mindspeed_mm_train_profiler.runs.folder import RunFolder


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """A run over three nodes; Slurm's commands say what the file ``said`` holds."""
    for name in ("squeue", "scontrol", "sacct", "sbatch", "scancel"):
        (tmp_path / name).write_text(f"#!/bin/sh\n[ {name} = scontrol ] && cat {tmp_path}/said\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    folder = RunFolder(tmp_path / "run-20260101-000000-abc123")
    folder.path.mkdir()
    folder.write(
        "run", {"launcher": "slurm", "run_id": folder.run_id, "nodes": 3, "job_id": "9", "created": time.time()}
    )
    folder.write("build", {"train_iters": 50})
    return folder


def says(folder: RunFolder, words: str) -> None:
    (folder.path.parent / "said").write_text(f"JobId=9 JobName={slurm.name_of(folder)} {words}\n", encoding="utf-8")


def node(folder: RunFolder, number: int, log: str, iteration: int | None = None, **run: Any) -> RunFolder:
    own = slurm.node_folder(folder, number)
    own.path.mkdir(parents=True, exist_ok=True)
    own.write("run", run)
    own.write("script", {"pid": 0})
    own.log.write_text(log, encoding="utf-8")
    if iteration is not None:
        own.write("status", {"iteration": iteration})
    return own


def test_a_cursor_counts_in_the_log_that_it_came_from(job: RunFolder) -> None:
    """First the job's own log, then the first node's, then the one that prints iterations: no line is passed over."""
    says(job, "JobState=RUNNING Reason=None NodeList=n[1-3]")
    slurm.log_of(job).write_text("the job begins\n" * 40, encoding="utf-8")
    first = slurm_poll.poll_job(job, 0, 100)
    assert len(first["log_tail"]) == 40
    node(job, 0, "first node's line\n" * 20)
    second = slurm_poll.poll_job(job, first["cursor"], 100)
    assert second["log_tail"] == ["first node's line"] * 20
    again = slurm_poll.poll_job(job, second["cursor"], 100)
    assert again["log_tail"] == [] and again["cursor"] == second["cursor"] < 2**53
    printing = node(job, 2, "iteration line\n" * 30, iteration=30)
    third = slurm_poll.poll_job(job, again["cursor"], 100)
    assert third["log_tail"] == ["iteration line"] * 30
    with printing.log.open("a", encoding="utf-8") as file:
        file.write("one more\n")
    assert slurm_poll.poll_job(job, third["cursor"], 100)["log_tail"] == ["one more"]
    asked = slurm_poll.poll_job(job, third["cursor"], 100, node=0)
    assert asked["log_tail"] == ["first node's line"] * 20, "another node's log, with the cursor of the last answer"


def test_a_node_that_the_run_does_not_have_is_refused(job: RunFolder) -> None:
    says(job, "JobState=RUNNING Reason=None NodeList=n[1-3]")
    assert slurm_poll.poll_job(job, None, 5, node=2)["log_tail"] == []
    with pytest.raises(CodedError, match="node_unknown") as refused:
        slurm_poll.poll_job(job, None, 5, node=3)
    assert refused.value.expected == "0..2"


def test_a_secret_of_a_nodes_environment_is_hidden_in_its_log(job: RunFolder) -> None:
    says(job, "JobState=RUNNING Reason=None NodeList=n[1-3]")
    node(job, 1, "logging in with hunter2-of-the-team\n", environment={"TEAM_TOKEN": "hunter2-of-the-team"})
    assert "hunter2" not in str(slurm_poll.poll_job(job, None, 5, node=1)["log_tail"])


@pytest.mark.parametrize(
    ("words", "stopped", "state", "rows"),
    [
        ("JobState=RUNNING Reason=None", False, "running", ["succeeded", "running", "starting"]),
        ("JobState=CANCELLED Reason=None", True, "stopped", ["succeeded", "stopped", "stopped"]),
        ("JobState=NODE_FAIL Reason=NodeDown", False, "failed", ["succeeded", "lost", "lost"]),
    ],
)
def test_no_node_runs_in_a_run_that_has_ended(
    job: RunFolder, words: str, stopped: bool, state: str, rows: list[str]
) -> None:
    says(job, words)
    node(job, 0, "").write("end", {"ended": time.time(), "launcher_exit_codes": [0]})
    node(job, 1, "")
    if stopped:
        job.write("stop", {"asked": time.time()})
    told = slurm_poll.poll_job(job, None, 5)
    assert told["state"] == state and [row["state"] for row in told["nodes"]] == rows


def test_a_job_that_no_node_could_start_is_told_as_a_folder_not_shared(job: RunFolder) -> None:
    """slurmd opens the job's log before anything of ours runs."""
    says(job, "JobState=FAILED Reason=JobLaunchFailure NodeList=n[1-3] ExitCode=0:53")
    told = slurm_poll.poll_job(job, None, 5)
    assert [row["code"] for row in told["diagnosis"]] == ["slurm_not_shared"]


def test_a_task_of_a_parse_shows_its_own_log(job: RunFolder) -> None:
    says(job, "JobState=RUNNING Reason=None")
    job.write("run", {**(job.read("run") or {}), "launcher": "slurm_array"})
    job.write("job", {"path": "/x", "sessions": [{"session": f"s{n}", "state": "waiting"} for n in range(2)]})
    for number in range(2):
        (job.path / f"slurm-{number}.log").write_text(f"task {number}\n" * (3 - number), encoding="utf-8")
    first = parse_job.look(job, None, 10, 0)
    assert first["log_tail"] == ["task 0"] * 3
    assert parse_job.look(job, first["cursor"], 10, 1)["log_tail"] == ["task 1"] * 2
    with pytest.raises(CodedError, match="node_unknown"):
        slurm_array.poll(job, None, 10, 2)


@pytest.mark.parametrize("within", [True, False])
def test_an_allocation_around_the_server_is_not_the_jobs(
    job: RunFolder, monkeypatch: pytest.MonkeyPatch, within: bool
) -> None:
    """srun takes SLURM_MEM_PER_CPU and its like for the new job's, and refuses it beside another one."""
    seen = job.path.parent / "seen"
    (job.path.parent / "sbatch").write_text(f"#!/bin/sh\nenv > {seen}\necho 12\n", encoding="utf-8")
    around = {"SLURM_CONF": "/etc/x.conf", "SLURM_MPI_TYPE": "none", "SLURM_MEM_PER_CPU": "100", "OTHER": "1"}
    if within:
        around["SLURM_JOB_ID"] = "77"
    assert slurm.submit(job, 3, {}, {"PATH": os.environ["PATH"], **around}) == "12"
    told = dict(line.partition("=")[::2] for line in seen.read_text(encoding="utf-8").splitlines())
    assert told["SLURM_CONF"] == "/etc/x.conf" and told["OTHER"] == "1" and "SLURM_JOB_ID" not in told
    assert ("SLURM_MEM_PER_CPU" in told, "SLURM_MPI_TYPE" in told) == (not within, not within)
