"""A job over virtual nodes of a real Slurm: each end told as what it was, nothing left behind."""

import os
import subprocess
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
from mcp import Client

from mindspeed_mm_train_profiler.runs import folder as folders
from mindspeed_mm_train_profiler.runs import slurm
from mindspeed_mm_train_profiler.server import build_server
from mindspeed_mm_train_profiler.simulator.host import make_host
from mindspeed_mm_train_profiler.simulator.sample import Checkout, make_checkout

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]
NODES = 2
SHORT = {"start_step": 3, "end_step": 5, "train_iters": 8, "acknowledge": ["checkpoint_overwrite"]}
Ask = Callable[..., Awaitable[dict[str, Any]]]


@dataclass(frozen=True)
class World:
    checkout: Checkout
    ask: Ask
    cluster: Any

    async def launched(
        self, chain: str = "tools_json", nodes: int = NODES, more: dict[str, Any] | None = None, **options: Any
    ) -> str:
        script = str(self.checkout.scripts[chain])
        built = await self.ask("build_config", script=script, options={**SHORT, **options}, nodes=nodes, confirmed=True)
        assert not built["_error"], built
        assert built["next_step"]["arguments"]["launcher"] == "slurm"
        placed = [(row["rank"], row["node"], row["device"]) for row in built["expected"]["placement"]]
        assert placed == [(rank, rank // 2, rank % 2) for rank in built["expected"]["ranks"]]
        run = await self.ask("launch_training", config_id=built["config_id"], launcher="slurm", **(more or {}))
        assert not run["_error"] and run["job_id"], run
        return str(run["run_id"])

    async def until(self, run_id: str, seen: Callable[[dict[str, Any]], bool], bound_s: float = 90) -> dict[str, Any]:
        deadline = time.monotonic() + bound_s
        while time.monotonic() < deadline:
            status = await self.ask("poll_status", run_id=run_id, wait_s=1)
            if seen(status):
                return status
        raise AssertionError((status, slurm.log_of(folders.find(run_id)).read_text()[-2000:]))


def ended(status: dict[str, Any]) -> bool:
    return status["state"] not in {"starting", "running"}


def living(run_id: str) -> list[int]:
    """Processes that carry the run's id."""
    mark = f"MM_PROFILER_RUN_ID={run_id}".encode()
    found = []
    for process in psutil.process_iter():
        try:
            if mark in Path(f"/proc/{process.pid}/environ").read_bytes() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except (OSError, psutil.Error):
            continue
    return found


@pytest.fixture
def world(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    host = make_host(tmp_path / "host")
    checkout = make_checkout(tmp_path / "MindSpeed-MM", set_env=host.set_env, nproc=2)
    for name, value in host.environment(cluster.environment, ms=40, devices=2).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)

    async def ask(tool: str, /, **arguments: Any) -> dict[str, Any]:
        async with Client(build_server()) as client:
            result = await client.call_tool(tool, arguments)
        return {**(result.structured_content or {}), "_error": result.is_error}

    yield World(checkout, ask, cluster)
    for run in folders.all_runs():
        if slurm.is_slurm(run):
            slurm.cancel(str((run.read("run") or {})["job_id"]))
    cluster.wait(lambda: not cluster.run("squeue", "-h").strip(), 100)


@pytest.mark.parametrize("chain", ["tools_json", "yaml", "fsdp2"])
async def test_two_nodes_end_complete(world: World, chain: str) -> None:
    run_id = await world.launched(chain, ranks=[0, 3])
    done = await world.until(run_id, ended)
    assert (done["state"], done["exit_code"], done["iteration"]) == ("succeeded", 0, 8), done
    assert [(row["node"], row["name"], row["state"]) for row in done["nodes"]] == [
        (0, "n1", "succeeded"),
        (1, "n2", "succeeded"),
    ]
    assert done["slurm"]["state"] == "COMPLETED"
    verdict = await world.ask("verify_output", run_id=run_id)
    assert verdict["verdict"] == "complete", verdict
    assert [(row["rank"], row["node"]) for row in verdict["ranks"]] == [(0, 0), (3, 1)], "one rank on each node"
    other = await world.ask("poll_status", run_id=run_id, node=0, log_lines=5)
    assert "/nodes/0/" in other["log_path"]
    assert living(run_id) == []


async def test_a_rank_that_fails_on_one_node_fails_the_job(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMULATED_NPU_CRASH_AT", "4")
    monkeypatch.setenv("SIMULATED_NPU_FAULT_RANK", "2")
    run_id = await world.launched()
    done = await world.until(run_id, ended)
    assert done["state"] == "failed" and done["exit_code"], done
    assert any(item["evidence"].startswith("node 1: ") for item in done["diagnosis"]), done["diagnosis"]
    world.cluster.wait(lambda: living(run_id) == [], 20)


async def test_only_a_node_with_profiled_ranks_is_asked_whether_its_profiler_works(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A variable on the second node alone disables the profiler: harmless where that node profiles nothing."""
    prolog = tmp_path / "prolog.sh"
    prolog.write_text('#!/bin/sh\n[ "$SLURMD_NODENAME" = n2 ] && echo "export PROFILING_MODE=dynamic"\nexit 0\n')
    prolog.chmod(0o755)
    monkeypatch.setenv("SLURM_TASK_PROLOG", str(prolog))
    first = await world.launched(ranks=[0, 1])
    assert (await world.until(first, ended))["state"] == "succeeded"
    second = await world.launched(ranks=[0, 3])
    done = await world.until(second, ended)
    assert (done["state"], done["iteration"]) == ("failed", None)
    assert done["diagnosis"][0]["code"] == "profiler_disabled" and "node 1" in done["diagnosis"][0]["evidence"]


async def test_sessions_are_parsed_as_an_array(world: World) -> None:
    """One session a task, each on whatever node is free; judged by what is there afterwards."""
    agreed = ["checkpoint_overwrite", "all_ranks"]
    run_id = await world.launched(ranks=[0, 1, 2, 3], analyse_flag=False, acknowledge=agreed)
    assert (await world.until(run_id, ended))["state"] == "succeeded"
    assert (await world.ask("verify_output", run_id=run_id))["verdict"] == "unparsed"
    refused = await world.ask("parse_offline", run_id=run_id, sbatch=["--array=0-9"])
    assert refused["error"]["code"] == "slurm_option_invalid"
    job = await world.ask("parse_offline", run_id=run_id, sbatch=[])
    assert not job["_error"] and len(job["sessions"]) == 4, job
    done = await world.until(job["parse_id"], ended)
    assert (done["state"], done["parse"]["done"], done["parse"]["total"]) == ("succeeded", 4, 4), done
    assert {row["state"] for row in done["parse"]["sessions"]} == {"valid"} and done["slurm"]["job_id"]
    assert (await world.ask("verify_output", run_id=run_id))["verdict"] == "complete"
    held = await world.ask("parse_offline", run_id=run_id, overwrite=True, sbatch=["--hold"])
    again = await world.ask("parse_offline", run_id=run_id, overwrite=True, sbatch=["--hold"])
    assert again["already_running"] and again["parse_id"] == held["parse_id"]
    waiting = await world.ask("poll_status", run_id=held["parse_id"])
    assert waiting["state"] == "starting" and waiting["slurm"]["state"] == "PENDING"
    stopped = await world.ask("stop_training", run_id=held["parse_id"], grace_s=5)
    assert stopped["state"] == "stopped" and stopped["left"] == []
    assert (await world.ask("verify_output", run_id=run_id))["verdict"] == "complete", "nothing was touched"


async def test_a_node_is_probed_from_a_login_node(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    script = str(world.checkout.scripts["fsdp2"])
    found = await world.ask("check_env", script=script, srun=["--nodelist=n2"])
    assert not found["_error"] and found["ready"], found
    assert found["torch_npu"] and len(found["npus"]) == 2
    monkeypatch.setenv("SIMULATED_NPU_DEVICES", "0")
    here = await world.ask("check_env", script=script)
    assert not here["ready"] and "login_node" in [row["code"] for row in here["warnings"]]
    for words, code in ((["--wrap=x"], "slurm_option_invalid"), (["--nodelist=n77"], "slurm_refused")):
        refused = await world.ask("check_env", script=script, srun=words)
        assert refused["_error"] and refused["error"]["code"] == code, refused
    world.cluster.wait(lambda: not world.cluster.run("squeue", "-h").strip(), 30)


async def test_cancelled_by_us_and_by_others(world: World) -> None:
    run_id = await world.launched(train_iters=5000)
    bystander = world.cluster.run("sbatch", "--parsable", "--hold", "--wrap", "sleep 60").strip()
    await world.until(run_id, lambda status: (status["iteration"] or 0) >= 2)
    again = await world.ask(
        "launch_training",
        config_id=(await world.ask("poll_status", run_id=run_id)).get("config_id")
        or (folders.find(run_id).read("run") or {})["config_id"],
        launcher="slurm",
    )
    assert again["already_running"] and again["run_id"] == run_id
    stopped = await world.ask("stop_training", run_id=run_id, grace_s=15)
    assert stopped["left"] == [] and stopped["state"] == "stopped"
    assert (await world.ask("stop_training", run_id=run_id))["already_ended"]
    assert bystander in world.cluster.run("squeue", "-h", "-o", "%i"), "nothing of another job was touched"
    world.cluster.run("scancel", bystander)
    world.cluster.wait(lambda: living(run_id) == [], 20)
    second = await world.launched(train_iters=5000)
    await world.until(second, lambda status: status["state"] == "running")
    world.cluster.run("scancel", str((folders.find(second).read("run") or {})["job_id"]))
    done = await world.until(second, ended)
    assert done["state"] == "failed" and done["diagnosis"][0]["code"] == "slurm_cancelled"


async def test_a_suspended_job_keeps_its_place(world: World) -> None:
    run_id = await world.launched(train_iters=400)
    await world.until(run_id, lambda status: (status["iteration"] or 0) >= 2)
    job = str((folders.find(run_id).read("run") or {})["job_id"])
    world.cluster.run("scontrol", "suspend", job)
    held = await world.until(run_id, lambda status: status["slurm"]["state"] == "SUSPENDED")
    assert held["state"] == "running" and held["diagnosis"][0]["code"] == "slurm_suspended", held
    world.cluster.run("scontrol", "resume", job)
    stopped = await world.ask("stop_training", run_id=run_id, grace_s=15)
    assert stopped["state"] == "stopped" and stopped["left"] == []
    assert (await world.ask("stop_training", run_id=run_id))["already_ended"], "its end is kept"
    world.cluster.wait(lambda: living(run_id) == [], 20)


@pytest.mark.skipif(
    not os.environ.get("PROFILER_FULL"), reason="Slurm's least limit is a minute; PROFILER_FULL=1 runs it"
)
async def test_a_time_limit_is_told(world: World) -> None:
    run_id = await world.launched(train_iters=5000)
    await world.until(run_id, lambda status: (status["iteration"] or 0) >= 2)
    job = str((folders.find(run_id).read("run") or {})["job_id"])
    world.cluster.run("scontrol", "update", f"JobId={job}", "TimeLimit=0:01")
    done = await world.until(run_id, ended, 150)
    assert done["state"] == "failed" and done["diagnosis"][0]["code"] == "slurm_timeout", done
    world.cluster.wait(lambda: living(run_id) == [], 20)


async def test_a_job_that_waits_says_for_what(world: World) -> None:
    alone = {"sbatch": ["--exclusive"]}
    first = await world.launched(train_iters=5000, more=alone)
    await world.until(first, lambda status: status["state"] == "running")
    second = await world.launched(more=alone)
    waiting = await world.until(second, lambda status: bool(status["diagnosis"]))
    assert waiting["state"] == "starting" and waiting["slurm"]["state"] == "PENDING"
    assert waiting["diagnosis"][0]["code"] == "slurm_pending" and waiting["slurm"]["reason"]
    assert waiting["slurm"]["reason"] in waiting["diagnosis"][0]["evidence"]
    await world.ask("stop_training", run_id=first, grace_s=15)
    assert (await world.until(second, ended))["state"] == "succeeded"


async def test_the_controller_restarts_in_the_middle(world: World) -> None:
    run_id = await world.launched(train_iters=2000)
    # a controller that is killed in its first seconds with a job has not saved that it runs, and starts it again
    await world.until(run_id, lambda status: (status["iteration"] or 0) >= 250)
    world.cluster.kill("slurmctld")
    during = await world.ask("poll_status", run_id=run_id)
    assert not during["_error"]
    assert (during["state"], during["diagnosis"][0]["code"]) == ("running", "slurm_silent"), during
    assert during["iteration"] >= 2, "what the nodes write is still told"
    config_id = (folders.find(run_id).read("run") or {})["config_id"]
    again = await world.ask("launch_training", config_id=config_id, launcher="slurm")
    assert again["already_running"] and again["run_id"] == run_id, "no second training"
    assert (await world.ask("stop_training", run_id=run_id))["error"]["code"].startswith("slurm_")
    world.cluster.start_controller()
    world.cluster.wait(
        lambda: "Slurmctld" in world.cluster.run("scontrol", "ping") and "UP" in world.cluster.run("scontrol", "ping"),
        40,
    )
    done = await world.until(run_id, lambda status: status["state"] in {"succeeded", "failed"}, 150)
    assert done["state"] == "succeeded", done


async def test_a_node_that_dies_is_told(world: World) -> None:
    run_id = await world.launched(train_iters=5000)
    await world.until(run_id, lambda status: (status["iteration"] or 0) >= 2)
    world.cluster.kill("n2")
    try:
        done = await world.until(run_id, ended, 150)
        assert done["state"] == "failed" and done["diagnosis"][0]["code"] == "slurm_node_fail", done
    finally:
        for pid in living(run_id):
            psutil.Process(pid).kill()
        world.cluster.start_node(2)
        world.cluster.wait(lambda: world.cluster.idle() == NODES, 60)


async def test_a_folder_that_is_not_shared(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = await world.launched(train_iters=2000, more={"sbatch": ["--hold"]})
    folder = folders.find(run_id)
    hidden = folder.path.with_name("hidden")
    job = str((folder.read("run") or {})["job_id"])
    # the second node sees nothing: the folder's record is gone when its task looks
    (folder.path / "run.json").rename(hidden)
    world.cluster.run("scontrol", "release", job)
    world.cluster.wait(lambda: slurm.state(job).state in {"FAILED", "COMPLETED"}, 60)
    hidden.rename(folder.path / "run.json")
    done = await world.ask("poll_status", run_id=run_id)
    assert done["state"] == "failed" and done["diagnosis"][0]["code"] == "slurm_not_shared", done


async def test_a_folder_that_no_node_sees(world: World) -> None:
    run_id = await world.launched(more={"sbatch": ["--hold"]})
    folder = folders.find(run_id)
    waiting = await world.ask("poll_status", run_id=run_id, node=2)
    assert waiting["error"]["code"] == "node_unknown", "of two nodes"
    hidden = folder.path.with_name("elsewhere")
    job = str((folder.read("run") or {})["job_id"])
    folder.path.rename(hidden)
    world.cluster.run("scontrol", "release", job)
    world.cluster.wait(lambda: slurm.state(job).state == "FAILED", 60)
    assert not folder.path.exists()
    hidden.rename(folder.path)
    done = await world.ask("poll_status", run_id=run_id)
    assert done["state"] == "failed" and done["diagnosis"][0]["code"] == "slurm_not_shared", done
    assert {row["state"] for row in done["nodes"]} == {"lost"}


async def test_a_server_within_an_allocation(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """What describes that allocation is not the new job's: its processors and memory would be refused."""
    around = {
        "JOB_ID": "77",
        "CPUS_PER_TASK": "64",
        "MEM_PER_CPU": "10",
        "MEM_PER_NODE": "20",
        "NTASKS": "9",
        "NODEID": "4",
    }
    for name, value in around.items():
        monkeypatch.setenv(f"SLURM_{name}", value)
    run_id = await world.launched(ranks=[0, 3])
    done = await world.until(run_id, ended)
    assert [row["state"] for row in done["nodes"]] == ["succeeded", "succeeded"], done


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"partition": "absent"}, "slurm_refused"),
        ({"partition": "x\ny"}, "slurm_option_invalid"),
        ({"sbatch": ["--wrap=rm -rf /"]}, "slurm_option_invalid"),
        ({"sbatch": ["-x"]}, "slurm_option_invalid"),
        ({"sbatch": ["--out=/etc/passwd"]}, "slurm_option_invalid"),
        ({"sbatch": ["script.sh"]}, "slurm_option_invalid"),
    ],
)
async def test_what_slurm_or_we_refuse(world: World, more: dict[str, Any], code: str) -> None:
    script = str(world.checkout.scripts["fsdp2"])
    built = await world.ask("build_config", script=script, options=SHORT, nodes=2, confirmed=True)
    refused = await world.ask("launch_training", config_id=built["config_id"], launcher="slurm", **more)
    assert refused["_error"] and refused["error"]["code"] == code, refused
    listed = (await world.ask("list_runs"))["items"]
    assert {row["kind"] for row in listed} == {"build"}, "no run came of it"


async def test_a_build_for_one_host_is_not_submitted(world: World) -> None:
    script = str(world.checkout.scripts["fsdp2"])
    built = await world.ask("build_config", script=script, options=SHORT, confirmed=True)
    refused = await world.ask("launch_training", config_id=built["config_id"], launcher="slurm")
    assert refused["error"]["code"] == "nodes_missing"
    assert subprocess.run(["squeue", "-h"], env=os.environ, capture_output=True, text=True, timeout=20).stdout == ""
