"""What Slurm says of a job. Every command gets its arguments as a list, an own time limit, and no shell.

By squeue while the job is known there, then by scontrol (for MinJobAge), then by sacct where accounting exists.
"""

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from mindspeed_mm_train_profiler.errors import CodedError

TIMEOUT_S = 15.0
JOB_ID = re.compile(r"\d+(?:_\d+)?(?:;[\w.\-]+)?")
"""A job's number, of an array's task too; with its cluster where there are several."""
STATE = re.compile(r"[A-Z_]+")
"""The word itself: ``CANCELLED by 1000``, ``CANCELLED+``."""
UNKNOWN = "Invalid job id"
UNREACHED = re.compile(r"(?i)unable to contact|connect failure|timed out|zero bytes were transmitted")
"""The controller is away: another command would wait for it as long (10 s and more)."""
DEFAULTS = ("SQUEUE_", "SCANCEL_", "SACCT_")
"""Variables with a user's own defaults for the commands that ask and cancel: filters, formats, a question first."""
PENDING = frozenset(
    {"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD", "SPECIAL_EXIT"}
)
RUNNING = frozenset(
    {
        "RUNNING",
        "SUSPENDED",
        "COMPLETING",
        "STAGE_OUT",
        "SIGNALING",
        "RESIZING",
        "STOPPED",
        "POWER_UP_NODE",
        "UPDATE_DB",
    }
)


@dataclass(frozen=True, slots=True)
class JobState:
    """``state`` in Slurm's own words; None: Slurm does not know the job (any more), or is ``silent``: it gives no
    answer, and nothing is known of the job, least of all that it has ended."""

    state: str | None
    reason: str | None = None
    nodes: str | None = None
    exit_code: int | None = None
    silent: bool = False

    @property
    def active(self) -> bool:
        return self.state in PENDING or self.state in RUNNING


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


def ask(*argv: str, job: str = "") -> subprocess.CompletedProcess[str]:
    """One of the commands that ask or cancel, without the user's defaults for them; ``job``: whose cluster is meant."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(DEFAULTS)}
    cluster = job.partition(";")[2]
    return call([argv[0], *((f"--clusters={cluster}",) if cluster else ()), *argv[1:]], own)


def state(job: str, name: str | None = None) -> JobState:
    """What Slurm says of a job now. ``name``: what it must be called; a number that means another job now is none."""
    if not JOB_ID.fullmatch(job):
        return JobState(None)
    unknown = False
    try:
        with suppress(Away):
            for told in (_from_squeue, _from_scontrol):
                found, denied = told(job, name)
                unknown = unknown or denied
                if found is not None:
                    return found
        return _from_sacct(job, name) or JobState(None, silent=not unknown)
    except CodedError as error:
        return JobState(None, silent=not (unknown and error.code == "slurm_absent"))  # no accounting there


class Away(Exception):
    """The controller gives no answer; accounting may."""


Told = tuple[JobState | None, bool]
"""A state, where one was told; and whether there is no such job."""


def _denied(done: subprocess.CompletedProcess[str]) -> bool:
    """Whether there is no such job. Error: ``Away``."""
    if done.returncode and UNREACHED.search(done.stderr):
        raise Away
    return UNKNOWN in done.stderr


def _from_squeue(job: str, name: str | None) -> Told:
    """Waiting and running jobs, and tasks of an array: one that runs speaks for all."""
    done = ask("squeue", "-h", "-j", job.partition(";")[0], "-o", "%T|%r|%N|%j", job=job)
    found = []
    for line in done.stdout.splitlines() if done.returncode == 0 else ():
        word, reason, nodes, called = [*line.strip().split("|"), "", "", ""][:4]
        if word in PENDING or word in RUNNING:
            if name and called and called != name:
                return None, True
            found.append(JobState(word, reason if reason not in ("", "None") else None, nodes or None))
    found.sort(key=lambda one: one.state in PENDING)
    return (found[0] if found else None), _denied(done)


def _from_scontrol(job: str, name: str | None) -> Told:
    """What the controller remembers (MinJobAge); of an array's tasks, one that did not complete."""
    done = ask("scontrol", "show", "job", "-o", job.partition(";")[0], job=job)
    found = []
    for line in done.stdout.splitlines() if done.returncode == 0 else ():
        fields: dict[str, str] = {}
        for key, equals, value in (part.partition("=") for part in line.split()):
            if equals:
                fields.setdefault(key, value)  # a comment with blanks may look like a field: what stands first counts
        if name and fields.get("JobName", name) != name:
            return None, True
        if word := STATE.match(fields.get("JobState", "")):
            reason, nodes = fields.get("Reason"), fields.get("NodeList")
            found.append(
                JobState(
                    word[0],
                    None if reason in (None, "None") else reason,
                    None if nodes in (None, "(null)") else nodes,
                    _code(fields.get("ExitCode", "")),
                )
            )
    found.sort(key=lambda one: one.state == "COMPLETED")
    return (found[0] if found else None), _denied(done)


def _from_sacct(job: str, name: str | None) -> JobState | None:
    fields = "State,ExitCode,NodeList,JobName"
    done = ask("sacct", "-n", "-X", "-P", "-j", job.partition(";")[0], "-o", fields, job=job)
    for line in done.stdout.splitlines() if done.returncode == 0 else ():
        text, code, nodes, called = [*line.strip().split("|"), "", "", ""][:4]
        if (word := STATE.match(text)) and (not name or called in ("", name)):
            return JobState(word[0], None, nodes or None, _code(code))
    return None


def _code(text: str) -> int | None:
    """``1:0`` is exit code 1; ``0:9`` signal 9, as 128 + 9."""
    first, _, second = text.partition(":")
    if not first.isdigit():
        return None
    return int(first) if int(first) or not second.isdigit() or not int(second) else 128 + int(second)
