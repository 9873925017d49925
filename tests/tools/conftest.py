"""A simulated NPU host around the server, a sample checkout, and calls as a client makes them."""

import importlib.util
import os
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from mcp import Client

from mindspeed_mm_train_profiler.runs import folder as folders
from mindspeed_mm_train_profiler.runs import processes, stop
from mindspeed_mm_train_profiler.server import build_server
from mindspeed_mm_train_profiler.simulator.host import SimulatedHost, make_host
from mindspeed_mm_train_profiler.simulator.sample import Checkout, make_checkout

Ask = Callable[..., Awaitable[dict[str, Any]]]
SHORT = {"start_step": 3, "end_step": 5, "train_iters": 6, "acknowledge": ["checkpoint_overwrite"]}


@dataclass(frozen=True)
class World:
    """Where things lie, and the way to ask the server."""

    folder: Path
    host: SimulatedHost
    checkout: Checkout
    ask: Ask

    async def built(self, chain: str = "tools_json", **options: Any) -> dict[str, Any]:
        script = str(self.checkout.scripts[chain])
        found = await self.ask("build_config", script=script, options={**SHORT, **options}, confirmed=True)
        assert not found["_error"], found
        return found

    async def launched(self, **options: Any) -> dict[str, Any]:
        found = await self.ask("launch_training", config_id=(await self.built(**options))["config_id"])
        assert not found["_error"], found
        return found

    async def ended(self, run_id: str) -> dict[str, Any]:
        for _ in range(12):
            status = await self.ask("poll_status", run_id=run_id, wait_s=5)
            if status["state"] not in {"starting", "running"}:
                return status
        raise AssertionError(f"{run_id} did not end")


@pytest.fixture(scope="module")
def sessions() -> ModuleType:
    """The session writer of profile_data's own tests."""
    file = Path(__file__).parent.parent / "profile_data" / "sessions.py"
    spec = importlib.util.spec_from_file_location("profile_sessions", file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def world(tmp_path: Path, own_state: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    host = make_host(tmp_path / "host")
    checkout = make_checkout(tmp_path / "MindSpeed-MM", set_env=host.set_env, nproc=1)
    for name, value in host.environment(os.environ, ms=20, devices=1).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)

    async def ask(tool: str, /, **arguments: Any) -> dict[str, Any]:
        async with Client(build_server()) as client:
            result = await client.call_tool(tool, arguments)
        text = "\n".join(getattr(block, "text", "") for block in result.content)
        return {**(result.structured_content or {}), "_error": result.is_error, "_text": text}

    yield World(tmp_path, host, checkout, ask)
    for run in folders.all_runs():
        stop.stop(run, 0.2)
        assert processes.members(run) == []
