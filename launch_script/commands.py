"""Simple commands: builtins, functions, sourced files, wrappers; what they lead to, launchers above all."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.errors import Note
from mindspeed_mm_train_profiler.launch_script import conditions, follow, launcher, world
from mindspeed_mm_train_profiler.launch_script.assignments import assign, from_word
from mindspeed_mm_train_profiler.launch_script.expansion import line_of, value, word_list
from mindspeed_mm_train_profiler.launch_script.plan import Word
from mindspeed_mm_train_profiler.launch_script.siblings import REDIRECTIONS, together
from mindspeed_mm_train_profiler.launch_script.state import MAX_DEPTH, Shell, Var
from mindspeed_mm_train_profiler.launch_script.substitution import echo, opaque, printer, printf, say
from mindspeed_mm_train_profiler.launch_script.values import plain

Status = bool | None


def run_command(shell: Shell, node: Any) -> Status:
    """One simple command, ``export``/``local``/... or ``unset``."""
    if node.type == "declaration_command":
        return _declare(shell, node)
    if node.type == "unset_command":
        for child in node.children[1:]:
            shell.variables.pop(shell.source.raw(child), None)
        return True
    prefix: list[Any] = []
    words: list[Word] = []
    for child in together(node.children):
        if child.type == "variable_assignment" and not words:
            prefix.append(child)
        elif child.type not in REDIRECTIONS:
            words += word_list(shell, child.children[0] if child.type == "command_name" and child.children else child)
    if not words:
        for child in prefix:
            assign(shell, child)
        return True
    if prefix:
        inner = shell.fork()
        for child in prefix:
            assign(inner, child, exported=True)
        return execute(inner, node, words)
    return execute(shell, node, words)


def execute(shell: Shell, node: Any, words: list[Word]) -> Status:
    """Carry out a command whose words are expanded."""
    if not words[0].known:
        opaque(shell)
        return None
    name = words[0].text
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


def _declare(shell: Shell, node: Any) -> Status:
    """``export``, ``declare``, ``local``, ``readonly``, ``typeset``."""
    kind = shell.source.raw(node.children[0])
    options = "".join(shell.source.raw(child) for child in node.children if shell.source.raw(child).startswith("-"))
    exported = kind == "export" or "x" in options
    for child in together(node.children[1:]):
        if child.type == "variable_assignment":
            name = shell.source.raw(child.child_by_field_name("name")).partition("[")[0]
            _remember_local(shell, kind, name)
            assign(shell, child, exported=exported)
        elif child.type == "variable_name":
            name = shell.source.raw(child)
            _remember_local(shell, kind, name)
            if exported and name in shell.variables:
                shell.variables[name] = replace(shell.variables[name], exported=True)
            elif kind == "local":
                shell.variables.pop(name, None)
        elif exported:
            _export_words(shell, child)
    return True


def _export_words(shell: Shell, node: Any) -> None:
    """``export $NAME`` or ``export "A=b"``: names and assignments that an expansion made."""
    for word in word_list(shell, node):
        name, equals, text = word.text.partition("=")
        if word.known and name.isidentifier():
            if equals:
                shell.assign(name, Var(plain(text), exported=True))
            elif name in shell.variables:
                shell.variables[name] = replace(shell.variables[name], exported=True)


def _remember_local(shell: Shell, kind: str, name: str) -> None:
    if kind in {"local", "declare", "typeset"} and shell.locals:
        shell.locals[-1].setdefault(name, shell.variables.get(name))


def _cd(shell: Shell, node: Any, words: list[Word]) -> Status:
    targets = [word for word in words[1:] if word.text not in {"-P", "-L", "--"}]
    if targets and not targets[0].known:
        shell.cwd = None
        return None
    text = targets[0].text if targets else shell.text("HOME") or ""
    if text == "-":
        shell.cwd = Path(shell.text("OLDPWD") or "/") if shell.text("OLDPWD") else None
        return None
    path = Path(text)
    if not path.is_absolute():
        if shell.cwd is None:
            return None
        path = shell.cwd / path
    path = Path(follow.lexical(path))
    if not path.is_dir():
        shell.record.notes.append(Note("cd_fails", {"path": path, "line": line_of(node)}))
        return False
    if shell.cwd is not None:
        shell.assign("OLDPWD", Var(plain(str(shell.cwd))))
    shell.cwd = path
    return True


def _exit(shell: Shell, node: Any, words: list[Word]) -> Status:
    if not shell.record.launched and shell.certain and shell.output is None:
        # The way to the launcher is what was asked for: a guard that ends the script today is told, and read past.
        shell.record.notes.append(Note("exits_before_launch", {"path": shell.source.path, "line": line_of(node)}))
        return None
    shell.exited = True
    return None


def _return(shell: Shell, node: Any, words: list[Word]) -> Status:
    shell.returned = True
    return {"0": True, "1": False}.get(words[1].text) if len(words) > 1 else None


def _echo(shell: Shell, node: Any, words: list[Word]) -> Status:
    say(shell, echo([from_word(word) for word in words[1:]]))
    return True


def _printf(shell: Shell, node: Any, words: list[Word]) -> Status:
    texts = [word.text for word in words[1:]]
    done = printf(texts) if all(word.known for word in words) and texts[:1] != ["-v"] else None
    say(shell, plain("?", known=False) if done is None else plain(done))
    return True


def _set(shell: Shell, node: Any, words: list[Word]) -> Status:
    if len(words) > 1 and words[1].text == "--":
        shell.arguments = tuple(from_word(word) for word in words[2:])
    return True


def _shift(shell: Shell, node: Any, words: list[Word]) -> Status:
    count = int(words[1].text) if len(words) > 1 and words[1].text.isdecimal() else 1
    if count > len(shell.arguments):
        return False
    shell.arguments = shell.arguments[count:]
    return True


def _read(shell: Shell, node: Any, words: list[Word]) -> Status:
    for word in words[1:]:
        if not word.text.startswith("-") and word.text.isidentifier():
            shell.assign(
                word.text,
                Var(shell.record.unknown(f"${{{word.text}}}", shell.source, node, Note("read_at_run_time", {}))),
            )
    return None


def _test(shell: Shell, node: Any, words: list[Word]) -> Status:
    if not all(word.known for word in words):
        return None
    texts = [word.text for word in words[1:]]
    if words[0].text == "[" and texts[-1:] == ["]"]:
        texts.pop()
    return conditions.test_words(shell, texts)


def _true(shell: Shell, node: Any, words: list[Word]) -> Status:
    return words[0].text != "false"


def _nothing(shell: Shell, node: Any, words: list[Word]) -> Status:
    return None


def _arguments_of(node: Any, shell: Shell) -> list[Any]:
    return [child for child in node.children if child.is_named and child.type != "command_name"]


def _eval(shell: Shell, node: Any, words: list[Word]) -> Status:
    parts = [value(shell, child, quoted=True) for child in _arguments_of(node, shell)]
    text = " ".join("".join(frag.text for frag in part) for part in parts)
    return follow.run_text(shell, node, text)


BUILTINS: dict[str, Callable[[Shell, Any, list[Word]], Status]] = {
    "cd": _cd,
    "pushd": _cd,
    "exit": _exit,
    "return": _return,
    "echo": _echo,
    "printf": _printf,
    "set": _set,
    "shift": _shift,
    "read": _read,
    "test": _test,
    "[": _test,
    "true": _true,
    "false": _true,
    ":": _true,
    "eval": _eval,
    "source": follow.source_file,
    ".": follow.source_file,
    "trap": _nothing,
    "shopt": _nothing,
    "ulimit": _nothing,
    "umask": _nothing,
    "wait": _nothing,
    "break": _nothing,
    "continue": _nothing,
    "sleep": _nothing,
    "alias": _nothing,
}
