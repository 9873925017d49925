"""Slurm as it is: submit one job, ask for its state, cancel it. Nothing else of the cluster is touched.

How its commands are called, and what they say of a job: ``slurm_state.py``.
"""

import re
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.runs.folder import RunFolder
from mindspeed_mm_train_profiler.runs.slurm_state import (
    JOB_ID,
    PENDING,
    RUNNING,
    TIMEOUT_S,
    UNKNOWN,
    JobState,
    ask,
    call,
    state,
)

__all__ = ["PENDING", "RUNNING", "TIMEOUT_S", "JobState", "call", "state"]

SUBMITTED = re.compile(rf"(?:Submitted batch job )?({JOB_ID.pattern})$")
"""sbatch's line: others may stand before it (a site's wrapper greets, a plugin warns)."""
VALUE = re.compile(r"[\w.,:@%/+=\-\[\]]{1,200}")
OWN_VARIABLES = frozenset({"SBATCH_ARRAY_INX", "SBATCH_WAIT"})
"""sbatch's options that are not the user's to set here, as variables."""
WITHIN = ("SLURM_JOB_ID", "SLURM_JOBID")
KEPT = frozenset({"SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_JWT", "SLURM_TASK_PROLOG", "SLURM_TASK_EPILOG"})
"""What a server that runs inside an allocation hands on of Slurm's variables: the others describe that allocation, and
srun would take them for the new job's (its memory, its processors)."""
OWN_OPTIONS = (
    "--wrap",
    "--output",
    "--error",
    "--nodes",
    "--ntasks",
    "--parsable",
    "--chdir",
    "--export",
    "--array",
    "--job-name",
    "--open-mode",
    "--requeue",
    "--no-requeue",
    "--test-only",
    "--wait",
)


def available(environment: Mapping[str, str] | None = None) -> bool:
    path = environment.get("PATH") if environment is not None else None
    return shutil.which("sbatch", path=path) is not None


def options(asked: Mapping[str, Any]) -> list[str]:
    """sbatch's arguments from ``partition``, ``account``, ``time`` and the free ``sbatch`` list.

    Errors: ``slurm_option_invalid`` (not an option, or one that this product sets itself).
    """
    found = []
    for name in ("partition", "account", "time"):
        value = asked.get(name)
        if value is not None:
            if not VALUE.fullmatch(str(value)):
                raise CodedError("slurm_option_invalid", found=f"{name}={value!r}")
            found.append(f"--{name}={value}")
    for word in asked.get("sbatch") or ():
        name = str(word).partition("=")[0]
        known = any(own.startswith(name) for own in OWN_OPTIONS) or not re.match(r"^--[a-z][a-z0-9-]*$", name)
        if known or "\n" in str(word) or "\0" in str(word):
            raise CodedError("slurm_option_invalid", found=str(word))
        found.append(str(word))
    return found


def submit(folder: RunFolder, nodes: int, asked: Mapping[str, Any], environment: Mapping[str, str]) -> str:
    """Submit the run's one job; its id. Errors: those above, ``slurm_refused`` with sbatch's own words."""
    words = [
        f"--nodes={nodes}",
        "--ntasks-per-node=1",
        f"--output={folder.path / 'slurm.log'}",
        *options(asked),
    ]
    return sbatch(folder, JOB, words, environment)


def sbatch(folder: RunFolder, program: str, words: Sequence[str], environment: Mapping[str, str]) -> str:
    """Submit ``program`` for a run's folder; the job's id, as ``id;cluster`` where sbatch names a cluster.

    A job that sbatch made without telling it in time is known by its name. Errors: as ``submit``.
    """
    script = folder.path / "job.sh"
    script.write_text(program, encoding="utf-8")
    script.chmod(0o700)
    argv = ["sbatch", "--parsable", f"--job-name={name_of(folder)}", *words, "--open-mode=append", "--no-requeue"]
    within = any(name in environment for name in WITHIN)
    own = {
        name: value
        for name, value in environment.items()
        if name not in OWN_VARIABLES and (name in KEPT or not (within and name.startswith("SLURM_")))
    }
    try:
        done = call([*argv, str(script), sys.executable, str(folder.path)], own)
    except CodedError as error:
        found = named(name_of(folder)) if error.code == "slurm_no_answer" else None
        if found is None:
            raise
        return found
    told = [match for line in done.stdout.splitlines() if (match := SUBMITTED.match(line.strip()))]
    if done.returncode or not told:
        raise CodedError("slurm_refused", found=(done.stderr or done.stdout).strip()[-500:])
    return told[-1][1]


JOB = """#!/bin/sh
# mindspeed-mm-train-profiler: one task a node, each under its own supervisor
exec "$1" -m mindspeed_mm_train_profiler.runs.slurm_job batch "$2"
"""


def name_of(folder: RunFolder) -> str:
    """The name of a run's job: no other job has it, whatever becomes of numbers."""
    return f"mm-profiler-{folder.run_id}"


def named(name: str) -> str | None:
    """The id of the user's waiting or running job of that name. Errors: ``slurm_absent``, ``slurm_no_answer``."""
    done = ask("squeue", "-h", f"--name={name}", "-o", "%A")
    ids = [line.strip() for line in done.stdout.splitlines() if JOB_ID.fullmatch(line.strip())]
    if done.returncode:
        raise CodedError("slurm_no_answer", found="squeue", seconds=TIMEOUT_S)
    return ids[0] if ids else None


def job_of(folder: RunFolder) -> str | None:
    """The id of a run's job: from its records, or by its name where the server ended before it wrote it down.

    Errors: those of ``named``.
    """
    told = (folder.read("run") or {}).get("job_id") or (folder.read("job") or {}).get("job_id")
    return str(told) if told else named(name_of(folder))


def state_of(folder: RunFolder) -> JobState:
    """The state of a run's job. Its end is kept in the folder: Slurm forgets it, and gives the number to others."""
    if (kept := folder.read("slurm")) is not None:
        return JobState(kept.get("state"), kept.get("reason"), kept.get("nodes"), kept.get("exit_code"))
    try:
        job = job_of(folder)
    except CodedError:
        return JobState(None, silent=True)
    if job is None:  # sbatch may be at work
        return JobState(
            None, silent=time.time() - float((folder.read("run") or {}).get("created") or 0) < 2 * TIMEOUT_S
        )
    found = state(job, name_of(folder))
    if found.state is not None and not found.active:
        with suppress(OSError):
            folder.write("slurm", asdict(found))
    return found


def cancel(job: str) -> None:
    """Cancel that job and no other. Error: ``slurm_refused``."""
    done = ask("scancel", job.partition(";")[0], job=job)
    if done.returncode and UNKNOWN not in done.stderr:
        raise CodedError("slurm_refused", found=done.stderr.strip()[-300:])


def node_folder(folder: RunFolder, node: int) -> RunFolder:
    """The records of one node of the run."""
    return RunFolder(folder.path / "nodes" / str(node))


def node_folders(folder: RunFolder) -> list[RunFolder]:
    """All nodes that have written something, by number."""
    try:
        names = sorted(int(path.name) for path in (folder.path / "nodes").iterdir() if path.name.isdigit())
    except OSError:
        return []
    return [node_folder(folder, number) for number in names[:4096]]


def is_slurm(folder: RunFolder) -> bool:
    return (folder.read("run") or {}).get("launcher") == "slurm"


def log_of(folder: RunFolder) -> Path:
    return folder.path / "slurm.log"
