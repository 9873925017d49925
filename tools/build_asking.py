"""Asking for the confirmation of build_config: the resolver that the SDK runs before the tool itself."""

from typing import Annotated, Any, Literal

import anyio.to_thread
from mcp import MCPError
from mcp.server.mcpserver import AcceptedElicitation, Context, Elicit, ElicitationResult, Resolve
from pydantic import BaseModel, Field

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.options import ProfileOptions
from mindspeed_mm_train_profiler.skill import confirmation, wording
from mindspeed_mm_train_profiler.tools.asking import asked_by_rounds, can_be_asked, outcome_of
from mindspeed_mm_train_profiler.tools.build_config import prepare, table_rows
from mindspeed_mm_train_profiler.tools.common import resolve_language


class Confirm(BaseModel):
    """The answer to the confirmation question."""

    confirm: bool = Field(description="OK?")


class NotAsked(Confirm):
    """Nobody was asked: the caller's own ``confirmed`` counts, or the client cannot be asked."""

    confirm: bool = False


def said_yes(answer: Any) -> bool | None:
    """The client's answer; None where nobody was asked."""
    outcome = outcome_of(answer)
    if isinstance(outcome, AcceptedElicitation):
        return None if isinstance(outcome.data, NotAsked) else bool(outcome.data.confirm)
    return False


async def ask(
    script: str,
    options: ProfileOptions,
    context: Context,
    workdir: str | None = None,
    script_args: list[str] | None = None,
    env: dict[str, str] | None = None,
    confirmed: bool | None = None,
    nodes: int | None = None,
    language: Literal["zh", "en"] | None = None,
) -> Any:
    """Ask the user, where the client can be asked and nobody has confirmed yet."""
    if confirmed is not None or not can_be_asked(context):
        return NotAsked()
    try:
        proposal = await anyio.to_thread.run_sync(prepare, script, options, workdir, script_args, env, nodes)
    except CodedError:
        return NotAsked()  # the tool itself says what is wrong
    spoken = resolve_language(language)
    table = confirmation.table(spoken, table_rows(spoken, proposal))
    question = wording.text(spoken, "build.question", table=table)
    if asked_by_rounds(context):
        return Elicit(question, Confirm)
    try:
        return await context.elicit(question, Confirm)
    except (MCPError, ValueError):
        return NotAsked()


Answer = Annotated[ElicitationResult[Confirm], Resolve(ask)]
