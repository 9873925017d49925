"""What stands before the launcher: its record, under any shell, and which calls of a script belong together."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from mindspeed_mm_train_profiler.runs import recorder
from mindspeed_mm_train_profiler.runs.folder import RunFolder


def call(number: int, code: int | None, *, born: int | None, died: int | None, at: float) -> dict[str, Any]:
    """Ticks of the kernel, and a wall clock that may say something else."""
    ended = None if died is None and code is None else at + 1
    return {"pid": number, "started": at, "ended": ended, "exit_code": code, "born": born, "died": died}


def codes(folder: Path, *calls: dict[str, Any]) -> list[int]:
    for record in calls:
        (folder / f"launcher-{record['pid']}-1.json").write_text(json.dumps(record), encoding="utf-8")
    return RunFolder(folder).launcher_codes()


def test_a_call_forked_before_the_other_had_ended_ran_beside_it(tmp_path: Path) -> None:
    """On a busy machine the second reads the clock when the first has long ended."""
    late = call(2, 0, born=101, died=300, at=50.0)
    assert codes(tmp_path, call(1, 4, born=100, died=140, at=10.0), late) == [4, 0]


def test_a_call_forked_after_the_other_had_ended_is_a_retry(tmp_path: Path) -> None:
    """Also where the clock was set back meanwhile."""
    again = call(2, 0, born=141, died=300, at=10.5)
    assert codes(tmp_path, call(1, 4, born=100, died=140, at=10.0), again) == [0]


@pytest.mark.parametrize(("at", "told"), [(12.0, [0]), (10.5, [4, 0])])
def test_in_one_tick_or_without_ticks_the_clock_decides(tmp_path: Path, at: float, told: list[int]) -> None:
    for first, second in (((100, 140), (140, 300)), ((None, None), (None, None))):
        calls = (
            call(1, 4, born=first[0], died=first[1], at=10.0),
            call(2, 0, born=second[0], died=second[1], at=at),
        )
        assert codes(tmp_path, *calls) == told


def test_records_of_an_earlier_release_and_none_at_all(tmp_path: Path) -> None:
    assert codes(tmp_path) == []
    old = {"pid": 1, "started": 10, "ended": 11, "exit_code": 3}
    assert codes(tmp_path, old, {**old, "pid": 2, "started": 12, "ended": 13, "exit_code": 0}) == [0]


@pytest.mark.parametrize("shell", ["dash", "bash", "busybox"])
def test_the_record_under_each_shell(tmp_path: Path, shell: str) -> None:
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"no {shell}")
    program = recorder.install(tmp_path)
    words = [found, *(["sh"] if shell == "busybox" else []), str(program)]
    done = subprocess.run([*words, "sh", "-c", "exit 7"], capture_output=True, timeout=30, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (7, b"", b"")
    (record,) = RunFolder(tmp_path).launchers()
    assert record["exit_code"] == 7 and record["started"] <= record["ended"]
    assert isinstance(record["born"], int) and record["born"] <= record["died"]
    assert RunFolder(tmp_path).launcher_codes() == [7]
