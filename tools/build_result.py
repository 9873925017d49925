"""What build_config answers: the table, the copies with their diffs, what will be expected of the run."""

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from mindspeed_mm_train_profiler.skill import wording
from mindspeed_mm_train_profiler.tools.common import Result


class Row(BaseModel):
    item: str
    value: str


class CopyMade(BaseModel):
    model_config = ConfigDict(serialize_by_alias=True)

    role: str
    original: str
    copy_: str = Field(alias="copy")
    diff: str
    sha256_original: str


class ChangeMade(BaseModel):
    path: str
    key: str
    before: Any = None
    after: Any = None


class Placed(BaseModel):
    """Where a profiled rank runs: torchrun counts ranks node by node. ``device``: index on its node."""

    rank: int
    node: int
    device: int


MAX_PLACED = 32


class Expected(BaseModel):
    """Steps: the profiler's 0-based counter; iterations: the log's 1-based number."""

    ranks: list[int] | None = None
    steps: list[int] = Field(default_factory=list)
    iterations: list[int] = Field(default_factory=list)
    sessions: int | None = None
    placement: list[Placed] | None = None
    """Of a job over many nodes; the first ``MAX_PLACED`` ranks."""


class Estimate(BaseModel):
    bytes: int
    basis: str


class BuildResult(Result):
    """A build, or what it would be."""

    model_config = ConfigDict(extra="forbid", serialize_by_alias=True)

    status: Literal["needs_confirmation", "built", "declined"]
    config_id: str | None = None
    confirmation: list[Row] = Field(default_factory=list)
    table: str = ""
    copies: list[CopyMade] = Field(default_factory=list)
    changes: list[ChangeMade] = Field(default_factory=list)
    command: str | None = None
    save_path: str | None = None
    dynamic_config_path: str | None = None
    expected: Expected = Field(default_factory=Expected)
    estimate: Estimate | None = None
    omitted_chars: int = Field(0, description="characters of diffs left out; the copies hold them")

    def body(self, language: wording.Language) -> Iterable[str]:
        yield self.table
        for copy in self.copies:
            yield f"{copy.role}: {copy.original} -> {copy.copy_}"
            yield copy.diff
        if self.command:
            yield self.command
