"""discard_copies: removes exactly what a build created, by its manifest."""

from collections.abc import Iterable
from typing import Annotated

from pydantic import Field

from mindspeed_mm_train_profiler import audit
from mindspeed_mm_train_profiler.errors import Note
from mindspeed_mm_train_profiler.skill import wording
from mindspeed_mm_train_profiler.tools.common import Language, Result, ToolSpec, remarks, resolve_language


class DiscardResult(Result):
    """Paths by what became of them. ``kept``: changed since the build, or a link put in their place."""

    config_id: str
    removed: list[str] = Field(default_factory=list)
    kept: list[str] = Field(default_factory=list)
    gone: list[str] = Field(default_factory=list)
    dirs: list[str] = Field(default_factory=list)

    def body(self, language: wording.Language) -> Iterable[str]:
        yield from self.removed
        yield from self.dirs


def discard_copies(
    config_id: Annotated[str, Field(description="as build_config returned it")], language: Language = None
) -> DiscardResult:
    """Remove a build's copies and its empty folders; originals, output and changed copies stay."""
    from mindspeed_mm_train_profiler import profile_config

    spoken = resolve_language(language)
    found = profile_config.discard(config_id)
    audit.record("discard", config_id=config_id, removed=found["removed"], kept=found["kept"])
    kept = [Note("copy_kept", {"path": path}) for path in found["kept"]]
    return DiscardResult(
        config_id=config_id,
        summary=wording.text(spoken, "discard.summary", count=len(found["removed"]), kept=len(found["kept"])),
        warnings=remarks(spoken, kept),
        **found,
    )


TOOL = ToolSpec(
    name="discard_copies",
    title="Discard profiling copies",
    description=(
        "Remove the copies that one build_config call made, and the folders it created where they are empty. Copies "
        "changed since, originals and collected data are kept."
    ),
    function=discard_copies,
    read_only=False,
    destructive=True,
    idempotent=False,
    open_world=False,
)
