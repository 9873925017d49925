"""Shell values that remember where their characters came from."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from mindspeed_mm_train_profiler.launch_script.plan import Binding, Piece, Span, Word
from mindspeed_mm_train_profiler.launch_script.syntax import encode

BLANKS = " \t\n"
RUN = re.compile(r"[^ \t\n]+")
MAX_FRAGS = 1_500
"""Most pieces a value is kept in; past that its text goes on without its origins."""
MAX_TEXT = 200_000
"""Longest value followed, in characters; a program that builds more is not a launch script."""


@dataclass(frozen=True, slots=True)
class Frag:
    """A run of characters with one origin.

    ``span`` spells exactly this text, or is None. ``split``: from an unquoted expansion, so the shell splits it into
    words. ``uses`` runs beside ``bindings``: where each of those variables was written.
    """

    text: str
    span: Span | None = None
    quoted: bool = False
    split: bool = False
    known: bool = True
    bindings: tuple[Binding, ...] = ()
    uses: tuple[Span, ...] = ()

    def cut(self, start: int, end: int) -> "Frag":
        """Characters ``start:end`` of it, with the position cut as well."""
        text = self.text[start:end]
        if self.span is None:
            return Frag(text, None, self.quoted, self.split, self.known, self.bindings, self.uses)
        before = len(encode(self.text[:start]))
        line = self.span.line + self.text[:start].count("\n")
        begin = self.span.start + before
        span = Span(self.span.path, begin, begin + len(encode(text)), line)
        return Frag(text, span, self.quoted, self.split, self.known, self.bindings, self.uses)


Value = tuple[Frag, ...]
BREAK = Frag("\n", split=True)
"""Between the elements of ``"$@"`` and ``"${array[@]}"``: each is a word of its own."""
NOTHING = Frag("", split=True)
"""What they are where there is no element: no word at all."""


def plain(text: str, known: bool = True) -> Value:
    """A computed value: no bytes of the script spell it."""
    return (Frag(text, known=known),) if text or not known else ()


def text_of(value: Iterable[Frag]) -> str:
    return "".join(frag.text for frag in value)


def known(value: Iterable[Frag]) -> bool:
    return all(frag.known for frag in value)


def clip(value: Value) -> Value:
    """A value of bounded length; what is cut off makes it unknown."""
    if len(value) == 1 and len(value[0].text) <= MAX_TEXT:  # most are
        return value
    if sum(len(frag.text) for frag in value) > MAX_TEXT:
        return plain("", known=False)
    if len(value) > MAX_FRAGS:
        return (Frag(text_of(value), quoted=value[0].quoted, split=value[0].split, known=known(value)),)
    return value


def expanded(value: Value, binding: Binding | None, use: Span, *, quoted: bool) -> Value:
    """A variable's value as it stands after ``$NAME`` at ``use``."""
    result = []
    for frag in value:
        bindings, uses = frag.bindings, frag.uses
        if binding is not None:
            bindings, uses = (*bindings, binding), (*uses, use)
        result.append(Frag(frag.text, frag.span, quoted, not quoted, frag.known, bindings, uses))
    return tuple(result)


def separated(value: Value, separators: str | None) -> Value:
    """An unquoted expansion under another ``IFS``: what separates stands apart, and blanks are text like any other.

    As bash has it, each separator that is no blank ends a word, an empty one too.
    """
    result: list[Frag] = []
    for frag in value:
        if not frag.split or not frag.known or frag == BREAK:
            result.append(frag)
            continue
        if separators is None:
            result.append(replace(frag, known=False))
            continue
        start, filled = 0, bool(result)
        for index, char in enumerate(frag.text):
            if char not in separators:
                filled = True
                continue
            if index > start:
                result.append(replace(frag.cut(start, index), split=False))
            elif char not in BLANKS and not filled:
                result.append(Frag("", quoted=True))
            result.append(BREAK)
            start, filled = index + 1, False
        if start < len(frag.text):
            result.append(replace(frag.cut(start, len(frag.text)), split=False))
    return tuple(result)


def words(value: Value, line: int, span: Span | None) -> list[Word]:
    """What the shell makes of one written word: none, one or several arguments."""
    result: list[Word] = []
    current: list[Frag] = []
    present = False

    def close() -> None:
        nonlocal present
        if present:
            result.append(make_word(current, line, span))
        current.clear()
        present = False

    for frag in value:
        if frag.quoted or not frag.split:
            current.append(frag)
            present = present or frag.quoted or bool(frag.text) or not frag.known
            continue
        if not frag.known:
            current.append(frag)
            present = True
            continue
        end, length = 0, len(frag.text)
        for run in RUN.finditer(frag.text):
            if run.start() > end:
                close()
            end = run.end()
            current.append(frag if end - run.start() == length else frag.cut(run.start(), end))
            present = True
        if end < length:
            close()
    close()
    return result


def make_word(frags: Sequence[Frag], line: int, span: Span | None) -> Word:
    pieces = [
        Piece(frag.text, frag.span, frag.bindings, frag.uses[0] if frag.uses else None)
        for frag in frags
        if frag.text or frag.quoted or not frag.known
    ]
    return Word(tuple(pieces), known=known(frags), line=line, span=span)
