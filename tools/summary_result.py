"""What summarize_profile answers: numbers with their units and sources. null: not measured."""

import base64
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, Field, PrivateAttr

from mindspeed_mm_train_profiler.skill import wording
from mindspeed_mm_train_profiler.tools.common import Result


class StepRow(BaseModel):
    """Microseconds; null: not measured. ``step`` is null where CPU activity was off."""

    rank: int | None
    device: int | None = Field(None, description="its index on the host")
    step: int | None
    compute_us: float | None
    communication_us: float | None
    communication_not_overlapped_us: float | None
    overlapped_us: float | None
    free_us: float | None
    bubble_us: float | None


def _place(row: StepRow, several: bool) -> str:
    """The rank, with the device where a session holds several."""
    return f"rank {row.rank} device {row.device}" if several else f"rank {row.rank}"


class OperatorRow(BaseModel):
    """Compute kernels of one name, type and core; ``share`` of the rank's compute kernel time, 0 to 1."""

    rank: int | None
    name: str
    type: str | None
    core: str | None
    count: int | None
    total_us: float
    share: float | None


class CollectiveRow(BaseModel):
    """Communication operators of one kind. ``wait_us``: waiting for other ranks."""

    rank: int | None
    name: str
    count: int
    elapsed_us: float | None
    wait_us: float | None


class LinkRow(BaseModel):
    """SDMA holds the links inside a node together."""

    rank: int | None
    link: str
    size_mb: float
    bandwidth_gb_s: float | None


class SpreadRow(BaseModel):
    """Each rank's mean of its steps, compared."""

    measure: str
    least_us: float
    least_rank: int | None
    most_us: float
    most_rank: int | None
    mean_us: float


class RankRow(BaseModel):
    """``core_shares``: part of compute kernel time by core, 0 to 1. Peak: reserved by the framework's allocator, MB.

    ``sources``: the file that told each kind of number, below the session.
    """

    rank: int | None
    session: str
    core_shares: dict[str, float] | None
    memory_peak_mb: float | None
    sources: dict[str, str] = Field(default_factory=dict)


class ReportFiles(BaseModel):
    html: str
    png: str | None = Field(None, description="null where matplotlib is not installed")


class SummaryResult(Result):
    """Numbers with their sources; steps are the profiler's 0-based counter."""

    steps: list[StepRow] = Field(default_factory=list)
    top_operators: list[OperatorRow] = Field(default_factory=list)
    communication: list[CollectiveRow] = Field(default_factory=list)
    links: list[LinkRow] = Field(default_factory=list)
    spread: list[SpreadRow] = Field(default_factory=list)
    slow_rank: int | None = Field(None, description="whose compute stands out; null: none")
    ranks: list[RankRow] = Field(default_factory=list)
    omitted: dict[str, int] = Field(default_factory=dict, description="rows left out here; the report has them")
    report: ReportFiles | None = None
    _picture: bytes | None = PrivateAttr(None)

    def body(self, language: wording.Language) -> Iterable[str]:
        several = len({(row.rank, row.device) for row in self.steps}) > len({row.rank for row in self.steps})
        for row in self.steps[:12]:
            yield (
                f"{_place(row, several)} step {row.step}: compute_us {row.compute_us}, "
                f"communication_not_overlapped_us {row.communication_not_overlapped_us}, free_us {row.free_us}"
            )
        for operator in self.top_operators[:8]:
            yield f"rank {operator.rank} {operator.name} ({operator.core}): {operator.total_us:.1f} us"
        for kind in self.communication[:4]:
            yield f"rank {kind.rank} {kind.name} x{kind.count}: {kind.elapsed_us} us, wait {kind.wait_us} us"
        if self.report:
            yield f"{self.report.html}"

    def extra_content(self) -> Iterable[Any]:
        from mcp.types import ImageContent

        if self._picture is not None:
            data = base64.b64encode(self._picture).decode("ascii")
            yield ImageContent(type="image", data=data, mime_type="image/png")
