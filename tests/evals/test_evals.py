"""The evaluations themselves: well formed, solvable, and not passed by doing nothing."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import mindspeed_mm_train_profiler as package

ROOT = Path(package.__file__).parent
EVALS = ROOT / "evals"
pytestmark = pytest.mark.skipif(not EVALS.is_dir(), reason="not a source checkout")
TASKS: list[dict[str, Any]] = (
    json.loads((EVALS / "evals.json").read_text(encoding="utf-8"))["evals"] if EVALS.is_dir() else []
)
IDS = [task["id"] for task in TASKS]


def run(*words: str, timeout: int = 110) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(EVALS / "run.py"), *words],
        capture_output=True,
        text=True,
        timeout=timeout,
        stdin=subprocess.DEVNULL,
    )


def graded(folder: Path) -> dict[str, Any]:
    done = run("grade", str(folder))
    assert done.stdout, done.stderr[-2000:]
    result: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == (0 if result["summary"]["failed"] == 0 else 1)
    return result


def test_there_are_enough_and_they_are_of_the_public_form() -> None:
    data = json.loads((EVALS / "evals.json").read_text(encoding="utf-8"))
    assert data["skill_name"] == "mindspeed-mm-train-profiler"
    assert len(TASKS) >= 10 and len(set(IDS)) == len(IDS)
    for task in TASKS:
        assert {"id", "prompt", "expected_output", "files", "assertions", "checks", "world"} <= set(task)
        assert task["assertions"] and task["checks"] and "{checkout}" in task["prompt"]


def test_triggers_half_of_them_near_misses() -> None:
    rows = json.loads((EVALS / "triggers.json").read_text(encoding="utf-8"))
    assert len(rows) >= 20 and len({row["query"] for row in rows}) == len(rows)
    misses = [row for row in rows if not row["should_trigger"]]
    assert len(misses) * 2 == len(rows) and all(row["near"] for row in misses)
    for split in ("train", "validation"):
        part = [row["should_trigger"] for row in rows if row["split"] == split]
        assert True in part and False in part
    near = " ".join(row["near"] + row["query"] for row in misses)
    for word in ("MindSpeed-LLM", "torch_npu", "vLLM", "MFU", "analysing"):
        assert word in near


def test_there_is_a_solution_for_every_task() -> None:
    done = run("list")
    assert [line.split()[0] for line in done.stdout.splitlines()] == IDS
    text = (EVALS / "solutions.py").read_text(encoding="utf-8")
    assert all(f'"{name}":' in text for name in IDS)


@pytest.mark.parametrize("task", TASKS, ids=IDS)
def test_doing_nothing_passes_only_where_nothing_is_right(task: dict[str, Any], tmp_path: Path) -> None:
    folder = tmp_path / "task"
    assert run("prepare", task["id"], str(folder)).returncode == 0
    assert str(folder) in (folder / "prompt.txt").read_text(encoding="utf-8")
    result = graded(folder)
    assert (result["summary"]["failed"] == 0) == task.get("nothing_is_right", False)
    assert all(item["evidence"] for item in result["assertion_results"])


def test_a_touched_original_is_noticed(tmp_path: Path) -> None:
    folder = tmp_path / "task"
    run("prepare", "show-only", str(folder))
    script = folder / "MindSpeed-MM" / "examples" / "fsdp2" / "finetune.sh"
    script.write_text(script.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    result = graded(folder)
    assert "finetune.sh" in result["assertion_results"][0]["evidence"]
    assert result["summary"]["failed"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", IDS)
def test_the_scripted_solution_does_the_task(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "task"
    run("prepare", name, str(folder))
    done = run("solve", str(folder))
    assert done.returncode == 0, done.stderr[-2000:]
    result = graded(folder)
    assert result["summary"]["failed"] == 0, result
