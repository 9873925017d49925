#!/usr/bin/env python3
"""Evaluations of the skill on the simulated host, graded by what lies on disk at the end.

    python evals/run.py list
    python evals/run.py prepare TASK DIR             make the task's world: start an agent there, say prompt.txt
    python evals/run.py solve DIR                    the scripted reference solution
    python evals/run.py grade DIR                    write DIR/grading.json; exit 1 where a check failed
    python evals/run.py bench --agent CMD --out DIR [--runs 3] [--task ID ...]
                                                     every task with an agent; DIR/benchmark.json

``CMD`` is run by sh in the task's folder, with the prompt on its stdin: ``--agent 'claude -p --mcp-config .mcp.json'``.
Run it twice, with and without the skill, to see what the skill is worth.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import grading
import solutions
import world

AGENT_LIMIT_S = 1800


def grade(folder: Path) -> dict[str, Any]:
    """Grade in this process, whose environment becomes the task's."""
    record = world.load(folder)
    os.environ.update(record["environment"])
    result = grading.grade(world.tasks()[record["task"]], folder.absolute())
    (folder / "grading.json").write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return result


def _summary(values: list[float]) -> dict[str, float]:
    return {"mean": statistics.fmean(values), "stddev": statistics.pstdev(values)}


def bench(agent: str, out: Path, names: list[str], times: int) -> int:
    """Every task ``times`` times with an agent; pass rate and seconds, mean and standard deviation."""
    rows = []
    for name in names:
        for number in range(1, times + 1):
            folder = out / f"{name}-{number}"
            prompt = str(world.prepare(world.tasks()[name], folder)["prompt"])
            started = time.monotonic()
            with (folder / "agent.log").open("w", encoding="utf-8") as log:
                try:
                    subprocess.run(
                        ["sh", "-c", agent], cwd=folder, input=prompt, text=True, stdout=log, stderr=log,
                        timeout=AGENT_LIMIT_S, check=False,
                    )  # fmt: skip
                except subprocess.TimeoutExpired:
                    log.write("\nended: it took too long\n")
            seconds = time.monotonic() - started
            command = [sys.executable, __file__, "grade", str(folder)]
            subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=300, check=False)
            rate = json.loads((folder / "grading.json").read_text(encoding="utf-8"))["summary"]["pass_rate"]
            rows.append({"task": name, "run": number, "pass_rate": rate, "seconds": round(seconds, 1)})
            print(f"{name} {number}: {rate:.0%} in {seconds:.0f} s", flush=True)
    result = {
        "agent": agent,
        "runs": rows,
        "pass_rate": _summary([row["pass_rate"] for row in rows]),
        "seconds": _summary([row["seconds"] for row in rows]),
    }
    (out / "benchmark.json").write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return 0


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list")
    preparing = commands.add_parser("prepare")
    preparing.add_argument("task", choices=list(world.tasks()))
    preparing.add_argument("folder", type=Path)
    for name in ("solve", "grade"):
        commands.add_parser(name).add_argument("folder", type=Path)
    benching = commands.add_parser("bench")
    benching.add_argument("--agent", required=True)
    benching.add_argument("--out", type=Path, required=True)
    benching.add_argument("--runs", type=int, default=3)
    benching.add_argument("--task", action="append", choices=list(world.tasks()))
    given = parser.parse_args(argv)
    if given.command == "list":
        for name, task in world.tasks().items():
            print(f"{name:24} {task['expected_output']}")
    elif given.command == "prepare":
        world.prepare(world.tasks()[given.task], given.folder)
        print(given.folder / "prompt.txt")
    elif given.command == "solve":
        solutions.solve(given.folder.absolute())
    elif given.command == "bench":
        return bench(given.agent, given.out.absolute(), given.task or list(world.tasks()), given.runs)
    else:
        result = grade(given.folder)
        print(json.dumps(result, indent=2, ensure_ascii=False))
        return 0 if result["summary"]["failed"] == 0 else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
