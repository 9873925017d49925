"""A whole dynamic job through a client on the simulated host, and what a window is refused for."""

import mmap
import os
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from mindspeed_mm_train_profiler.runs import folder as folders
from mindspeed_mm_train_profiler.runs import processes, stop
from mindspeed_mm_train_profiler.server import build_server
from mindspeed_mm_train_profiler.simulator.host import make_host
from mindspeed_mm_train_profiler.simulator.sample import make_checkout

Call = Callable[..., Awaitable[dict[str, Any]]]
ENDED = {"succeeded", "failed", "stopped", "lost"}
DYNAMIC = {"profile_type": "dynamic", "train_iters": 2000, "acknowledge": ["checkpoint_overwrite", "all_ranks"]}


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[str]:
    host = make_host(tmp_path / "host", torch_npu=getattr(request, "param", "26.0.0"))
    checkout = make_checkout(tmp_path / "MindSpeed-MM", set_env=host.set_env, nproc=2)
    for name, value in host.environment(os.environ, ms=50, devices=2).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    yield str(checkout.scripts["tools_json"])
    for run in folders.all_runs():
        stop.stop(run, 0.2)
        assert processes.members(run) == []


@pytest.fixture
async def call() -> AsyncIterator[Call]:
    async def ask(tool: str, /, **arguments: Any) -> dict[str, Any]:
        async with Client(build_server()) as client:
            result = await client.call_tool(tool, arguments)
        return {**(result.structured_content or {}), "_error": result.is_error}

    yield ask


async def launched(call: Call, script: str, **options: Any) -> str:
    """A dynamic run that has made its first steps."""
    built = await call("build_config", script=script, options={**DYNAMIC, **options}, confirmed=True)
    assert not built["_error"], built
    run_id = str((await call("launch_training", config_id=built["config_id"]))["run_id"])
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        status = await call("poll_status", run_id=run_id, wait_s=1)
        if (status["iteration"] or 0) >= 3:
            return run_id
    raise AssertionError("no step was made")


async def over(call: Call, run_id: str, **window: Any) -> dict[str, Any]:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        result = await call("trigger_dynamic", run_id=run_id, wait_s=10, **window)
        if result["_error"] or result["status"] in {"stopped", "ignored"}:
            return result
    raise AssertionError(result)


@pytest.mark.parametrize("script", ["7.0.0", "26.1.0"], indirect=True)
async def test_two_windows_of_one_run(call: Call, script: str) -> None:
    run_id = await launched(call, script, ranks=[0, 1])
    asked = await call("poll_status", run_id=run_id)
    assert asked["triggers"] == [] and asked["next_step"]["tool"] == "trigger_dynamic"
    first = await over(call, run_id, steps=2)
    second = await over(call, run_id, steps=3, options={"ranks": [1], "level": "level2"})
    assert first["status"] == second["status"] == "stopped"
    assert first["stopped_at_step"] - first["started_at_step"] == 2
    assert second["started_at_step"] > first["stopped_at_step"]
    assert second["stopped_at_step"] - second["started_at_step"] == 3
    assert (len(first["sessions"]), len(second["sessions"])) == (2, 1)
    assert not set(first["sessions"]) & set(second["sessions"])
    assert {row["code"] for row in first["warnings"]} == {"dynamic_parse_off"}
    told = (await call("poll_status", run_id=run_id))["triggers"]
    assert [(row["state"], row["steps"]) for row in told] == [("stopped", 2), ("stopped", 3)]
    await call("stop_training", run_id=run_id, grace_s=2)
    assert (await call("verify_output", run_id=run_id))["verdict"] == "unparsed"
    job = (await call("parse_offline", run_id=run_id))["parse_id"]
    while (await call("poll_status", run_id=job, wait_s=5))["state"] not in ENDED:
        pass
    verdict = await call("verify_output", run_id=run_id)
    assert verdict["verdict"] == "complete", verdict
    steps = [(row["rank"], len(row["steps"])) for row in verdict["ranks"]]
    assert steps == [(0, 2), (1, 2), (1, 3)]
    shutil.rmtree(second["sessions"][0])
    lacking = await call("verify_output", run_id=run_id)
    assert lacking["verdict"] == "partial"
    codes = [problem["code"] for row in lacking["ranks"] for problem in row["problems"] if row["state"] == "missing"]
    assert codes == ["window_missing"]


async def test_a_step_asked_for(call: Call, script: str) -> None:
    run_id = await launched(call, script)
    near = await call("trigger_dynamic", run_id=run_id, start=4)
    assert near["_error"] and near["error"]["code"] == "dynamic_start_too_near"
    least = int(near["error"]["expected"].split()[-1])
    window = {"start": least + 40, "steps": 1}
    first = await call("trigger_dynamic", run_id=run_id, wait_s=0, **window)
    assert (first["status"], first["start_step"]) == ("waiting", least + 40)
    again = await call("trigger_dynamic", run_id=run_id, wait_s=0, **window)
    assert again["trigger_id"] == first["trigger_id"]
    other = await call("trigger_dynamic", run_id=run_id, start=least + 90)
    assert other["error"]["code"] == "dynamic_running" and first["trigger_id"] in other["error"]["found"]
    done = await over(call, run_id, **window)
    assert (done["started_at_step"], done["stopped_at_step"]) == (least + 40, least + 41)


async def test_a_window_that_waits_when_the_run_ends_is_released(call: Call, script: str) -> None:
    run_id = await launched(call, script)
    waiting = await call("trigger_dynamic", run_id=run_id, start=1990, steps=2, wait_s=0)
    assert waiting["status"] == "waiting"
    await call("stop_training", run_id=run_id, grace_s=2)
    (told,) = (await call("poll_status", run_id=run_id))["triggers"]
    assert told["state"] == "ignored" and "1990" in told["reason"]
    late = await call("trigger_dynamic", run_id=run_id)
    assert late["error"]["code"] == "trigger_run_ended"
    verdict = await call("verify_output", run_id=run_id)
    assert verdict["verdict"] == "missing" and verdict["checks"][0]["name"] == "window_never_opened"


async def test_a_second_launch_of_the_same_build(call: Call, script: str, tmp_path: Path) -> None:
    """Its windows are its own, and one that the first left waiting is in nobody's way."""
    built = await call("build_config", script=script, options={**DYNAMIC, "ranks": [0]}, confirmed=True)
    runs: list[str] = []
    for _ in range(2):
        launch = await call("launch_training", config_id=built["config_id"])
        assert not launch["_error"], launch
        runs.append(str(launch["run_id"]))
        deadline = time.monotonic() + 30
        while ((await call("poll_status", run_id=runs[-1], wait_s=1))["iteration"] or 0) < 3:
            assert time.monotonic() < deadline
        if len(runs) == 1:
            waiting = await call("trigger_dynamic", run_id=runs[0], start=1900, wait_s=0)
            assert waiting["status"] == "waiting"
            await call("stop_training", run_id=runs[0], grace_s=2)
            while processes.members(folders.find(runs[0])):
                assert time.monotonic() < deadline + 30
                await anyio.sleep(0.1)
            left = list(tmp_path.rglob("DynamicProfileNpuShm*"))
            assert left, "a stopped job leaves its segment, and the next launch would attach to it"
            for segment in left:
                segment.unlink()
    assert len(set(runs)) == 2
    assert (await call("poll_status", run_id=runs[1]))["triggers"] == []
    done = await over(call, runs[1], steps=1)
    assert done.get("status") == "stopped", done
    await call("stop_training", run_id=runs[1], grace_s=2)
    told = [(await call("poll_status", run_id=run_id))["triggers"] for run_id in runs]
    assert [[row["state"] for row in rows] for rows in told] == [["ignored"], ["stopped"]]


@pytest.mark.parametrize(
    ("window", "code"),
    [
        ({"steps": 0}, None),
        ({"steps": "two"}, None),
        ({"start": "soon"}, None),
        ({"start": 0}, "dynamic_start_too_near"),
        ({"start": -1}, "dynamic_start_too_near"),
        ({"options": {"with_cpu": "perhaps"}}, "answer_unknown"),
    ],
    ids=str,
)
async def test_values_out_of_range_write_nothing(
    call: Call, script: str, window: dict[str, Any], code: str | None
) -> None:
    run_id = await launched(call, script, ranks=[0])
    refused = await call("trigger_dynamic", run_id=run_id, **window)
    assert refused["_error"]
    assert code is None or refused["error"]["code"] == code
    assert (await call("poll_status", run_id=run_id))["triggers"] == []


@pytest.mark.parametrize(
    ("window", "code"),
    [
        ({"options": {"ranks": [7]}}, "rank_outside_world"),
        ({"options": {"ranks": [1]}}, "trigger_rank_deaf"),
        ({"options": {"ranks": []}}, "ranks_empty"),
        ({"options": {"train_iters": 5}}, "trigger_option_unknown"),
        ({"options": {"level": "Level1"}}, "answer_unknown"),
        ({"start": 1999, "steps": 5}, "dynamic_past_end"),
    ],
)
async def test_what_a_window_is_refused_for(call: Call, script: str, window: dict[str, Any], code: str) -> None:
    run_id = await launched(call, script, ranks=[0])
    refused = await call("trigger_dynamic", run_id=run_id, language="zh", **window)
    assert refused["_error"] and refused["error"]["code"] == code
    assert (await call("poll_status", run_id=run_id))["triggers"] == []


async def test_a_static_run_has_no_windows(call: Call, script: str) -> None:
    options = {"start_step": 3, "end_step": 5, "train_iters": 6, "acknowledge": ["checkpoint_overwrite"]}
    built = await call("build_config", script=script, options=options, confirmed=True)
    run_id = (await call("launch_training", config_id=built["config_id"]))["run_id"]
    refused = await call("trigger_dynamic", run_id=run_id)
    assert refused["error"]["code"] == "trigger_not_dynamic"
    assert (await call("poll_status", run_id=run_id))["triggers"] is None
    unknown = await call("trigger_dynamic", run_id="run-20260101-000000-abcdef")
    assert unknown["error"]["code"] == "run_unknown"


async def test_shared_memory_of_a_dead_job_refuses_and_goes_on_request(
    call: Call, script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mindspeed_mm_train_profiler.dynamic_profile import shared_memory

    folder = tmp_path / "shm"
    folder.mkdir()
    (folder / "DynamicProfileNpuShm2026010203").write_bytes(b"x")
    held = folder / "DynamicProfileNpuShm2026010204"
    held.write_bytes(b"x" * 4096)
    monkeypatch.setattr(shared_memory, "FOLDER", folder)
    looked = shared_memory._holders  # a process that may not be looked at (a container's own) would leave it unknown
    monkeypatch.setattr(shared_memory, "_holders", lambda paths: (looked(paths)[0], True))
    monkeypatch.setattr(shared_memory.find_segments, "__defaults__", (folder,))
    monkeypatch.setattr(shared_memory.remove_segment, "__defaults__", (folder,))
    built = await call("build_config", script=script, options=DYNAMIC, confirmed=True)
    with held.open("r+b") as file, mmap.mmap(file.fileno(), 4096):
        refused = await call("launch_training", config_id=built["config_id"])
        assert refused["error"]["code"] == "shared_memory_present"
        said = refused["error"]["message"]
        assert "held by nobody" in said and f"held by pid {os.getpid()}" in said
        again = await call("launch_training", config_id=built["config_id"], override=["remove_shared_memory"])
        assert again["error"]["code"] == "shared_memory_present", "what somebody holds stays"
        assert sorted(path.name for path in folder.iterdir()) == [held.name]
    gone = await call("launch_training", config_id=built["config_id"], override=["remove_shared_memory"])
    assert not gone["_error"] and list(folder.iterdir()) == []
    await call("stop_training", run_id=gone["run_id"], grace_s=1)
