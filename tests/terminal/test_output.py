"""What stands on the screen, in whatever encoding and language."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mindspeed_mm_train_profiler.terminal import live, speech
from mindspeed_mm_train_profiler.terminal.main import build_parser


@pytest.mark.parametrize("encoding", ["ascii", "gbk", "latin-1", "utf-8"])
def test_every_encoding_of_a_terminal_is_served(encoding: str, own_state: Path, tmp_path: Path) -> None:
    missing = tmp_path / "脚本-é-\U0001f600.sh"
    for flags in ([], ["--json"]):
        done = subprocess.run(
            [sys.executable, "-m", "mindspeed_mm_train_profiler.cli", "detect", str(missing), "--language=zh", *flags],
            capture_output=True,
            timeout=60,
            env={**os.environ, "PYTHONIOENCODING": encoding, "MINDSPEED_MM_TRAIN_PROFILER_STATE": str(own_state)},
            check=False,
        )
        assert done.returncode == 3 and b"Traceback" not in done.stderr, done.stderr
        if flags:
            assert json.loads(done.stdout.decode(encoding))["error"]["found"] == str(missing)


def test_the_next_step_is_a_command_that_is_taken() -> None:
    line = speech.command_line(
        "choose_options", {"script": "/data/a b.sh", "workdir": "/data", "answers": {"level": "level0"}}
    )
    assert line == "mindspeed-mm-train-profiler collect '/data/a b.sh' --workdir /data"
    assert build_parser().parse_args(["collect", "/data/a b.sh", "--workdir", "/data"]).script == "/data/a b.sh"


def test_a_run_that_goes_on_is_told_in_both_languages() -> None:
    status = SimpleNamespace(
        state="running", phase="training", iteration=14, train_iters=100, ms_per_iteration=22.25, eta_s=1.9,
        window=SimpleNamespace(first_iteration=11, last_iteration=12), sessions_seen=["a"],
    )  # fmt: skip
    assert (
        live.line(status, "en") == "running/training  iteration 14/100  22.25 ms  ETA 1.9 s  window 11-12  sessions 1"
    )
    assert live.line(status, "zh") == "running/training  迭代 14/100  22.25 ms  预计剩余 1.9 s  采集窗口 11-12  会话 1"
    nothing = SimpleNamespace(**dict.fromkeys(vars(status)) | {"state": "starting", "phase": "starting"})
    assert live.line(nothing, "zh") == "starting/starting"
    unknown = SimpleNamespace(**vars(status) | {"train_iters": None})
    assert "iteration 14/?" in live.line(unknown, "en")


def cli(*words: str, **how: Any) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [sys.executable, "-m", "mindspeed_mm_train_profiler.cli", *words],
        stderr=subprocess.PIPE, timeout=60, check=False, **how,
    )  # fmt: skip


@pytest.mark.parametrize(("language", "word"), [("en", "standard output"), ("zh", "标准输出")])
def test_an_output_that_takes_nothing_more_is_told(language: str, word: str, tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = cli("runs", "--language", language, stdout=full)
    assert done.returncode == 3
    assert word in done.stderr.decode().lower() and "Traceback" not in done.stderr.decode()


@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&-"])
def test_a_stream_that_is_closed_is_an_empty_one(closed: str, tmp_path: Path) -> None:
    script = tmp_path / "x.sh"
    script.write_text("torchrun inference_vlm.py\n", encoding="utf-8")
    for words, expected in (
        (("collect", script), 1),
        (("detect", script), 1),
        (("serve",), 0),
        (("runs", "--json"), 0),
    ):
        command = [sys.executable, "-m", "mindspeed_mm_train_profiler.cli", *map(str, words)]
        done = subprocess.run(
            ["bash", "-c", f'exec "$@" {closed}', "bash", *command],
            stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False,
        )  # fmt: skip
        assert (done.returncode, b"Traceback" in done.stderr) == (expected, False), (words, done.stderr)
