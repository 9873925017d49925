"""``${...}``: defaults, lengths, elements, and the operators that change a text."""

import re
from dataclasses import replace
from typing import Any

from mindspeed_mm_train_profiler.errors import Note
from mindspeed_mm_train_profiler.launch_script import arithmetic, arrays, patterns
from mindspeed_mm_train_profiler.launch_script.expansion import RUN_TIME, elements, parameter, stretch
from mindspeed_mm_train_profiler.launch_script.state import Shell, Var
from mindspeed_mm_train_profiler.launch_script.syntax import decode
from mindspeed_mm_train_profiler.launch_script.values import (
    BREAK,
    NOTHING,
    Frag,
    Value,
    expanded,
    known,
    plain,
    text_of,
)

PARAMETER = re.compile(r"^\$\{([#!]?)([A-Za-z_]\w*|[0-9]+|[@*#?$!-])(\[[^\]]*\])?(.*)\}$", re.S)
OPERATOR = re.compile(r"^(:-|:=|:\+|:\?|-|=|\+|\?|##|#|%%|%|//|/#|/%|/|:|\^\^|\^|,,|,|@)")


def braced(shell: Shell, node: Any, *, quoted: bool) -> Value:
    """The value of a ``${...}`` node."""
    raw = shell.source.raw(node)
    found = PARAMETER.match(raw)
    if not found:
        return shell.record.unknown(raw, shell.source, node, Note("expansion_not_read", {}))
    prefix, name, index, rest = found.groups()
    if prefix == "!":
        target = shell.text(name)
        if rest or index or not target:
            return shell.record.unknown(raw, shell.source, node, Note("expansion_not_read", {}))
        return parameter(shell, node, target, quoted=quoted)
    if index is not None:
        return _of_array(shell, node, name, index[1:-1], prefix, rest, quoted=quoted)
    if prefix == "#":
        current = parameter(shell, node, name, quoted=True)
        if not known(current):
            return shell.record.unknown(raw, shell.source, node, Note("depends_on_unknown", {}))
        return plain(str(len(shell.arguments) if name in arrays.ALL else len(text_of(current))))
    if name in arrays.ALL and rest[:1] == ":" and rest[1:2] not in {"-", "+", "=", "?"}:
        return _part(shell, node, shell.arguments, rest, 1, quoted=quoted, joined=name == "*")
    current = parameter(shell, node, name, quoted=quoted)
    if not rest:
        return current
    if name in arrays.ALL:
        is_set = bool(shell.arguments)
    elif name.isdigit():
        is_set = name == "0" or int(name) <= len(shell.arguments)
    else:
        is_set = name in "#?$!-" or (name in shell.variables and _first_is_set(shell.variables[name]))
    return _operate(shell, node, name, current, rest, is_set, quoted=quoted, many=name in arrays.ALL)


def _first_is_set(var: Var) -> bool:
    return var.array is None or bool(var.array and var.array[0] is not None)


def _of_array(shell: Shell, node: Any, name: str, index: str, prefix: str, rest: str, *, quoted: bool) -> Value:
    """``${name[index]...}``."""
    raw, var = shell.source.raw(node), shell.variables.get(name)
    unread = shell.record.unknown
    if name == "BASH_SOURCE" and index in {"0", *arrays.ALL}:
        var = Var(plain(str(shell.source.path)), (plain(str(shell.source.path)),))
    elif var is None and (shell.record.any_set or name in RUN_TIME | {"BASH_SOURCE"}):
        return unread(raw, shell.source, node, Note("known_at_run_time", {}))
    items = arrays.items_of(var)
    if index in arrays.ALL:
        found, joined = arrays.present(items), index == "*"
        if prefix == "#":
            if not arrays.countable(var):
                return unread(raw, shell.source, node, Note("depends_on_unknown", {}))
            return plain(str(len(found)))
        if rest[:1] == ":" and rest[1:2] not in {"-", "+", "=", "?"}:
            if not arrays.countable(var) or len(found) != len(items) or (var is not None and var.array is None):
                return unread(raw, shell.source, node, Note("depends_on_unknown", {}))
            return _part(shell, node, found, rest, 0, quoted=quoted, joined=joined)
        current = elements(found, node, shell, quoted=quoted, joined=joined)
        return (
            _operate(shell, node, name, current, rest, bool(found), quoted=quoted, many=True, array=True)
            if rest
            else current
        )
    place = None if var is not None and var.keyed else arrays.place(index.lstrip("$"), items, shell)
    if var is not None and var.array is None and index.lstrip()[:1] == "-":
        place = None  # bash calls it an error
    if place is None or not arrays.countable(var, place + 1 if prefix or rest else place):
        return unread(raw, shell.source, node, Note("expansion_not_read", {}))
    chosen = items[place] if place < len(items) else None
    if prefix == "#":
        return plain(str(len(text_of(chosen or ()))))
    current = expanded(chosen or (), None, shell.source.span(node), quoted=quoted) or (
        (Frag("", quoted=True),) if quoted else ()
    )
    if not rest:
        return current
    return _operate(shell, node, name, current, rest, chosen is not None, quoted=quoted, array=True)


def _as_written(word: Value, *, quoted: bool) -> Value:
    """The word behind an operator: unquoted, its blanks divide words."""
    return tuple(f if f in (BREAK, NOTHING) else replace(f, split=not quoted and not f.quoted) for f in word) or (
        (Frag("", quoted=True),) if quoted else ()
    )


def _part(
    shell: Shell, node: Any, items: tuple[Value, ...], rest: str, first: int, *, quoted: bool, joined: bool
) -> Value:
    """``${@:2}``, ``${name[@]:1:2}``."""
    start = node.end_byte - 1 - len(rest[1:].encode("utf-8", "surrogateescape"))
    operand = stretch(shell, node, start, node.end_byte - 1, quoted=False)
    chosen = arrays.part(items, text_of(operand), shell, first) if known(operand) else None
    if chosen is None:
        return shell.record.unknown(shell.source.raw(node), shell.source, node, Note("expansion_not_read", {}))
    return elements(chosen, node, shell, quoted=quoted, joined=joined)


def _operate(
    shell: Shell,
    node: Any,
    name: str,
    current: Value,
    rest: str,
    is_set: bool,
    *,
    quoted: bool,
    many: bool = False,
    array: bool = False,
) -> Value:
    """The operator of ``${name<op>word}``. ``many``: of all elements; ``array``: of what no plain name names."""
    raw = shell.source.raw(node)
    found = OPERATOR.match(rest)
    if not found:
        return shell.record.unknown(raw, shell.source, node, Note("expansion_not_read", {}))
    operator = found.group(1)
    start = node.end_byte - 1 - len(rest.encode("utf-8", "surrogateescape")) + len(operator)
    empty = not text_of(current) and known(current)
    if operator in {":-", ":=", "-", "=", ":+", "+", ":?", "?"}:
        if not known(current):
            return shell.record.unknown(raw, shell.source, node, Note("depends_on_unknown", {}))
        absent = not is_set or (operator[0] == ":" and empty)
        if operator in {":+", "+"}:
            if absent:
                vanishes = many and quoted and not is_set and "*" not in raw.partition(operator)[0]
                return (NOTHING,) if vanishes else ()
            return _as_written(stretch(shell, node, start, node.end_byte - 1, quoted=quoted), quoted=quoted)
        if not absent:
            return current
        if operator in {":?", "?"}:
            return shell.record.unknown(raw, shell.source, node, Note("must_be_given", {"name": name}))
        word = stretch(shell, node, start, node.end_byte - 1, quoted=quoted)
        if operator in {":=", "="}:
            if array or many:
                return shell.record.unknown(raw, shell.source, node, Note("expansion_not_read", {}))
            shell.assign(name, Var(word, right_side=None, assignment=shell.source.span(node)))
        return _as_written(word, quoted=quoted)
    if many or not known(current):
        return shell.record.unknown(raw, shell.source, node, Note("depends_on_unknown", {}))
    done = _edit(shell, node, operator, text_of(current), start)
    if done is None:
        return shell.record.unknown(raw, shell.source, node, Note("expansion_not_read", {}))
    return (Frag(done, quoted=quoted, split=not quoted),)


def _edit(shell: Shell, node: Any, operator: str, text: str, start: int) -> str | None:
    """Operators that change the text: patterns, substrings, case."""
    operand = stretch(shell, node, start, node.end_byte - 1, quoted=False)
    if not known(operand):
        return None
    word = text_of(operand)
    if operator in {"#", "##", "%", "%%"}:
        return patterns.strip(operator, text, word)
    if operator in {"/", "//", "/#", "/%"}:
        pattern, _, replacement = _split_unescaped(shell, node, start, word)
        return patterns.substitute(operator, text, pattern, replacement)
    if operator == ":":
        parts = word.split(":")
        try:
            offset = arithmetic.evaluate(parts[0], shell.text)
            length = arithmetic.evaluate(parts[1], shell.text) if len(parts) > 1 else None
        except arithmetic.Unknown:
            return None
        tail = text[offset:] if offset >= 0 or -offset <= len(text) else ""
        return tail if length is None else tail[:length]
    if operator in {"^^", ",,"} and not word:
        return text.upper() if operator == "^^" else text.lower()
    if operator in {"^", ","} and not word and text:
        return (text[0].upper() if operator == "^" else text[0].lower()) + text[1:]
    return None


def _split_unescaped(shell: Shell, node: Any, start: int, word: str) -> tuple[str, str, str]:
    raw = decode(shell.source.text[start : node.end_byte - 1])
    found = re.match(r"((?:\\.|[^\\/])*)/?", raw, re.S)
    size = len(re.sub(r"\\(.)", r"\1", found.group(1), flags=re.S)) if found else len(word)
    return word[:size], "/", word[size + 1 :]
