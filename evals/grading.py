"""Grades the end state of a task: files, build manifests and run records. What the agent said does not count.

Each check returns (passed, evidence). The product's own reading is used for runs and verdicts, through its tools, in a
process whose environment is the task's.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import world
from mcp import Client

Evidence = tuple[bool, str]


class State:
    """What a task left behind."""

    def __init__(self, folder: Path, before: Mapping[str, Any]) -> None:
        self.world = before
        self.checkout = Path(before["checkout"])
        self.state = folder / "state"
        self.after = world.fingerprint(self.checkout)

    def builds(self) -> list[dict[str, Any]]:
        """Manifests of the builds that exist, oldest first."""
        files = sorted(self.state.glob("builds/*/manifest.json"))
        return [json.loads(file.read_text(encoding="utf-8")) for file in files]

    def run_ids(self) -> list[str]:
        """Trainings that were started, oldest first; parse jobs are not among them."""
        return sorted(path.name for path in self.state.glob("runs/run-*") if path.is_dir())

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """A tool's structured result; the error object where it failed."""
        from mindspeed_mm_train_profiler.server import build_server

        async def ask() -> dict[str, Any]:
            async with Client(build_server()) as client:
                return dict((await client.call_tool(tool, arguments)).structured_content or {})

        return anyio.run(ask)

    def verified(self) -> dict[str, Any]:
        """The verdict on the newest run."""
        runs = self.run_ids()
        return self.call("verify_output", run_id=runs[-1]) if runs else {}


def originals_unchanged(state: State) -> Evidence:
    changed = [name for name, seen in state.world["before"].items() if state.after.get(name) != seen]
    return not changed, f"changed or gone: {changed}" if changed else f"{len(state.world['before'])} files as before"


def checkout_untouched(state: State) -> Evidence:
    passed, evidence = originals_unchanged(state)
    added = sorted(set(state.after) - set(state.world["before"]))
    return passed and not added, f"{evidence}; new: {added}"


def runs(state: State, states: list[str]) -> Evidence:
    found = [state.call("poll_status", run_id=run).get("state") for run in state.run_ids()]
    return found == states, f"states of the runs: {found}, expected {states}"


def built(state: State, at_least: int) -> Evidence:
    """Builds made, those removed since included: the audit log remembers them."""
    made = len(state.builds())
    log = state.state / "audit.log"
    removed = 0
    if log.is_file():
        lines = [json.loads(line) for line in log.read_text(encoding="ascii").splitlines()]
        removed = sum("discard" in str(line["action"]) for line in lines)
    return made + removed >= at_least, f"{made} builds exist, {removed} were removed"


def options(state: State, equal: dict[str, Any]) -> Evidence:
    manifests = state.builds()
    if not manifests:
        return False, "nothing was built"
    found = {name: manifests[-1]["options"].get(name) for name in equal}
    return found == equal, f"options of the newest build: {found}"


def session_ranks(state: State, are: list[int]) -> Evidence:
    found = sorted(row["rank"] for row in state.verified().get("ranks", []) if row["state"] in {"valid", "unparsed"})
    return found == are, f"ranks with a session: {found}"


def verdict(state: State, **wish: str) -> Evidence:
    """``is``: the verdict; ``is_not``: one that it must not be."""
    result = state.verified()
    found = result.get("verdict")
    passed = found == wish["is"] if "is" in wish else found != wish["is_not"]
    problems = [item["code"] for row in result.get("ranks", []) for item in row["problems"]]
    return passed, f"verdict {found}, problems {problems}"


def absent(state: State, path: str) -> Evidence:
    exists = (state.checkout / path).exists()
    return not exists, f"{path} {'exists' if exists else 'does not exist'}"


CHECKS: dict[str, Callable[..., Evidence]] = {
    check.__name__: check
    for check in (originals_unchanged, checkout_untouched, runs, built, options, session_ranks, verdict, absent)
}


def grade(task: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """A grading of the public form: every result with its evidence, and the rate."""
    state = State(folder, world.load(folder))
    results = []
    for check in task["checks"]:
        arguments = {key: value for key, value in check.items() if key != "check"}
        passed, evidence = CHECKS[check["check"]](state, **arguments)
        results.append({"text": check["check"], "passed": passed, "evidence": evidence})
    good = sum(bool(item["passed"]) for item in results)
    summary = {"passed": good, "failed": len(results) - good, "total": len(results), "pass_rate": good / len(results)}
    return {"eval_id": task["id"], "assertion_results": results, "summary": summary}
