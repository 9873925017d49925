"""Brace expansion: ``{0..7}``, ``x{a,b}y``. One pair of braces is carried out, without expansions inside."""

import re

PAIR = re.compile(r"^([^\s'\"$`\\{}]*)\{([^\s'\"$`\\{}]+)\}([^\s'\"$`\\{}]*)$")
RANGE = re.compile(r"^(-?\d{1,9})\.\.(-?\d{1,9})(?:\.\.(-?\d{1,9}))?$")
HIDDEN = re.compile(r"\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"|\$\{[^}]*\}|\$\([^)]*\)", re.S)
MAX = 1024


def alternatives(raw: str) -> list[str] | None:
    """The words that a written word stands for; None where it is one word, or is not carried out."""
    found = PAIR.match(raw)
    if found is None:
        return None
    before, inside, behind = found.groups()
    if (numbers := RANGE.match(inside)) is not None:
        first, last, step = int(numbers[1]), int(numbers[2]), abs(int(numbers[3] or 1)) or 1
        if abs(last - first) // step >= MAX:
            return None
        wide = max(len(text) for text in numbers.groups()[:2]) if re.search(r"(^|\.)-?0\d", inside) else 0
        values = range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
        return [f"{before}{_padded(value, wide)}{behind}" for value in values]
    if "," in inside:
        return [f"{before}{part}{behind}" for part in inside.split(",")]
    return None


def _padded(value: int, wide: int) -> str:
    return str(value).zfill(wide) if wide else str(value)


def unread(raw: str) -> bool:
    """Whether braces stand in the word that bash would expand and this module does not."""
    text = HIDDEN.sub("x", raw)
    opened = text.find("{")
    return opened >= 0 and "}" in text[opened:] and bool(re.search(r",|\.\.", text[opened:]))
