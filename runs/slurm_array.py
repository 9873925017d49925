"""An offline parse as a Slurm array behind the launchers' interface: one session a task, each with its own progress.

job.json          what to parse (as of a parse on this host; the environment is found on each node)
progress-N.json   what became of session N, from its task
slurm-N.log       what task N printed
"""

import re
import shutil
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.runs import poll as looks
from mindspeed_mm_train_profiler.runs import slurm
from mindspeed_mm_train_profiler.runs.folder import RunFolder, runs_dir
from mindspeed_mm_train_profiler.runs.preflight import Finding
from mindspeed_mm_train_profiler.runs.slurm_launcher import active, orphaned, stop
from mindspeed_mm_train_profiler.state import new_id, private_folder

__all__ = ["active", "findings", "log", "orphaned", "poll", "start", "state", "stop"]
AT_ONCE = 16
"""Tasks that run at the same time: a parse is heavy on disks that all of them share."""
LOG = re.compile(r"^slurm-\d+\.log$")
JOB = """#!/bin/sh
# mindspeed-mm-train-profiler: one profiler session a task
exec "$1" -m mindspeed_mm_train_profiler.runs.parse_task "$2" "$SLURM_ARRAY_TASK_ID"
"""


def findings(build: Mapping[str, Any], environment: Mapping[str, str]) -> list[Finding]:
    """None: what to parse was chosen before."""
    return []


def start(
    build: Mapping[str, Any],
    environment: Mapping[str, str],
    key: str | None,
    asked: Mapping[str, Any],
    allowed: Iterable[str],
    findings: Iterable[Finding],
) -> RunFolder:
    """Submit the array. ``build``: the parse's job. Errors: those of ``slurm``; a refused array leaves no folder."""
    sessions = build["sessions"]
    extra = slurm.options(asked)
    private_folder(runs_dir())
    run_id = new_id("parse")
    folder = RunFolder(private_folder(runs_dir() / run_id))
    run = {
        "version": 1,
        "kind": "parse",
        "launcher": "slurm_array",
        "run_id": run_id,
        "config_id": None,
        "idempotency_key": key,
        "created": time.time(),
        "job_id": None,
        "log_file": None,
    }
    folder.write("job", dict(build))
    folder.write("build", {"script": str(build["path"]), "save_path": str(build["path"])})
    folder.write("run", run)
    words = [f"--array=0-{len(sessions) - 1}%{AT_ONCE}", "--ntasks=1", f"--output={folder.path}/slurm-%a.log", *extra]
    try:
        job = slurm.sbatch(folder, JOB, words, environment)
    except CodedError:
        shutil.rmtree(folder.path, ignore_errors=True)
        raise
    folder.write("run", {**run, "job_id": job})
    return folder


def rows(folder: RunFolder) -> list[dict[str, Any]]:
    """One row a session, with its own task's word where there is one."""
    found = [dict(row) for row in (folder.read("job") or {}).get("sessions") or []]
    return [folder.read(f"progress-{number}") or row for number, row in enumerate(found)]


def state(folder: RunFolder) -> tuple[str, int | None, int | None]:
    """By what the sessions are; an array that Slurm ended before all were parsed has failed."""
    job = slurm.state_of(folder)
    if job.state in slurm.PENDING:
        return "starting", None, None
    if job.active:
        return "running", None, None
    states = {row.get("state") for row in rows(folder)}
    if states == {"valid"}:
        return "succeeded", 0, None
    if job.silent:
        return "running", None, None
    if folder.read("stop") is not None:
        return "stopped", None, None
    unfinished = states & {"waiting", "parsing", None}
    return ("lost" if unfinished and job.state is None else "failed"), job.exit_code, None


def log(folder: RunFolder) -> Path:
    """The log that was written last."""
    logs = [path for path in folder.path.iterdir() if LOG.match(path.name)]
    return max(logs, key=lambda path: path.stat().st_mtime, default=folder.path / "slurm-0.log")


def _number(path: Path) -> int:
    return int(path.stem.rpartition("-")[2])


def poll(folder: RunFolder, cursor: int | None, lines: int, node: int | None = None) -> dict[str, Any]:
    """``node``: whose task's log."""
    looks.check_node(node, len(rows(folder)))
    now, code, _ = state(folder)
    path = folder.path / f"slurm-{node}.log" if node is not None else log(folder)
    shown, position, left = looks.tail_in(path, _number(path), cursor, lines, looks.secrets_of(folder))
    run = folder.read("run") or {}
    job = slurm.state_of(folder)
    return {
        "run_id": folder.run_id,
        "config_id": None,
        "state": now,
        "phase": "parsing",
        "iteration": None,
        "exit_code": code,
        "signal": None,
        "started": looks.iso(run.get("created")),
        "log_tail": shown,
        "log_path": str(path),
        "cursor": position,
        "omitted_bytes": left,
        "slurm": {"job_id": run.get("job_id"), "state": job.state, "reason": job.reason, "nodes": job.nodes},
    }
