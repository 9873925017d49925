"""Assignments: a variable's value, and the bytes of its right side."""

import re
from dataclasses import replace
from typing import Any

from mindspeed_mm_train_profiler.launch_script import arrays
from mindspeed_mm_train_profiler.launch_script.expansion import value
from mindspeed_mm_train_profiler.launch_script.plan import Span, Word
from mindspeed_mm_train_profiler.launch_script.siblings import together
from mindspeed_mm_train_profiler.launch_script.state import Shell, Var
from mindspeed_mm_train_profiler.launch_script.values import BREAK, Frag, Value, clip, known
from mindspeed_mm_train_profiler.launch_script.words import word_list

JOIN = Frag(" ")
"""Between elements where no words are made: ``NAME="$@"``."""
KEYED = re.compile(r"\[[^\]]*\]\+?=")
"""``[2]=word`` between the parentheses."""


def from_word(word: Word) -> Value:
    """A word's text as a value, with its origins."""
    return tuple(
        Frag(
            piece.text,
            piece.span,
            quoted=True,
            known=word.known,
            bindings=piece.bindings,
            uses=(piece.use,) * len(piece.bindings) if piece.use else (),
        )
        for piece in word.pieces
    )


def assign(shell: Shell, node: Any, *, exported: bool = False, fresh: bool = False) -> None:
    """Carry out one ``variable_assignment`` node. ``fresh``: of a variable that is new here (``local NAME=...``)."""
    name_node, right = node.child_by_field_name("name"), node.child_by_field_name("value")
    if name_node is None:
        return
    adding = shell.source.text.startswith(b"+=", name_node.end_byte)
    name = shell.source.raw(name_node)
    old = None if fresh else shell.variables.get(name.partition("[")[0])
    exported = exported or (old.exported if old else False)
    if name_node.type == "subscript":
        _element(shell, name_node, right, old, adding=adding)
        return
    here = shell.source.span(node)
    right_side: Span | None = Span(here.path, here.end, here.end, here.line)
    if shell.source.quoted:  # no bytes of a file spell it
        right_side = None
    elif right is not None:
        right_side = shell.source.span(right)
    if right is not None and right.type == "array":
        shell.assign(name, _array(shell, name, right, old, Var((), (), exported, here, right_side), adding=adding))
        return
    text = tuple(JOIN if frag == BREAK else frag for frag in value(shell, right)) if right is not None else ()
    before = old.value if adding and old is not None else ()
    # a joined value is spelled by no single right side
    new = Var(clip((*before, *text)), None, exported, here, None if adding and old is not None else right_side)
    if old is not None and old.keyed:
        new = replace(old, exported=exported)
    elif old is not None and old.array is not None:  # an array's first element
        rest = old.array if old.array and not known(old.array[0] or ()) else old.array[1:]
        new = replace(new, array=(new.value, *rest))
    shell.assign(name, new)


def _array(shell: Shell, name: str, right: Any, old: Var | None, new: Var, *, adding: bool) -> Var:
    """``NAME=(...)``, ``NAME+=(...)``; with keys, nothing is known of it."""
    children = together(right.children, shell.source.text)
    if (old is not None and old.keyed) or any(KEYED.match(shell.source.raw(child)) for child in children):
        return arrays.unknown(shell, name, right, keyed=old is not None and old.keyed)
    before = arrays.items_of(old) if adding else ()
    items = [from_word(word) for child in children for word in word_list(shell, child)]
    if adding and old is not None and old.array is None and not known(old.value):
        return arrays.unknown(shell, name, right)  # it may be an array of any size
    array = (*before, *items)[: arrays.MAX_ARRAY]
    return replace(new, value=array[0] or () if array else (), array=array)


def _element(shell: Shell, name_node: Any, right: Any, old: Var | None, *, adding: bool) -> None:
    """``NAME[i]=...``: the place known, or nothing."""
    name = shell.source.raw(name_node).partition("[")[0]
    if old is not None and old.keyed:
        return
    subscript = name_node.child_by_field_name("index")
    text = value(shell, subscript, quoted=True) if subscript is not None else ()
    items = list(arrays.items_of(old))
    index = arrays.place("".join(frag.text for frag in text), tuple(items), shell) if known(text) else None
    if index is None or not arrays.countable(old, index):
        shell.assign(name, arrays.unknown(shell, name, name_node))
        return
    items += [None] * (index + 1 - len(items))
    before = (items[index] or ()) if adding else ()
    items[index] = clip((*before, *(value(shell, right) if right is not None else ())))
    shell.assign(name, Var(items[0] or (), tuple(items), old.exported if old else False))
