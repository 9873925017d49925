"""Every sentence a user can see, in both languages, looked up by key.

A catalogue is the union of the modules in ``en/`` or ``zh/``; each has one dictionary ``TEXTS`` and belongs to one room,
so that rooms grow their wording side by side. Keys are ``<code>.message`` and ``<code>.hint`` for notes and errors
(``.expected`` where what was expected is a sentence), and ``<room>.<anything>`` for labels. ``{name}`` placeholders are
filled from parameters, ``{count:file|files}`` with the word that goes with the number. A test holds both languages to the same keys and placeholders.
"""

import importlib
import pkgutil
import string
from functools import cache
from typing import Literal

from mindspeed_mm_train_profiler.errors import CodedError, Note

Language = Literal["zh", "en"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")


@cache
def catalogue(language: Language) -> dict[str, str]:
    """All texts of one language; loaded on first use."""
    package = importlib.import_module(f"{__name__}.{language}")
    texts: dict[str, str] = {}
    for module in sorted(info.name for info in pkgutil.iter_modules(package.__path__)):
        part: dict[str, str] = importlib.import_module(f"{package.__name__}.{module}").TEXTS
        if twice := texts.keys() & part.keys():
            raise ValueError(f"defined twice in {language}: {sorted(twice)}")
        texts |= part
    return texts


class _Formatter(string.Formatter):
    """``{count:rank|ranks}`` is "1 rank", "2 ranks"; everything else is as ``str.format`` has it."""

    def format_field(self, value: object, format_spec: str) -> str:
        if "|" not in format_spec:
            return str(super().format_field(value, format_spec))
        one, _, many = format_spec.partition("|")
        return f"{value} {one if str(value) == '1' else many}"


_formatter = _Formatter()


def text(language: Language, key: str, /, **params: object) -> str:
    """The sentence for ``key``. A key that does not exist is a defect and raises KeyError."""
    return _formatter.vformat(catalogue(language)[key], (), params)


def _optional(language: Language, key: str, params: dict[str, object]) -> str | None:
    template = catalogue(language).get(key)
    return _formatter.vformat(template, (), params) if template is not None else None


def described(language: Language, description: str) -> str:
    """What a schema or an option says of itself, which code has in English; as it is where there is no translation."""
    if language == "en":
        return description
    from mindspeed_mm_train_profiler.skill.wording import schema_zh

    return schema_zh.chinese(description) or description


def note_message(language: Language, note: Note) -> str:
    return text(language, f"{note.code}.message", **note.params)


def note_hint(language: Language, note: Note) -> str | None:
    return _optional(language, f"{note.code}.hint", dict(note.params))


def error_texts(language: Language, error: CodedError) -> tuple[str, str | None, str | None]:
    """(message, expected, hint) of an expected failure; ``expected`` is the error's own value or its sentence."""
    expected = error.expected or _optional(language, f"{error.code}.expected", error.params)
    return (
        text(language, f"{error.code}.message", **error.params),
        expected,
        _optional(language, f"{error.code}.hint", error.params),
    )
