"""check_env as a client meets it: what stops a collection, each with its own name."""

from pathlib import Path
from typing import Any

import pytest


async def test_a_host_that_is_ready(world: Any) -> None:
    told = await world.ask("check_env", script=str(world.checkout.scripts["tools_json"]))
    assert told["ready"] and told["blocking"] == []
    assert told["cann"]["set_env"] == str(world.host.set_env) and told["cann"]["version"]
    assert told["npu_smi"]["status"] == "ok" and told["npu_smi"]["simulated"] and "imulated" in told["_text"]
    assert [(npu["npu"], npu["health"]) for npu in told["npus"]] == [(0, "OK")]
    assert told["npu_available"] is True and "simulated" in told["torch_npu"]
    assert told["port"] == {"number": 6000, "free": told["port"]["free"]}
    assert all(Path(disk["path"]).is_absolute() and disk["free_bytes"] > 0 for disk in told["disk"])
    assert told["next_step"]["tool"] == "choose_options"


@pytest.mark.parametrize(
    ("switch", "value", "code", "status"),
    [
        ("SMI", "8005", "driver_refuses", "driver_refuses"),
        ("DEVICES", "0", "npu_unavailable", None),
    ],
)
@pytest.mark.parametrize("language", ["en", "zh"])
async def test_what_stops_it(
    world: Any, monkeypatch: pytest.MonkeyPatch, switch: str, value: str, code: str, status: str | None, language: str
) -> None:
    monkeypatch.setenv(f"SIMULATED_NPU_{switch}", value)
    told = await world.ask("check_env", script=str(world.checkout.scripts["tools_json"]), language=language)
    assert not told["ready"] and code in [row["code"] for row in told["blocking"]], told
    assert status is None or told["npu_smi"]["status"] == status
    assert all(row["message"] and row["hint"] for row in told["blocking"])
    assert told["next_step"] is None
    if code == "npu_unavailable" and language == "zh":
        assert "当前环境未检测到 NPU，请在有 Ascend NPU 的环境中运行。" in told["_text"]


async def test_torch_npu_that_is_missing_or_broken(world: Any) -> None:
    package = next(path for path in (world.folder / "host").rglob("torch_npu") if path.is_dir())
    (package / "__init__.py").write_text("raise ImportError('libhccl.so: cannot open shared object file')\n")
    told = await world.ask("check_env")
    assert [row["code"] for row in told["blocking"]] == ["cann_not_sourced"] and "libhccl" in told["probe_error"]
    (package / "__init__.py").write_text("raise RuntimeError('built for another torch')\n")
    told = await world.ask("check_env", language="zh")
    assert [row["code"] for row in told["blocking"]] == ["torch_npu_unavailable"]
    assert "请安装 torch_npu 后再试。" in told["_text"] and told["torch_npu"] is None


async def test_a_busy_card_tells_its_process(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMULATED_NPU_SMI", "busy")
    told = await world.ask("check_env")
    assert told["npus"][0]["processes"][0]["pid"] > 0


async def test_variables_that_disable_the_profiler_are_named(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROFILING_MODE", "false")
    told = await world.ask("check_env")
    assert any(row["code"] == "profiler_disabled" and "PROFILING_MODE" in row["message"] for row in told["warnings"])


async def test_a_script_that_is_not_there_is_coded(world: Any) -> None:
    told = await world.ask("check_env", script="absent.sh")
    assert told["_error"] and told["error"]["code"] == "no_script"
