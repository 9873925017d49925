"""Slurm behind the launchers' interface: one job a run, its state joined with what its nodes wrote."""

import shutil
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.runs import preflight, slurm, slurm_poll
from mindspeed_mm_train_profiler.runs.folder import RunFolder, runs_dir
from mindspeed_mm_train_profiler.runs.preflight import Finding
from mindspeed_mm_train_profiler.state import new_id, private_folder

NOBODY: dict[str, list[dict[str, Any]]] = {"terminated": [], "killed": []}


def findings(build: Mapping[str, Any], environment: Mapping[str, str]) -> list[Finding]:
    """On a login node: files, disk, umask. Error: ``nodes_missing`` (the build follows no allocation)."""
    if not build.get("nodes"):
        raise CodedError("nodes_missing", found=str(build["config_id"]))
    return list(preflight.look_cluster(build))


def start(
    build: Mapping[str, Any],
    environment: Mapping[str, str],
    key: str | None,
    asked: Mapping[str, Any],
    allowed: Iterable[str],
    findings: Iterable[Finding],
) -> RunFolder:
    """Submit the run's job. Errors: those of ``slurm``; a refused job leaves no folder."""
    nodes = int(build["nodes"])
    slurm.options(asked)  # refused before anything is made
    private_folder(runs_dir())
    run_id = new_id("run")
    folder = RunFolder(private_folder(runs_dir() / run_id))
    run = {
        "version": 1,
        "launcher": "slurm",
        "run_id": run_id,
        "config_id": build["config_id"],
        "idempotency_key": key,
        "created": time.time(),
        "argv": build["argv"],
        "workdir": build["workdir"],
        "nodes": nodes,
        "job_id": None,
        "asked": dict(asked),
        "log_file": None,
        "allowed": sorted(allowed),
    }
    folder.write("build", dict(build))
    folder.write("run", run)
    try:
        job = slurm.submit(folder, nodes, asked, environment)
    except CodedError:
        shutil.rmtree(folder.path, ignore_errors=True)
        raise
    folder.write("run", {**run, "job_id": job})
    return folder


def active(folder: RunFolder) -> bool:
    """A job of which Slurm tells nothing may be running: it counts, unless all its nodes have written their end."""
    job = slurm.state_of(folder)
    return job.active or (job.silent and not slurm_poll.complete(folder))


def orphaned(folder: RunFolder) -> bool:
    """Never: what Slurm does not know any more, it has ended."""
    return False


def state(folder: RunFolder) -> tuple[str, int | None, int | None]:
    word, code, _ = slurm_poll.state_of(folder)
    return word, code, None


poll = slurm_poll.poll_job


def stop(folder: RunFolder, grace_s: float) -> dict[str, Any]:
    """Cancel the run's own job; Slurm ends the processes on its nodes, after its KillWait.

    Errors: ``slurm_no_answer``, ``slurm_refused``: nobody knows whether it goes on.
    """
    now = slurm.state_of(folder)
    if not now.active and not now.silent:
        return {"already_ended": True, **NOBODY, "left": []}
    job = slurm.job_of(folder)
    if job is None:
        raise CodedError("slurm_no_answer", found="sbatch", seconds=slurm.TIMEOUT_S)
    first = folder.read("stop") is None
    if first:
        folder.write("stop", {"asked": time.time(), "grace_s": grace_s})
    try:
        slurm.cancel(job)
    except CodedError:
        if first:
            folder.file("stop").unlink(missing_ok=True)  # nobody was asked to end anything
        raise
    deadline = time.monotonic() + max(grace_s, 5.0)
    while (left := active(folder)) and time.monotonic() < deadline:
        time.sleep(0.5)
    return {
        "already_ended": False,
        **NOBODY,
        "left": [{"pid": 0, "name": f"slurm job {job}"}] if left else [],
    }


def log(folder: RunFolder) -> Path:
    return slurm.log_of(folder)
