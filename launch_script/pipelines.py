"""Pipelines and redirections: where output goes, what filters make of it, which files a script writes itself."""

from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.launch_script.expansion import line_of
from mindspeed_mm_train_profiler.launch_script.plan import Word
from mindspeed_mm_train_profiler.launch_script.siblings import together
from mindspeed_mm_train_profiler.launch_script.state import Shell, Status
from mindspeed_mm_train_profiler.launch_script.substitution import FILTERS, opaque, say
from mindspeed_mm_train_profiler.launch_script.values import known, plain, text_of
from mindspeed_mm_train_profiler.launch_script.words import word_list


def pipeline(shell: Shell, node: Any) -> Status:
    """``a | b``: each part apart; ``tee`` tells where the log goes."""
    from mindspeed_mm_train_profiler.launch_script.statements import run

    parts = [child for child in node.children if child.is_named]
    log = _tee(shell, parts[1:])
    if shell.output is not None and len(parts) > 1:
        _filtered(shell, parts)
        return None
    status: Status = None
    for part in parts:
        status = run(shell.fork(in_pipe=len(parts) > 1, log=log or shell.log), part)
    return status


def _tee(shell: Shell, parts: list[Any]) -> Word | None:
    for part in parts:
        command = part.children[0] if part.type == "redirected_statement" and part.children else part
        if command.type == "command" and command.children and shell.source.raw(command.children[0]) == "tee":
            arguments = [
                word for child in together(command.children[1:], shell.source.text) for word in word_list(shell, child)
            ]
            return next((word for word in arguments if not word.text.startswith("-")), None)
    return None


def _filtered(shell: Shell, parts: list[Any]) -> None:
    """A pipeline inside ``$(...)``: what the first prints, through filters whose effect is known."""
    from mindspeed_mm_train_profiler.launch_script.statements import run

    inner = shell.fork(output=[])
    run(inner, parts[0])
    assert inner.output is not None
    frags = [frag for part in inner.output for frag in part]
    if not known(frags):
        opaque(shell)
        return
    text = text_of(frags)
    for part in parts[1:]:
        words = (
            [word for child in together(part.children, shell.source.text) for word in word_list(shell, child)]
            if part.type == "command"
            else []
        )
        name = words[0].text if words else ""
        done = (
            FILTERS[name](text, [word.text for word in words[1:]])
            if name in FILTERS and all(w.known for w in words)
            else None
        )
        if done is None:
            opaque(shell)
            return
        text = done
    say(shell, plain(text))


def redirected(shell: Shell, node: Any) -> Status:
    """A statement with redirections: where its output goes, and files that it makes."""
    from mindspeed_mm_train_profiler.launch_script.statements import run

    body = node.child_by_field_name("body")
    target: Word | None = None
    heredoc = False
    for child in node.children:
        if child.type == "file_redirect":
            operator = next((shell.source.raw(c) for c in child.children if not c.is_named), "")
            destination = child.child_by_field_name("destination")
            if operator in {">", ">>", "&>", "&>>", ">|"} and destination is not None:
                target = next(iter(word_list(shell, destination)), None)
        elif child.type in {"heredoc_redirect", "herestring_redirect"}:
            heredoc = True
    if target is not None and target.known and body is not None and body.type == "command":
        first = shell.source.raw(body.children[0]) if body.children else ""
        if first in {"cat", "echo", "printf", "tee"} or heredoc:
            _wrote(shell, target, line_of(node))
    if body is None:
        return None
    if heredoc and shell.output is not None and target is None:
        opaque(shell)
        return None
    if target is not None:
        inner_log, inner_output = shell.log, shell.output
        shell.log, shell.output = target, None if shell.output is None else []
        status = run(shell, body)
        shell.log, shell.output = inner_log, inner_output
        return status
    return run(shell, body)


def _wrote(shell: Shell, target: Word, line: int) -> None:
    path = Path(target.text)
    if not path.is_absolute():
        if shell.cwd is None:
            return
        path = shell.cwd / path
    if str(path) != "/dev/null":
        shell.record.generated.setdefault(path, line)
