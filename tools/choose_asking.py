"""Asking the questions of choose_options through a client's forms, in either protocol era.

``SLOTS`` pairs of resolvers hang on one another: each asks for whatever is open then, the next takes the answer in.
"""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import replace
from typing import Annotated, Any, Literal

import anyio.to_thread
from mcp import MCPError
from mcp.server.mcpserver import AcceptedElicitation, CancelledElicitation, Context, Elicit, ElicitationResult, Resolve
from pydantic import BaseModel

from mindspeed_mm_train_profiler.skill import confirmation, wording
from mindspeed_mm_train_profiler.tools import forms
from mindspeed_mm_train_profiler.tools.asking import asked_by_rounds, can_be_asked, outcome_of
from mindspeed_mm_train_profiler.tools.choose_state import SLOTS, State, begin

ROUNDS = 10
"""Most forms on a 2026-07-28 connection, where clients give up after so many rounds by default."""


class NotAsked(BaseModel):
    """Nothing was asked in this slot."""


class Failed(BaseModel):
    """The client said that it can be asked, and could not."""


async def opening(
    context: Context,
    script: str | None = None,
    answers: dict[str, Any] | None = None,
    style: Literal["one_by_one", "one_form"] = "one_by_one",
    workdir: str | None = None,
    script_args: list[str] | None = None,
    env: dict[str, str] | None = None,
    language: Literal["zh", "en"] | None = None,
) -> State:
    """The first resolver: what the caller gave, the facts, and whether the client can be asked."""
    state = await anyio.to_thread.run_sync(begin, script, answers, style, workdir, script_args, env, language)
    return replace(state, able=can_be_asked(context), rounds=ROUNDS if asked_by_rounds(context) else SLOTS)


def next_form(state: State) -> Elicit[Any] | None:
    """What to ask next; None where nothing is left to ask, or nobody can be asked."""
    if state.over:
        return None
    if offers := state.offers():
        text = forms.message(state.language, state.flow, offers, state.asked == 0)
        return Elicit(text, forms.form(state.language, offers))
    if not (rows := state.rows()):
        return None
    table = confirmation.table(state.language, rows)
    return Elicit(wording.text(state.language, "choose.confirm", table=table), forms.Confirmation)


def after(state: State, outcome: Any) -> State:
    """The state after what the client answered to ``next_form``."""
    if isinstance(outcome, CancelledElicitation):
        return replace(state, ended="cancelled")
    if not isinstance(outcome, AcceptedElicitation):
        return replace(state, ended="declined")
    data = outcome.data
    if isinstance(data, NotAsked):
        return state
    if isinstance(data, Failed):
        return replace(state, able=False)
    if isinstance(data, forms.Confirmation):
        yes = data.confirm is True
        return replace(state, asked=state.asked + 1, confirmed=yes, ended=None if yes else "declined")
    content = data.model_dump(exclude_unset=True)
    return replace(state, asked=state.asked + 1, flow=forms.take(state.flow, state.offers(), content))


_current: ContextVar[State] = ContextVar("choose_options_state")
"""Of this call: the SDK runs the resolvers of a call in one task, one after another."""


def _slot(previous: Callable[..., Any]) -> Callable[..., Any]:
    """One more question of the chain: a resolver that asks, and one that takes the answer in."""

    async def ask(state: Annotated[State, Resolve(previous)], context: Context) -> Any:
        _current.set(state)
        wanted = next_form(state)
        if wanted is None:
            return NotAsked()
        if asked_by_rounds(context):
            return wanted
        try:
            return await context.elicit(wanted.message, wanted.schema)
        except (MCPError, ValueError):
            return Failed()

    async def take(outcome: Annotated[ElicitationResult[Any], Resolve(ask)]) -> State:
        state = _current.get()  # set by ask just before; a second way to the chain would double its walk per slot
        return after(state, outcome_of(outcome))

    return take


_chain: Callable[..., Any] = opening
for _ in range(SLOTS):
    _chain = _slot(_chain)

Asked = Annotated[State, Resolve(_chain)]
