"""check_env on a node of Slurm, asked from a login node: the same command inside an allocation of two minutes."""

import json
import os
import sys
from typing import Any

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.skill import wording
from mindspeed_mm_train_profiler.tools.check_env import CheckEnvResult

WAIT_S, LIMIT_MINUTES = 60, 3
"""How long Slurm may take to find a node, and how long the look itself may take there."""


def check_node(
    options: list[str], *, script: str | None, python: str | None, workdir: str | None, language: wording.Language
) -> CheckEnvResult:
    """Run the terminal command ``env`` through srun. Errors: ``slurm_absent``, ``slurm_option_invalid``,
    ``slurm_no_answer``, ``slurm_refused`` (no node within ``WAIT_S``, or srun's own words)."""
    from mindspeed_mm_train_profiler.npu_host import child
    from mindspeed_mm_train_profiler.runs import slurm

    asked = {"script": script, "python": python, "workdir": workdir}
    argv = [
        "srun",
        "--nodes=1",
        "--ntasks=1",
        f"--immediate={WAIT_S}",
        f"--time={LIMIT_MINUTES}",
        *slurm.options({"sbatch": options}),
        sys.executable,
        "-m",
        "mindspeed_mm_train_profiler.cli",
        "env",
        "--json",
        f"--language={language}",
        *(f"--{name}={value}" for name, value in asked.items() if value is not None),
    ]
    seconds = WAIT_S + 60 * LIMIT_MINUTES
    try:
        done = child.ask(argv, os.environ, timeout_s=seconds)
    except FileNotFoundError:
        raise CodedError("slurm_absent", found="srun") from None
    if done.code is None:
        raise CodedError("slurm_no_answer", found="srun", seconds=seconds)
    told = _object(done.out.decode("utf-8", "replace"))
    if told is None or "ready" not in told:
        said = (told or {}).get("error", {}).get("message") or done.err.decode("utf-8", "replace").strip()
        raise CodedError("slurm_refused", found=str(said)[-500:] or f"exit code {done.code}")
    return CheckEnvResult(**told)


def _object(text: str) -> dict[str, Any] | None:
    """The JSON object at the end of what a node printed: a prolog may have spoken before it."""
    start = text.find("{\n")
    while start >= 0:
        try:
            found = json.loads(text[start:])
        except ValueError:
            start = text.find("{\n", start + 1)
            continue
        return found if isinstance(found, dict) else None
    return None
