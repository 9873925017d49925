"""Words: quoting, ``$``-expansions and substitutions, with the bytes each character came from."""

import re
from dataclasses import replace
from typing import Any

from mindspeed_mm_train_profiler.errors import Note
from mindspeed_mm_train_profiler.launch_script import arithmetic
from mindspeed_mm_train_profiler.launch_script.mutation import changed, mutate
from mindspeed_mm_train_profiler.launch_script.siblings import cut_name
from mindspeed_mm_train_profiler.launch_script.state import Shell
from mindspeed_mm_train_profiler.launch_script.syntax import decode
from mindspeed_mm_train_profiler.launch_script.values import (
    BLANKS,
    BREAK,
    NOTHING,
    Frag,
    Value,
    clip,
    expanded,
    known,
    plain,
    text_of,
)

EXPANSIONS = {
    "simple_expansion",
    "expansion",
    "command_substitution",
    "arithmetic_expansion",
    "process_substitution",
}
EMPTY = "``"
"""Two backticks with nothing between them: prints nothing."""
SINGLE = {"raw_string", "ansi_c_string"}
"""Between single quotes a backslash at a line's end is text."""
QUOTES = {"string", "translated_string"} | SINGLE
RUN_TIME = {
    "?", "$", "!", "-", "_", "RANDOM", "SRANDOM", "SECONDS", "EPOCHSECONDS", "EPOCHREALTIME", "PPID", "BASHPID",
    "HOSTNAME", "UID", "EUID", "GROUPS", "OSTYPE", "HOSTTYPE", "MACHTYPE", "BASH", "BASH_VERSION", "BASH_VERSINFO",
    "BASH_REMATCH", "PIPESTATUS", "FUNCNAME", "BASH_LINENO", "DIRSTACK", "OPTIND", "COLUMNS", "LINES", "SHLVL",
    "LINENO",
}  # fmt: skip
"""What bash sets by itself (bash(1), Shell Variables)."""
ANSI = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v"}


def line_of(node: Any) -> int:
    return int(node.start_point[0]) + 1


def literal(shell: Shell, start: int, end: int, line: int, *, quoted: bool) -> Value:
    """Raw text of the script between two bytes, backslashes undone; each run keeps its own position."""
    data = shell.source.text
    if data.find(b"\\", start, end) < 0:  # nearly always
        return (
            (Frag(decode(data[start:end]), shell.source.piece(start, end, line), quoted=quoted),) if end > start else ()
        )
    result: list[Frag] = []
    begin = position = start

    def flush(upto: int) -> None:
        if upto > begin:
            here = line + data.count(b"\n", start, begin)
            result.append(Frag(decode(data[begin:upto]), shell.source.piece(begin, upto, here), quoted=quoted))

    while position < end:
        if data[position] != 0x5C or position + 1 >= end:
            position += 1
            continue
        following = data[position + 1 : position + 2]
        if following == b"\n":  # a continued line vanishes
            flush(position)
            position += 2
            begin = position
        elif quoted and following not in b'$`"\\':
            position += 2
        else:
            flush(position)
            begin = position + 1
            position += 2
    flush(end)
    return tuple(result)


def stretch(shell: Shell, node: Any, start: int, end: int, *, quoted: bool) -> Value:
    """Everything between two bytes of a node: expansions and quotes evaluated, the rest literal."""
    result: list[Frag] = []
    position = start
    for child in node.children:
        if child.start_byte < position or child.end_byte > end or not (inner := _inner(child, quoted)):
            continue
        for part in inner:
            begin = shell.source.begin(part) if part.type in EXPANSIONS else part.start_byte
            if begin > position:
                line = line_of(node) + shell.source.text.count(b"\n", node.start_byte, position)
                result += literal(shell, position, begin, line, quoted=quoted)
            result += value(shell, part, quoted=quoted)
            position = part.end_byte
    if end > position:
        line = line_of(node) + shell.source.text.count(b"\n", node.start_byte, position)
        result += literal(shell, position, end, line, quoted=quoted)
    return clip(tuple(result))


def _inner(child: Any, quoted: bool) -> list[Any]:
    """The nodes below that are not plain text."""
    # "${A:-"x y"}": double quotes nest, single ones inside double ones are text
    if child.type in EXPANSIONS or child.type in {EMPTY, "string", "ERROR"} or (child.type in QUOTES and not quoted):
        return [child]
    if child.type in {
        "concatenation",
        "word",
        "string",
        "subscript",
        "variable_assignment",
        "string_content",
        "command_name",
    }:
        return [part for sub in child.children for part in _inner(sub, quoted)]
    return []


def value(shell: Shell, node: Any, *, quoted: bool = False) -> Value:
    """The value of a word node."""
    shell.record.step()
    kind = node.type
    if kind in {"word", "number"} and not node.child_count:  # most are
        return _tilde(shell, clip(literal(shell, node.start_byte, node.end_byte, line_of(node), quoted=quoted)))
    if kind == "ERROR" or (kind not in SINGLE and cut_name(shell.source.text, node)):
        return shell.record.unknown(shell.source.raw(node), shell.source, node, Note("expansion_not_read", {}))
    if kind == "string":
        inside = stretch(shell, node, node.start_byte + 1, node.end_byte - 1, quoted=True)
        return inside or (Frag("", quoted=True),)
    if kind == EMPTY:
        return ()
    if kind == "raw_string":
        start, end = node.start_byte + 1, node.end_byte - 1
        span = shell.source.piece(start, end, line_of(node))
        return (Frag(decode(shell.source.text[start:end]), span, quoted=True),)
    if kind == "ansi_c_string":
        return _ansi(shell, node)
    if kind == "translated_string":
        return value(shell, node.children[-1], quoted=quoted)
    if kind == "simple_expansion":
        return parameter(shell, node, shell.source.raw(node)[1:], quoted=quoted)
    if kind == "expansion":
        from mindspeed_mm_train_profiler.launch_script.braced import braced

        return braced(shell, node, quoted=quoted)
    if kind == "command_substitution":
        from mindspeed_mm_train_profiler.launch_script.substitution import substitute

        return tuple(replace(f, quoted=quoted, split=not quoted) for f in substitute(shell, node))
    if kind == "arithmetic_expansion":
        return tuple(replace(f, quoted=quoted) for f in _arithmetic(shell, node))
    if kind == "process_substitution":
        return shell.record.unknown(shell.source.raw(node), shell.source, node, Note("runs_a_command", {}))
    return _tilde(shell, stretch(shell, node, node.start_byte, node.end_byte, quoted=quoted))


def _tilde(shell: Shell, found: Value) -> Value:
    if found and found[0].span and not found[0].quoted and found[0].text.startswith("~"):
        home = shell.text("HOME")
        if home and (found[0].text == "~" or found[0].text.startswith("~/")):
            return (Frag(home), found[0].cut(1, len(found[0].text)), *found[1:])
    return found


def _ansi(shell: Shell, node: Any) -> Value:
    raw = shell.source.raw(node)[2:-1]
    if "\\" not in raw:
        return (Frag(raw, shell.source.piece(node.start_byte + 2, node.end_byte - 1, line_of(node)), quoted=True),)
    done = re.sub(
        r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|.)",
        lambda m: (
            chr(int(m[1][1:], 16))
            if m[1][0] in "xuU" and len(m[1]) > 1
            else chr(int(m[1], 8))
            if m[1][0] in "01234567"
            else ANSI.get(m[1], m[1])
        ),
        raw,
        flags=re.S,
    )
    return (Frag(done, quoted=True),)


def parameter(shell: Shell, node: Any, name: str, *, quoted: bool) -> Value:
    """``$name``: variables, positional and special parameters."""
    here = shell.source.span(node)
    if name.isdigit():
        if name == "0":
            return (Frag(shell.zero, quoted=quoted, split=not quoted),)
        number = int(name)
        given = shell.arguments[number - 1] if 0 < number <= len(shell.arguments) else ()
        return expanded(given, None, here, quoted=quoted)
    if name in {"@", "*"}:
        return elements(shell.arguments, node, shell, quoted=quoted, joined=name == "*")
    if name == "#":
        if not all(known(argument) for argument in shell.arguments):  # one of them may have been many, or none
            return shell.record.unknown(shell.source.raw(node), shell.source, node, Note("depends_on_unknown", {}))
        return plain(str(len(shell.arguments)))
    if name in RUN_TIME and (name == "?" or name not in shell.variables):
        return shell.record.unknown(shell.source.raw(node), shell.source, node, Note("known_at_run_time", {}))
    if name == "PWD" and name not in shell.variables:
        return (
            plain(str(shell.cwd))
            if shell.cwd
            else shell.record.unknown("$PWD", shell.source, node, Note("known_at_run_time", {}))
        )
    if name == "BASH_SOURCE":
        return plain(str(shell.source.path))
    var = shell.variables.get(name)
    if var is None and name == "IFS":
        return (Frag(BLANKS, quoted=quoted, split=not quoted),)
    if var is None and shell.record.any_set:
        return shell.record.unknown(f"${{{name}}}", shell.source, node, Note("read_at_run_time", {}))
    if var is None:
        return (Frag("", quoted=True),) if quoted else ()
    shell.record.steps += len(var.value)  # a long value costs as much as many short ones
    result = expanded(var.value, var.binding(name), here, quoted=quoted)
    return result or ((Frag("", quoted=True),) if quoted else ())


def elements(items: tuple[Value, ...], node: Any, shell: Shell, *, quoted: bool, joined: bool = False) -> Value:
    """``$@``, ``${array[@]}``: each element a word of its own; ``joined``: ``"$*"``, one word."""
    if not items:
        return (Frag("", quoted=True) if joined else NOTHING,) if quoted else ()
    result: list[Frag] = []
    here = shell.source.span(node)
    shell.record.steps += len(items)
    between: Value = (Frag(" ", quoted=True),) if quoted and joined else (BREAK,)
    if quoted and joined and "IFS" in shell.variables:
        separators = shell.text("IFS")
        between = plain("" if separators is None else separators[:1], known=separators is not None)
    for index, item in enumerate(items):
        if index:
            result += between
        result += expanded(item, None, here, quoted=quoted) or ((Frag("", quoted=True),) if quoted else ())
    return tuple(result)


def _arithmetic(shell: Shell, node: Any) -> Value:
    raw = shell.source.raw(node)
    head, tail = (3, 2) if raw.startswith("$((") else (2, 1)
    inside = arithmetic_text(shell, node, shell.source.begin(node) + head, node.end_byte - tail)
    if inside is None:
        mutate(shell, raw[head:-tail], node)
        return shell.record.unknown(raw, shell.source, node, Note("depends_on_unknown", {}))
    if changed(inside):
        mutate(shell, inside, node)
        return shell.record.unknown(raw, shell.source, node, Note("arithmetic_not_known", {"expression": inside[:80]}))
    try:
        return plain(str(arithmetic.evaluate(inside, shell.text)))
    except (arithmetic.Unknown, RecursionError):
        return shell.record.unknown(raw, shell.source, node, Note("arithmetic_not_known", {"expression": inside[:80]}))


def arithmetic_text(shell: Shell, node: Any, start: int, end: int) -> str | None:
    """The expression with its ``$`` expansions done; None where one is not known."""
    found: list[Any] = []
    stack = list(reversed(node.children))
    while stack:
        child = stack.pop()
        if child.type in EXPANSIONS:
            found.append(child)
        else:
            stack.extend(reversed(child.children))
    text, position = "", start
    for child in found:
        part = value(shell, child, quoted=True)
        if not known(part):
            return None
        text += decode(shell.source.text[position : shell.source.begin(child)]) + text_of(part)
        position = child.end_byte
    return (text + decode(shell.source.text[position:end])).replace("\\\n", "").replace('"', "")
