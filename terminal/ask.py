"""Asking in a terminal: arrow keys where there is one, numbered choices on plain input where not."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.skill import wording
from mindspeed_mm_train_profiler.skill.flow import Flow
from mindspeed_mm_train_profiler.skill.questions import CUSTOM, Offer
from mindspeed_mm_train_profiler.terminal.commands import say
from mindspeed_mm_train_profiler.tools.common import error_info

MAX_ATTEMPTS = 20
"""Answers that do not fit, after which asking ends: nobody is there, or a pipe answers nonsense."""


class Declined(Exception):
    """The user broke off, or the input ended: nothing was confirmed."""


@dataclass(frozen=True, slots=True)
class Choice:
    value: str
    label: str
    chosen: bool = False


class Asker(Protocol):
    """How a question is put. Each raises Declined when the user breaks off."""

    def one(self, text: str, choices: Sequence[Choice]) -> str: ...

    def several(self, text: str, choices: Sequence[Choice]) -> list[str]: ...

    def text(self, text: str) -> str: ...

    def yes(self, text: str) -> bool: ...


class Keys:
    """Arrow keys (questionary)."""

    def __init__(self, language: wording.Language = "en") -> None:
        self.language = language

    def one(self, text: str, choices: Sequence[Choice]) -> str:
        import questionary

        default = next((choice.label for choice in choices if choice.chosen), None)
        made = [questionary.Choice(choice.label, value=choice.value) for choice in choices]
        return str(
            self._answer(
                questionary.select(
                    text,
                    choices=made,
                    default=next((m for m in made if m.title == default), None),
                    instruction=wording.text(self.language, "ask.keys"),
                )
            )
        )

    def several(self, text: str, choices: Sequence[Choice]) -> list[str]:
        import questionary

        made = [questionary.Choice(choice.label, value=choice.value, checked=choice.chosen) for choice in choices]
        answer = self._answer(
            questionary.checkbox(text, choices=made, instruction=wording.text(self.language, "ask.boxes"))
        )
        return [str(item) for item in answer] if isinstance(answer, list) else []

    def text(self, text: str) -> str:
        import questionary

        return str(self._answer(questionary.text(text)))

    def yes(self, text: str) -> bool:
        import questionary

        return bool(self._answer(questionary.confirm(text, default=False)))

    @staticmethod
    def _answer(question: object) -> object:
        try:
            return question.unsafe_ask()  # type: ignore[attr-defined]
        except (KeyboardInterrupt, EOFError):  # Ctrl-C, Ctrl-D; its own "safe" way knows the first alone, in English
            raise Declined from None


class Lines:
    """Numbers and words on standard input, one line an answer; an empty line takes the default."""

    def _line(self, prompt: str) -> str:
        sys.stdout.write(prompt)
        sys.stdout.flush()
        line = sys.stdin.readline()
        if not line:
            raise Declined
        return line.strip()

    def _list(self, text: str, choices: Sequence[Choice]) -> None:
        say(text)
        for number, choice in enumerate(choices, 1):
            say(f"  {number}) {choice.label}{' *' if choice.chosen else ''}")

    def one(self, text: str, choices: Sequence[Choice]) -> str:
        self._list(text, choices)
        answer = self._line("> ")
        if not answer:
            return next((choice.value for choice in choices if choice.chosen), choices[0].value)
        if answer.isdecimal() and 1 <= int(answer) <= len(choices):
            return choices[int(answer) - 1].value
        return answer

    def several(self, text: str, choices: Sequence[Choice]) -> list[str]:
        self._list(text, choices)
        answer = self._line("> ")
        if not answer:
            return [choice.value for choice in choices if choice.chosen]
        words = answer.replace(",", " ").replace("，", " ").split()
        numbered = all(word.isdecimal() and 1 <= int(word) <= len(choices) for word in words)
        return [choices[int(word) - 1].value for word in words] if numbered else words

    def text(self, text: str) -> str:
        return self._line(f"{text}: ")

    def yes(self, text: str) -> bool:
        return self._line(f"{text} [y/N] ").lower() in {"y", "yes", "是", "好", "确认"}


def make_asker(language: wording.Language = "en") -> Asker:
    """Arrow keys only where both ends are a terminal that can move its cursor."""
    able = os.environ.get("TERM", "").lower() not in {"dumb", "unknown"}
    return Keys(language) if able and sys.stdin.isatty() and sys.stdout.isatty() else Lines()


def choices_of(language: wording.Language, offer: Offer) -> list[Choice]:
    question = offer.question
    defaults = offer.default if isinstance(offer.default, tuple) else (offer.default,)
    found = [
        Choice(option.value, wording.text(language, f"question.{question.id}.{option.value}"), option.value in defaults)
        for option in offer.options
    ]
    if question.custom is not None:
        found.append(Choice(CUSTOM, wording.text(language, f"question.{question.id}.custom")))
    return found


def put(asker: Asker, language: wording.Language, offer: Offer) -> object:
    """Put one question; the raw answer."""
    question = offer.question
    for note in offer.notes:
        say(f"  ({wording.note_message(language, note)})")
    text = f"{question.sign} {wording.text(language, f'question.{question.id}.text')}".strip()
    choices = choices_of(language, offer)
    if question.multiple:
        return asker.several(text, choices)
    answer = asker.one(text, choices)
    if answer == CUSTOM and question.custom is not None:
        return asker.text(wording.text(language, f"question.{question.id}.custom_hint"))
    return answer


def converse(asker: Asker, language: wording.Language, flow: Flow) -> Flow:
    """Ask until nothing is open; an answer that does not fit is asked again, with the reason."""
    for _ in range(MAX_ATTEMPTS + len(flow.open())):
        pending = flow.open()
        if not pending:
            return flow
        offer = pending[0]
        problem = flow.problems.get(offer.question.id)
        if problem is not None:
            say(f"  ! {describe(language, problem)}")
        flow = flow.answer(offer.question.id, put(asker, language, offer))
    raise Declined


def describe(language: wording.Language, error: CodedError) -> str:
    info = error_info(language, error)
    return f"{info.message} {info.hint or ''}".strip()
