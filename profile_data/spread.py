"""Differences between ranks: who is slow, and how far apart they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from mindspeed_mm_train_profiler.profile_data.numbers import SessionNumbers

SLOW = 1.05
"""A rank counts as slow from 5 % above the median on: below that, steps differ as much by themselves."""


@dataclass(frozen=True, slots=True)
class Spread:
    """One measure over the ranks: each rank's mean of its captured steps, us."""

    measure: str
    least_us: float
    least_rank: int | None
    most_us: float
    most_rank: int | None
    mean_us: float


def means(numbers: SessionNumbers, measure: str) -> float | None:
    """Mean of the captured steps; None where it was not measured."""
    values = [row.values.get(measure) for row in numbers.steps]
    told = [value for value in values if value is not None]
    return fmean(told) if told else None


def spreads(sessions: Sequence[SessionNumbers]) -> list[Spread]:
    """For compute, communication not overlapped, and free; none where fewer than two ranks tell it."""
    found = []
    for measure in ("compute_us", "communication_not_overlapped_us", "free_us"):
        told = [(value, item.rank) for item in sessions if (value := means(item, measure)) is not None]
        if len(told) > 1:
            least, most = min(told, key=lambda pair: pair[0]), max(told, key=lambda pair: pair[0])
            found.append(Spread(measure, least[0], least[1], most[0], most[1], fmean(value for value, _ in told)))
    return found


def slow_rank(sessions: Sequence[SessionNumbers]) -> tuple[int | None, float] | None:
    """(rank, its compute over the median) of the rank that the others wait for; None where none stands out."""
    told = [(value, item.rank) for item in sessions if (value := means(item, "compute_us")) is not None]
    if len(told) < 2:
        return None
    middle = median(value for value, _ in told)
    value, rank = max(told, key=lambda pair: pair[0])
    return (rank, value / middle) if middle and value / middle >= SLOW else None
