"""Starting a run: one per configuration at a time, whoever asks and however often."""

import fcntl
import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.runs import recorder
from mindspeed_mm_train_profiler.runs.folder import RECORD_VARIABLE, RUN_VARIABLE, RunFolder, alive, all_runs, runs_dir
from mindspeed_mm_train_profiler.runs.processes import members
from mindspeed_mm_train_profiler.state import new_id, private_folder, state_dir

START_WAIT_S = 1.5


@contextmanager
def launch_lock(config_id: str) -> Iterator[None]:
    """Held while it is decided whether a configuration runs; the kernel drops it with the process that held it."""
    folder = private_folder(state_dir() / "locks")
    name = hashlib.sha256(config_id.encode()).hexdigest()[:24]
    handle = os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def active(folder: RunFolder) -> bool:
    """Whether a run has not ended: its supervisor lives, or was started this instant; its job, where Slurm has it."""
    run = folder.read("run") or {}
    if run.get("launcher") == "slurm":
        from mindspeed_mm_train_profiler.runs import slurm

        return slurm.state(str(run.get("job_id"))).active if run.get("job_id") else False
    if folder.read("end") is not None:
        return False
    supervisor = folder.read("supervisor")
    if supervisor is None:
        run = folder.read("run") or {}
        return time.time() - float(run.get("created", 0)) < 30
    return alive(supervisor)


def orphaned(folder: RunFolder) -> bool:
    """Whether a run's training lives on although its supervisor is gone: killed, by its own script or by others."""
    run = folder.read("run") or {}
    if run.get("launcher") == "slurm" or folder.read("end") is not None:
        return False
    return bool(members(folder))


def existing(config_id: str, key: str | None) -> RunFolder | None:
    """The run that a repeated request means: the same key's, whatever became of it, or the one that still trains."""
    for folder in all_runs():
        run = folder.read("run")
        if not run or run.get("config_id") != config_id:
            continue
        if (key is not None and run.get("idempotency_key") == key) or active(folder) or orphaned(folder):
            return folder
    return None


def start(build: Mapping[str, Any], environment: Mapping[str, str], key: str | None) -> RunFolder:
    """Make the run's folder and start its supervisor. The caller holds the launch lock."""
    private_folder(runs_dir())
    run_id = new_id("run")
    folder = RunFolder(private_folder(runs_dir() / run_id))
    record = recorder.install(folder.path)
    env = {**environment, **dict(build.get("env") or {}), RECORD_VARIABLE: str(record), RUN_VARIABLE: run_id}
    folder.write("build", dict(build))
    folder.write(
        "run",
        {
            "version": 1,
            "run_id": run_id,
            "config_id": build["config_id"],
            "idempotency_key": key,
            "created": time.time(),
            "argv": build["argv"],
            "workdir": build["workdir"],
            "environment": env,
            "log_file": build.get("log_file"),
        },
    )
    return begin(folder)


def submit(
    build: Mapping[str, Any], environment: Mapping[str, str], key: str | None, asked: Mapping[str, Any]
) -> RunFolder:
    """Make the run's folder and submit its Slurm job. The caller holds the launch lock. Errors: those of ``slurm``."""
    from mindspeed_mm_train_profiler.runs import slurm

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
    }
    folder.write("build", dict(build))
    folder.write("run", run)
    try:
        job = slurm.submit(folder, nodes, asked, environment)
    except CodedError:
        import shutil

        shutil.rmtree(folder.path, ignore_errors=True)
        raise
    folder.write("run", {**run, "job_id": job})
    return folder


def begin(folder: RunFolder) -> RunFolder:
    """Start the supervisor of a prepared folder and wait until it has told its pid. Error: supervisor_not_started."""
    handle = os.open(folder.path / "supervisor.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    try:
        subprocess.run(
            [sys.executable, "-m", "mindspeed_mm_train_profiler.runs.supervisor", str(folder.path)],
            stdin=subprocess.DEVNULL,
            stdout=handle,
            stderr=handle,
            cwd="/",
            env=environment,
            timeout=20,
            check=False,
        )
    finally:
        os.close(handle)
    deadline = time.monotonic() + START_WAIT_S
    while time.monotonic() < deadline:
        if folder.read("script") or folder.read("end"):
            return folder
        time.sleep(0.02)
    if folder.read("supervisor") is None:
        log = (folder.path / "supervisor.log").read_text(encoding="utf-8", errors="replace").strip()
        raise CodedError("supervisor_not_started", found=log.splitlines()[-1] if log else str(folder.path))
    return folder


def fingerprint(path: Path) -> str | None:
    """SHA-256 of a file; None where it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None
