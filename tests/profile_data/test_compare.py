"""Two profiles side by side: means by hand, steps that cannot be compared, operators that come and go."""

import random
from pathlib import Path
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindspeed_mm_train_profiler.profile_data.compare import inner_steps, operators_changed, step_us, steps_changed
from mindspeed_mm_train_profiler.profile_data.numbers import Operator, SessionNumbers, StepNumbers

US = st.floats(0, 1e7, allow_nan=False)
PARTS = ("compute_us", "communication_not_overlapped_us", "free_us")


def session(steps: list[StepNumbers], operators: list[Operator] | None = None, window: int | None = None):
    return SessionNumbers(Path("s"), 0, window, steps=steps, operators=operators or [])


def row(step: int | None, compute: float | None = 10.0, free: float | None = 2.0, device: int | None = None):
    values = {"compute_us": compute, "communication_not_overlapped_us": 3.0, "free_us": free}
    return StepNumbers(step, values, "step_trace_time.csv", device)


@given(st.lists(st.tuples(US, US, US), min_size=3, max_size=12))
def test_means_are_of_the_steps_between_the_first_and_the_last(parts: list[tuple[float, float, float]]) -> None:
    rows = [StepNumbers(n, dict(zip(PARTS, values, strict=True)), "x") for n, values in enumerate(parts)]
    shuffled = random.Random(1).sample(rows, len(rows))
    (whole, compute, *_) = steps_changed([session(shuffled)], [session(rows)])
    assert (whole.measure, compute.measure) == ("step_us", "compute_us")
    assert compute.before == compute.after == pytest.approx(fmean(values[0] for values in parts[1:-1]))
    assert whole.before == pytest.approx(fmean(map(sum, parts[1:-1])))


def test_of_two_steps_both_count() -> None:
    assert len(inner_steps(session([row(4), row(5)]))) == 2
    assert [item.step for item in inner_steps(session([row(4), row(5), row(6)]))] == [5]


def test_a_part_that_was_not_measured_makes_no_sum() -> None:
    assert step_us(row(1, free=None)) is None
    (whole, compute, *_) = steps_changed([session([row(1, free=None)])], [session([row(1)])])
    assert (whole.before, whole.after, compute.before) == (None, 15.0, 10.0)


def test_without_step_ids_a_row_spans_the_recorded_window() -> None:
    matmul = [Operator("MatMul1", "MatMul", "AI_CORE", 8, 80.0)]
    short = session([row(None, 20.0, 4.0)], matmul, window=2)
    long = session([row(None, 80.0, 16.0)], matmul, window=8)
    compute = steps_changed([short], [long])[1]
    assert (compute.before, compute.after) == (10.0, 10.0)
    (operator,) = operators_changed([short], [long])
    assert (operator.before_us, operator.after_us) == (40.0, 10.0)
    assert (operator.before_count, operator.after_count) == (4.0, 1.0)


def test_numbered_steps_do_not_ask_the_record() -> None:
    matmul = [Operator("MatMul1", "MatMul", "AI_CORE", 2, 20.0)]
    (operator,) = operators_changed([session([row(4), row(5)], matmul, window=7)], [session([row(4)], matmul)])
    assert (operator.before_us, operator.after_us) == (10.0, 20.0)


def test_operators_that_come_and_go_and_those_of_another_shape() -> None:
    def op(name: str, us: float, shapes: str) -> Operator:
        return Operator(name, None, "AI_CORE", 1, us, shapes=shapes)

    old = session([row(1)], [op("a", 5.0, "2,2"), op("gone", 3.0, "1")])
    new = session([row(1)], [op("a", 9.0, "2,2"), op("a", 1.0, "4,4")])
    rows = operators_changed([old], [new])
    told = [(item.name, item.shapes, item.before_us, item.after_us) for item in rows]
    assert told == [("a", "2,2", 5.0, 9.0), ("gone", "1", 3.0, 0), ("a", "4,4", 0, 1.0)]


def test_a_side_without_kernels_changes_nothing() -> None:
    one = session([row(1)], [Operator("a", None, None, 1, 1.0)])
    assert operators_changed([one], [session([row(1)])]) == [] == operators_changed([], [one])


def test_a_rank_without_a_kernel_table_does_not_thin_out_the_others() -> None:
    full = session([row(1)], [Operator("a", None, None, 1, 6.0)])
    (operator,) = operators_changed([full, session([row(1)])], [full])
    assert (operator.before_us, operator.after_us) == (6.0, 6.0)


def test_two_devices_of_a_session_are_two_rows_of_each_step() -> None:
    rows = [row(step, device=device) for step in (1, 2, 3) for device in (0, 1)]
    assert [(item.step, item.device) for item in inner_steps(session(rows))] == [(2, 0), (2, 1)]
