"""``export``, ``declare``, ``local``, ``readonly``, ``typeset`` and ``unset``."""

from dataclasses import replace
from typing import Any

from mindspeed_mm_train_profiler.launch_script import arithmetic, arrays
from mindspeed_mm_train_profiler.launch_script.assignments import assign
from mindspeed_mm_train_profiler.launch_script.siblings import together
from mindspeed_mm_train_profiler.launch_script.state import Shell, Var
from mindspeed_mm_train_profiler.launch_script.values import plain
from mindspeed_mm_train_profiler.launch_script.words import word_list

Status = bool | None

UNFOLLOWED = set("Ain")
"""Attributes of ``declare`` whose meaning is not followed: keys, integers, references."""


def declare(shell: Shell, node: Any) -> Status:
    """``export``, ``declare``, ``local``, ``readonly``, ``typeset``."""
    kind = shell.source.raw(node.children[0])
    options = "".join(shell.source.raw(child) for child in node.children if shell.source.raw(child).startswith("-"))
    exported = kind == "export" or "x" in options
    children = together(node.children[1:], shell.source.text)
    # all words are expanded before the first of them is assigned
    as_before = shell.fork() if sum(child.type == "variable_assignment" for child in children) > 1 else shell
    for child in children:
        if child.type == "variable_assignment":
            name = shell.source.raw(child.child_by_field_name("name")).partition("[")[0]
            fresh = "g" not in options and _remember_local(shell, kind, name)
            if set(options) & UNFOLLOWED:
                shell.assign(name, arrays.unknown(shell, name, child, keyed=True))
            else:
                expanding = as_before.fork() if as_before is not shell else shell
                assign(expanding, child, exported=exported, fresh=fresh)
                shell.assign(name, expanding.variables[name])
        elif child.type == "variable_name":
            name = shell.source.raw(child)
            fresh = "g" not in options and _remember_local(shell, kind, name)
            if exported and name in shell.variables:
                shell.variables[name] = replace(shell.variables[name], exported=True)
            elif set(options) & UNFOLLOWED:
                shell.assign(name, arrays.unknown(shell, name, child, keyed=True))
            elif fresh:
                shell.variables.pop(name, None)
        elif not shell.source.raw(child).startswith("-"):
            _export_words(shell, child, exported=exported)
    return True


def _export_words(shell: Shell, node: Any, *, exported: bool) -> None:
    """``export $NAME`` or ``export "A=b"``: names and assignments that an expansion made."""
    for word in word_list(shell, node):
        name, equals, text = word.text.partition("=")
        if not word.known and not word.text.partition("=")[0].isidentifier():
            shell.record.any_set = True
        elif word.known and name.isidentifier():
            if equals:
                shell.assign(name, Var(plain(text), exported=exported))
            elif name in shell.variables and exported:
                shell.variables[name] = replace(shell.variables[name], exported=True)


def _remember_local(shell: Shell, kind: str, name: str) -> bool:
    """Whether the variable is a new one, of the function that runs."""
    if kind not in {"local", "declare", "typeset"} or not shell.locals or name in shell.locals[-1]:
        return False
    shell.locals[-1][name] = shell.variables.get(name)
    return True


def unset(shell: Shell, node: Any) -> Status:
    for word in [word for child in together(node.children[1:], shell.source.text) for word in word_list(shell, child)]:
        if word.known and word.text != "-v":
            try:
                arrays.remove(shell, word.text)
            except arithmetic.Unknown:
                name = word.text.partition("[")[0]
                shell.assign(name, arrays.unknown(shell, name, node))
    return True
