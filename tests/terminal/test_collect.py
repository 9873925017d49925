"""``collect``: the whole job in a terminal, on the simulated host, with plain prompts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mindspeed_mm_train_profiler.simulator.host import make_host
from mindspeed_mm_train_profiler.simulator.sample import make_checkout

pytestmark = pytest.mark.slow


def collect(
    tmp_path: Path, own_state: Path, chain: str, answers: str, *flags: str
) -> "subprocess.CompletedProcess[str]":
    host = make_host(tmp_path / "host")
    checkout = make_checkout(tmp_path / "MindSpeed-MM", set_env=host.set_env)
    return subprocess.run(
        [sys.executable, "-m", "mindspeed_mm_train_profiler.cli", "collect", str(checkout.scripts[chain]), *flags],
        input=answers,
        capture_output=True,
        text=True,
        timeout=110,
        cwd=tmp_path,
        env={**os.environ, **host.environment(), "MINDSPEED_MM_TRAIN_PROFILER_STATE": str(own_state)},
        check=False,
    )


def test_answers_by_number_and_word_to_a_complete_profile(tmp_path: Path, own_state: Path) -> None:
    answers = "\n".join(["static", "", "2", "1", "1,2", "", "", "20", "y"]) + "\n"
    done = collect(tmp_path, own_state, "tools_json", answers, "--override", "port_in_use")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    assert "complete" in done.stdout
    assert "simulated" in done.stdout
    for step in ("collect", "env", "build", "launch", "status", "verify"):  # steps that the command takes itself
        assert f"mindspeed-mm-train-profiler {step}" not in done.stdout


def test_what_does_not_fit_is_asked_again_with_the_reason(tmp_path: Path, own_state: Path) -> None:
    answers = "\n".join(["sometimes", "", "", "", "9", "", "", "", "", "", "n"]) + "\n"
    done = collect(tmp_path, own_state, "fsdp2", answers, "--language", "zh")
    assert done.returncode == 4, done.stdout[-3000:] + done.stderr
    assert "  ! " in done.stdout
    assert not list((tmp_path / "MindSpeed-MM").rglob("*_profile_*"))


@pytest.mark.parametrize("answer", ["y", "n"])
def test_what_stands_in_the_way_is_asked_and_not_refused_after_eight_answers(
    answer: str, tmp_path: Path, own_state: Path
) -> None:
    """A checkpoint lies where the script saves: the build wants that acknowledged."""
    saved = tmp_path / "MindSpeed-MM" / "save_dir"
    saved.mkdir(parents=True)
    (saved / "latest_checkpointed_iteration.txt").write_text("5", encoding="utf-8")
    answers = "\n" * 8 + f"{answer}\nn\n"
    done = collect(tmp_path, own_state, "tools_json", answers)
    assert "--acknowledge checkpoint_overwrite" in done.stdout, done.stdout[-2000:]
    assert done.returncode == (4 if answer == "y" else 3)


def test_an_input_that_ends_confirms_nothing(tmp_path: Path, own_state: Path) -> None:
    done = collect(tmp_path, own_state, "tools_json", "\n\n")
    assert done.returncode == 4
    assert "Traceback" not in done.stderr
    assert not (own_state / "runs").exists()


def test_an_unsupported_script_ends_at_once(tmp_path: Path, own_state: Path) -> None:
    script = tmp_path / "x.sh"
    script.write_text("torchrun inference_vlm.py\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mindspeed_mm_train_profiler.cli", "collect", str(script)],
        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "inference" in done.stdout
