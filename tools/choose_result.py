"""What choose_options answers: the choices with the table, or the open questions as data."""

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel, Field

from mindspeed_mm_train_profiler.errors import Note
from mindspeed_mm_train_profiler.options import ProfileOptions
from mindspeed_mm_train_profiler.skill import confirmation, wording
from mindspeed_mm_train_profiler.skill.questions import Offer
from mindspeed_mm_train_profiler.tools import forms
from mindspeed_mm_train_profiler.tools.choose_state import State
from mindspeed_mm_train_profiler.tools.common import NextStep, Remark, Result, error_info, remarks


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
