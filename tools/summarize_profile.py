"""summarize_profile: what was measured, from the results that torch_npu wrote, and a report to look at."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from mindspeed_mm_train_profiler.errors import CodedError, Note
from mindspeed_mm_train_profiler.skill import wording
from mindspeed_mm_train_profiler.tools.bounds import fit, short
from mindspeed_mm_train_profiler.tools.common import Language, ToolSpec, remarks, resolve_language
from mindspeed_mm_train_profiler.tools.summary_result import (
    CollectiveRow,
    LinkRow,
    OperatorRow,
    RankRow,
    ReportFiles,
    SpreadRow,
    StepRow,
    SummaryResult,
)

MAX_STEPS = 12
MAX_RANKS = 4
MAX_KINDS = 6
MAX_CORES = 12
"""Rows of one result; what is left out is counted in ``omitted`` and stands in the report."""


def summarize_profile(
    run_id: Annotated[str | None, Field(description="a run")] = None,
    path: Annotated[str | None, Field(description="or a folder with sessions")] = None,
    top: Annotated[int, Field(ge=1, le=100, description="operators per rank")] = 10,
    ranks: Annotated[list[int] | None, Field(description="only these")] = None,
    language: Language = None,
) -> SummaryResult:
    """Steps, operators, communication, spread across ranks, memory peak; a report. Error: ``summary_nothing``."""
    from mindspeed_mm_train_profiler import profile_data
    from mindspeed_mm_train_profiler.profile_data import spread
    from mindspeed_mm_train_profiler.profile_data.numbers import session_numbers
    from mindspeed_mm_train_profiler.tools import profile_report
    from mindspeed_mm_train_profiler.tools.profile_source import locate

    spoken = resolve_language(language)
    folder, expectation = locate(run_id, path)
    verdict = profile_data.verify(folder, expectation)
    measured = [
        session_numbers(rank.session, top=top)
        for rank in verdict.ranks
        if rank.session and rank.files and (ranks is None or rank.rank in ranks)
    ]
    if not any(item.steps or item.operators or item.memory_peak_mb is not None for item in measured):
        raise CodedError("summary_nothing", found=folder)
    notes = [problem.note for item in measured for problem in item.problems][:8]
    if any(len(item.steps) > 1 for item in measured):
        notes.append(Note("steps_inflated", {}))
    if any(profile_report.simulated(item.session) for item in measured):
        notes.insert(0, Note("simulated_profile", {}))
    told = [wording.note_message(spoken, note) for note in notes]
    report = profile_report.write(run_id, folder, verdict, measured, spoken, told)
    shown = _by_interest(measured)
    slow = spread.slow_rank(measured)
    result = SummaryResult(
        summary=wording.text(
            spoken, "summary.done", ranks=len(measured), steps=sum(len(item.steps) for item in measured), path=folder
        ),
        warnings=remarks(spoken, notes),
        spread=[
            SpreadRow(
                measure=row.measure,
                least_us=round(row.least_us, 3),
                least_rank=row.least_rank,
                most_us=round(row.most_us, 3),
                most_rank=row.most_rank,
                mean_us=round(row.mean_us, 3),
            )
            for row in spread.spreads(measured)
        ],
        slow_rank=slow[0] if slow else None,
        report=ReportFiles(html=str(report.html), png=str(report.png) if report.png else None),
        **_rows(shown, top),
    )
    for name, count in fit(result, ("top_operators", "ranks", "steps", "communication", "links")).items():
        result.omitted[name] = result.omitted.get(name, 0) + count
    result._picture = report.picture
    return result


def _by_interest(measured: list[Any]) -> list[Any]:
    """Slowest and fastest first, where there are too many ranks to show all; else by rank."""
    from mindspeed_mm_train_profiler.profile_data import spread

    if len(measured) <= 2:
        return measured
    by_compute = sorted(measured, key=lambda item: -(spread.means(item, "compute_us") or 0.0))
    first = [by_compute[0], by_compute[-1]]
    return first + [item for item in measured if all(item is not other for other in first)]


def _rows(measured: Sequence[Any], top: int) -> dict[str, Any]:
    """The rows of a result within their bounds, with the count of those left out."""
    steps = [
        StepRow(
            rank=item.rank,
            device=row.device,
            step=row.step,
            **{key: _short(value) for key, value in row.values.items()},
        )
        for item in measured
        for row in item.steps
    ]
    operators = [
        OperatorRow(
            rank=item.rank,
            name=short(row.name),
            type=row.type and short(row.type),
            core=row.core and short(row.core),
            count=row.count,
            total_us=round(row.total_us, 3),
            share=None if row.share is None else float(f"{row.share:.8g}"),
        )
        for item in measured
        for row in item.operators
    ]
    kinds = [
        CollectiveRow(
            rank=item.rank,
            name=short(row.name),
            count=row.count,
            elapsed_us=_short(row.elapsed_us),
            wait_us=_short(row.wait_us),
        )
        for item in measured
        if item.communication is not None
        for row in item.communication.collectives
    ]
    links = [
        LinkRow(
            rank=item.rank,
            link=short(row.name),
            size_mb=round(row.size_mb, 3),
            bandwidth_gb_s=_short(row.bandwidth_gb_s, 4),
        )
        for item in measured
        if item.communication is not None
        for row in item.communication.links
    ]
    ranks = [
        RankRow(
            rank=item.rank,
            session=str(item.session),
            core_shares=_cores(item.core_shares),
            memory_peak_mb=item.memory_peak_mb,
            sources=_sources(item),
        )
        for item in measured
    ]
    limits: dict[str, tuple[list[Any], int]] = {
        "steps": (steps, MAX_STEPS),
        "top_operators": (operators, max(2 * top, 10)),
        "communication": (kinds, MAX_KINDS),
        "links": (links, MAX_KINDS),
        "ranks": (ranks, MAX_RANKS),
    }
    found: dict[str, Any] = {name: rows[:limit] for name, (rows, limit) in limits.items()}
    found["omitted"] = {name: len(rows) - limit for name, (rows, limit) in limits.items() if len(rows) > limit}
    return found


def _cores(shares: dict[str, float]) -> dict[str, float] | None:
    """The largest, by name."""
    largest = sorted(shares, key=lambda name: -shares[name])[:MAX_CORES]
    return {short(name): round(shares[name], 4) for name in sorted(largest)} or None


def _short(value: float | None, digits: int = 3) -> float | None:
    return None if value is None else round(value, digits)


def _sources(item: Any) -> dict[str, str]:
    """File names are enough: they lie in ASCEND_PROFILER_OUTPUT of the session."""
    told = {
        "steps": item.steps[0].source if item.steps else None,
        "operators": item.kernel_source,
        "memory": item.memory_source,
        "communication": item.communication.source if item.communication else None,
    }
    return {name: Path(source).name for name, source in told.items() if source}


TOOL = ToolSpec(
    name="summarize_profile",
    title="Summarise a profile",
    description=(
        "Numbers of a parsed profile, per rank: steps (compute, communication, free), top operators, "
        "communication, slow rank, memory peak; a page and a picture. null means not measured."
    ),
    function=summarize_profile,
    read_only=True,
    destructive=False,
    idempotent=True,
    open_world=False,
)
