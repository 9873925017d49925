"""A simulated NPU host around the server, and calls as a client makes them."""

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from mindspeed_mm_train_profiler.server import build_server
from mindspeed_mm_train_profiler.simulator.host import make_host
from mindspeed_mm_train_profiler.simulator.sample import Checkout, make_checkout

ENDED = {"succeeded", "failed", "stopped", "lost"}
Call = Callable[..., Awaitable[dict[str, Any]]]
SMALL = {"start_step": 5, "end_step": 7, "train_iters": 9, "acknowledge": ["checkpoint_overwrite"]}


@dataclass(frozen=True)
class World:
    """Where things lie: ``canary`` is a file that must never come to be."""

    folder: Path
    checkout: Checkout
    state: Path
    canary: Path


@pytest.fixture
def world(tmp_path: Path, own_state: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    host = make_host(tmp_path / "host")
    checkout = make_checkout(tmp_path / "MindSpeed-MM", set_env=host.set_env, nproc=1)
    for name, value in host.environment(os.environ, ms=20, devices=1).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    return World(tmp_path, checkout, own_state, tmp_path / "canary")


@pytest.fixture
async def call() -> Call:
    """One tool call through an in-memory client: its structured content, with ``_text`` and ``_error`` beside it."""

    async def ask(tool: str, /, **arguments: Any) -> dict[str, Any]:
        async with Client(build_server()) as client:
            result = await client.call_tool(tool, arguments)
        text = "\n".join(getattr(block, "text", "") for block in result.content)
        return {**(result.structured_content or {}), "_text": text, "_error": result.is_error}

    return ask


@pytest.fixture
async def run_to_end(call: Call) -> Callable[..., Awaitable[tuple[dict[str, Any], dict[str, Any]]]]:
    """Build, launch and follow a script; the build and the last status."""

    async def run(script: Path | str, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        built = await call("build_config", script=str(script), options={**SMALL, **options}, confirmed=True)
        assert not built["_error"], built["_text"]
        launched = await call("launch_training", config_id=built["config_id"])
        assert not launched["_error"], launched["_text"]
        for _ in range(20):
            status = await call("poll_status", run_id=launched["run_id"], wait_s=5)
            if status["state"] in ENDED:
                return built, {**status, "run_id": launched["run_id"]}
        raise AssertionError("the run did not end")

    return run
