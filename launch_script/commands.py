"""Simple commands: builtins, functions, sourced files, wrappers; what they lead to, launchers above all."""

import re
from typing import Any

from mindspeed_mm_train_profiler.errors import Note
from mindspeed_mm_train_profiler.launch_script import declarations, follow, launcher, world
from mindspeed_mm_train_profiler.launch_script.assignments import assign, from_word
from mindspeed_mm_train_profiler.launch_script.builtins import BUILTINS
from mindspeed_mm_train_profiler.launch_script.expansion import line_of
from mindspeed_mm_train_profiler.launch_script.plan import Word
from mindspeed_mm_train_profiler.launch_script.siblings import REDIRECTIONS, together
from mindspeed_mm_train_profiler.launch_script.state import MAX_DEPTH, Shell, Var
from mindspeed_mm_train_profiler.launch_script.substitution import opaque, printer, say
from mindspeed_mm_train_profiler.launch_script.values import plain
from mindspeed_mm_train_profiler.launch_script.words import word_list

Status = bool | None
OPTION = re.compile(r"--?[A-Za-z]")
"""As a command: the line before did not go on (no backslash, a blank or comment behind it), or a variable is empty."""


def run_command(shell: Shell, node: Any) -> Status:
    """One simple command, ``export``/``local``/... or ``unset``."""
    if node.type == "declaration_command":
        return declarations.declare(shell, node)
    if node.type == "unset_command":
        return declarations.unset(shell, node)
    prefix: list[Any] = []
    words: list[Word] = []
    for child in together(node.children, shell.source.text):
        if child.type == "variable_assignment" and not words:
            prefix.append(child)
        elif child.type not in REDIRECTIONS:
            words += word_list(shell, child.children[0] if child.type == "command_name" and child.children else child)
    if shell.source.tree.root_node.has_error and (behind := _unread(node)) is not None:
        words += word_list(shell, behind)
    if not words:
        for child in prefix:
            assign(shell, child)
        return True
    if prefix:
        return _with_prefix(shell, node, words, prefix)
    return execute(shell, node, words)


def _unread(node: Any) -> Any:
    """What the grammar could not read right behind a command, on its line: more of its words."""
    behind = node.next_sibling
    return behind if behind and behind.type == "ERROR" and behind.start_point[0] == node.end_point[0] else None


def _with_prefix(shell: Shell, node: Any, words: list[Word], prefix: list[Any]) -> Status:
    """``A=1 command``: for that command alone; what a builtin or a function assigns stays (``IFS=, read -a X``)."""
    names = {shell.source.raw(child.child_by_field_name("name")).partition("[")[0] for child in prefix}
    before = {name: shell.variables.get(name) for name in names}
    for child in prefix:
        assign(shell, child, exported=True)
    given = {name: shell.variables.get(name) for name in names}
    status = execute(shell, node, words)
    for name, var in before.items():
        if shell.variables.get(name) is not given[name]:
            continue  # the command's own assignment
        if var is None:
            shell.variables.pop(name, None)
        else:
            shell.variables[name] = var
    return status


def execute(shell: Shell, node: Any, words: list[Word]) -> Status:
    """Carry out a command whose words are expanded."""
    if not words[0].known:
        opaque(shell)
        return None
    name = words[0].text
    if OPTION.match(name):
        where = {"path": shell.source.path, "line": line_of(node), "text": name[:80]}
        shell.record.notes.append(Note("option_as_command", where))
    if len(shell.record.commands) < 400:
        shell.record.commands.append(tuple(word.text for word in words[:6]))
    if name in shell.functions:
        return _call_function(shell, node, name, words[1:])
    builtin = BUILTINS.get(name)
    if builtin is not None:
        return builtin(shell, node, words)
    texts = [word.text for word in words[1:]]
    if all(word.known for word in words[1:]):
        printed = printer(name, texts, shell)
        if printed is not None:
            say(shell, plain(printed))
            return True
    opaque(shell)
    stripped = launcher.strip_wrappers(words)
    if stripped.words:
        for assigned, text in stripped.env:
            shell = shell.fork()
            shell.assign(assigned, Var(plain(text), exported=True))
        return _started(shell, node, stripped)
    world.note_change(shell, node, words)
    return None


def _started(shell: Shell, node: Any, stripped: launcher.Stripped) -> Status:
    """A program, its wrappers taken off."""
    words = stripped.words
    if stripped.container:
        shell = shell.fork(certain=False)
        shell.record.notes.append(Note("runs_in_container", {"line": line_of(node)}))
    if stripped.wrappers and words[0].text in shell.functions:
        return _call_function(shell, node, words[0].text, words[1:])
    if follow.is_shell(words):
        return follow.run_shell(shell, node, words, stripped.wrappers)
    call = launcher.read_call(shell, words, stripped.wrappers)
    if call is not None:
        shell.record.calls.append(call)
        shell.record.launched = True
        if "exec" in stripped.wrappers and shell.certain:
            shell.exited = True
        return None
    if follow.is_script(shell, words):
        return follow.run_script(shell, node, words, stripped.wrappers)
    world.note_change(shell, node, words)
    return None


def _call_function(shell: Shell, node: Any, name: str, arguments: list[Word]) -> Status:
    from mindspeed_mm_train_profiler.launch_script.statements import run

    if shell.depth >= MAX_DEPTH:
        shell.record.notes.append(Note("nested_too_deeply", {"line": line_of(node)}))
        return None
    source, body = shell.functions[name]
    saved = shell.source, shell.arguments, shell.depth
    shell.source, shell.depth = source, shell.depth + 1
    shell.arguments = tuple(from_word(word) for word in arguments)
    shell.locals.append({})
    status = run(shell, body)
    for local, before in shell.locals.pop().items():
        if before is None:
            shell.variables.pop(local, None)
        else:
            shell.variables[local] = before
    shell.source, shell.arguments, shell.depth = saved
    shell.returned = False
    return status
