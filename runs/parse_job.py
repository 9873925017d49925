"""Offline parsing as a job with a run's folder: it outlives the server, is followed and stopped like a run.

job.json       sessions to parse and skipped, interpreter, environment of the training
progress.json  state by session, from the worker
"""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.runs import launch, poll, this_host
from mindspeed_mm_train_profiler.runs.folder import RUN_VARIABLE, RunFolder, all_runs, runs_dir
from mindspeed_mm_train_profiler.state import new_id, private_folder

WORKER = "mindspeed_mm_train_profiler.profile_data.parse_worker"
PREFIX = "parse-"


def running_on(sessions: Sequence[str]) -> RunFolder | None:
    """A job that is parsing one of these sessions now. The caller holds the lock of ``PREFIX``."""
    wanted = set(sessions)
    for folder in all_runs():
        if not folder.run_id.startswith(PREFIX) or not launch.active(folder):
            continue
        job = folder.read("job") or {}
        if wanted & {row.get("session") for row in job.get("sessions") or []}:
            return folder
    return None


def start(job: Mapping[str, Any], *, python: str, environment: Mapping[str, str]) -> RunFolder:
    """Start the worker under a supervisor of its own. Error: supervisor_not_started."""
    private_folder(runs_dir())
    run_id = new_id("parse")
    folder = RunFolder(private_folder(runs_dir() / run_id))
    folder.write("job", dict(job))
    folder.write("build", {"script": str(job["path"]), "save_path": str(job["path"])})
    folder.write(
        "run",
        {
            "version": 1,
            "kind": "parse",
            "run_id": run_id,
            "config_id": None,
            "idempotency_key": None,
            "created": time.time(),
            "argv": [python, "-m", WORKER, str(folder.path)],
            "workdir": "/",
            "environment": {**environment, RUN_VARIABLE: run_id},
            "log_file": None,
        },
    )
    return this_host.begin(folder)


def look(folder: RunFolder, cursor: int | None, lines: int, node: int | None = None) -> dict[str, Any]:
    """A poll's facts, with ``parse``: {done, total, current, sessions}, and neither window nor iteration."""
    facts = poll.poll(folder, cursor, lines, node)
    progress = folder.read("progress") or {}
    if (folder.read("run") or {}).get("launcher") == "slurm_array":
        from mindspeed_mm_train_profiler.runs import slurm_array

        rows = slurm_array.rows(folder)
        progress = {"sessions": rows, "current": next((n for n, r in enumerate(rows) if r["state"] == "parsing"), None)}
    rows = progress.get("sessions") or (folder.read("job") or {}).get("sessions") or []
    done = sum(row.get("state") not in {None, "waiting", "parsing"} for row in rows)
    now = progress.get("current")
    alive = facts["state"] in poll.ACTIVE
    current = rows[now]["session"] if alive and isinstance(now, int) and now < len(rows) else None
    failed = [row for row in rows if row.get("state") not in {None, "waiting", "parsing", "valid"}]
    facts.update(
        phase="parsing" if alive else "done",
        sessions_seen=[],
        diagnosis=[
            {"code": code, "rank": row.get("rank"), "evidence": str(row.get("error") or row["session"]), "line": None}
            for row in failed[:6]
            for code in (row.get("problems") or ["parse_gave_less"])[:1]
        ],
        parse={"done": done, "total": len(rows), "current": current, "sessions": rows},
        path=str((folder.read("job") or {}).get("path") or ""),
        of_run=(folder.read("job") or {}).get("run_id"),
    )
    return facts


def session_path(path: Path) -> str:
    """The path that the parser is given: without links, which torch_npu up to 26.0 refuses."""
    return str(path.resolve())
