"""Two profiles of the same training: what changed, per rank and step.

Operators are aligned by name, type and input shapes. A profile's first and last steps are inflated by starting and
stopping the profiler; they are left out where more than two steps were captured.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from mindspeed_mm_train_profiler.profile_data.numbers import SessionNumbers, StepNumbers

MEASURES = (
    "compute_us",
    "communication_us",
    "communication_not_overlapped_us",
    "overlapped_us",
    "free_us",
    "bubble_us",
)


@dataclass(frozen=True, slots=True)
class Change:
    """One measure of a step, us, mean over ranks and steps. None: not measured on that side."""

    measure: str
    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True)
class OperatorChange:
    """One operator, us and calls of one step of one rank, mean; 0 where that side has none of it."""

    name: str
    type: str | None
    shapes: str | None
    before_us: float
    after_us: float
    before_count: float
    after_count: float


def inner_steps(numbers: SessionNumbers) -> list[StepNumbers]:
    """The steps that can be compared; a session with several devices has a row for each."""
    told = [row.step for row in numbers.steps if row.step is not None]
    if len(set(told)) <= 2:
        return numbers.steps
    first, last = min(told), max(told)
    return [row for row in numbers.steps if row.step is not None and first < row.step < last]


def step_us(row: StepNumbers) -> float | None:
    """Compute, communication that it does not hide, free: together the step. None where a part was not measured."""
    parts = [row.values.get(name) for name in ("compute_us", "communication_not_overlapped_us", "free_us")]
    return None if any(part is None for part in parts) else sum(part for part in parts if part is not None)


def _each(item: SessionNumbers, row: StepNumbers) -> int:
    """How many steps a row spans: without step ids (CPU activity off) it is the whole window."""
    return item.window if row.step is None and item.window else 1


def _mean(sessions: Sequence[SessionNumbers], measure: str) -> float | None:
    rows = [(row, _each(item, row)) for item in sessions for row in inner_steps(item)]
    values = [(step_us(row) if measure == "step_us" else row.values.get(measure), each) for row, each in rows]
    told = [value / each for value, each in values if value is not None]
    return fmean(told) if told else None


def steps_changed(before: Sequence[SessionNumbers], after: Sequence[SessionNumbers]) -> list[Change]:
    """The step's time first, then its parts."""
    return [Change(name, _mean(before, name), _mean(after, name)) for name in ("step_us", *MEASURES)]


Key = tuple[str, str | None, str | None]


def _per_step(sessions: Sequence[SessionNumbers]) -> dict[Key, tuple[float, float]]:
    """(us, calls) of one step of one rank. Kernels carry no step in every release: all captured steps count."""
    # a rank without a kernel table (parsed in part) does not thin out the others
    told = [item for item in sessions if item.operators]
    steps = sum(_captured(item) for item in told)
    found: dict[Key, tuple[float, float]] = {}
    for item in told:
        for row in item.operators:
            us, count = found.get((row.name, row.type, row.shapes), (0.0, 0.0))
            found[row.name, row.type, row.shapes] = (us + row.total_us / steps, count + (row.count or 0) / steps)
    return found


def _captured(item: SessionNumbers) -> int:
    """Steps that the kernels belong to."""
    numbered = {row.step for row in item.steps if row.step is not None}
    return len(numbered) or item.window or 1


def operators_changed(before: Sequence[SessionNumbers], after: Sequence[SessionNumbers]) -> list[OperatorChange]:
    """All operators of either side, the largest change first. ``session_numbers(top=None, shapes=True)`` is wanted."""
    old, new = _per_step(before), _per_step(after)
    if not old or not new:  # one side was not measured: nothing changed that is known
        return []
    rows = [
        OperatorChange(
            *key, old.get(key, (0, 0))[0], new.get(key, (0, 0))[0], old.get(key, (0, 0))[1], new.get(key, (0, 0))[1]
        )
        for key in old.keys() | new.keys()
    ]
    return sorted(rows, key=lambda row: (-abs(row.after_us - row.before_us), row.name, row.shapes or ""))
