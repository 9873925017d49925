"""Positions in YAML text, from the parser events of the library that the trainer loads with (PyYAML, YAML 1.1).

Unlike a composed document, this tree keeps aliases as they are written and knows the anchors' users.
"""

from dataclasses import dataclass, field
from typing import Any

from mindspeed_mm_train_profiler.errors import CodedError


@dataclass(slots=True)
class Node:
    """``start``/``end``: character positions, tag and anchor included. ``last``: where its own text really ends."""

    kind: str
    """mapping, sequence, scalar or alias."""
    start: int
    end: int
    line: int
    column: int
    flow: bool = False
    style: str | None = None
    text: str = ""
    anchor: str | None = None
    target: "Node | None" = None
    used_at: list["Node"] = field(default_factory=list)
    """Aliases of this node's anchor, in the order of the text."""
    pairs: list[tuple["Node", "Node"]] = field(default_factory=list)
    items: list["Node"] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        """A value that is not written at all: ``key:``."""
        return self.kind == "scalar" and self.start == self.end

    @property
    def last(self) -> int:
        """The end of the last thing written in it (a block's own end mark lies behind comments and blank lines)."""
        if self.kind == "mapping" and not self.flow and self.pairs:
            return max(self.pairs[-1][0].last, self.pairs[-1][1].last)
        if self.kind == "sequence" and not self.flow and self.items:
            return self.items[-1].last
        return self.end

    def get(self, key: str) -> tuple["Node", "Node"] | None:
        """The pair that counts: the last of equal keys."""
        found = None
        for pair in self.pairs:
            if pair[0].kind == "scalar" and pair[0].text == key:
                found = pair
        return found


def parse(text: str) -> Node | None:
    """The root node of the one document in ``text``; None for an empty one.

    The text has been accepted by ``yaml.safe_load`` before. Error: ``yaml_several_documents``.
    """
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    anchors: dict[str, Node] = {}
    roots: list[Node] = []
    stack: list[Node] = []
    keys: list[Node | None] = []

    def add(node: Node) -> None:
        if not stack:
            roots.append(node)
        elif stack[-1].kind == "sequence":
            stack[-1].items.append(node)
        elif keys[-1] is None:
            keys[-1] = node
        else:
            stack[-1].pairs.append((keys[-1], node))
            keys[-1] = None

    events: Any = yaml.parse(text, Loader=loader)
    for event in events:
        kind = type(event).__name__
        if kind in {"MappingEndEvent", "SequenceEndEvent"}:
            stack.pop().end = event.end_mark.index
            keys.pop()
            continue
        if kind not in {"MappingStartEvent", "SequenceStartEvent", "ScalarEvent", "AliasEvent"}:
            continue
        start, end = event.start_mark, event.end_mark
        node = Node("scalar", start.index, end.index, start.line + 1, start.column, anchor=event.anchor)
        if kind == "AliasEvent":
            node.kind, node.anchor, node.target = "alias", None, anchors.get(event.anchor)
            if node.target is not None:
                node.target.used_at.append(node)
            add(node)
            continue
        if node.anchor:
            anchors[node.anchor] = node
        add(node)
        if kind == "ScalarEvent":
            node.text, node.style = event.value, event.style
            continue
        node.kind = "mapping" if kind == "MappingStartEvent" else "sequence"
        node.flow = bool(event.flow_style)
        stack.append(node)
        keys.append(None)
    if len(roots) > 1:
        raise CodedError("yaml_several_documents", found=f"line {roots[1].line}", line=roots[1].line)
    return roots[0] if roots else None


def duplicates(node: Node) -> list[tuple[str, int]]:
    """Keys written twice in one mapping, with the line of the later one."""
    found: list[tuple[str, int]] = []
    stack = [node]
    while stack:
        current = stack.pop()
        seen: set[str] = set()
        for key, value in current.pairs:
            if key.kind == "scalar" and key.text in seen and key.text != "<<":
                found.append((key.text, key.line))
            seen.add(key.text)
            stack.append(value)
        stack += current.items
    return found
