"""``$(...)`` and backticks: a small set of commands whose output depends on nothing but names and readable files."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.errors import Note
from mindspeed_mm_train_profiler.launch_script.state import MAX_DEPTH, Shell
from mindspeed_mm_train_profiler.launch_script.values import Frag, Value, known, plain, text_of

MAX_FILE = 256 * 1024
MAX_NUMBERS = 10_000
UNESCAPED_BACKTICK = re.compile(r"(?<!\\)(?:\\\\)*`")


def substitute(shell: Shell, node: Any) -> Value:
    """What the substitution prints, trailing newlines cut; unknown where a command in it is not a pure one."""
    from mindspeed_mm_train_profiler.launch_script.statements import run

    raw = shell.source.raw(node)
    if shell.depth >= MAX_DEPTH:
        return shell.record.unknown(raw, shell.source, node, Note("nested_too_deeply", {}))
    if raw.startswith("`") and UNESCAPED_BACKTICK.search(raw, 1, len(raw) - 1):
        # the grammar takes two substitutions side by side for one
        return shell.record.unknown(raw, shell.source, node, Note("runs_a_command", {}))
    inner = shell.fork(output=[], depth=shell.depth + 1, exited=False)
    for child in node.children:
        if child.is_named and not inner.exited:
            run(inner, child)
    assert inner.output is not None
    printed = [frag for part in inner.output for frag in part]
    if not known(printed):
        return shell.record.unknown(raw, shell.source, node, Note("runs_a_command", {}))
    text = text_of(printed).rstrip("\n")
    single = [frag for frag in printed if frag.text]
    if len(single) == 1 and single[0].span and single[0].text == text:
        return (single[0],)
    return plain(text)


def say(shell: Shell, value: Value) -> None:
    """Print into the substitution that listens, if one does."""
    if shell.output is not None:
        shell.output.append(value)


def opaque(shell: Shell) -> None:
    """A command whose output is not known ran while somebody listened."""
    say(shell, plain("?", known=False))


def _path(shell: Shell, text: str) -> Path | None:
    path = Path(text)
    if path.is_absolute():
        return path
    return shell.cwd / path if shell.cwd else None


def _dirname(text: str) -> str:
    stripped = text.rstrip("/")
    if not stripped:
        return "/" if text else "."
    head = stripped.rpartition("/")[0]
    if "/" not in stripped:
        return "."
    return head.rstrip("/") or "/"


def _basename(text: str, suffix: str = "") -> str:
    name = text.rstrip("/").rpartition("/")[2] or ("/" if text else "")
    return name[: -len(suffix)] if suffix and name.endswith(suffix) and name != suffix else name


def printer(name: str, words: list[str], shell: Shell) -> str | None:
    """The output of one pure command; None where it is not one, or cannot be known."""
    options = [word for word in words if word.startswith("-") and len(word) > 1]
    plain_words = [word for word in words if word not in options]
    if name == "pwd":
        if shell.cwd is None:
            return None
        return str(shell.cwd.resolve() if "-P" in options else shell.cwd) + "\n"
    if name == "dirname" and plain_words:
        return "".join(_dirname(word) + "\n" for word in plain_words)
    if name == "basename" and plain_words:
        return _basename(*plain_words[:2]) + "\n"
    if name in {"realpath", "readlink"} and len(plain_words) == 1:
        path = _path(shell, plain_words[0])
        if (
            path is None
            or (name == "readlink" and not {"-f", "-e", "-m"} & set(options))
            or "--relative-to" in str(options)
        ):
            return None
        return os.path.realpath(path) + "\n"
    if name == "cat" and plain_words and not options:
        return _cat(shell, plain_words)
    if name == "seq":
        return _seq(words)
    return None


def _seq(words: list[str]) -> str | None:
    """``seq [-s SEPARATOR] [FIRST [STEP]] LAST`` of whole numbers."""
    between = "\n"
    while words and words[0].startswith("-s"):
        between, words = (words[0][2:], words[1:]) if len(words[0]) > 2 else ("".join(words[1:2]), words[2:])
    if not 1 <= len(words) <= 3 or not all(re.fullmatch(r"-?\d{1,9}", word) for word in words):
        return None
    first, step = int(words[0]) if len(words) > 1 else 1, int(words[1]) if len(words) == 3 else 1
    last = int(words[-1])
    if step == 0 or abs(last - first) // abs(step) > MAX_NUMBERS:
        return None
    numbers = range(first, last + (1 if step > 0 else -1), step)
    return between.join(map(str, numbers)) + "\n" if numbers else ""


def _cat(shell: Shell, names: list[str]) -> str | None:
    text = ""
    for name in names:
        path = _path(shell, name)
        if path is None or path in shell.record.generated:
            return None
        try:
            if not path.is_file() or path.stat().st_size > MAX_FILE:
                return None
            text += path.read_text(encoding="utf-8", errors="surrogateescape")
        except OSError:
            return None
    return text


def echo(values: list[Value]) -> Value:
    """``echo``: its words with blanks between, a newline unless ``-n``; positions survive where one word is printed."""
    newline = True
    while values and text_of(values[0]) in {"-n", "-e", "-E", "-ne", "-en"}:
        newline = newline and "n" not in text_of(values[0])
        values = values[1:]
    result: list[Frag] = []
    for index, item in enumerate(values):
        if index:
            result.append(Frag(" "))
        result += item
    if newline:
        result.append(Frag("\n"))
    return tuple(result)


def printf(texts: list[str]) -> str | None:
    """``printf`` with ``%s``, ``%d`` and ``\\n``."""
    if not texts:
        return ""
    form, rest = texts[0].replace("\\n", "\n").replace("\\t", "\t"), list(texts[1:])
    if form.replace("%s", "").replace("%d", "").replace("%%", "").count("%"):
        return None
    holes = form.count("%s") + form.count("%d")
    if len(rest) > holes:
        return None
    for _ in range(holes):
        at = min(i for i in (form.find("%s"), form.find("%d")) if i >= 0)
        form = form[:at] + (rest.pop(0) if rest else "") + form[at + 2 :]
    return form.replace("%%", "%")


FILTERS: dict[str, Callable[[str, list[str]], str | None]] = {
    "wc": lambda text, words: f"{text.count(chr(10))}\n" if words == ["-l"] else None,
    "head": lambda text, words: (text.partition("\n")[0] + "\n") if words in (["-n1"], ["-n", "1"], ["-1"]) else None,
    "tr": lambda text, words: (
        text.replace(words[1], "") if words[:1] == ["-d"] and len(words) == 2 and len(words[1]) == 1 else None
    ),
    "cut": lambda text, words: _cut(text, words),
    "cat": lambda text, words: text if not words else None,
    "xargs": lambda text, words: (" ".join(text.split()) + "\n") if not words else None,
}


def _cut(text: str, words: list[str]) -> str | None:
    """``cut -d X -f N``."""
    joined = " ".join(words).replace("-d ", "-d").replace("-f ", "-f").split(" ")
    delimiter = next((word[2:] for word in joined if word.startswith("-d")), None)
    number = next((word[2:] for word in joined if word.startswith("-f")), None)
    if delimiter is None or len(delimiter) != 1 or number is None or not number.isdigit() or len(joined) != 2:
        return None
    lines = text.splitlines()
    return "".join(
        (p[int(number) - 1] if len(p := line.split(delimiter)) >= int(number) else "" if delimiter in line else line)
        + "\n"
        for line in lines
    )
