"""Words that the grammar took apart: ``0`cmd`1`` is several nodes with nothing between them; bash reads one word.

A backslash at the end of a line is nothing to bash: what stands right before it and right at the next line's start is
one word as well.
"""

import re
from collections.abc import Iterable
from typing import Any

REDIRECTIONS = {"file_redirect", "herestring_redirect", "heredoc_redirect"}


OPEN = re.compile(rb"\$\{?[#!]?\w*\Z")
NAME_GOES_ON = re.compile(rb"[\w{(]")


class Joined:
    """Several nodes side by side, with what is asked of one: a concatenation, or an assignment whose value goes on."""

    is_named = True

    def __init__(self, parts: list[Any]) -> None:
        first = parts[0]
        self.parts = parts
        self.assignment = first.type == "variable_assignment"
        self.type = "variable_assignment" if self.assignment else "concatenation"
        self.start_byte, self.end_byte = first.start_byte, parts[-1].end_byte
        self.start_point, self.end_point = first.start_point, parts[-1].end_point
        self.children = first.children if self.assignment else parts

    def child_by_field_name(self, name: str) -> Any:
        """``name`` and ``value`` of an assignment."""
        if not self.assignment:
            return None
        found = self.parts[0].child_by_field_name(name)
        if name != "value":
            return found
        rest = [found, *self.parts[1:]] if found is not None else self.parts[1:]
        return rest[0] if len(rest) == 1 else Joined(rest)


def glued(text: bytes, start: int, end: int) -> bool:
    """Whether between two bytes there is nothing that bash sees."""
    return start == end or (text.startswith(b"\\\n", start) and not text[start:end].replace(b"\\\n", b""))


def cut_name(text: bytes, node: Any) -> bool:
    """Whether a line ends inside a variable's name, as in ``$HO\\`` and ``ME``: the grammar does not see the name."""
    at = text.find(b"\\\n", node.start_byte, node.end_byte)
    while at >= 0:
        behind = at + 2
        while text.startswith(b"\\\n", behind):
            behind += 2
        if OPEN.search(text, max(node.start_byte, at - 200), at) and NAME_GOES_ON.match(text, behind):
            return True
        at = text.find(b"\\\n", behind, node.end_byte)
    return False


def together(nodes: Iterable[Any], text: bytes) -> list[Any]:
    """The named nodes, neighbours without a byte between them joined; redirections and arrays stand alone.

    A comment between the lines of an array is none of its words.
    """
    groups: list[list[Any]] = []
    for node in nodes:
        before = groups[-1][-1] if groups else None
        if not node.is_named or (node.type == "comment" and (before is None or before.end_byte < node.start_byte)):
            continue
        if (
            before is not None
            and glued(text, before.end_byte, node.start_byte)
            and not {before.type, node.type} & REDIRECTIONS
            and node.type != "variable_assignment"
            and not _ends_with_array(before)
        ):
            groups[-1].append(node)
        else:
            groups.append([node])
    return [group[0] if len(group) == 1 else Joined(group) for group in groups]


def _ends_with_array(node: Any) -> bool:
    if node.type != "variable_assignment":
        return False
    right = node.child_by_field_name("value")
    return right is not None and right.type == "array"
