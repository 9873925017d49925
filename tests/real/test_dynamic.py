"""Dynamic collection against torch_npu's own watcher: alone, and inside a whole job.

The watcher's shared memory has one name an hour for the whole host, so each test has a /dev/shm of its own: a mount
namespace, which wants root.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from mindspeed_mm_train_profiler import dynamic_profile
from mindspeed_mm_train_profiler.dynamic_profile import follow, logs
from mindspeed_mm_train_profiler.options import ProfileOptions

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(400)]
OWN_SHM = ["unshare", "-m", "bash", "-c", 'mount -t tmpfs tmpfs /dev/shm && exec "$0" "$@"']
MS = 60


@pytest.fixture
def own_shm() -> list[str]:
    """The words before a command that give it a /dev/shm of its own."""
    if os.geteuid() != 0 or subprocess.run([*OWN_SHM, "true"], capture_output=True, timeout=20).returncode:
        pytest.skip("a private /dev/shm wants root and mount namespaces")
    return OWN_SHM


class Watched:
    """torch_npu's watcher in a process that makes steps; what it started and stopped stands in ``events``."""

    def __init__(self, words: list[str], folder: Path, env: dict[str, str]) -> None:
        self.folder, self.out, self.err = folder / "dynamic", folder / "log", folder / "events"
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self.process = subprocess.Popen(words, stdout=out, stderr=err, stdin=subprocess.DEVNULL, env=env)
        self.wait(lambda: self.step() > 12, 60)

    def step(self) -> int:
        return self.out.read_text(encoding="utf-8").count("consumed samples")

    def events(self) -> list[dict[str, Any]]:
        lines = self.err.read_text(encoding="utf-8", errors="replace").splitlines()
        return [json.loads(line[1:]) for line in lines if line.startswith("@")]

    def wait(self, until: Callable[[], bool], bound_s: float = 30) -> None:
        deadline = time.monotonic() + bound_s
        while not until():
            assert self.process.poll() is None, self.err.read_text(encoding="utf-8", errors="replace")[-2000:]
            assert time.monotonic() < deadline, (self.step(), self.events())
            time.sleep(0.05)

    def generation(self) -> Any:
        records = dynamic_profile.history(self.folder)
        if records:
            return dynamic_profile.generation(records[0]["generation"])
        return dynamic_profile.template_generation(json.loads((self.folder / follow.FILE).read_text(encoding="utf-8")))

    def trigger(self, start: Any, steps: int) -> dict[str, Any]:
        return dynamic_profile.trigger(
            self.folder,
            ProfileOptions(level="level2", with_memory=True),
            self.generation(),
            start=start,
            steps=steps,
            save_path=str(self.folder.parent / "out"),
            ranks=[0],
            current_step=self.step(),
            step_s=MS / 1000,
        )

    def told(self, record: dict[str, Any]) -> Any:
        return dynamic_profile.status(
            self.folder, record, train_log=self.err.read_text(errors="replace"), current_step=self.step()
        )


@pytest.fixture
def watched(
    torch_npu_root: Path, profiler_shared: Path, own_shm: list[str], tmp_path: Path, own_state: Path
) -> Iterator[Watched]:
    python = os.environ.get("REAL_STACK_PYTHON")
    if not python:
        pytest.skip("REAL_STACK_PYTHON is not given")
    tool = str(profiler_shared / "tools" / "real_dynamic.py")
    words = [*own_shm, python, tool, str(torch_npu_root), str(tmp_path / "dynamic"), "--steps", "100000"]
    made = Watched([*words, "--ms", str(MS)], tmp_path, {**os.environ, "RANK": "0", "WORLD_SIZE": "1"})
    yield made
    made.process.terminate()
    made.process.wait(20)
    for process in psutil.process_iter(["cmdline"]):  # the monitor that torch_npu forked outlives a killed rank
        if str(tmp_path / "dynamic") in (process.info["cmdline"] or []):
            process.kill()


def test_windows_follow_one_another(watched: Watched) -> None:
    for number, steps in enumerate((2, 1, 3)):
        start: Any = "now" if number != 1 else watched.step() + 200
        record = watched.trigger(start, steps)
        watched.wait(lambda: watched.told(record).state in ("stopped", "ignored"), 60)  # noqa: B023
        progress = watched.told(record)
        dynamic_profile.settle(watched.folder, record["id"], progress)
        began, ended = watched.events()[-2:]
        assert (began["event"], ended["event"]) == ("start", "stop")
        assert (progress.state, progress.started, progress.stopped) == (
            "stopped",
            {0: began["step"]},
            {0: ended["step"]},
        )
        assert ended["step"] - began["step"] == steps
        assert (began["level"], began["profile_memory"]) == ("Level2", True)
        if start != "now":
            assert began["step"] == start
    assert len([event for event in watched.events() if event["event"] == "start"]) == 3


def edits() -> dict[str, tuple[Callable[[Watched, dict[str, Any]], None], str]]:
    """Other people's edits: how, and the one reason why each is ignored."""

    def put(watched: Watched, text: str, stamp: float | None = None) -> None:
        file = watched.folder / follow.FILE
        temporary = file.with_name("other")
        temporary.write_text(text, encoding="utf-8")
        if stamp is not None:
            os.utime(temporary, (stamp, stamp))
        temporary.replace(file)

    def with_values(**values: Any) -> Callable[[Watched, dict[str, Any]], None]:
        return lambda watched, config: put(watched, json.dumps({**config, **values}))

    return {
        "broken": (lambda watched, config: put(watched, '{"start_step": 5,'), "dynamic_ignored_invalid_json"),
        "empty": (lambda watched, config: put(watched, ""), "dynamic_ignored_empty_file"),
        "template": (with_values(start_step=0), "dynamic_ignored_start_zero"),
        "passed": (with_values(start_step=2), "dynamic_ignored_start_passed"),
        "other rank": (with_values(start_step=10**6, rank_list=[3]), "dynamic_ignored_rank_not_listed"),
        "huge": (with_values(metadata={"x": "y" * 1_100_000}), "dynamic_ignored_too_large"),
        "older": (
            lambda watched, config: put(watched, json.dumps(config), time.time() - 5000),
            "dynamic_ignored_before_launch",
        ),
    }


@pytest.mark.parametrize("name", edits())
def test_every_reason_is_told(watched: Watched, name: str) -> None:
    change, code = edits()[name]
    config = dynamic_profile.make_config(
        ProfileOptions(),
        watched.generation(),
        start_step=10**6,
        steps=1,
        save_path=str(watched.folder.parent / "out"),
        ranks=[0],
    )
    record = follow.hand_edit(None, logs.sizes(watched.folder))
    born = follow.worker_born(watched.folder)
    assert born is not None
    watched.wait(lambda: time.time() > born + 2)
    change(watched, config)
    watched.wait(lambda: watched.told(record).state == "ignored", 30)
    assert [note.code for note in watched.told(record).reasons] == [code]
    assert not [event for event in watched.events() if event["event"] == "start"]


async def test_a_whole_dynamic_job(
    checkout: Path,
    host: dict[str, str],
    own_shm: list[str],
    own_state: Path,
    provide: Callable[[dict[str, Any]], None],
) -> None:
    script = checkout / "examples/qwen2.5vl/finetune_qwen2_5_vl_7b.sh"
    if not script.exists():
        pytest.skip("this release has no such example")
    words = [*own_shm[1:], sys.executable, "-m", "mindspeed_mm_train_profiler.cli"]
    parameters = StdioServerParameters(command=own_shm[0], args=words, env=host, cwd=checkout)
    async with Client(stdio_client(parameters), read_timeout_seconds=60) as client:

        async def call(name: str, **arguments: Any) -> dict[str, Any]:
            result = await client.call_tool(name, arguments)
            assert not result.is_error, (name, result.content)
            assert result.structured_content is not None
            return result.structured_content

        provide(await call("detect_engine", script=str(script)))
        options = {
            "profile_type": "dynamic",
            "ranks": [0],
            "train_iters": 1500,
            "save_path": str(checkout / "collected"),
            "acknowledge": ["checkpoint_overwrite", "world_changes"],
        }
        built = await call("build_config", script=str(script), options=options, confirmed=True)
        launched = await call(
            "launch_training",
            config_id=built["config_id"],
            override=["npu_unavailable", "torch_npu_unavailable", "port_in_use", "too_few_npus"],
        )
        run = launched["run_id"]
        deadline = time.monotonic() + 120
        status: dict[str, Any] = {}
        while time.monotonic() < deadline and (status.get("iteration") or 0) < 13:
            status = await call("poll_status", run_id=run, wait_s=2)
            assert status["state"] in {"starting", "running"}, status
        windows = []
        for steps in (2, 1):
            window = await call("trigger_dynamic", run_id=run, steps=steps, wait_s=20)
            while window["status"] in {"waiting", "running"} and time.monotonic() < deadline + 60:
                window = await call("trigger_dynamic", run_id=run, steps=steps, wait_s=20)
            if window["reasons"] and "Stub" in window["reason"]:
                assert window["reasons"][0]["code"] == "dynamic_ignored_call_failed"
                pytest.skip("the stand-in for the device lacks a part that this torch_npu wants")
            assert window["status"] == "stopped", window
            assert window["stopped_at_step"] - window["started_at_step"] == steps
            windows.append(window)
        assert not set(windows[0]["sessions"]) & set(windows[1]["sessions"])
        await call("stop_training", run_id=run, grace_s=10)
        verdict = await call("verify_output", run_id=run)
    assert verdict["verdict"] == "unparsed", verdict
    assert [row["rank"] for row in verdict["ranks"]] == [0, 0]
