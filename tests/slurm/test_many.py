"""Sixty-four ranks on four virtual nodes of a real Slurm."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from mindspeed_mm_train_profiler.runs import folder as folders
from mindspeed_mm_train_profiler.runs import slurm
from mindspeed_mm_train_profiler.server import build_server
from mindspeed_mm_train_profiler.simulator.host import make_host
from mindspeed_mm_train_profiler.simulator.sample import make_checkout

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
NODES = 4
OPTIONS = {
    "start_step": 2,
    "end_step": 4,
    "train_iters": 5,
    "ranks": [0, 17, 63],
    "acknowledge": ["checkpoint_overwrite"],
}


@pytest.fixture
def script(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    host = make_host(tmp_path / "host")
    checkout = make_checkout(tmp_path / "MindSpeed-MM", set_env=host.set_env, nproc=16)
    for name, value in host.environment(cluster.environment, ms=20, devices=16).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    yield str(checkout.scripts["fsdp2"])
    for run in folders.all_runs():
        slurm.cancel(str((run.read("run") or {})["job_id"]))


async def test_64_ranks_on_four_nodes(script: str) -> None:
    async with Client(build_server()) as client:

        async def call(name: str, **arguments: Any) -> dict[str, Any]:
            result = await client.call_tool(name, arguments, read_timeout_seconds=60)
            assert not result.is_error, result.content
            return dict(result.structured_content or {})

        built = await call("build_config", script=script, options=OPTIONS, nodes=NODES, confirmed=True)
        assert built["expected"]["ranks"] == [0, 17, 63]
        run_id = (await call("launch_training", config_id=built["config_id"], launcher="slurm"))["run_id"]
        deadline = time.monotonic() + 240
        status: dict[str, Any] = {"state": "starting"}
        while status["state"] in {"starting", "running"} and time.monotonic() < deadline:
            status = await call("poll_status", run_id=run_id, wait_s=5)
        assert status["state"] == "succeeded", status
        assert [row["state"] for row in status["nodes"]] == ["succeeded"] * NODES
        verdict = await call("verify_output", run_id=run_id)
    assert verdict["verdict"] == "complete", verdict
    assert [row["rank"] for row in verdict["ranks"]] == [0, 17, 63]
