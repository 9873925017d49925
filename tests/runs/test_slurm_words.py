"""Slurm's own words, from stand-ins of its commands: what squeue has forgotten, scontrol or accounting still knows."""

import os
from pathlib import Path

import pytest

from mindspeed_mm_train_profiler.runs import slurm

SILENT = "exit 0"


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path


def say(folder: Path, **programs: str) -> None:
    for name in ("squeue", "scontrol", "sacct"):
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
        ({"squeue": SILENT, "sacct": SILENT}, (None, None, None, None)),
        ({}, (None, None, None, None)),
    ],
    ids=["pending", "running", "scontrol", "accounting", "cancelled", "memory", "forgotten", "no answer"],
)
def test_where_a_state_comes_from(
    commands: Path, programs: dict[str, str], expected: tuple[str | None, str | None, str | None, int | None]
) -> None:
    say(commands, **programs)
    found = slurm.state("7")
    assert (found.state, found.reason, found.nodes, found.exit_code) == expected


def test_what_is_no_job_asks_nobody(commands: Path) -> None:
    say(commands, squeue="touch $0.asked; exit 0")
    assert slurm.state("7; rm -rf x").state is None
    assert not (commands / "squeue.asked").exists()
