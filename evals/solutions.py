"""A scripted client that does each task as the skill prescribes: proof that the tasks can be done, and something to
compare agents with. It talks to the server over stdio, as an agent's client does.
"""

import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import world
from mcp import Client, StdioServerParameters, stdio_client

ENDED = {"succeeded", "failed", "stopped", "lost"}
LIMIT_S = 90
ACKNOWLEDGE = ["all_ranks", "checkpoint_overwrite"]


class Agent:
    """The calls that every task is made of."""

    def __init__(self, client: Client, script: str, folder: Path) -> None:
        self.client, self.script, self.folder = client, script, folder

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self.client.call_tool(tool, arguments, read_timeout_seconds=60)
        return dict(result.structured_content or {})

    async def build(self, **options: Any) -> dict[str, Any]:
        options = {"save_path": str(self.folder / "collected"), "acknowledge": ACKNOWLEDGE, **options}
        return await self.call("build_config", script=self.script, options=options, confirmed=True)

    async def follow(self, run_id: str, until: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Poll until something is so, or the run has ended."""
        deadline = time.monotonic() + LIMIT_S
        while True:
            status = await self.call("poll_status", run_id=run_id, wait_s=2, log_lines=0)
            if status.get("state") in ENDED or until(status) or time.monotonic() > deadline:
                return status

    async def collect(self, **options: Any) -> str:
        """From options to the end of the run; its id, empty where it came to none."""
        seen = await self.call("detect_engine", script=self.script)
        if seen.get("engine") not in {"megatron", "fsdp2"}:
            return ""
        if not (await self.call("check_env", script=self.script)).get("ready"):
            return ""
        config = (await self.build(**options)).get("config_id")
        run = (await self.call("launch_training", config_id=config)).get("run_id") if config else None
        if not run:
            return ""
        await self.follow(run, lambda status: False)
        return str(run)

    async def parse(self, run_id: str) -> None:
        job = (await self.call("parse_offline", run_id=run_id)).get("parse_id")
        if job:
            await self.follow(str(job), lambda status: False)


async def defaults(agent: Agent) -> None:
    await agent.collect(train_iters=20)


async def fsdp2_zh(agent: Agent) -> None:
    wish = {"level": "level2", "ranks": [0, 1], "start_step": 5, "end_step": 7, "record_shapes": True}
    await agent.collect(train_iters=12, **wish)


async def yaml_memory(agent: Agent) -> None:
    await agent.collect(ranks="all", start_step=5, end_step=7, with_memory=True, train_iters=12)


async def show_only(agent: Agent) -> None:
    await agent.call("build_config", script=agent.script, options={})


async def window(agent: Agent) -> None:
    await agent.collect(start_step=5, end_step=7, train_iters=20)


async def parse_later(agent: Agent) -> None:
    run = await agent.collect(start_step=5, end_step=7, train_iters=12, analyse_flag=False)
    await agent.parse(run)


async def parse_failed(agent: Agent) -> None:
    run = await agent.collect(start_step=5, end_step=7, train_iters=12)
    if (await agent.call("verify_output", run_id=run)).get("verdict") != "complete":
        await agent.parse(run)


async def launch_once(agent: Agent) -> None:
    config = (await agent.build(start_step=5, end_step=7, train_iters=40))["config_id"]
    first = await agent.call("launch_training", config_id=config)
    await agent.call("launch_training", config_id=config)
    await agent.follow(first["run_id"], lambda status: False)


async def stop_it(agent: Agent) -> None:
    config = (await agent.build(start_step=5, end_step=7, train_iters=10000))["config_id"]
    run = (await agent.call("launch_training", config_id=config))["run_id"]
    await agent.follow(run, lambda status: (status.get("iteration") or 0) > 8 and status.get("phase") == "training")
    await agent.call("stop_training", run_id=run)
    await agent.follow(run, lambda status: False)


async def clean_up(agent: Agent) -> None:
    config = (await agent.build())["config_id"]
    await agent.call("discard_copies", config_id=config)


SOLUTIONS: dict[str, Callable[[Agent], Awaitable[None]]] = {
    "static-defaults": defaults,
    "fsdp2-zh": fsdp2_zh,
    "yaml-memory": yaml_memory,
    "inference-script": defaults,
    "missing-data": defaults,
    "no-npu": defaults,
    "show-only": show_only,
    "training-crashes": window,
    "parse-later": parse_later,
    "parse-failed-silently": parse_failed,
    "launch-once": launch_once,
    "stop-it": stop_it,
    "clean-up": clean_up,
}


def solve(folder: Path) -> None:
    """Do the task whose world lies in ``folder``."""
    record = world.load(folder)
    script = record["script"]
    if record["task"] == "inference-script":
        script = str(Path(record["checkout"]) / "examples" / "vlm" / "inference.sh")

    async def session() -> None:
        parameters = StdioServerParameters(
            command=sys.executable,
            args=["-m", "mindspeed_mm_train_profiler.cli"],
            env=record["environment"],
            cwd=folder,
        )
        async with Client(stdio_client(parameters)) as client:
            await SOLUTIONS[record["task"]](Agent(client, script, folder))

    anyio.run(session)
