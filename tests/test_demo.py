"""The demo, as a user runs it: every chain through a real client over stdio."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from mindspeed_mm_train_profiler.simulator.demo import CHAINS, FAULTS
from mindspeed_mm_train_profiler.simulator.switches import PREFIX, TABLE
from mindspeed_mm_train_profiler.tools import ALL

SIX = {"detect_engine", "check_env", "build_config", "launch_training", "poll_status", "verify_output"}
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(200),
    pytest.mark.skipif(not {spec.name for spec in ALL} >= SIX, reason="the tools are not all there yet"),
]


def demo(tmp_path: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "TMPDIR": str(tmp_path), "HOME": str(tmp_path)}
    return subprocess.run(
        [sys.executable, "-m", "mindspeed_mm_train_profiler.cli", "demo", *words],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        timeout=180,
    )


@pytest.mark.parametrize("chain", CHAINS)
def test_a_chain_ends_complete(chain: str, tmp_path: Path) -> None:
    done = demo(tmp_path, "--chain", chain, "--folder", str(tmp_path / "demo"))
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    assert done.stderr == ""
    first, last = done.stdout.split("\n")[2], done.stdout.strip().split("\n")[-4]
    assert "SIMULATED" in first and "simulated" in last and "complete" in last
    for tool in SIX:
        assert f"] {tool} {{" in done.stdout
    assert len(list((tmp_path / "demo/collected" / chain).glob("*_ascend_pt"))) == 2
    assert "$ mindspeed-mm-train-profiler collect " in done.stdout and "iteration 100/100" in done.stdout
    assert "computing " in done.stdout and str(tmp_path / "demo/collected" / chain) in done.stdout


def test_a_kept_demo_in_chinese_can_be_walked_through_by_hand(tmp_path: Path) -> None:
    folder = tmp_path / "a demo"
    done = demo(tmp_path, "--chain", "fsdp2", "--language", "zh", "--folder", str(folder))
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    assert "模拟 NPU 主机" in done.stdout and "Chain 1" not in done.stdout
    tried = shlex.split(done.stdout.strip().split("\n")[-1].partition("：")[2])
    assert tried[1] == "collect" and Path(tried[2]).is_file()
    again = demo(tmp_path, "--folder", str(folder))
    assert again.returncode == 2 and str(folder) in again.stderr and "Traceback" not in again.stderr
    program = (
        f"source {shlex.quote(str(folder / 'activate.sh'))}; P=mindspeed-mm-train-profiler; "
        "$P env --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[\"ready\"])'; $P runs; "
        'cd "$MINDSPEED_MM_TRAIN_PROFILER_STATE/runs"; $P status $(ls -d run-* | tail -1)'
    )
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, timeout=100, cwd=tmp_path)
    assert done.stdout.startswith("True\n"), done.stdout + done.stderr
    assert "succeeded" in done.stdout and "Next: mindspeed-mm-train-profiler verify --run-id run-" in done.stdout


def test_failures_are_told_as_failures(tmp_path: Path) -> None:
    done = demo(tmp_path, "--failures")
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    assert f"All {len(FAULTS)} failures were told as failures." in done.stdout
    assert not list(tmp_path.glob("simulated-npu-demo-*"))  # nothing is left behind


def test_the_switches_can_be_listed(tmp_path: Path) -> None:
    done = demo(tmp_path, "--switches")
    assert done.returncode == 0
    assert {line.split()[0] for line in done.stdout.splitlines()} == {PREFIX + name for name in TABLE}
