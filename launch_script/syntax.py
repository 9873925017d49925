"""The parse tree of a shell file: bytes in, tree-sitter tree with byte positions out."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.errors import CodedError, Note
from mindspeed_mm_train_profiler.launch_script.plan import Span

MAX_SCRIPT_BYTES = 4 * 1024 * 1024
"""No launch script is larger; a file that is would be something else, and costs time."""


@cache
def _parser() -> Any:
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def parse_tree(text: bytes) -> Any:
    return _parser().parse(text)


def is_one_substitution(text: bytes) -> bool:
    """Whether a text is one ``$(...)`` from its first to its last byte, and nothing else."""
    tree = parse_tree(b"x=" + text + b"\n")
    if tree.root_node.has_error or tree.root_node.named_child_count != 1:
        return False
    value = tree.root_node.named_children[0].child_by_field_name("value")
    return bool(value is not None and value.type == "command_substitution" and value.end_byte == len(text) + 2)


def assigned_values(text: bytes, name: "re.Pattern[bytes]") -> list[tuple[int, int]]:
    """(start, end) of the values of assignments whose variable's whole name matches; those without a value left out."""
    found: list[tuple[int, int]] = []
    stack = [parse_tree(text).root_node]
    while stack:
        node = stack.pop()
        stack += node.children
        if node.type == "variable_assignment":
            variable, value = node.child_by_field_name("name"), node.child_by_field_name("value")
            if variable is not None and value is not None and name.fullmatch(variable.text) and value.type != "array":
                found.append((value.start_byte, value.end_byte))
    return sorted(found)


def commands_named(text: bytes, names: Collection[bytes]) -> list[tuple[int, int]]:
    """(start, end) of commands one of whose first words is such a name, with what they are fed (a here-document)."""
    found: list[tuple[int, int]] = []
    stack = [parse_tree(text).root_node]
    while stack:
        node = stack.pop()
        stack += node.children
        if node.type == "command" and any(word.rpartition(b"/")[2] in names for word in node.text.split()[:4]):
            whole = node.parent if node.parent is not None and node.parent.type == "redirected_statement" else node
            found.append((node.start_byte, whole.end_byte))
    return sorted(found)


@dataclass(frozen=True, slots=True)
class Source:
    """One shell file. ``data`` is what lies on disk; ``text`` the same bytes with CR and BOM blanked for the grammar.

    Blanking keeps every position: a CR that ends a line becomes a space, so that offsets into ``text`` are offsets into
    ``data``. (bash itself would trip over the CR; that is said in a note.)
    """

    path: Path
    data: bytes
    text: bytes
    tree: Any
    notes: tuple[Note, ...]
    quoted: Span | None = None
    """Set for a program inside a quoted word (``bash -c "..."``): the word. Positions inside are not the file's."""

    def begin(self, node: Any) -> int:
        """Where a node really begins: the grammar counts blanks before a ``$`` inside a string to the expansion."""
        start: int = node.start_byte
        if start >= len(self.text) or self.text[start] not in b" \t\r\n":  # nearly always
            return start
        while start < node.end_byte and self.text[start] in b" \t\r\n":
            start += 1
        return start

    def span(self, node: Any) -> Span:
        if self.quoted:
            return self.quoted
        start, first = self.begin(node), node.start_byte
        line = node.start_point[0] + 1
        if start > first:
            line += self.text.count(b"\n", first, start)
        return Span(self.path, start, node.end_byte, line)

    def piece(self, start: int, end: int, line: int) -> Span | None:
        return None if self.quoted else Span(self.path, start, end, line)

    def raw(self, node: Any) -> str:
        return decode(self.text[self.begin(node) : node.end_byte])


def decode(data: bytes) -> str:
    """Text of script bytes; bytes that are not UTF-8 survive a round trip through ``encode``."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def read_script(path: Path) -> bytes:
    """The bytes of a launch script.

    Errors: ``no_script``, ``script_is_directory``, ``script_unreadable``, ``script_too_large``, ``script_empty``,
    ``script_binary``.
    """
    try:
        if path.is_dir():
            raise CodedError("script_is_directory", found=path)
        if not path.exists():
            raise CodedError("no_script", found=path)
        if not path.is_file():
            raise CodedError("script_unreadable", found=path, detail="not a regular file")
        if path.stat().st_size > MAX_SCRIPT_BYTES:
            raise CodedError("script_too_large", found=f"{path}: {path.stat().st_size} bytes")
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        raise CodedError("script_unreadable", found=path, detail=getattr(error, "strerror", None) or error) from None
    if not data.strip():
        raise CodedError("script_empty", found=path)
    if b"\0" in data:
        raise CodedError("script_binary", found=path)
    return data


OPTIONS_JOINED = re.compile(rb"(?<![\s\\])\\\n--?[A-Za-z][^\s\\]{0,80}")
"""``--lr 1e-5\\`` and ``--seed 1`` at the next line's very start: one word to bash."""
PLACEHOLDER = re.compile(rb"<[^<>\n;|&()\"'$`]+>")
PLACEHOLDER_VALUE = re.compile(rb"(?m)^([ \t]*(?:export[ \t]+)?[A-Za-z_]\w*=)<([^<>\n;|&()\"'$`]+)>(?=[ \t]*(?:#.*)?$)")


def filled(placeholder: bytes) -> bytes:
    """The value that ``<your address>`` is read as; as long as it."""
    return re.sub(rb"[^\w.]", b"_", placeholder)


def _fill_placeholders(path: Path, text: bytes, notes: list[Note]) -> bytes:
    """``MASTER_ADDR=<your address>`` is a redirection to bash, and an error; read it as the value it stands for."""

    def fill(found: "re.Match[bytes]") -> bytes:
        line = text.count(b"\n", 0, found.start()) + 1
        notes.append(Note("placeholder_breaks_bash", {"path": path, "line": line, "text": f"<{decode(found[2])}>"}))
        return found[1] + filled(b"<" + found[2] + b">")

    return PLACEHOLDER_VALUE.sub(fill, text)


def _first_error(node: Any, budget: int = 20_000) -> Any:
    stack = [node]
    while stack and budget:
        budget -= 1
        current = stack.pop()
        if current.type == "ERROR" or current.is_missing:
            return current
        if current.has_error:
            stack.extend(reversed(current.children))
    return None


def parse(path: Path, data: bytes) -> Source:
    """Parse; oddities of the file become notes, never failures."""
    notes: list[Note] = []
    text = data
    if data.startswith(b"\xef\xbb\xbf"):
        text = b"   " + data[3:]
        notes.append(Note("script_has_bom", {"path": path}))
    if b"\r" in text:
        line = text.count(b"\n", 0, text.index(b"\r")) + 1
        notes.append(Note("script_has_crlf", {"path": path, "line": line}))
        text = text.replace(b"\\\r\n", b" \\\n").replace(b"\r\n", b" \n")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        notes.append(Note("script_not_utf8", {"path": path, "line": data.count(b"\n", 0, error.start) + 1}))
    text = _fill_placeholders(path, text, notes)
    for found in OPTIONS_JOINED.finditer(text):
        start = found.start()
        before = text[text.rfind(b"\n", 0, start) + 1 : start]
        if before.strip() and not before.lstrip().startswith(b"#"):
            joined = decode(before.split()[-1][-80:] + found[0][2:])
            notes.append(
                Note("options_joined", {"path": path, "line": text.count(b"\n", 0, start) + 1, "text": joined})
            )
            break
    tree = parse_tree(text)
    if tree.root_node.has_error and (bad := _first_error(tree.root_node)) is not None:
        near = decode(text[bad.start_byte : bad.start_byte + 60]).splitlines()
        notes.append(
            Note(
                "script_syntax_error",
                {"path": path, "line": bad.start_point[0] + 1, "near": near[0].strip() if near else ""},
            )
        )
    return Source(path, data, text, tree, tuple(notes))
