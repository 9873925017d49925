"""Edits in shell text: an argument's new value, written where the old one was defined.

Each way of writing it is a strategy; they are tried in order, and the proof (reading the result again, also with a
hostile environment) decides which one holds:

    name         only the file name inside the bytes that spell the path: ``"$BASE/tools/tools.json"`` keeps ``$BASE``
    literal      the bytes that spell the whole argument: ``--train-iters 5000``
    definition   the right side of the variable whose whole value the argument is: ``MM_TOOL=${MM_TOOL:-x}``
    use          the place where the variable is used: an environment cannot reach it there
"""

import re
from collections.abc import Iterator
from pathlib import Path

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.launch_script.plan import LauncherCall, Piece, SourceFile, Span, Word
from mindspeed_mm_train_profiler.profile_config.edits import Edit

STRATEGIES = ("name", "literal", "definition", "use")
RECORDER = b"${MM_PROFILER_RECORD-} "
"""Expands to nothing unless the supervisor names a recorder: the copy also runs by hand."""
SAFE = re.compile(r"[\w./+:@%,=\-]+")
DEFAULTED = re.compile(rb"\$\{[A-Za-z_]\w*:?[-=]$")


class Sources:
    """The shell files of a launch, by path."""

    def __init__(self, files: tuple[SourceFile, ...]) -> None:
        self.files = {file.path: file for file in files}

    def data(self, span: Span) -> bytes:
        return self.files[span.path].data

    def raw(self, span: Span) -> bytes:
        return self.files[span.path].data[span.start : span.end]


Located = tuple[Path, Edit]


def quote(value: str, raw: bytes = b"") -> bytes:
    """``value`` as one shell word, in the quotes that ``raw`` used where they do.

    Error: ``value_needs_quoting`` (a character that no plain or double-quoted word can hold as it is).
    """
    mark = raw[:1] if raw[:1] in (b'"', b"'") else b""
    if SAFE.fullmatch(value):
        return mark + value.encode("utf-8") + mark
    if any(char in value for char in "\"'$`\\\n!"):
        raise CodedError("value_needs_quoting", found=value)
    return b'"' + value.encode("utf-8", "surrogateescape") + b'"'


def edits_for(sources: Sources, word: Word, value: str, strategy: str) -> Located | None:
    """The edit by which ``word`` becomes ``value`` under one strategy; None where it does not apply."""
    if not word.known:
        return _unknown(sources, word, value) if strategy == "use" else None
    if not word.pieces:
        return None
    return {"name": _name, "literal": _literal, "definition": _definition, "use": _use}[strategy](sources, word, value)


PLAIN_USE = re.compile(rb'"?\$\{?\w+(?::?[-=][\w./-]*)?\}?"?')


def _unknown(sources: Sources, word: Word, value: str) -> Located | None:
    """A variable whose value depends on what is not known here: the place where it is used tells the value instead."""
    span = word.span
    if span is None or span.path not in sources.files or not SAFE.fullmatch(value):
        return None
    if not PLAIN_USE.fullmatch(sources.raw(span)):
        return None
    return span.path, Edit(span.start, span.end, value.encode("utf-8"))


def _name(sources: Sources, word: Word, value: str) -> Located | None:
    old, new = Path(word.text), Path(value)
    if "/" not in value or not SAFE.fullmatch(new.name):
        return None
    if word.text[: len(word.text) - len(old.name)] != value[: len(value) - len(new.name)]:
        return None
    last = word.pieces[-1]
    if last.span is None or not last.text.endswith(old.name):
        return None
    size = len(old.name.encode("utf-8", "surrogateescape"))
    span = Span(last.span.path, last.span.end - size, last.span.end, last.span.line)
    return _spelled(sources, span, old.name, new.name)


def _literal(sources: Sources, word: Word, value: str) -> Located | None:
    pieces = [piece for piece in word.pieces if piece.text]
    if len(pieces) != 1 or pieces[0].span is None or not SAFE.fullmatch(value):
        return None
    return _spelled(sources, pieces[0].span, word.text, value)


def _spelled(sources: Sources, span: Span, old: str, new: str) -> Located | None:
    if span.path not in sources.files or sources.raw(span) != old.encode("utf-8", "surrogateescape"):
        return None
    return span.path, Edit(span.start, span.end, new.encode("utf-8"))


def _definition(sources: Sources, word: Word, value: str) -> Located | None:
    for binding in word.pieces[0].bindings:
        if binding.text == word.text and binding.value is not None and binding.value.path in sources.files:
            raw = sources.raw(binding.value)
            if raw[:1] == b"(":
                return None
            return binding.value.path, Edit(binding.value.start, binding.value.end, quote(value, raw))
    return None


def outer(piece: Piece, word: Word) -> Span | None:
    """Where a piece stands for this word alone: the use of a variable within it, or the piece's own bytes."""
    inner = piece.bindings[0].text if piece.bindings else None
    return piece.use if piece.use is not None and inner and inner in word.text else piece.span


def _use(sources: Sources, word: Word, value: str) -> Located | None:
    spans = [span for piece in word.pieces if piece.text and (span := outer(piece, word)) is not None]
    if not spans or len({span.path for span in spans}) != 1 or spans[0].path not in sources.files:
        return None
    path, start, end = spans[0].path, min(s.start for s in spans), max(s.end for s in spans)
    data = sources.files[path].data
    if DEFAULTED.search(data[:start]) and data[end : end + 1] == b"}":
        start, end = data.rindex(b"${", 0, start), end + 1
    if not SAFE.fullmatch(value) or re.search(rb"\s", data[start:end]):
        return None
    return path, Edit(start, end, value.encode("utf-8"))


def insert_argument(sources: Sources, call: LauncherCall, text: str) -> Located | None:
    """Put ``text`` behind the entry on the command line."""
    span = call.entry.span if call.entry is not None else None
    if span is None or call.quoted or span.path not in sources.files:
        return None
    return span.path, Edit(span.end, span.end, b" " + text.encode("utf-8"))


def recorder(sources: Sources, call: LauncherCall, unset: tuple[str, ...] = ()) -> Located | None:
    """The recorder before the launcher word; ``unset``: variables taken from the launcher's environment."""
    prefix = RECORDER + b"".join(b"-u %s " % name.encode() for name in unset).join(
        (b"env ", b"") if unset else (b"", b"")
    )
    span = call.launcher_span
    if span.path not in sources.files:
        return None
    if not call.quoted:
        return span.path, Edit(span.start, span.start, prefix)
    # inside a quoted program positions are the outer word's: the launcher's name must stand there exactly once
    name = call.words[0].text.encode("utf-8", "surrogateescape")
    raw = sources.raw(span)
    found = [match.start() for match in re.finditer(rb"(?<![\w/.\-$])" + re.escape(name) + rb"(?=\s)", raw)]
    if len(found) != 1:
        return None
    at = span.start + found[0]
    return span.path, Edit(at, at, prefix)


def repoint_source(sources: Sources, file: SourceFile, copy: Path) -> Located | None:
    """Make the word that names a sourced (or called) ``file`` name the copy instead."""
    span = file.sourced_at
    if span is None or span.path not in sources.files:
        return None
    word = sources.raw(span)
    name = file.path.name.encode("utf-8", "surrogateescape")
    bare = word.rstrip(b"\"'")
    if copy.parent == file.path.parent and bare.endswith(name) and SAFE.fullmatch(copy.name):
        start = span.start + len(bare) - len(name)
        return span.path, Edit(start, start + len(name), copy.name.encode("utf-8"))
    return span.path, Edit(span.start, span.end, quote(str(copy), word))


def neutralise(sources: Sources, span: Span) -> Located:
    """``: `` before a command: its words are still expanded, nothing is done."""
    if sources.raw(span).startswith(b": "):
        raise CodedError("edits_overlap", found=span.line)
    return span.path, Edit(span.start, span.start, b": ")


def depends_on_place(sources: Sources) -> bool:
    """Whether the script looks at where it lies (``$0``, ``BASH_SOURCE``)."""
    return any(re.search(rb"BASH_SOURCE|\$\{?0\b", file.data) for file in sources.files.values())


def candidates(sources: Sources, word: Word, value: str) -> Iterator[tuple[str, Located]]:
    """The edits that would do, in the order in which they are to be tried."""
    for strategy in STRATEGIES:
        located = edits_for(sources, word, value, strategy)
        if located is not None:
            yield strategy, located
