"""What all tools share: the base of their results, how failures and results reach the client, paths from arguments.

A tool module has a pydantic result (subclass of ``Result``), one plain function that returns it or raises
``CodedError``, and one ``TOOL = ToolSpec(...)``. The function knows nothing of MCP; the terminal command calls it too.
"""

import importlib
import logging
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from mindspeed_mm_train_profiler import settings
from mindspeed_mm_train_profiler.errors import CodedError, Note
from mindspeed_mm_train_profiler.skill import wording

log = logging.getLogger("mindspeed_mm_train_profiler")

Language = Literal["zh", "en"] | None
"""Of the result; None: the server's."""


class Remark(BaseModel):
    """A warning: code, sentence, and what to do about it."""

    code: str
    message: str
    hint: str | None = None


class NextStep(BaseModel):
    """What to call next, with arguments ready to use."""

    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    why: str


class Result(BaseModel):
    """Common part of every result. Unknown is null, never 0 or an empty string."""

    model_config = ConfigDict(extra="forbid")

    ok: bool = True
    summary: str = ""
    warnings: list[Remark] = Field(default_factory=list)
    next_step: NextStep | None = None

    def body(self, language: wording.Language) -> Iterable[str]:
        """Lines of the text block between the summary and the warnings; override to say what matters."""
        return ()

    def extra_content(self) -> Iterable[Any]:
        """Further MCP content blocks (an image); override where a tool has some."""
        return ()

    def render(self, language: wording.Language) -> str:
        """The text block: useful alone, short."""
        lines = [self.summary, *self.body(language)]
        for warning in self.warnings:
            lines.append(wording.text(language, "common.warning", code=warning.code, message=warning.message))
            if warning.hint:
                lines.append("  " + wording.text(language, "common.hint", value=warning.hint))
        if self.next_step:
            lines.append(wording.text(language, "common.next", tool=self.next_step.tool, why=self.next_step.why))
        return "\n".join(line for line in lines if line)


class ErrorInfo(BaseModel):
    """An expected failure as the client sees it."""

    code: str
    message: str
    found: str | None = None
    expected: str | None = None
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Injected:
    """Marks a parameter that the server fills, never a caller: ``Annotated[Any, Injected("module:NAME")]``.

    NAME is the annotation that the SDK wants there. It is looked up when a server registers the tool, so that the
    terminal command, which calls the same functions, does not load the SDK (its import is most of a command's start).
    """

    annotation: str

    def load(self) -> Any:
        module, _, name = self.annotation.partition(":")
        return getattr(importlib.import_module(f"mindspeed_mm_train_profiler.tools.{module}"), name)


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """How one tool is offered. The four hints are always all given: a missing one is read as its worst case."""

    name: str
    title: str
    description: str
    function: Callable[..., Any]
    read_only: bool
    destructive: bool
    idempotent: bool
    open_world: bool


def printable(value: Any) -> Any:
    """``value`` with every text encodable: file names of other encodings reach Python as lone surrogates."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {printable(key): printable(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [printable(inner) for inner in value]
    return value


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """Text for a reader: encodable, and with control characters of names and logs written out, not obeyed."""
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], str(printable(text)))


def resolve_language(language: wording.Language | None) -> wording.Language:
    return language or settings.current().language


def remark(language: wording.Language, note: Note) -> Remark:
    """A note in the asked language."""
    return Remark(code=note.code, message=wording.note_message(language, note), hint=wording.note_hint(language, note))


def remarks(language: wording.Language, notes: Iterable[Note]) -> list[Remark]:
    return [remark(language, note) for note in notes]


def error_info(language: wording.Language, error: CodedError) -> ErrorInfo:
    message, expected, hint = wording.error_texts(language, error)
    return ErrorInfo(code=error.code, message=message, found=error.found, expected=expected, hint=hint)


def error_text(language: wording.Language, info: ErrorInfo) -> str:
    """The text block of a failure."""
    lines = [wording.text(language, "common.error", code=info.code, message=info.message)]
    for key, value in (("found", info.found), ("expected", info.expected), ("hint", info.hint)):
        if value and value not in info.message:
            lines.append(wording.text(language, f"common.{key}", value=value))
    return "\n".join(lines)


def argument_path(value: str | Path, *, base: Path | None = None) -> Path:
    """An absolute path from a tool argument: ``~`` expanded, relative to ``base`` or the server's working directory.

    Errors: ``path_invalid`` (NUL byte, empty, leads nowhere), ``path_not_allowed`` (outside ``--allow-dir``, links
    resolved).
    """
    raw = str(value)
    if not raw.strip() or "\0" in raw:
        raise CodedError("path_invalid", found=repr(raw))
    allowed = settings.current().allow_dirs
    try:
        path = Path(raw).expanduser()
        path = path if path.is_absolute() else (base or Path.cwd()) / path
        real = path.resolve() if allowed or ".." in path.parts else path
    except (OSError, RuntimeError):  # ~ of a user who is not there, a link that leads to itself, no working directory
        raise CodedError("path_invalid", found=repr(raw)) from None
    if allowed and not any(real == folder or folder in real.parents for folder in allowed):
        raise CodedError("path_not_allowed", found=path, expected=", ".join(map(str, allowed)))
    return Path(*path.parts) if ".." not in path.parts else real
