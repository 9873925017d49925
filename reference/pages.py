"""Which generated part stands in which document, and how it gets there.

A document holds ``<!-- generated:NAME -->`` and ``<!-- /generated -->``; what lies between is replaced, the rest is
written by people.
"""

import re
from collections.abc import Callable
from pathlib import Path

from mindspeed_mm_train_profiler.reference import clients, codes, commands, options, resources, tools
from mindspeed_mm_train_profiler.skill.wording import LANGUAGES, Language

PARTS: dict[str, Callable[[Language], str]] = {
    "clients": clients.render,
    "codes": codes.render,
    "commands": commands.render,
    "options": options.render,
    "resources": resources.render,
    "tools": tools.render,
}

_MARKED = re.compile(r"(<!-- generated:(?P<name>[a-z-]+) -->\n).*?(<!-- /generated -->)", re.DOTALL)


def fill(document: str, language: Language) -> str:
    """The document with its generated parts renewed. An unknown part's name is a defect and raises KeyError."""
    return _MARKED.sub(lambda found: f"{found[1]}\n{PARTS[found['name']](language)}\n\n{found[3]}", document)


def documents(docs: Path) -> list[tuple[Path, Language]]:
    """Every document of both languages."""
    return [(path, language) for language in LANGUAGES for path in sorted((docs / language).glob("*.md"))]


def stale(docs: Path) -> dict[Path, str]:
    """The documents whose generated parts are not current, with their new text."""
    changed = {}
    for path, language in documents(docs):
        before = path.read_text(encoding="utf-8")
        if (after := fill(before, language)) != before:
            changed[path] = after
    return changed
