"""summarize_profile: what was measured, from the results that torch_npu wrote."""

from collections.abc import Iterable
from typing import Annotated

from pydantic import BaseModel, Field

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.skill import wording
from mindspeed_mm_train_profiler.tools.common import Language, Result, ToolSpec, remarks, resolve_language


class StepRow(BaseModel):
    """Microseconds; null: not measured. ``step`` is null where CPU activity was off."""

    rank: int | None
    step: int | None
    compute_us: float | None
    communication_us: float | None
    communication_not_overlapped_us: float | None
    overlapped_us: float | None
    free_us: float | None
    bubble_us: float | None
    source: str


class OperatorRow(BaseModel):
    """Compute kernels of one name, type and core; ``share`` of the rank's compute kernel time, 0 to 1."""

    rank: int | None
    name: str
    type: str | None
    core: str | None
    count: int
    total_us: float
    share: float | None
    source: str | None


class RankRow(BaseModel):
    """``core_shares``: part of compute kernel time by core, 0 to 1. Peak: reserved by the framework's allocator, MB."""

    rank: int | None
    session: str
    core_shares: dict[str, float] | None
    memory_peak_mb: float | None
    memory_source: str | None


class SummaryResult(Result):
    """Numbers with their sources; steps are the profiler's 0-based counter."""

    steps: list[StepRow] = Field(default_factory=list)
    top_operators: list[OperatorRow] = Field(default_factory=list)
    ranks: list[RankRow] = Field(default_factory=list)

    def body(self, language: wording.Language) -> Iterable[str]:
        for row in self.steps[:16]:
            yield (
                f"rank {row.rank} step {row.step}: compute_us {row.compute_us}, "
                f"communication_not_overlapped_us {row.communication_not_overlapped_us}, free_us {row.free_us}"
            )
        for operator in self.top_operators[:10]:
            yield f"rank {operator.rank} {operator.name} ({operator.core}): {operator.total_us:.1f} us"


def summarize_profile(
    run_id: Annotated[str | None, Field(description="a run")] = None,
    path: Annotated[str | None, Field(description="or any folder with sessions")] = None,
    top: Annotated[int, Field(ge=1, le=100, description="operators per rank")] = 10,
    language: Language = None,
) -> SummaryResult:
    """Step breakdown, top operators, core shares and memory peak per rank. Error: ``summary_nothing``."""
    from mindspeed_mm_train_profiler import profile_data
    from mindspeed_mm_train_profiler.profile_data.numbers import session_numbers
    from mindspeed_mm_train_profiler.tools.profile_source import locate

    spoken = resolve_language(language)
    folder, expectation = locate(run_id, path)
    verdict = profile_data.verify(folder, expectation)
    measured = [session_numbers(rank.session, top=top) for rank in verdict.ranks if rank.session and rank.files]
    if not any(item.steps or item.operators or item.memory_peak_mb is not None for item in measured):
        raise CodedError("summary_nothing", found=folder)
    steps = [
        StepRow(rank=item.rank, step=row.step, source=row.source, **row.values)
        for item in measured
        for row in item.steps
    ]
    return SummaryResult(
        summary=wording.text(spoken, "summary.done", ranks=len(measured), steps=len(steps), path=folder),
        warnings=remarks(spoken, [problem.note for item in measured for problem in item.problems]),
        steps=steps,
        top_operators=[
            OperatorRow(
                rank=item.rank,
                name=row.name,
                type=row.type,
                core=row.core,
                count=row.count,
                total_us=row.total_us,
                share=row.share,
                source=item.kernel_source,
            )
            for item in measured
            for row in item.operators
        ],
        ranks=[
            RankRow(
                rank=item.rank,
                session=str(item.session),
                core_shares=item.core_shares or None,
                memory_peak_mb=item.memory_peak_mb,
                memory_source=item.memory_source,
            )
            for item in measured
        ],
    )


TOOL = ToolSpec(
    name="summarize_profile",
    title="Summarise a profile",
    description=(
        "Numbers of a parsed profile, per rank: step breakdown (compute, communication, free), top compute operators, "
        "core shares, memory peak. null means not measured."
    ),
    function=summarize_profile,
    read_only=True,
    destructive=False,
    idempotent=True,
    open_world=False,
)
