"""``${...}``: defaults, lengths, elements, and the operators that change a text."""

import re
from dataclasses import replace
from typing import Any

from mindspeed_mm_train_profiler.errors import Note
from mindspeed_mm_train_profiler.launch_script import arithmetic, patterns
from mindspeed_mm_train_profiler.launch_script.expansion import elements, parameter, stretch
from mindspeed_mm_train_profiler.launch_script.state import Shell, Var
from mindspeed_mm_train_profiler.launch_script.syntax import decode
from mindspeed_mm_train_profiler.launch_script.values import Frag, Value, expanded, known, plain, text_of

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
        current = _subscript(shell, node, name, index[1:-1], quoted=quoted, counted=prefix == "#")
        if current is None:
            return shell.record.unknown(raw, shell.source, node, Note("expansion_not_read", {}))
    elif prefix == "#":
        current = parameter(shell, node, name, quoted=True)
        if not known(current):
            return shell.record.unknown(raw, shell.source, node, Note("depends_on_unknown", {}))
        return plain(str(len(text_of(current))))
    else:
        current = parameter(shell, node, name, quoted=quoted)
    if not rest:
        return current
    return _operate(shell, node, name, current, rest, index is not None, quoted=quoted)


def _subscript(shell: Shell, node: Any, name: str, index: str, *, quoted: bool, counted: bool) -> Value | None:
    if name == "BASH_SOURCE":
        return plain(str(shell.source.path))
    var = shell.variables.get(name)
    items = () if var is None else var.array if var.array is not None else (var.value,)
    if index in {"@", "*"}:
        return plain(str(len(items))) if counted else elements(items, node, shell, quoted=quoted)
    try:
        number = arithmetic.evaluate(index.lstrip("$"), shell.text)
    except arithmetic.Unknown:
        return None
    chosen = items[number] if -len(items) <= number < len(items) else ()
    if counted:
        return plain(str(len(text_of(chosen))))
    return expanded(chosen, None, shell.source.span(node), quoted=quoted)


def _operate(shell: Shell, node: Any, name: str, current: Value, rest: str, array: bool, *, quoted: bool) -> Value:
    """The operator of ``${name<op>word}``."""
    raw = shell.source.raw(node)
    found = OPERATOR.match(rest)
    if not found:
        return shell.record.unknown(raw, shell.source, node, Note("expansion_not_read", {}))
    operator = found.group(1)
    start = node.end_byte - 1 - len(rest.encode("utf-8", "surrogateescape")) + len(operator)
    is_set = name in shell.variables or (name.isdigit() and 0 < int(name) <= len(shell.arguments)) or name in "@*#?$!-0"
    empty = not text_of(current) and known(current)
    if operator in {":-", ":=", "-", "=", ":+", "+", ":?", "?"}:
        if not known(current):
            return shell.record.unknown(raw, shell.source, node, Note("depends_on_unknown", {}))
        absent = not is_set or (operator[0] == ":" and empty)
        if operator in {":+", "+"}:
            return () if absent else stretch(shell, node, start, node.end_byte - 1, quoted=quoted)
        if not absent:
            return current
        if operator in {":?", "?"}:
            return shell.record.unknown(raw, shell.source, node, Note("must_be_given", {"name": name}))
        word = stretch(shell, node, start, node.end_byte - 1, quoted=quoted)
        if operator in {":=", "="}:
            shell.assign(name, Var(word, right_side=None, assignment=shell.source.span(node)))
        return tuple(replace(f, split=not quoted and not f.quoted) for f in word) or (
            (Frag("", quoted=True),) if quoted else ()
        )
    if array or not known(current):
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
