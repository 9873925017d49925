"""Assignments: a variable's value, and the bytes of its right side."""

from dataclasses import replace
from typing import Any

from mindspeed_mm_train_profiler.launch_script import arithmetic
from mindspeed_mm_train_profiler.launch_script.expansion import value, word_list
from mindspeed_mm_train_profiler.launch_script.plan import Span, Word
from mindspeed_mm_train_profiler.launch_script.siblings import together
from mindspeed_mm_train_profiler.launch_script.state import Shell, Var
from mindspeed_mm_train_profiler.launch_script.values import Frag, Value, clip

MAX_ARRAY = 1024


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


def assign(shell: Shell, node: Any, *, exported: bool = False) -> None:
    """Carry out one ``variable_assignment`` node."""
    name_node, right = node.child_by_field_name("name"), node.child_by_field_name("value")
    if name_node is None:
        return
    adding = any(child.type == "+=" for child in node.children)
    name = shell.source.raw(name_node)
    old = shell.variables.get(name.partition("[")[0])
    exported = exported or (old.exported if old else False)
    here = shell.source.span(node)
    right_side: Span | None = Span(here.path, here.end, here.end, here.line)
    if shell.source.quoted:  # no bytes of a file spell it
        right_side = None
    elif right is not None:
        right_side = shell.source.span(right)
    if name_node.type == "subscript":
        _element(shell, name_node, right, old, exported)
        return
    if right is not None and right.type == "array":
        items = [from_word(word) for child in together(right.children) for word in word_list(shell, child)]
        before = (old.array or (old.value,)) if adding and old else ()
        array = (*before, *items)[:MAX_ARRAY]
        shell.assign(name, Var(array[0] if array else (), array, exported, here, right_side))
        return
    text = value(shell, right) if right is not None else ()
    if adding and old is not None:
        # the joined value is spelled by no single right side
        shell.assign(name, replace(old, value=clip((*old.value, *text)), exported=exported, right_side=None))
        return
    shell.assign(name, Var(text, None, exported, here, right_side))


def _element(shell: Shell, name_node: Any, right: Any, old: Var | None, exported: bool) -> None:
    name, _, rest = shell.source.raw(name_node).partition("[")
    try:
        index = arithmetic.evaluate(rest.rstrip("]"), shell.text)
    except arithmetic.Unknown:
        return
    if not 0 <= index < MAX_ARRAY:
        return
    items = list(old.array or (old.value,) if old else ())
    items += [()] * (index + 1 - len(items))
    items[index] = value(shell, right) if right is not None else ()
    shell.assign(name, Var(items[0], tuple(items), exported))
