"""The window: which passes are captured, and what is said about it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindspeed_mm_train_profiler.simulator.generations import generation
from mindspeed_mm_train_profiler.simulator.messages import Messages
from mindspeed_mm_train_profiler.simulator.schedule import Action, Schedule

MESSAGES = Messages(generation("26.0.0"))


def captured(schedule: Schedule, passes: int) -> list[int]:
    return [n for n in range(passes) if schedule.action(n) in (Action.RECORD, Action.RECORD_AND_SAVE)]


@given(start=st.integers(0, 40), length=st.integers(1, 20), warmup=st.sampled_from([0, 1]))
def test_the_window_is_active_passes_after_the_skipped_and_the_warm_up_ones(
    start: int, length: int, warmup: int
) -> None:
    schedule = Schedule(length, warmup, start, MESSAGES)
    assert captured(schedule, 100) == list(range(start + warmup, start + warmup + length))
    assert schedule.first_captured() == start + warmup
    saving = [n for n in range(100) if schedule.action(n) is Action.RECORD_AND_SAVE]
    assert saving == [start + warmup + length - 1]


@pytest.mark.parametrize("active", [0, -3, 10.0, "2"])
def test_a_length_that_makes_no_sense_becomes_one_step_with_a_warning(
    active: object, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RANK", raising=False)
    schedule = Schedule(active, 0, 3, MESSAGES)
    assert captured(schedule, 10) == [3]
    assert "Invalid parameter active, reset it to 1." in capsys.readouterr().out


def test_warnings_are_for_rank_0(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    Schedule(0, 0, -1, MESSAGES)
    assert capsys.readouterr().out == ""
    monkeypatch.setenv("RANK", "0")
    Schedule(0, 0, -1, MESSAGES)
    out = capsys.readouterr().out
    assert "skip_first, reset it to 0" in out and "won't be using warmup" in out


@pytest.mark.parametrize(
    "name, bracket", [("6.0.0", False), ("7.0.0", False), ("7.1.0", True), ("7.2.0", True), ("26.1.0", True)]
)
def test_the_format_of_messages_is_the_generation_s(
    name: str, bracket: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    Messages(generation(name)).info("hello")
    out = capsys.readouterr().out
    assert out.startswith("[") is bracket
    assert out.endswith("profiler.py: hello\n")
