"""parse_offline as a client meets it, on the simulated host: the job, its end, what it leaves alone."""

import os
import random
import shutil
import signal
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from mindspeed_mm_train_profiler.profile_data import parse_worker
from mindspeed_mm_train_profiler.runs import folder as folders
from mindspeed_mm_train_profiler.runs import launch, processes, stop
from mindspeed_mm_train_profiler.server import build_server
from mindspeed_mm_train_profiler.simulator.host import SimulatedHost, make_host
from mindspeed_mm_train_profiler.simulator.sample import make_checkout

Call = Callable[..., Awaitable[dict[str, Any]]]
ENDED = {"succeeded", "failed", "stopped", "lost"}
OPTIONS = {"start_step": 3, "end_step": 5, "train_iters": 6, "acknowledge": ["checkpoint_overwrite", "all_ranks"]}


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SimulatedHost]:
    host = make_host(tmp_path / "host")
    for name, value in host.environment(os.environ, ms=10, devices=2).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    yield host
    for run in folders.all_runs():
        stop.stop(run, 0.2)
        assert processes.members(run) == []


@pytest.fixture
def call() -> Call:
    async def ask(tool: str, /, **arguments: Any) -> dict[str, Any]:
        async with Client(build_server()) as client:
            result = await client.call_tool(tool, arguments)
        return {**(result.structured_content or {}), "_error": result.is_error}

    return ask


async def end(call: Call, run_id: str) -> dict[str, Any]:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        status = await call("poll_status", run_id=run_id, wait_s=5)
        if status["state"] in ENDED:
            return status
    raise AssertionError("it did not end")


async def collect(call: Call, host: SimulatedHost, tmp_path: Path, **options: Any) -> str:
    """A run of two ranks that has ended; its id."""
    checkout = make_checkout(tmp_path / "MindSpeed-MM", set_env=host.set_env, nproc=2)
    script = str(checkout.scripts["tools_json"])
    built = await call("build_config", script=script, options={**OPTIONS, **options}, confirmed=True)
    launched = await call("launch_training", config_id=built["config_id"])
    assert (await end(call, launched["run_id"]))["state"] == "succeeded"
    return str(launched["run_id"])


async def test_unparsed_sessions_become_complete(call: Call, host: SimulatedHost, tmp_path: Path) -> None:
    """SK-44."""
    run = await collect(call, host, tmp_path, analyse_flag=False, ranks=[0, 1])
    verdict = await call("verify_output", run_id=run)
    assert verdict["verdict"] == "unparsed"
    assert verdict["next_step"]["tool"] == "parse_offline"
    job = await call("parse_offline", **verdict["next_step"]["arguments"])
    assert [row["rank"] for row in job["sessions"]] == [0, 1] and job["skipped"] == []
    done = await end(call, job["parse_id"])
    assert (done["state"], done["phase"], done["parse"]["done"], done["parse"]["total"]) == ("succeeded", "done", 2, 2)
    assert {row["state"] for row in done["parse"]["sessions"]} == {"valid"} and done["diagnosis"] == []
    assert done["next_step"] == {**done["next_step"], "tool": "verify_output", "arguments": {"run_id": run}}
    assert (await call("verify_output", run_id=run))["verdict"] == "complete"
    again = await call("parse_offline", run_id=run)
    assert (again["parse_id"], again["state"]) == (None, "succeeded")
    assert {row["code"] for row in again["skipped"]} == {"already_parsed"}


async def test_a_silent_failure_is_judged_by_its_outputs(
    call: Call, host: SimulatedHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parser ends with 0 and says that all is parsed; nothing is there."""
    monkeypatch.setenv("SIMULATED_NPU_PARSE_FAILS", "1")
    monkeypatch.setenv("SIMULATED_NPU_OFFLINE_FAILS", "1")
    run = await collect(call, host, tmp_path)
    job = await call("parse_offline", run_id=run)
    done = await end(call, job["parse_id"])
    assert done["state"] == "failed" and not done["ok"]
    assert done["parse"]["sessions"][0]["state"] in {"failed", "invalid"}
    assert done["diagnosis"] and done["diagnosis"][0]["fix"]
    assert any("All profiling data parsed" in line for line in done["log_tail"])
    monkeypatch.delenv("SIMULATED_NPU_OFFLINE_FAILS")
    mended = await call("parse_offline", run_id=run)
    assert (await end(call, mended["parse_id"]))["state"] == "succeeded"


async def test_earlier_results_survive_a_parse_that_fails(
    call: Call, host: SimulatedHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await collect(call, host, tmp_path)
    session = next((tmp_path / "MindSpeed-MM").rglob("*_ascend_pt"))
    before = sorted((path.name, path.read_bytes()) for path in (session / "ASCEND_PROFILER_OUTPUT").iterdir())
    monkeypatch.setenv("SIMULATED_NPU_OFFLINE_FAILS", "1")
    job = await call("parse_offline", run_id=run, overwrite=True)
    done = await end(call, job["parse_id"])
    assert done["parse"]["sessions"][0]["kept_earlier"]
    assert done["diagnosis"][0]["code"] == "parse_gave_less"
    assert sorted((path.name, path.read_bytes()) for path in (session / "ASCEND_PROFILER_OUTPUT").iterdir()) == before
    assert not (session / parse_worker.KEPT).exists()
    assert (await call("verify_output", run_id=run))["verdict"] == "complete"


def test_results_set_aside_by_a_parse_that_died_come_back(tmp_path: Path) -> None:
    session = tmp_path / "h_1_20260102030405678_ascend_pt"
    (session / parse_worker.KEPT).mkdir(parents=True)
    (session / parse_worker.KEPT / "good").touch()
    (session / "ASCEND_PROFILER_OUTPUT").mkdir()
    parse_worker.restore(session)
    assert [path.name for path in (session / "ASCEND_PROFILER_OUTPUT").iterdir()] == ["good"]


async def test_only_the_ranks_asked_for_at_any_depth(call: Call, host: SimulatedHost, tmp_path: Path) -> None:
    run = await collect(call, host, tmp_path, analyse_flag=False, ranks=[0, 1])
    assert run
    place = tmp_path / "MindSpeed-MM" / "npu_profiling"
    deep = tmp_path / "kept" / "a" / "b"
    shutil.copytree(place, deep)
    job = await call("parse_offline", path=str(tmp_path / "kept"), ranks=[1])
    assert [row["rank"] for row in job["sessions"]] == [1] and [row["code"] for row in job["skipped"]] == [
        "rank_not_asked"
    ]
    assert (await end(call, job["parse_id"]))["state"] == "succeeded"
    assert len(list(deep.rglob("ASCEND_PROFILER_OUTPUT"))) == 1


async def test_two_calls_are_one_job_and_it_can_be_stopped(
    call: Call, host: SimulatedHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await collect(call, host, tmp_path, analyse_flag=False)
    monkeypatch.setenv("SIMULATED_NPU_PARSE_S", "60")
    first = await call("parse_offline", run_id=run)
    second = await call("parse_offline", run_id=run)
    assert second["already_running"] and second["parse_id"] == first["parse_id"]
    status = await call("poll_status", run_id=first["parse_id"])
    assert (status["state"], status["phase"], status["parse"]["done"]) == ("running", "parsing", 0)
    await call("stop_training", run_id=first["parse_id"], grace_s=1)
    folder = folders.find(first["parse_id"])
    assert processes.members(folder) == [] and not launch.active(folder)
    assert (await end(call, first["parse_id"]))["state"] == "stopped"


async def test_a_python_without_torch_npu_is_said_so(
    call: Call, host: SimulatedHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await collect(call, host, tmp_path, analyse_flag=False)
    shutil.rmtree(next(path for path in (tmp_path / "host").rglob("torch_npu") if path.is_dir()))
    done = await end(call, (await call("parse_offline", run_id=run))["parse_id"])
    assert done["state"] == "failed" and done["diagnosis"][0]["code"] == "parse_no_analyse"
    assert any("ModuleNotFoundError" in line for line in done["log_tail"])


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_what_cannot_be_parsed_is_refused(call: Call, host: SimulatedHost, tmp_path: Path, language: str) -> None:
    alone = tmp_path / "alone" / "PROF_000001_20260102030405678_QWERTYUIOP"
    (alone / "host" / "data").mkdir(parents=True)
    for path in (alone, tmp_path / "host"):
        refused = await call("parse_offline", path=str(path), language=language)
        assert refused["_error"] and refused["error"]["code"] == "parse_nothing"
        assert refused["error"]["hint"]
    assert (await call("parse_offline"))["error"]["code"] == "run_id_or_path"


async def test_a_run_that_goes_on_is_not_parsed(call: Call, host: SimulatedHost, tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "MindSpeed-MM", set_env=host.set_env, nproc=1)
    options = {**OPTIONS, "train_iters": 5000}
    script = str(checkout.scripts["tools_json"])
    built = await call("build_config", script=script, options=options, confirmed=True)
    run = (await call("launch_training", config_id=built["config_id"]))["run_id"]
    refused = await call("parse_offline", run_id=run)
    assert refused["error"]["code"] == "parse_run_active"
    await call("stop_training", run_id=run, grace_s=1)


@pytest.mark.slow
@pytest.mark.timeout(200)
async def test_a_server_killed_while_it_parses_starts_no_second_parse(
    call: Call, host: SimulatedHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job is found again each time, and ends well."""
    from mindspeed_mm_train_profiler.tools.parse_offline import parse_offline

    run = await collect(call, host, tmp_path, analyse_flag=False, ranks=[0, 1])
    monkeypatch.setenv("SIMULATED_NPU_PARSE_S", "4")
    chance = random.Random(3)
    for _ in range(50):
        child = os.fork()
        if child == 0:
            try:
                while True:
                    parse_offline(run_id=run)
            finally:
                os._exit(0)
        time.sleep(chance.uniform(0.0, 0.2))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        parsing = [
            item.run_id for item in folders.all_runs() if item.run_id.startswith("parse-") and launch.active(item)
        ]
        at_work = [run_id for run_id in parsing if processes.members(folders.find(run_id))]
        assert len(at_work) <= 1, at_work
    job = await call("parse_offline", run_id=run)
    if job["parse_id"]:
        assert (await end(call, job["parse_id"]))["state"] == "succeeded"
    assert (await call("verify_output", run_id=run))["verdict"] == "complete"
