"""launch_training, poll_status, stop_training, list_runs as a client meets them, on the simulated host."""

import asyncio
import json
import os
import socket
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from mindspeed_mm_train_profiler.runs import folder as folders
from mindspeed_mm_train_profiler.server import build_server


async def test_a_run_that_goes_on_is_not_started_again(world: Any) -> None:
    built = await world.built(train_iters=5000)
    first = await world.ask("launch_training", config_id=built["config_id"])
    again = await world.ask("launch_training", config_id=built["config_id"])
    assert again["already_running"] and again["run_id"] == first["run_id"]
    assert (await world.ask("stop_training", run_id=first["run_id"], grace_s=1))["left"] == []


async def test_a_run_is_launched_once_and_followed(world: Any) -> None:
    built = await world.built()
    begun = time.monotonic()
    first = await world.ask("launch_training", config_id=built["config_id"], idempotency_key="k")
    assert time.monotonic() - begun < 6  # two seconds on an idle machine
    assert Path(first["run_dir"]).stat().st_mode & 0o777 == 0o700 and first["pid"] > 0
    assert first["next_step"]["tool"] == "poll_status"
    done = await world.ended(first["run_id"])
    assert (done["state"], done["phase"], done["exit_code"], done["iteration"]) == ("succeeded", "done", 0, 6)
    assert done["window"] == {"first_iteration": 4, "last_iteration": 5, "reached": True}
    assert len(done["sessions_seen"]) == 1 and done["diagnosis"] == []
    assert done["next_step"]["tool"] == "verify_output"
    same = await world.ask("launch_training", config_id=built["config_id"], idempotency_key="k")
    assert same["already_running"] and same["run_id"] == first["run_id"], "the same key always means the same run"
    assert (await world.ask("verify_output", run_id=first["run_id"]))["verdict"] == "complete"


async def test_only_new_lines_come_with_a_cursor(world: Any) -> None:
    run_id = (await world.launched(train_iters=40))["run_id"]
    seen: list[str] = []
    cursor: int | None = None
    for _ in range(60):
        arguments = {
            "run_id": run_id,
            "wait_s": 0.2,
            "log_lines": 200,
            **({} if cursor is None else {"cursor": cursor}),
        }
        told = await world.ask("poll_status", **arguments)
        seen += told["log_tail"]
        cursor = told["cursor"]
        if told["state"] not in {"starting", "running"}:
            break
    numbers = [
        line.split("iteration")[1].split("/")[0].strip() for line in seen if "elapsed time per iteration" in line
    ]
    assert numbers == sorted(set(numbers), key=int), "no line came twice"
    assert numbers[-1] == "40"


async def test_waiting_tells_progress(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMULATED_NPU_MS", "100")
    run_id = (await world.launched(train_iters=25))["run_id"]
    told: list[float] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)

    async with Client(build_server()) as client:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and len(told) < 3:
            await client.call_tool(
                "poll_status", {"run_id": run_id, "wait_s": 3}, progress_callback=heard, read_timeout_seconds=20
            )
    assert len(told) >= 3 and told == sorted(told)
    await world.ask("stop_training", run_id=run_id, grace_s=1)


@pytest.mark.parametrize(
    ("switches", "code", "exit_code"),
    [({"CRASH_AT": "4"}, None, 1), ({"KILL_AT": "window"}, None, None), ({"STOP_AT": "2"}, "window", 0)],
)
async def test_how_it_ended_is_told(
    world: Any, monkeypatch: pytest.MonkeyPatch, switches: dict[str, str], code: str | None, exit_code: int | None
) -> None:
    for name, value in switches.items():
        monkeypatch.setenv(f"SIMULATED_NPU_{name}", value)
    run_id = (await world.launched())["run_id"]
    done = await world.ended(run_id)
    if exit_code == 0:
        assert done["state"] == "succeeded" and done["sessions_seen"] == []
        verdict = await world.ask("verify_output", run_id=run_id)
        assert verdict["verdict"] == "missing"
        return
    assert done["state"] == "failed" and not done["ok"] and done["diagnosis"]
    assert exit_code is None or done["exit_code"] == exit_code
    zh = await world.ask("poll_status", run_id=run_id, language="zh")
    assert "训练执行失败（退出码: " in zh["_text"] and "请修复训练配置后重试。" in zh["_text"]
    assert all(row["cause"] and row["fix"] for row in zh["diagnosis"])


async def test_refusals_name_a_code_and_can_be_overridden(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    script = world.checkout.scripts["tools_json"]
    with closing(socket.socket()) as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        text = script.read_text(encoding="utf-8")
        script.write_text(text.replace("MASTER_PORT=6000", f"MASTER_PORT={port}"), encoding="utf-8")
        built = await world.built()
        refused = await world.ask("launch_training", config_id=built["config_id"], language="zh")
        assert refused["_error"] and refused["error"]["code"] == "port_in_use" and port in refused["_text"]
        allowed = await world.ask("launch_training", config_id=built["config_id"], override=["port_in_use"])
        assert not allowed["_error"] and "port_in_use" in [row["code"] for row in allowed["warnings"]]
    assert (await world.ended(allowed["run_id"]))["state"] == "succeeded"


async def test_a_busy_card_and_a_disabled_profiler_refuse(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    built = await world.built()
    monkeypatch.setenv("SIMULATED_NPU_SMI", "busy")
    assert (await world.ask("launch_training", config_id=built["config_id"]))["error"]["code"] == "npu_busy"
    monkeypatch.delenv("SIMULATED_NPU_SMI")
    monkeypatch.setenv("SIMULATED_NPU_DEVICES", "0")
    assert (await world.ask("launch_training", config_id=built["config_id"]))["_error"]
    assert (await world.ask("list_runs"))["items"][0]["kind"] == "build", "no run came of it"


async def test_a_slow_npu_smi_is_asked_by_the_supervisor(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    built = await world.built()
    monkeypatch.setenv("SIMULATED_NPU_SMI", "slow:busy")
    began = time.monotonic()
    launched = await world.ask("launch_training", config_id=built["config_id"])
    assert time.monotonic() - began < 5 and not launched["_error"]
    assert "npus_checked_later" in [row["code"] for row in launched["warnings"]]
    done = await world.ended(launched["run_id"])
    assert (done["state"], done["iteration"]) == ("failed", None)
    assert [row["code"] for row in done["diagnosis"]] == ["npu_busy"] and "pid" in done["diagnosis"][0]["evidence"]
    allowed = await world.ask("launch_training", config_id=built["config_id"], override=["npu_busy"])
    assert (await world.ended(allowed["run_id"]))["state"] == "succeeded"
    monkeypatch.setenv("SIMULATED_NPU_SMI", "slow")
    free = await world.ask("launch_training", config_id=built["config_id"])
    assert (await world.ended(free["run_id"]))["state"] == "succeeded"


async def test_a_run_that_waits_for_npu_smi_can_be_stopped(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    built = await world.built()
    monkeypatch.setenv("SIMULATED_NPU_SMI", "hang")
    launched = await world.ask("launch_training", config_id=built["config_id"])
    assert launched["state"] == "starting"
    again = await world.ask("launch_training", config_id=built["config_id"])
    assert again["already_running"] and again["run_id"] == launched["run_id"]
    stopped = await world.ask("stop_training", run_id=launched["run_id"], grace_s=1)
    assert stopped["state"] == "stopped" and stopped["left"] == []


async def test_changed_copies_are_never_launched(world: Any) -> None:
    built = await world.built()
    copy = Path(built["copies"][0]["copy"])
    copy.write_text(copy.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    for override in ([], ["copies_changed"]):
        refused = await world.ask("launch_training", config_id=built["config_id"], override=override)
        assert refused["error"]["code"] == "copies_changed" and str(copy) in refused["_text"]


async def test_a_changed_original_is_pointed_out(world: Any) -> None:
    built = await world.built()
    script = world.checkout.scripts["tools_json"]
    script.write_text(script.read_text(encoding="utf-8") + "# later\n", encoding="utf-8")
    refused = await world.ask("launch_training", config_id=built["config_id"])
    assert refused["error"]["code"] == "originals_changed"
    gone_on = await world.ask("launch_training", config_id=built["config_id"], override=["originals_changed"])
    assert (await world.ended(gone_on["run_id"]))["state"] == "succeeded"


async def test_missing_paths_refuse_always(world: Any) -> None:
    data = next(path for path in world.checkout.root.rglob("*.json") if "data" in path.name)
    text = data.read_text(encoding="utf-8")
    data.unlink()
    built = await world.built(acknowledge=["checkpoint_overwrite", "missing_paths"])
    refused = await world.ask("launch_training", config_id=built["config_id"], override=["paths_missing"])
    assert refused["error"]["code"] == "paths_missing" and str(data) in refused["_text"]
    data.write_text(text, encoding="utf-8")
    run = await world.ask("launch_training", config_id=built["config_id"])
    assert (await world.ended(run["run_id"]))["state"] == "succeeded"


async def test_two_servers_at_once_start_one(world: Any) -> None:
    built = await world.built(train_iters=5000)
    told = await asyncio.gather(*(world.ask("launch_training", config_id=built["config_id"]) for _ in range(6)))
    assert len({row["run_id"] for row in told}) == 1
    assert [row["already_running"] for row in told].count(False) == 1
    await world.ask("stop_training", run_id=told[0]["run_id"], grace_s=1)


async def test_stopping_is_harmless_when_repeated(world: Any) -> None:
    run_id = (await world.launched(train_iters=5000))["run_id"]
    stopped = await world.ask("stop_training", run_id=run_id, grace_s=3)
    assert stopped["state"] == "stopped" and stopped["left"] == [] and stopped["terminated"]
    again = await world.ask("stop_training", run_id=run_id)
    assert again["already_ended"] and again["terminated"] == []
    assert (await world.ended(run_id))["state"] == "stopped"


async def test_secrets_do_not_leave(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_API_KEY", "do-not-tell-0123456789")
    script = world.checkout.scripts["tools_json"]
    text = script.read_text(encoding="utf-8")
    script.write_text(text.replace("torchrun", 'echo "WANDB_API_KEY=$WANDB_API_KEY"\ntorchrun', 1), encoding="utf-8")
    run_id = (await world.launched())["run_id"]
    done = await world.ended(run_id)
    whole = await world.ask("poll_status", run_id=run_id, cursor=0, log_lines=200)
    for result in (done, whole, await world.ask("list_runs")):
        assert "do-not-tell" not in json.dumps(result)
    assert (folders.find(run_id).file("run")).stat().st_mode & 0o777 == 0o600


async def test_a_damaged_folder_does_not_break_the_list(world: Any, own_state: Path) -> None:
    run_id = (await world.launched())["run_id"]
    await world.ended(run_id)
    broken = own_state / "runs" / "run-20260101-000000-abcdef"
    broken.mkdir()
    (broken / "run.json").write_text("{", encoding="utf-8")
    listed = (await world.ask("list_runs"))["items"]
    assert {row["id"]: row["state"] for row in listed if row["kind"] == "run"} == {
        run_id: "succeeded",
        broken.name: "unreadable",
    }
    assert not (await world.ask("poll_status", run_id=broken.name))["_error"]
    page = await world.ask("list_runs", limit=1)
    rest = await world.ask("list_runs", limit=10, cursor=page["cursor"])
    ids = [row["id"] for row in page["items"] + rest["items"]]
    assert len(ids) == len(set(ids)) and run_id in ids


async def test_a_result_stays_short_whatever_the_log(world: Any) -> None:
    run_id = (await world.launched())["run_id"]
    await world.ended(run_id)
    log = folders.find(run_id).log
    with log.open("ab") as file:
        file.write((b"x" * 5000 + b"\n") * 400 + b"\xff\xfe\x00 bytes \x1b[31m\n")
    told = await world.ask("poll_status", run_id=run_id, log_lines=200)
    assert sum(map(len, told["log_tail"])) <= 12_000 and told["omitted_bytes"] > 0
    assert "\x1b" not in told["_text"] and "\x00" not in told["_text"]


async def test_the_kernels_count_names_the_cause(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMULATED_NPU_KILL_AT", "3")
    run_id = (await world.launched())["run_id"]
    await world.ended(run_id)
    folder = folders.find(run_id)
    facts = folder.read("facts") or {}
    assert {"start", "end"} <= set(facts)
    folder.write("facts", {"start": {"oom_kills": 1}, "end": {"oom_kills": 2}})
    told = (await world.ask("poll_status", run_id=run_id))["diagnosis"]
    assert told[0]["code"] == "cgroup_oom" and "1 -> 2" in told[0]["evidence"]
    assert os.environ["SIMULATED_NPU_KILL_AT"] == "3"
