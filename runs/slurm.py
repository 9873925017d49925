"""Slurm as it is: submit one job, ask for its state, cancel it. Nothing else of the cluster is touched.

Every command gets its arguments as a list, an own time limit, and no shell. States by squeue while the job is known
there, then by scontrol (for MinJobAge), then by sacct where accounting exists.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.runs.folder import RunFolder

TIMEOUT_S = 15.0
JOB_ID = re.compile(r"^\d+(?:_\d+)?$")
VALUE = re.compile(r"^[\w.,:@%/+=\-\[\]]{1,200}$")
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
)
PENDING = frozenset({"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SUSPENDED", "RESV_DEL_HOLD"})
RUNNING = frozenset({"RUNNING", "COMPLETING", "STAGE_OUT", "SIGNALING", "RESIZING", "STOPPED"})


@dataclass(frozen=True, slots=True)
class JobState:
    """``state`` in Slurm's own words; None: Slurm does not know the job (any more), or does not answer."""

    state: str | None
    reason: str | None = None
    nodes: str | None = None
    exit_code: int | None = None

    @property
    def active(self) -> bool:
        return self.state in PENDING or self.state in RUNNING


def available(environment: Mapping[str, str] | None = None) -> bool:
    path = environment.get("PATH") if environment is not None else None
    return shutil.which("sbatch", path=path) is not None


def call(argv: Sequence[str], environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run one of Slurm's commands. Errors: ``slurm_absent``, ``slurm_no_answer``."""
    try:
        return subprocess.run(
            list(argv),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            env=dict(environment) if environment is not None else None,
            check=False,
        )
    except FileNotFoundError:
        raise CodedError("slurm_absent", found=argv[0]) from None
    except subprocess.TimeoutExpired:
        raise CodedError("slurm_no_answer", found=argv[0], seconds=TIMEOUT_S) from None


def options(asked: Mapping[str, Any]) -> list[str]:
    """sbatch's arguments from ``partition``, ``account``, ``time`` and the free ``sbatch`` list.

    Errors: ``slurm_option_invalid`` (not an option, or one that this product sets itself).
    """
    found = []
    for name in ("partition", "account", "time"):
        value = asked.get(name)
        if value is not None:
            if not VALUE.match(str(value)):
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
    script = folder.path / "job.sh"
    script.write_text(JOB, encoding="utf-8")
    script.chmod(0o700)
    argv = [
        "sbatch",
        "--parsable",
        f"--job-name=mm-profiler-{folder.run_id}",
        f"--nodes={nodes}",
        "--ntasks-per-node=1",
        f"--output={folder.path / 'slurm.log'}",
        "--open-mode=append",
        "--no-requeue",
        *options(asked),
        str(script),
        sys.executable,
        str(folder.path),
    ]
    done = call(argv, environment)
    job = done.stdout.strip().partition(";")[0]
    if done.returncode or not JOB_ID.match(job):
        raise CodedError("slurm_refused", found=(done.stderr or done.stdout).strip()[-500:])
    return job


JOB = """#!/bin/sh
# mindspeed-mm-train-profiler: one task a node, each under its own supervisor
exec "$1" -m mindspeed_mm_train_profiler.runs.slurm_job batch "$2"
"""


def state(job: str) -> JobState:
    """What Slurm says of a job now."""
    if not JOB_ID.match(job):
        return JobState(None)
    try:
        done = call(["squeue", "-h", "-j", job, "-o", "%T|%r|%N"])
        if done.returncode == 0 and done.stdout.strip():
            word, reason, nodes = ([*done.stdout.strip().splitlines()[0].split("|"), "", ""])[:3]
            if word in PENDING or word in RUNNING:
                return JobState(word, reason if reason not in ("", "None") else None, nodes or None)
        done = call(["scontrol", "show", "job", "-o", job])
        if done.returncode == 0 and "JobState=" in done.stdout:
            return _from_scontrol(done.stdout)
        done = call(["sacct", "-n", "-X", "-P", "-j", job, "-o", "State,ExitCode,NodeList"])
        if done.returncode == 0 and done.stdout.strip():
            word, code, nodes = ([*done.stdout.strip().splitlines()[0].split("|"), "", ""])[:3]
            return JobState(word.partition(" ")[0], None, nodes or None, _code(code))
    except CodedError:
        return JobState(None)
    return JobState(None)


def _from_scontrol(text: str) -> JobState:
    fields = dict(part.partition("=")[::2] for part in text.split() if "=" in part)
    reason = fields.get("Reason")
    return JobState(
        fields.get("JobState"),
        None if reason in (None, "None") else reason,
        None if fields.get("NodeList") in (None, "(null)") else fields["NodeList"],
        _code(fields.get("ExitCode", "")),
    )


def _code(text: str) -> int | None:
    """``1:0`` is exit code 1; ``0:9`` signal 9, as 128 + 9."""
    first, _, second = text.partition(":")
    if not first.isdigit():
        return None
    return int(first) if int(first) or not second.isdigit() or not int(second) else 128 + int(second)


def cancel(job: str) -> None:
    """Cancel that job and no other. Error: ``slurm_refused``."""
    done = call(["scancel", job])
    if done.returncode and "Invalid job id" not in done.stderr:
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
