"""Edits in YAML text: keys set or added in their own block, anchors and comments kept, never a second block.

value behind an alias (``save_path: *p``)            the alias is replaced, its anchor stays
scalar with an anchor used elsewhere                 the anchor moves to its first other user
mapping reached by an alias, or through ``<<``       written out in place
mapping with an anchor used elsewhere                refused with the line: others would change with it
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.profile_config import yaml_nodes
from mindspeed_mm_train_profiler.profile_config.edits import Edit, merged, same, text_edits
from mindspeed_mm_train_profiler.profile_config.yaml_nodes import Node

PLAIN = re.compile(r"[A-Za-z_./][\w./+\-]*", re.A)
LINE = re.compile(r"[^\r\n]*")


@dataclass(slots=True)
class _Document:
    text: str
    newline: str
    step: int
    changes: list[tuple[int, int, str]]


def set_keys(text: str, loaded: Any, wanted: Mapping[str, Any]) -> list[Edit]:
    """Edits after which the document holds ``wanted``, merged mapping by mapping.

    ``loaded``: what ``safe_load`` makes of ``text``. Errors: ``config_root_not_mapping``, ``yaml_anchor_shared`` and
    ``yaml_several_documents`` with the line.
    """
    root = yaml_nodes.parse(text)
    if root is None or root.kind != "mapping" or not isinstance(loaded, dict):
        raise CodedError("config_root_not_mapping", found=text[:40])
    document = _Document(text, "\r\n" if "\r\n" in text else "\n", _step(root), [])
    _merge(document, root, loaded, wanted)
    return text_edits(text, document.changes)


def _step(root: Node) -> int:
    """How many columns this file indents by: those of its first nested block."""
    for _, value in root.pairs:
        if value.kind == "mapping" and not value.flow and value.pairs:
            return max(value.pairs[0][0].column - root.pairs[0][0].column, 1)
    return 2


def scalar(value: Any) -> str:
    """A scalar, list or mapping on one line, spelled so that YAML 1.1 reads the same value."""
    if isinstance(value, list):
        return "[" + ", ".join(scalar(item) for item in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(key)}: {scalar(item)}" for key, item in value.items()) + "}"
    if isinstance(value, str):
        return value if PLAIN.fullmatch(value) and _loads(value) == value else json.dumps(value, ensure_ascii=False)
    if value is None or isinstance(value, (bool, int)):
        return json.dumps(value)
    import yaml

    written: str = yaml.safe_dump(value, default_flow_style=True, width=10_000)
    return written.removesuffix("\n").removesuffix("\n...")


def _loads(text: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError):
        return None


def _block(document: _Document, items: Mapping[str, Any], column: int) -> list[str]:
    """Lines of a block mapping at ``column``, without line ends."""
    lines: list[str] = []
    for key, value in items.items():
        if isinstance(value, Mapping) and value:
            lines.append(" " * column + f"{scalar(key)}:")
            lines += _block(document, value, column + document.step)
        else:
            lines.append(" " * column + f"{scalar(key)}: {scalar(value)}")
    return lines


def _merge(document: _Document, node: Node, loaded: dict[Any, Any], wanted: Mapping[str, Any]) -> None:
    missing: dict[str, Any] = {}
    for key, value in wanted.items():
        pair = node.get(key)
        current = loaded.get(key)
        if pair is None:
            if key not in loaded or not same(merged(current, value), current):
                # a key that comes through `<<` is written out with all it held
                missing[key] = merged(current, value)
            continue
        name, child = pair
        if isinstance(value, Mapping):
            _merge_mapping(document, node, name, child, current, value)
        elif not same(current, value) or child.empty:
            _set(document, name, child, value)
    if missing:
        _add(document, node, missing)


def _merge_mapping(
    document: _Document, node: Node, name: Node, child: Node, current: Any, value: Mapping[str, Any]
) -> None:
    if current is not None and same(merged(current, value), current):
        return
    if child.kind == "mapping":
        if child.used_at:
            raise CodedError("yaml_anchor_shared", found=f"line {child.line}: &{child.anchor}", line=child.line)
        _merge(document, child, current or {}, value)
        return
    full = merged(current if isinstance(current, dict) else {}, value)
    if child.empty and not node.flow:
        end = _line_end(document.text, name.end)
        lines = _block(document, full, name.column + document.step)
        document.changes.append((end, end, "".join(document.newline + line for line in lines)))
    else:
        _put(document, name, child, scalar(full))


def _set(document: _Document, name: Node, child: Node, value: Any) -> None:
    if child.kind == "sequence" and not child.flow and isinstance(value, list) and value and not child.anchor:
        between = document.newline + " " * child.column
        document.changes.append((child.start, child.last, between.join(f"- {scalar(item)}" for item in value)))
        return
    written = scalar(value)
    if child.kind == "scalar" and child.style in {"'", '"'} and isinstance(value, str) and "'" not in value:
        written = f"'{value}'" if child.style == "'" else json.dumps(value, ensure_ascii=False)
    _put(document, name, child, written)


def _put(document: _Document, name: Node, child: Node, written: str) -> None:
    """Replace a value by one on a single line, deeper than its key."""
    if child.kind in {"mapping", "sequence"} and not child.flow:
        written = " " * max(name.column + document.step - child.column, 0) + written
    _replace(document, child, written)


def _replace(document: _Document, child: Node, written: str) -> None:
    if child.empty:
        before = document.text[child.start - 1 : child.start]
        document.changes.append((child.start, child.start, written if before == " " else " " + written))
        return
    start, end = child.start, child.last
    if child.style in {"|", ">"}:
        end = len(document.text[: child.end].rstrip("\r\n \t"))
    if child.anchor and not child.used_at and child.kind == "scalar":
        found = re.compile(rf"&{re.escape(child.anchor)}[ \t]+").match(document.text, start)
        start = found.end() if found else start
    else:
        _release(document, child)
    document.changes.append((start, end, written))


def _release(document: _Document, child: Node) -> None:
    """An anchored value is about to be replaced: its first other user takes the anchor over."""
    if not child.anchor or not child.used_at:
        return
    if child.kind != "scalar" or child.style in {"|", ">"}:
        raise CodedError("yaml_anchor_shared", found=f"line {child.line}: &{child.anchor}", line=child.line)
    heir = child.used_at[0]
    document.changes.append((heir.start, heir.end, document.text[child.start : child.end]))


def _line_end(text: str, at: int) -> int:
    found = LINE.match(text, at)
    return found.end() if found else at


def _add(document: _Document, node: Node, missing: Mapping[str, Any]) -> None:
    text = document.text
    if node.flow:
        trailing = text[: node.end - 1].rstrip().endswith(",")
        at = node.pairs[-1][1].last if node.pairs and not trailing else node.end - 1
        items = ", ".join(f"{scalar(key)}: {scalar(value)}" for key, value in missing.items())
        lead = "" if not node.pairs else " " if trailing else ", "
        document.changes.append((at, at, lead + items))
        return
    lines = _block(document, missing, node.pairs[0][0].column)
    tail = _tail(node)
    if tail.style in {"|", ">"} and text[tail.end - 1 : tail.end] in {"\n", "\r"}:
        document.changes.append((tail.end, tail.end, "".join(line + document.newline for line in lines)))
        return
    at = _line_end(text, node.last)
    document.changes.append((at, at, "".join(document.newline + line for line in lines)))


def _tail(node: Node) -> Node:
    """The last leaf of a block."""
    while True:
        if node.kind == "mapping" and not node.flow and node.pairs:
            node = node.pairs[-1][1]
        elif node.kind == "sequence" and not node.flow and node.items:
            node = node.items[-1]
        else:
            return node
