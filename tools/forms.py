"""Questions as forms: the flat schema a client renders, and its content back as answers.

Fields are typed ``Any`` with the client's schema written out: an answer outside the schema reaches the conversation,
which asks again and says why, instead of failing the whole call in the protocol layer.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field, create_model

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.skill import wording
from mindspeed_mm_train_profiler.skill.flow import Flow
from mindspeed_mm_train_profiler.skill.questions import CUSTOM, Offer

OWN = "_custom"
"""Suffix of the field for a value of one's own, in the same form as its choice."""


class Form(BaseModel):
    """Base of every form."""


class Confirmation(Form):
    """The last form: whether the table is right. Only a plain true is a yes."""

    confirm: Any = Field(json_schema_extra={"type": "boolean"})


def label(language: wording.Language, question: str, key: str) -> str:
    return wording.text(language, f"question.{question}.{key}")


def _choice(language: wording.Language, item: Offer) -> tuple[Any, Any]:
    question = item.question
    listed = [{"const": option.value, "title": label(language, question.id, option.value)} for option in item.options]
    if question.custom is not None:
        listed.append({"const": CUSTOM, "title": label(language, question.id, CUSTOM)})
    extra: dict[str, Any]
    if question.multiple:
        extra = {"type": "array", "items": {"anyOf": listed}}
    else:
        extra = {"type": "string", "oneOf": listed}
    default = list(item.default) if isinstance(item.default, tuple) else item.default or CUSTOM
    title = f"{question.sign} {label(language, question.id, 'text')}".strip()
    return Any, Field(default, title=title, json_schema_extra=extra)


def _own(language: wording.Language, item: Offer) -> tuple[Any, Any]:
    question = item.question
    title = wording.text(language, "question.custom_title", question=question.sign).strip()
    hint = label(language, question.id, "custom_hint")
    return Any, Field("", title=title, description=hint, json_schema_extra={"type": "string"})


def form(language: wording.Language, offers: Sequence[Offer]) -> type[Form]:
    """One form with these questions."""
    fields: dict[str, Any] = {}
    for item in offers:
        fields[item.question.id] = _choice(language, item)
        if item.question.custom is not None:
            fields[item.question.id + OWN] = _own(language, item)
    return create_model("Answers", __base__=Form, **fields)


def said(item: Offer, content: Mapping[str, Any]) -> Any:
    """The raw answer to one question of a form; "default" where the field was left as it was.

    Errors: ``answer_twice`` where an option other than the preset one and a value of one's own were both given.
    """
    name = item.question.id
    preset = list(item.default) if isinstance(item.default, tuple) else item.default or CUSTOM
    chosen, own = content.get(name), content.get(name + OWN)
    own = own.strip() if isinstance(own, str) else own
    if own not in (None, ""):
        if chosen not in (None, CUSTOM, preset):
            raise CodedError("answer_twice", found=f"{chosen}; {own}")
        return own
    if chosen is None:
        return "default"
    return "" if chosen == CUSTOM else chosen


def take(flow: Flow, offers: Sequence[Offer], content: Mapping[str, Any]) -> Flow:
    """The conversation after one form. A question that an earlier answer of the form made needless is left out."""
    for item in offers:
        question = item.question
        if not flow.is_open(question):
            continue
        try:
            raw = said(item, content)
        except CodedError as error:
            flow = flow.refuse(question.id, error)
        else:
            flow = flow.answer(question.id, raw)
    return flow


def message(language: wording.Language, flow: Flow, offers: Sequence[Offer], first: bool) -> str:
    """What stands above a form: the reason where something is asked again, the questions, the advice."""
    problems = [flow.problems.get(item.question.id) for item in offers]
    lines = [reason(language, problem) for problem in problems if problem is not None]
    if first:
        lines += [wording.note_message(language, note) for note in flow.notes()]
    for item in offers:
        lines.append(f"{item.question.sign} {label(language, item.question.id, 'text')}".strip())
        lines += ["- " + wording.note_message(language, note) for note in item.notes]
    return "\n".join(dict.fromkeys(lines))


def reason(language: wording.Language, problem: CodedError) -> str:
    """Why a question is asked again, in one line."""
    text, expected, _ = wording.error_texts(language, problem)
    return text + (f" ({wording.text(language, 'common.expected', value=expected)})" if expected else "")
