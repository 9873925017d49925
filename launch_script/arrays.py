"""Arrays: elements and holes, what a subscript names, and where reading must say that it does not know.

An element that is not known may, unquoted, have been many: from there on neither number nor place of the others is
known.
"""

import re
from typing import Any

from mindspeed_mm_train_profiler.errors import Note
from mindspeed_mm_train_profiler.launch_script import arithmetic
from mindspeed_mm_train_profiler.launch_script.state import Items, Shell, Var
from mindspeed_mm_train_profiler.launch_script.values import Value, known

MAX_ARRAY = 1024
ALL = {"@", "*"}


def items_of(var: Var | None) -> Items:
    """A plain variable is an array of one; None marks a hole."""
    if var is None:
        return ()
    return var.array if var.array is not None else (var.value,)


def present(items: Items) -> tuple[Value, ...]:
    return tuple(item for item in items if item is not None)


def countable(var: Var | None, upto: int | None = None) -> bool:
    """Whether place and number of the elements are known (of those before ``upto``)."""
    if var is None:
        return True
    if var.array is None or var.keyed:
        return known(var.value) and not var.keyed
    return all(known(item) for item in present(var.array[:upto]))


def unknown(shell: Shell, name: str, node: Any, why: str = "expansion_not_read", *, keyed: bool = False) -> Var:
    """A variable of which nothing is known any more."""
    value = shell.record.unknown(f"${{{name}}}", shell.source, node, Note(why, {}))
    old = shell.variables.get(name)
    return Var(value, (value,), exported=old.exported if old else False, keyed=keyed)


def place(text: str, items: Items, shell: Shell) -> int | None:
    """The index that a subscript's text means; None where it is not known. Negative ones count from the end."""
    try:
        index = arithmetic.evaluate(text, shell.text)
    except (arithmetic.Unknown, RecursionError):
        return None
    if index < 0:
        if not all(known(item) for item in present(items)):
            return None
        index += len(items)
    return index if 0 <= index < MAX_ARRAY else None


def part(items: tuple[Value, ...], text: str, shell: Shell, first: int = 0) -> tuple[Value, ...] | None:
    """``${name[@]:offset:length}`` of known elements, the first of which has the number ``first``."""
    words = text.split(":")
    if len(words) > 2 or not all(known(item) for item in items):
        return None
    try:
        offset, *length = (arithmetic.evaluate(word, shell.text) for word in words)
    except (arithmetic.Unknown, RecursionError):
        return None
    begin = offset - first if offset >= 0 else len(items) + offset
    if length and length[0] < 0:
        return None  # bash calls it an error
    if begin < 0:
        return () if offset < 0 else None  # ${@:0} begins with the script's own name
    return items[begin : begin + length[0]] if length else items[begin:]


def remove(shell: Shell, word: str) -> None:
    """``unset NAME`` and ``unset NAME[i]``."""
    found = re.fullmatch(r"(\w+)\[(.*)\]", word, re.S)
    if found is None or found[2] in ALL:
        shell.variables.pop(found[1] if found else word, None)
        return
    var = shell.variables.get(found[1])
    if var is None or var.keyed or (var.array is None and not known(var.value)):
        return
    items = list(items_of(var))
    index = place(found[2], tuple(items), shell)
    if index is None:
        raise arithmetic.Unknown(found[2])
    if var.array is None:  # bash unsets its only element, and calls any other an error
        if index == 0:
            shell.variables.pop(found[1])
        return
    if not countable(var, index + 1):
        return  # the element is one of those that are not known
    if index < len(items):
        items[index] = None
    while items and items[-1] is None:
        items.pop()
    shell.assign(found[1], Var(items[0] or () if items else (), tuple(items), var.exported))
