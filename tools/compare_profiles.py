"""compare_profiles: what changed between two profiles of the same training."""

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import BaseModel, Field

from mindspeed_mm_train_profiler.errors import CodedError, Note
from mindspeed_mm_train_profiler.skill import wording
from mindspeed_mm_train_profiler.tools.bounds import fit, short
from mindspeed_mm_train_profiler.tools.common import Language, Result, ToolSpec, remarks, resolve_language

MAX_SHAPES = 120


class MeasureRow(BaseModel):
    """Microseconds, mean over ranks and inner steps; ``ratio``: after over before."""

    measure: str
    before_us: float | None
    after_us: float | None
    change_us: float | None
    ratio: float | None


class OperatorRow(BaseModel):
    """Microseconds and calls of one step of one rank, mean."""

    name: str
    type: str | None
    shapes: str | None
    before_us: float
    after_us: float
    change_us: float
    before_count: float
    after_count: float


class SideRow(BaseModel):
    path: str
    ranks: list[int | None]
    steps: list[int | None]
    level: str | None = None


class CompareResult(Result):
    before: SideRow
    after: SideRow
    measures: list[MeasureRow] = Field(default_factory=list)
    operators: list[OperatorRow] = Field(default_factory=list)
    omitted: int = Field(0, description="operators left out")

    def body(self, language: wording.Language) -> Iterable[str]:
        for row in self.measures:
            if row.before_us is not None or row.after_us is not None:
                ratio = "" if row.ratio is None else f" ({row.ratio})"
                yield f"{row.measure}: {_shown(row.before_us)} -> {_shown(row.after_us)}{ratio}"
        for operator in self.operators[:10]:
            yield f"{operator.name} [{operator.shapes}]: {_shown(operator.before_us)} -> {_shown(operator.after_us)} us"


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:g}" if value == int(value) else str(value)


def compare_profiles(
    before: Annotated[str, Field(description="run_id or path")],
    after: Annotated[str, Field(description="run_id or path")],
    top: Annotated[int, Field(ge=1, le=100)] = 10,
    language: Language = None,
) -> CompareResult:
    """Step time, its parts, and operators that changed. Errors: ``summary_nothing`` and those of verify_output."""
    from mindspeed_mm_train_profiler.profile_data import compare

    spoken = resolve_language(language)
    sides = [_side(before), _side(after)]
    notes = _cautions(*sides)
    (old, _), (new, _) = sides
    changed = compare.operators_changed(old, new)
    measures = [_measure(row) for row in compare.steps_changed(old, new)]
    whole = measures[0]
    result = CompareResult(
        summary=wording.text(
            spoken,
            "compare.done",
            before=_ms(whole.before_us),
            after=_ms(whole.after_us),
            ratio="?" if whole.ratio is None else f"{whole.ratio:.3f}",
        ),
        warnings=remarks(spoken, notes),
        before=sides[0][1],
        after=sides[1][1],
        measures=measures,
        operators=[
            OperatorRow(
                name=short(row.name),
                type=row.type and short(row.type),
                shapes=row.shapes and short(row.shapes, MAX_SHAPES),
                before_us=round(row.before_us, 2),
                after_us=round(row.after_us, 2),
                change_us=round(row.after_us - row.before_us, 2),
                before_count=round(row.before_count, 2),
                after_count=round(row.after_count, 2),
            )
            for row in changed[:top]
        ],
        omitted=max(0, len(changed) - top),
    )
    result.omitted += sum(fit(result, ("operators",)).values())
    return result


def _side(which: str) -> tuple[list[Any], SideRow]:
    """The numbers of one side, and what it is."""
    from mindspeed_mm_train_profiler import profile_data
    from mindspeed_mm_train_profiler.profile_data.numbers import session_numbers
    from mindspeed_mm_train_profiler.runs.folder import RUN_ID
    from mindspeed_mm_train_profiler.tools.profile_source import locate

    folder, expectation = locate(which, None) if RUN_ID.match(which) else locate(None, which)
    verdict = profile_data.verify(folder, expectation)
    ranks = [rank for rank in verdict.ranks if rank.session is not None and rank.files]
    numbers = [session_numbers(rank.session, top=None, shapes=True) for rank in ranks if rank.session is not None]
    if not any(item.steps or item.operators for item in numbers):
        raise CodedError("summary_nothing", found=folder)
    levels = {rank.record.level.lower() for rank in ranks if rank.record and rank.record.level}
    row = SideRow(
        path=str(folder),
        ranks=sorted({item.rank for item in numbers}, key=lambda rank: (rank is None, rank or 0))[:64],
        steps=sorted(
            {step.step for item in numbers for step in item.steps}, key=lambda step: (step is None, step or 0)
        )[:64],
        level=levels.pop() if len(levels) == 1 else None,
    )
    return numbers, row


def _cautions(before: tuple[list[Any], SideRow], after: tuple[list[Any], SideRow]) -> list[Note]:
    """What makes the comparison doubtful."""
    (old, first), (new, second) = before, after
    from mindspeed_mm_train_profiler.tools.profile_report import simulated

    notes = [Note("steps_inflated", {})]
    if any(simulated(place) for place in [item.session for item in (*old, *new)]):
        notes.insert(0, Note("simulated_profile", {}))
    if first.steps != second.steps:
        notes.append(Note("compare_steps_differ", {"before": str(first.steps), "after": str(second.steps)}))
    unnumbered = [any(row.step is None for item in side for row in item.steps) for side in (old, new)]
    if any(unnumbered):
        told = [sorted({item.window for item in side if item.window}) for side in (old, new)]
        params = {"before": _listed(told[0]), "after": _listed(told[1])}
        notes.append(Note("compare_no_step_ids", params))
    if first.ranks != second.ranks:
        notes.append(Note("compare_ranks_differ", {"before": str(first.ranks), "after": str(second.ranks)}))
    if first.level != second.level:
        notes.append(Note("compare_level_differs", {"before": str(first.level), "after": str(second.level)}))
    if not all(any(item.operators for item in side) for side in (old, new)):
        notes.append(Note("compare_no_operators", {}))
    return notes


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers)) or "?"


def _measure(row: Any) -> MeasureRow:
    known = row.before is not None and row.after is not None
    return MeasureRow(
        measure=row.measure,
        before_us=None if row.before is None else round(row.before, 1),
        after_us=None if row.after is None else round(row.after, 1),
        change_us=round(row.after - row.before, 1) if known else None,
        ratio=round(row.after / row.before, 4) if known and row.before else None,
    )


def _ms(us: float | None) -> str:
    return "?" if us is None else f"{us / 1000:.3f}"


TOOL = ToolSpec(
    name="compare_profiles",
    title="Compare two profiles",
    description="Two parsed profiles of one training: step time, its parts, operators (by name, shapes) that changed.",
    function=compare_profiles,
    read_only=True,
    destructive=False,
    idempotent=True,
    open_world=False,
)
