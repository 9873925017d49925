"""Edits in JSON text: members set or added where they belong, the rest untouched.

The text has been accepted by ``json.loads`` before: this scanner only finds positions.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.profile_config.edits import Edit, same, text_edits

BLANK = re.compile(r"[ \t\r\n]*")
SCALAR = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,\]}]+', re.S)
STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.S)


@dataclass(slots=True)
class Node:
    start: int
    end: int
    kind: str
    """object, array or scalar."""
    members: list[tuple[str, int, "Node"]] = field(default_factory=list)
    """(key, position of the key, value) of an object; of an array the keys are empty."""


def _blank(text: str, at: int) -> int:
    found = BLANK.match(text, at)
    return found.end() if found else at


def scan(text: str, at: int = 0) -> Node:
    """The node whose text begins at or after ``at``."""
    at = _blank(text, at)
    opening = text[at]
    if opening not in "{[":
        found = SCALAR.match(text, at)
        assert found is not None
        return Node(at, found.end(), "scalar")
    node = Node(at, at, "object" if opening == "{" else "array")
    position = _blank(text, at + 1)
    while text[position] not in "}]":
        key, key_at = "", position
        if opening == "{":
            found = STRING.match(text, position)
            assert found is not None
            key = json.loads(found[0])
            position = _blank(text, found.end()) + 1
        value = scan(text, position)
        node.members.append((key, key_at, value))
        position = _blank(text, value.end)
        if text[position] == ",":
            position = _blank(text, position + 1)
    node.end = position + 1
    return node


def set_members(text: str, wanted: Mapping[str, Any]) -> list[Edit]:
    """Edits after which the root object holds ``wanted``, merged mapping by mapping; other members stay.

    Error: ``config_root_not_mapping``.
    """
    root = scan(text)
    if root.kind != "object":
        raise CodedError("config_root_not_mapping", found=text[:40])
    newline = "\r\n" if "\r\n" in text else "\n"
    changes: list[tuple[int, int, str]] = []
    _merge(text, root, json.loads(text), wanted, _unit(text), newline, changes)
    return text_edits(text, changes)


def _unit(text: str) -> str:
    """One level of indentation as this file writes it."""
    found = re.search(r"\{[ \t]*\r?\n([ \t]+)\S", text)
    return found[1] if found else "    "


def _indent(text: str, at: int) -> str:
    """The blanks before the first character of the line of ``at``."""
    found = re.compile(r"[ \t]*").match(text, text.rfind("\n", 0, at) + 1)
    return found[0] if found else ""


def _merge(
    text: str,
    node: Node,
    loaded: Any,
    wanted: Mapping[str, Any],
    unit: str,
    newline: str,
    changes: list[tuple[int, int, str]],
) -> None:
    found = {key: (at, value) for key, at, value in node.members}  # of two equal keys the last one counts
    missing: dict[str, Any] = {}
    for key, value in wanted.items():
        if key not in found:
            missing[key] = value
            continue
        at, child = found[key]
        if isinstance(value, Mapping) and child.kind == "object":
            _merge(text, child, loaded[key], value, unit, newline, changes)
        elif not same(loaded[key], value):
            changes.append((child.start, child.end, _dump(value, _indent(text, at), unit, newline)))
    if missing:
        changes.append(_addition(text, node, missing, unit, newline))


def _dump(value: Any, base: str, unit: str, newline: str) -> str:
    if isinstance(value, Mapping) and value:
        inner = base + unit
        items = (f"{json.dumps(k, ensure_ascii=False)}: {_dump(v, inner, unit, newline)}" for k, v in value.items())
        return "{" + newline + f",{newline}".join(inner + item for item in items) + newline + base + "}"
    return json.dumps(value, ensure_ascii=False)


def _addition(text: str, node: Node, missing: dict[str, Any], unit: str, newline: str) -> tuple[int, int, str]:
    """Where members are added: behind the last one, spaced as that one is."""
    if not node.members:
        return node.start, node.end, _dump(missing, _indent(text, node.start), unit, newline)
    _, key_at, last = node.members[-1]
    gap = text[len(text[:key_at].rstrip(" \t\r\n")) : key_at]
    base = gap.rpartition("\n")[2] if "\n" in gap else _indent(text, key_at)
    gap = gap if "\n" in gap or len(node.members) > 1 else " "
    items = (f"{json.dumps(k, ensure_ascii=False)}: {_dump(v, base, unit, newline)}" for k, v in missing.items())
    return last.end, last.end, "".join(f",{gap}{item}" for item in items)
