"""Every coded message of the catalogues in one table: what it says and what to do."""

import importlib
import pkgutil
import string

from mindspeed_mm_train_profiler.reference.tables import table
from mindspeed_mm_train_profiler.skill import wording
from mindspeed_mm_train_profiler.skill.wording import Language, text


def _shown(template: str) -> str:
    """A template as a reader sees it: placeholders in italics, with the word for many."""
    return "".join(
        text + (f"*{name}*" if name else "") + (f" {spec.partition('|')[2]}" if spec and "|" in spec else "")
        for text, name, spec, _ in string.Formatter().parse(template)
    )


def codes(language: Language) -> dict[str, list[tuple[str, str, str]]]:
    """(code, message, hint) by room, sorted."""
    package = importlib.import_module(f"{wording.__name__}.{language}")
    found: dict[str, list[tuple[str, str, str]]] = {}
    for module in sorted(info.name for info in pkgutil.iter_modules(package.__path__)):
        texts: dict[str, str] = importlib.import_module(f"{package.__name__}.{module}").TEXTS
        rows = [
            (key.removesuffix(".message"), _shown(value), _shown(texts.get(key.removesuffix("message") + "hint", "")))
            for key, value in texts.items()
            if key.endswith(".message")
        ]
        if rows:
            found[module] = sorted(rows)
    return found


def render(language: Language) -> str:
    """One table a room."""
    head = [text(language, f"reference.{name}") for name in ("code", "message", "remedy")]
    lines: list[str] = []
    for module, rows in codes(language).items():
        lines += [f"### {module}", "", *table(head, [(f"`{code}`", *rest) for code, *rest in rows]), ""]
    return "\n".join(lines).rstrip("\n")
