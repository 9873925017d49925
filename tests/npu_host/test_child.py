"""A command that is asked: its time limit holds, whatever it started, and nothing of it stays."""

import os
import time
from pathlib import Path

import psutil
import pytest

from mindspeed_mm_train_profiler.npu_host import child, local, smi


def gone(pid: int, bound_s: float = 10) -> bool:
    deadline = time.monotonic() + bound_s
    while time.monotonic() < deadline:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.02)
    return False


def test_what_it_says_and_how_it_ends() -> None:
    done = child.ask(["sh", "-c", "echo out; echo err >&2; exit 3"], timeout_s=20)
    assert (done.out, done.err, done.code) == (b"out\n", b"err\n", 3)


@pytest.mark.parametrize("words", ["sleep 60 & echo $! > {pid}; wait", "sleep 60 & echo $! > {pid}; exec sleep 60"])
def test_a_wrapper_that_waits_for_a_hanging_grandchild(words: str, tmp_path: Path) -> None:
    place = tmp_path / "pid"
    began = time.monotonic()
    done = child.ask(["sh", "-c", words.format(pid=place)], timeout_s=0.7)
    assert done.code is None and time.monotonic() - began < 5
    assert gone(int(place.read_text()))


def test_a_grandchild_that_holds_the_output_open_does_not_keep_us(tmp_path: Path) -> None:
    began = time.monotonic()
    done = child.ask(["sh", "-c", "sleep 5 & echo said"], timeout_s=20)
    assert (done.out, done.code) == (b"said\n", 0) and time.monotonic() - began < 4


def test_it_is_given_up_when_nobody_wants_it_any_more() -> None:
    began = time.monotonic()
    assert child.ask(["sleep", "60"], timeout_s=30, unwanted=lambda: time.monotonic() - began > 0.2).code is None
    assert time.monotonic() - began < 5


def test_of_very_much_output_beginning_and_end_are_kept() -> None:
    done = child.ask(["sh", "-c", "echo first; head -c 2000000 /dev/zero | tr '\\0' x; echo last"], timeout_s=30)
    assert done.out.startswith(b"first\n") and done.out.endswith(b"last\n") and len(done.out) <= child.MAX_OUTPUT + 1


def test_an_npu_smi_whose_child_hangs(tmp_path: Path) -> None:
    program = tmp_path / "npu-smi"
    program.write_text("#!/bin/sh\nsleep 60\n", encoding="utf-8")
    program.chmod(0o755)
    began = time.monotonic()
    report = smi.query({"PATH": f"{tmp_path}:{os.environ['PATH']}"}, timeout_s=0.5)
    assert report.status == "timeout" and time.monotonic() - began < 5


def test_who_holds_a_port() -> None:
    import socket

    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        own.listen()
        port = own.getsockname()[1]
        assert local.port_free(port) is False
        assert f"pid {os.getpid()} " in (local.port_holder(port) or "")
    assert local.port_holder(port) is None
