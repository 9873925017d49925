"""The dynamic watcher: which edits start a capture, and which are ignored."""

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mindspeed_mm_train_profiler.simulator import switches, watcher
from mindspeed_mm_train_profiler.simulator.generations import TABLE, generation
from mindspeed_mm_train_profiler.simulator.host import SimulatedHost
from mindspeed_mm_train_profiler.simulator.request import Place
from mindspeed_mm_train_profiler.simulator.sample import make_checkout
from mindspeed_mm_train_profiler.simulator.watch_config import template
from mindspeed_mm_train_profiler.simulator.watcher import DynamicProfiler


class Host:
    """One rank whose steps and whose file are in the test's hand; the monitor looks at once."""

    def __init__(self, folder: Path, torch_npu: str, rank: int = 0) -> None:
        self.folder, self.out = folder / "dynamic", folder / "out"
        given = {
            "SIMULATED_NPU_TORCH_NPU": torch_npu,
            "SIMULATED_NPU_SHM": str(folder / "shm"),
            "SIMULATED_NPU_MS": "0",
        }
        self.profiler = DynamicProfiler(str(self.folder), switches.read(given), Place(rank, 1, rank))
        self.stamp = int(time.time()) + 10

    def edit(self, *, stamp: int | None = None, text: str | None = None, **values: Any) -> None:
        """Replace the file; its mtime is a second later each time."""
        file = self.folder / "profiler_config.json"
        data = template(generation("26.0.0")) | {"prof_dir": str(self.out)} | values
        file.write_text(json.dumps(data) if text is None else text, encoding="utf-8")
        self.stamp += 1
        at = self.stamp if stamp is None else stamp
        os.utime(file, (at, at))
        monitor = self.profiler._monitor
        if monitor is not None:
            monitor._look()

    def steps(self, count: int) -> None:
        for _ in range(count):
            self.profiler.step()

    def log(self, monitor: bool = False) -> str:
        names = self.folder.glob("log/monitor_dp_*" if monitor else "log/dp_*")
        return "".join(path.read_text() for path in names)

    def captured(self) -> list[list[str]]:
        """ProfilerStep numbers of each session, by its raw record."""
        records = sorted(self.out.glob("*_ascend_pt/PROF_*/host/simulated.json"))
        return [[step["number"] for step in json.loads(path.read_text())["steps"]] for path in records]


MakeHost = Callable[..., Host]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(watcher, "FIRST_POLL_S", 3600)
    monkeypatch.delenv("RANK", raising=False)
    hosts = []

    def build(torch_npu: str = "26.0.0", rank: int = 0, *, start: bool = True) -> Host:
        host = Host(tmp_path, torch_npu, rank)
        hosts.append(host)
        if start:
            host.profiler.start()
        return host

    yield build
    for host in hosts:
        host.profiler.stop()


@pytest.mark.parametrize("name", TABLE)
def test_an_edit_starts_at_its_step_and_lasts_its_length(name: str, make: MakeHost) -> None:
    host = make(name)
    host.steps(2)
    host.edit(start_step=4, active=3)
    host.steps(8)
    assert host.captured() == [[4, 5, 6]]
    assert "Start Dynamic Profiler at 4 step." in host.log() and "Stop Dynamic Profiler at 7 step." in host.log()
    assert "load json success" in host.log(monitor=True)


@pytest.mark.parametrize("name, starts", [("6.0.0", False), ("7.1.0", False), ("7.2.0", True), ("26.1.0", True)])
def test_minus_one_is_the_next_step_from_7_2_on(name: str, starts: bool, make: MakeHost) -> None:
    host = make(name)
    host.edit(start_step=-1, active=1)
    host.steps(3)
    assert host.captured() == ([[1]] if starts else [])


@pytest.mark.parametrize("name, warnings", [("7.1.0", 0), ("7.2.0", 4), ("26.0.0", 1)])
def test_a_step_that_has_passed(name: str, warnings: int, make: MakeHost, capsys: pytest.CaptureFixture[str]) -> None:
    host = make(name)
    host.steps(5)
    host.edit(start_step=3)
    host.steps(4)
    assert host.captured() == []
    assert capsys.readouterr().out.count("config is not effective. The start_step=3, current_step=") == warnings


def test_the_default_start_step_never_starts(make: MakeHost) -> None:
    host = make()
    host.edit(active=2)
    host.steps(5)
    assert host.captured() == []


def test_a_file_that_was_there_before_is_not_an_edit(make: MakeHost) -> None:
    host = make(start=False)
    host.folder.mkdir()
    host.edit(start_step=2, stamp=int(time.time()) - 5)
    host.profiler.start()
    host.steps(4)
    assert host.captured() == []


def test_two_edits_within_a_second_are_one(make: MakeHost) -> None:
    host = make()
    host.edit(start_step=0, stamp=host.stamp)
    host.steps(1)
    host.edit(start_step=3, stamp=host.stamp - 1)
    host.steps(4)
    assert host.captured() == []
    host.edit(start_step=7)
    host.steps(4)
    assert host.captured() == [[7]]


def test_an_older_mtime_is_ignored(make: MakeHost) -> None:
    host = make()
    host.edit(start_step=2, stamp=1_000_000_000)
    host.steps(4)
    assert host.captured() == []


def test_broken_json_uses_its_second_up(make: MakeHost) -> None:
    host = make()
    host.edit(text='{"start_step": 2,')
    host.steps(1)
    host.edit(start_step=3, stamp=host.stamp)
    host.steps(3)
    assert host.captured() == [] and "load json failed" in host.log(monitor=True)


@pytest.mark.parametrize("ranks, captured", [([0], [[2]]), ([1], []), ([], []), (["0"], [])])
def test_ranks_decide_who_records_and_nobody_parses(
    ranks: list[Any], captured: list[list[int]], make: MakeHost
) -> None:
    host = make()
    host.edit(start_step=2, is_rank=True, rank_list=ranks, analyse=True)
    host.steps(4)
    assert host.captured() == captured
    assert not list(host.out.glob("*/ASCEND_PROFILER_OUTPUT"))
    assert ("profiler data analyse will be closed" in host.log()) is bool(captured)


@pytest.mark.parametrize("name, parsed", [("7.2.0", False), ("7.3.0", True)])
def test_async_mode_keeps_the_parse(name: str, parsed: bool, make: MakeHost) -> None:
    host = make(name)
    host.edit(start_step=2, is_rank=True, rank_list=[0], analyse=True, async_mode=True)
    host.steps(4)
    assert bool(list(host.out.glob("*/ASCEND_PROFILER_OUTPUT"))) is parsed


def test_an_edit_while_recording_is_kept_for_afterwards(make: MakeHost) -> None:
    host = make()
    host.edit(start_step=1, active=3)
    host.steps(2)
    host.edit(start_step=6, active=1)
    host.steps(8)
    assert sorted(host.captured()) == [[1, 2, 3], [6]]


def test_a_path_that_is_a_file_disables_it(make: MakeHost, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "dynamic").write_text("{}")
    host = make()
    host.steps(1)
    out = capsys.readouterr().out
    assert "is invalid, and profiler will not be enabled." in out and "Call step failed" in out


def test_memory_left_by_another_job_is_attached_to_silently(make: MakeHost, tmp_path: Path) -> None:
    first = make()
    second = Host(tmp_path, "26.0.0", rank=1)
    second.profiler.start()
    assert "Rank 1 shared memory is connected." in second.log() and second.profiler._monitor is None
    first.edit(start_step=2)
    second.steps(4)
    assert second.captured() == [[2]]


def test_an_end_in_the_middle_is_said(make: MakeHost, capsys: pytest.CaptureFixture[str]) -> None:
    host = make()
    host.edit(start_step=2, active=5)
    host.steps(3)
    host.profiler.stop()
    assert "Profiler stop when process exit" in capsys.readouterr().out
    assert list(host.out.glob("*/profiler_info_0.json"))


@pytest.mark.slow
def test_a_running_training_is_captured_by_an_edit(host: SimulatedHost, tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "MindSpeed-MM", set_env=host.set_env, nproc=2, train_iters=60)
    tools = checkout.root / "mindspeed_mm/tools/tools.json"
    config = json.loads(tools.read_text())
    folder = tmp_path / "dynamic"
    config["profile"] |= {"enable": True, "profile_type": "dynamic", "ranks": [-1]}
    config["profile"]["dynamic_param"]["config_path"] = str(folder)
    tools.write_text(json.dumps(config))
    process = subprocess.Popen(
        ["bash", str(checkout.scripts["tools_json"])],
        cwd=checkout.root,
        env=host.environment(ms=100),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    file = folder / "profiler_config.json"
    deadline = time.monotonic() + 20
    while not (file.exists() and file.read_text().endswith("}")):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.02)
    edit = json.loads(file.read_text()) | {
        "start_step": 45,
        "active": 2,
        "analyse": True,
        "prof_dir": str(tmp_path / "out"),
    }
    new = folder / "new.json"
    new.write_text(json.dumps(edit))
    os.utime(new, (time.time() + 2, time.time() + 2))
    new.replace(file)
    output, _ = process.communicate(timeout=60)
    sessions = sorted((tmp_path / "out").glob("*_ascend_pt"))
    assert len(sessions) == 2, output
    for session in sessions:
        lines = (session / "ASCEND_PROFILER_OUTPUT/step_trace_time.csv").read_text().splitlines()[1:]
        assert [line.split(",")[1] for line in lines] == ["45", "46"]
    assert not list((host.folder / "shm").iterdir())
