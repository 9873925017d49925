"""choose_options: the eight questions in order, then the confirmation table.

A client with forms is asked through the SDK's resolvers, in either protocol era. ``SLOTS`` pairs of resolvers hang on
one another: each asks for whatever is open then, the next takes the answer in. To a client without forms the open
questions are returned as data. Nothing but the user's own yes to the table is taken for a confirmation.
"""

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

import anyio.to_thread
from mcp import MCPError
from mcp.server.mcpserver import (
    AcceptedElicitation,
    CancelledElicitation,
    Context,
    DeclinedElicitation,
    Elicit,
    ElicitationResult,
    Resolve,
)
from pydantic import BaseModel, Field

from mindspeed_mm_train_profiler.errors import CodedError, Note
from mindspeed_mm_train_profiler.options import ProfileOptions
from mindspeed_mm_train_profiler.skill import confirmation, wording
from mindspeed_mm_train_profiler.skill.flow import Flow
from mindspeed_mm_train_profiler.skill.questions import Facts, Offer
from mindspeed_mm_train_profiler.tools import forms
from mindspeed_mm_train_profiler.tools.common import (
    Language,
    NextStep,
    Remark,
    Result,
    ToolSpec,
    argument_path,
    error_info,
    remarks,
    resolve_language,
)

OUTCOMES = (AcceptedElicitation, DeclinedElicitation, CancelledElicitation)
SLOTS = 20
"""Most forms of one call, asked again included."""
ROUNDS = 10
"""Most forms on a 2026-07-28 connection, where clients give up after so many rounds by default."""


class OptionShown(BaseModel):
    value: str
    label: str


class QuestionShown(BaseModel):
    """One open question, as it fits the case. ``custom``: how a value of one's own looks; null where none is taken."""

    id: str
    text: str
    options: list[OptionShown]
    default: str | list[str] | None
    multiple: bool
    custom: str | None
    advice: list[str] = Field(default_factory=list)
    problem: str | None = Field(None, description="why it is asked again")


class Row(BaseModel):
    item: str
    value: str


class ChooseResult(Result):
    """The choices, or what is still to be asked."""

    status: Literal["complete", "needs_answers", "declined", "cancelled"]
    options: ProfileOptions | None = None
    answers: dict[str, Any] = Field(default_factory=dict, description="settled so far, for the next call")
    questions: list[QuestionShown] = Field(default_factory=list)
    confirmed: bool = Field(False, description="the user said yes to the table in a form")
    confirmation: list[Row] = Field(default_factory=list)
    table: str = ""

    def body(self, language: wording.Language) -> Iterable[str]:
        for question in self.questions:
            if question.problem:
                yield question.problem
            yield question.text
            yield from (f"  - {option.value}: {option.label}" for option in question.options)
            if question.custom:
                yield f"  - ...: {question.custom}"
            yield from (f"  {line}" for line in question.advice)
        if self.table:
            yield self.table


@dataclass(frozen=True, slots=True)
class State:
    """Where the conversation stands. ``able``: the client can be asked."""

    flow: Flow
    language: wording.Language
    one_form: bool
    able: bool = False
    rounds: int = SLOTS
    asked: int = 0
    ended: Literal["declined", "cancelled"] | None = None
    confirmed: bool = False
    facts: dict[str, str] = field(default_factory=dict)
    """script, engine, config_path: what the table shows of the launch."""

    def offers(self) -> list[Offer]:
        """What the next form asks: everything open, or the next question (with the one about the user's file)."""
        found = self.flow.open()
        if self.one_form:
            return found
        return found[:2] if found and found[0].question.id == "existing_profile" else found[:1]

    @property
    def over(self) -> bool:
        return self.ended is not None or self.confirmed or not self.able or self.asked >= self.rounds

    def rows(self) -> list[confirmation.Row]:
        """The confirmation table's rows; none without a script or while something is open."""
        if not self.facts or not self.flow.complete:
            return []
        options = self.flow.options()
        first = options.start_step + 1 + (self.flow.facts.warmup_steps or 0)
        return confirmation.rows(
            self.language,
            options,
            **self.facts,
            save_path=options.save_path,
            dynamic_path=options.dynamic_config_path,
            captured=(first, first + options.end_step - options.start_step - 1),
        )


class NotAsked(BaseModel):
    """Nothing was asked in this slot."""


class Failed(BaseModel):
    """The client said that it can be asked, and could not."""


def read_facts(
    script: str, workdir: str | None, script_args: list[str] | None, env: dict[str, str] | None
) -> tuple[Facts, dict[str, str]]:
    """Facts of the launch, and what the table shows of it.

    Errors: ``no_script`` and the others of reading; ``engine_unsupported``.
    """
    from mindspeed_mm_train_profiler.launch_script import read_launch

    place = argument_path(workdir) if workdir is not None else None
    plan = read_launch(argument_path(script, base=place), workdir=place, script_args=script_args or (), env=env or {})
    if plan.engine == "unsupported":
        raise CodedError("engine_unsupported", found=plan.script, reason=plan.reason.code)
    can = plan.capabilities
    facts = Facts(
        engine=plan.engine,
        dynamic=can.dynamic,
        analyse_flag=can.analyse_flag,
        warmup_steps=can.warmup_steps,
        world_size=plan.world_size,
        train_iters=plan.train_iters.value,
        current_profile=plan.current_profile,
    )
    config = str(plan.config_path) if plan.config_path else "-"
    return facts, {"script": str(plan.script), "engine": plan.engine, "config_path": config}


def begin(
    script: str | None,
    answers: dict[str, Any] | None,
    style: str,
    workdir: str | None,
    script_args: list[str] | None,
    env: dict[str, str] | None,
    language: wording.Language | None,
) -> State:
    facts, shown = read_facts(script, workdir, script_args, env) if script is not None else (Facts(), {})
    flow = Flow.start(facts, answers)
    return State(flow, resolve_language(language), style == "one_form", facts=shown)


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
    capabilities = context.client_capabilities
    elicitation = capabilities.elicitation if capabilities is not None else None
    able = elicitation is not None and (elicitation.form is not None or elicitation.url is None)
    return replace(state, able=able, rounds=ROUNDS if _rounds_are_counted(context) else SLOTS)


def _rounds_are_counted(context: Context) -> bool:
    return (context.protocol_version or "") >= "2026-07-28"


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
        if _rounds_are_counted(context):
            return wanted
        try:  # the older era: the question is sent from here, so that a client which cannot answer fails here
            return await context.elicit(wanted.message, wanted.schema)
        except (MCPError, ValueError):
            return Failed()

    async def take(outcome: Annotated[ElicitationResult[Any], Resolve(ask)]) -> State:
        state = _current.get()  # set by ask just before; a second way to the chain would double its walk per slot
        inner = getattr(outcome, "data", outcome)  # the older era: the outcome is the resolver's own value
        return after(state, inner if isinstance(inner, OUTCOMES) else outcome)

    return take


_chain: Callable[..., Any] = opening
for _ in range(SLOTS):
    _chain = _slot(_chain)


def choose_options(
    script: Annotated[str | None, Field(description="launch script (.sh)")] = None,
    answers: Annotated[
        dict[str, Any] | None,
        Field(description='known answers by question id or option name; {"rest": "default"} takes the other defaults'),
    ] = None,
    style: Literal["one_by_one", "one_form"] = "one_by_one",
    workdir: Annotated[str | None, Field(description="where the launch starts")] = None,
    script_args: Annotated[list[str] | None, Field(description="the script's own")] = None,
    env: Annotated[dict[str, str] | None, Field(description="set for the launch")] = None,
    language: Language = None,
    state: Annotated[State, Resolve(_chain)] = None,  # type: ignore[assignment]
) -> ChooseResult:
    """Settle the eight choices."""
    asked: State | Any = state  # None from the terminal command, where nothing resolves it
    settled = asked or begin(script, answers, style, workdir, script_args, env, language)
    given = {"script": script, "workdir": workdir, "script_args": script_args, "env": env, "language": language}
    return result(settled, {name: value for name, value in given.items() if value})


def result(state: State, given: dict[str, Any]) -> ChooseResult:
    """What the tool answers in this state. ``given``: the caller's own arguments, for the next call."""
    flow, language = state.flow, state.language
    notes = remarks(language, flow.notes())
    for name, problem in flow.problems.items():
        info = error_info(language, problem)
        notes.append(Remark(code=info.code, message=f"{name}: {info.message}", hint=info.hint))
    shown: dict[str, Any] = {"answers": flow.answers()}
    if state.ended:
        text = wording.text(language, f"choose.{state.ended}")
        return ChooseResult(status=state.ended, summary=text, warnings=notes, **shown)
    if not flow.complete:
        again: dict[str, Any] = {**given, "answers": flow.answers()}
        if state.one_form:
            again["style"] = "one_form"
        questions = [_shown(state, item) for item in state.offers()]
        return ChooseResult(
            status="needs_answers",
            summary=wording.text(language, "choose.needs_answers", count=len(flow.open())),
            warnings=notes,
            questions=questions,
            next_step=NextStep(
                tool="choose_options", arguments=again, why=wording.text(language, "choose.next_answers")
            ),
            **shown,
        )
    options, rows = flow.options(), state.rows()
    if not rows:
        notes += remarks(language, [Note("choose_without_script")])
    build = {**given, "options": options.model_dump(mode="json", exclude_none=True)}
    why = "choose.next_build" if state.confirmed else "choose.next_confirm"
    return ChooseResult(
        status="complete",
        summary=wording.text(language, "choose.confirmed" if state.confirmed else "choose.complete"),
        options=options,
        warnings=notes,
        confirmed=state.confirmed,
        confirmation=[Row(item=item, value=value) for item, value in rows],
        table=confirmation.table(language, rows) if rows else "",
        next_step=NextStep(
            tool="build_config",
            arguments={**build, "confirmed": True} if state.confirmed else build,
            why=wording.text(language, why),
        )
        if rows
        else None,
        **shown,
    )


def _shown(state: State, item: Offer) -> QuestionShown:
    language, question = state.language, item.question
    problem = state.flow.problems.get(question.id)
    return QuestionShown(
        id=question.id,
        text=f"{question.sign} {forms.label(language, question.id, 'text')}".strip(),
        options=[
            OptionShown(value=option.value, label=forms.label(language, question.id, option.value))
            for option in item.options
        ],
        default=list(item.default) if isinstance(item.default, tuple) else item.default,
        multiple=question.multiple,
        custom=forms.label(language, question.id, "custom_hint") if question.custom is not None else None,
        advice=[wording.note_message(language, note) for note in item.notes],
        problem=forms.reason(language, problem) if problem is not None else None,
    )


TOOL = ToolSpec(
    name="choose_options",
    title="Choose what to collect",
    description=(
        "Ask the user the eight questions in order, skipping those answered in `answers`; then the confirmation table. "
        "Clients with forms are asked directly; else the open questions come back: ask them, call again with all "
        "answers."
    ),
    function=choose_options,
    read_only=True,
    destructive=False,
    idempotent=True,
    open_world=False,
)
