"""The whole job over real code: a real example script of each chain, MindSpeed-MM's own loader and Profiler, torch_npu's
own Python side, through the server over stdio.

Wants ``MINDSPEED_MM_ROOT``, ``TORCH_NPU_ROOT``, ``PROFILER_SHARED`` (launcher stand-ins that start the real stack on the
CPU) and ``REAL_STACK_PYTHON``, an interpreter with torch (CPU), PyYAML and pydantic; skips, saying so, without one.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(400)]

CHAINS = {
    "script to tools.json": ("megatron", "tools_json", ["examples/qwen2.5vl/finetune_qwen2_5_vl_7b.sh"]),
    "script to YAML to tools.json": (
        "megatron",
        "tools_json",
        ["examples/mcore/qwen3_5/finetune_qwen3_5_35B.sh", "examples/qwen3vl/finetune_qwen3vl_30B.sh"],
    ),
    "script to FSDP2 YAML": (
        "fsdp2",
        "yaml",
        ["examples/qwen3_5/finetune_qwen3_5_4B.sh", "examples/qwen3_5/finetune_qwen3_5_27B.sh"],
    ),
}


@pytest.mark.parametrize("chain", CHAINS)
async def test_a_real_example_end_to_end(
    chain: str, checkout: Path, host: dict[str, str], own_state: Path, provide: Callable[[dict[str, Any]], None]
) -> None:
    engine, config_kind, candidates = CHAINS[chain]
    script = next((checkout / name for name in candidates if (checkout / name).exists()), None)
    if script is None:
        pytest.skip(f"no example of the chain {chain!r} in this release")
    before = {path: path.read_bytes() for path in checkout.rglob("*") if path.suffix in {".sh", ".json", ".yaml"}}
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "mindspeed_mm_train_profiler.cli"], env=host, cwd=checkout
    )
    async with Client(stdio_client(parameters), read_timeout_seconds=60) as client:

        async def call(name: str, **arguments: Any) -> dict[str, Any]:
            result = await client.call_tool(name, arguments)
            assert not result.is_error, (name, result.content)
            assert result.structured_content is not None
            return result.structured_content

        detected = await call("detect_engine", script=str(script))
        assert (detected["engine"], detected["config_kind"]) == (engine, config_kind)
        assert Path(detected["workdir"]) == checkout
        provide(detected)
        save = checkout / "collected"
        options = {
            "start_step": 3,
            "end_step": 5,
            "train_iters": 8,
            "save_path": str(save),
            "analyse_flag": False,
            "ranks": [0, 1],
        }
        first = await call("build_config", script=str(script), options=options)
        assert first["status"] == "needs_confirmation" and first["copies"] == []
        built = await call(
            "build_config",
            script=str(script),
            options={**options, "acknowledge": ["checkpoint_overwrite", "world_changes"]},
            confirmed=True,
        )
        assert built["status"] == "built"
        shift = detected["capabilities"]["warmup_steps"]  # 1 up to release 2.1.0
        assert built["expected"]["steps"] == [3 + shift, 4 + shift]
        assert built["expected"]["iterations"] == [4 + shift, 5 + shift]
        begin = time.monotonic()
        launched = await call(
            "launch_training",
            config_id=built["config_id"],
            override=["npu_unavailable", "torch_npu_unavailable", "port_in_use", "too_few_npus"],
        )
        assert time.monotonic() - begin < 20
        again = await call("launch_training", config_id=built["config_id"])
        assert again["already_running"] and again["run_id"] == launched["run_id"]
        status: dict[str, Any] = {}
        deadline = time.monotonic() + 240
        while time.monotonic() < deadline:
            status = await call("poll_status", run_id=launched["run_id"], wait_s=10)
            if status["state"] not in {"starting", "running"}:
                break
        assert status["state"] == "succeeded", status
        assert status["exit_code"] == 0
        assert status["iteration"] == status["train_iters"] == 8
        verdict = await call("verify_output", run_id=launched["run_id"])
    assert [rank["rank"] for rank in verdict["ranks"]] == [0, 1]
    # the collection itself is sound: nothing was parsed, as asked
    assert verdict["verdict"] == "unparsed", verdict
    assert {path: path.read_bytes() for path in before} == before
