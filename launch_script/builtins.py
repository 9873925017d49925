"""Commands that the shell itself carries out, as far as reading follows them."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.errors import Note
from mindspeed_mm_train_profiler.launch_script import arrays, conditions, follow
from mindspeed_mm_train_profiler.launch_script.assignments import from_word
from mindspeed_mm_train_profiler.launch_script.expansion import line_of, value
from mindspeed_mm_train_profiler.launch_script.mutation import mutate
from mindspeed_mm_train_profiler.launch_script.plan import Word
from mindspeed_mm_train_profiler.launch_script.state import Shell, Var
from mindspeed_mm_train_profiler.launch_script.substitution import echo, printf, say
from mindspeed_mm_train_profiler.launch_script.values import known, plain

Status = bool | None


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
    if texts[:1] == ["-v"]:
        done = printf(texts[2:]) if all(word.known for word in words) and "".join(texts[1:2]).isidentifier() else None
        if done is None:
            return _read(shell, node, words[:3])
        shell.assign(texts[1], Var(plain(done)))
        return True
    done = printf(texts) if all(word.known for word in words) else None
    say(shell, plain("?", known=False) if done is None else plain(done))
    return True


def _set(shell: Shell, node: Any, words: list[Word]) -> Status:
    """Options, and after them the positional parameters; ``set -e`` leaves those alone."""
    texts = [word.text for word in words]
    begin = texts.index("--") + 1 if "--" in texts else 1
    if len(words) > 1 and (begin > 1 or texts[1][:1] not in {"-", "+"}):
        shell.arguments = tuple(from_word(word) for word in words[begin:])
    return True


def _shift(shell: Shell, node: Any, words: list[Word]) -> Status:
    count = int(words[1].text) if len(words) > 1 and words[1].text.isdecimal() else 1
    if count > len(shell.arguments):
        return False
    shell.arguments = shell.arguments[count:]
    return True


def _read(shell: Shell, node: Any, words: list[Word]) -> Status:
    """``read``, ``readarray``, ``getopts``, ``printf -v``: what they name is known at run time only."""
    names = [word.text for word in words[1:] if not word.text.startswith("-") and word.text.isidentifier()]
    if not names and any(not word.known for word in words[1:]):
        shell.record.any_set = True
    for name in names or ["MAPFILE" if words[0].text in {"mapfile", "readarray"} else "REPLY"]:
        shell.assign(name, arrays.unknown(shell, name, node, "read_at_run_time"))
    return None


def _let(shell: Shell, node: Any, words: list[Word]) -> Status:
    for word in words[1:]:
        mutate(shell, word.text, node)
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


def _leave(shell: Shell, node: Any, words: list[Word]) -> Status:
    """``break``, ``continue``; behind a condition that is not known, what the loop changes is not known either."""
    loop = shell.loop
    if loop is None:
        return None
    if len(words) > 1 or shell.choices > loop.choices:
        while loop is not None:
            loop.left_perhaps, loop = True, (loop.outer if len(words) > 1 else None)
        return None
    shell.leaving = words[0].text
    return True


def _nothing(shell: Shell, node: Any, words: list[Word]) -> Status:
    return None


def _arguments_of(node: Any, shell: Shell) -> list[Any]:
    return [child for child in node.children if child.is_named and child.type != "command_name"]


ENVIRONMENTS = re.compile(r"\b(?:conda|mamba|micromamba|ssh-agent|direnv|modulecmd|brew)\b")
"""Programs whose output, evaluated, sets the user's machine up and nothing of the launch."""


def _eval(shell: Shell, node: Any, words: list[Word]) -> Status:
    parts = [value(shell, child, quoted=True) for child in _arguments_of(node, shell)]
    text = " ".join("".join(frag.text for frag in part) for part in parts)
    if not all(known(part) for part in parts) and not ENVIRONMENTS.search(text):
        shell.record.any_set = True
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
    "readarray": _read,
    "mapfile": _read,
    "getopts": _read,
    "let": _let,
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
    "break": _leave,
    "continue": _leave,
    "sleep": _nothing,
    "alias": _nothing,
}
