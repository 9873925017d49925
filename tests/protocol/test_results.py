"""Results as they come by default, from a whole job on the simulated host: short enough for a conversation.

What counts is the larger of the text block and the structured content: clients give a model one or the other.
"""

import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from mindspeed_mm_train_profiler.server import build_server
from mindspeed_mm_train_profiler.simulator.host import make_host
from mindspeed_mm_train_profiler.simulator.sample import make_checkout

DEFAULT, CAP = 2_000, 8_000
# build_config shows the whole diff of its copies: that is what the user confirms. summarize_profile lists ten operators
# for each of the two ranks in its structured content (its text keeps to the budget).
LONGER = {"build_config": 3_000, "summarize_profile": 2_000}
OPTIONS = {
    "start_step": 5,
    "end_step": 7,
    "train_iters": 9,
    "ranks": [0, 1],
    "acknowledge": ["all_ranks", "checkpoint_overwrite"],
}

_spec = importlib.util.spec_from_file_location("token_budget", Path(__file__).with_name("test_token_budget.py"))
assert _spec and _spec.loader
budget = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(budget)


class Measured:
    """Calls, and what each cost."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.costs: dict[str, int] = {}

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self.client.call_tool(tool, arguments)
        text = "".join(getattr(block, "text", "") for block in result.content)
        structured = json.dumps(result.structured_content, ensure_ascii=False)
        cost = max(budget.estimate(text), budget.estimate(structured))
        self.costs[tool] = max(self.costs.get(tool, 0), cost)
        return dict(result.structured_content or {})


@pytest.mark.slow
@pytest.mark.parametrize("chain", ["tools_json", "fsdp2"])
async def test_a_whole_job_by_default(chain: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    host = make_host(tmp_path / "host")
    checkout = make_checkout(tmp_path / "MindSpeed-MM", set_env=host.set_env, nproc=2)
    for name, value in host.environment(os.environ, ms=20, devices=2).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    script = str(checkout.scripts[chain])
    async with Client(build_server()) as client:
        measured = Measured(client)
        await measured.call("detect_engine", script=script)
        await measured.call("check_env", script=script)
        await measured.call("build_config", script=script, options=OPTIONS)
        built = await measured.call("build_config", script=script, options=OPTIONS, confirmed=True)
        run = (await measured.call("launch_training", config_id=built["config_id"]))["run_id"]
        for _ in range(20):
            status = await measured.call("poll_status", run_id=run, wait_s=5)
            if status["state"] not in {"starting", "running"}:
                break
        assert status["state"] == "succeeded"
        await measured.call("verify_output", run_id=run)
        await measured.call("summarize_profile", run_id=run)
        await measured.call("list_runs")
        await measured.call("stop_training", run_id=run)
        await measured.call("poll_status", run_id=run, log_lines=100_000)
        huge = measured.costs.pop("poll_status")
        await measured.call("poll_status", run_id=run)
        await measured.call("discard_copies", config_id=built["config_id"])
    assert huge <= CAP
    over = {tool: cost for tool, cost in measured.costs.items() if cost > LONGER.get(tool, DEFAULT)}
    assert not over, f"over budget: {over}; all: {measured.costs}"
