"""A dynamic run's sessions against the windows that were opened: one session for each window and rank, no more."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mindspeed_mm_train_profiler.profile_data.problems import Problem

if TYPE_CHECKING:
    from mindspeed_mm_train_profiler.profile_data.verdict import RankVerdict, Verdict


@dataclass(frozen=True, slots=True)
class Window:
    """``ranks`` None: every rank that watched. ``steps``: the watcher's counter; None where not known."""

    ranks: list[int] | None
    steps: list[int] | None


def match(verdict: "Verdict", windows: list[Window]) -> None:
    """Add what is missing and what is too many to the verdict; where steps differ, to the session."""
    from mindspeed_mm_train_profiler.profile_data.verdict import RankVerdict

    if not windows:
        verdict.problems.append(Problem("window_never_opened", looked=str(verdict.root)))
    by_rank: dict[int, list[RankVerdict]] = {}
    for found in verdict.ranks:
        if found.rank is not None:
            by_rank.setdefault(found.rank, []).append(found)
    wanted = {rank for window in windows for rank in window.ranks or ()} | by_rank.keys()
    for rank in sorted(wanted):
        mine = [window for window in windows if window.ranks is None or rank in window.ranks]
        left = sorted(by_rank.get(rank, []), key=lambda found: str(found.session))
        for window in _taken(mine, left):
            label = f"{window.steps[0]}~{window.steps[-1]}" if window.steps else "?"
            missing = Problem("window_missing", looked=f"rank {rank}, steps {label}: {verdict.root}")
            verdict.ranks.append(RankVerdict(rank, "missing", problems=[missing]))
        for found in left:
            found.problems.append(Problem("window_unasked", looked=str(found.session), remark=True))


def listed(steps: list[int]) -> str:
    """Steps for a sentence, shortened where there are many."""
    return str(steps) if len(steps) <= 16 else f"[{steps[0]}, {steps[1]}, ..., {steps[-1]}] ({len(steps)})"


def _taken(windows: list[Window], sessions: list["RankVerdict"]) -> list[Window]:
    """Take the sessions that are these windows' out of ``sessions``; the windows that have none are returned.

    By their steps first; what does not tell its steps is taken in the order of time.
    """
    waiting = []
    for window in windows:
        same = next((found for found in sessions if found.steps is not None and found.steps == window.steps), None)
        if same is not None:
            sessions.remove(same)
        else:
            waiting.append(window)
    missing = []
    for window in waiting:
        if not sessions:
            missing.append(window)
            continue
        found = sessions.pop(0)
        if found.steps is not None and window.steps is not None:
            found.problems.append(Problem("steps_differ", looked=f"{listed(found.steps)} != {listed(window.steps)}"))
            if found.state == "valid":
                found.state = "invalid"
    return missing
