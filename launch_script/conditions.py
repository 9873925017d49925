"""``[ ]``, ``[[ ]]`` and ``test``: true, false, or not known."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.launch_script import arithmetic, patterns
from mindspeed_mm_train_profiler.launch_script.expansion import value
from mindspeed_mm_train_profiler.launch_script.state import Shell
from mindspeed_mm_train_profiler.launch_script.values import known, text_of

NUMBERS = {"-eq": "==", "-ne": "!=", "-lt": "<", "-le": "<=", "-gt": ">", "-ge": ">="}


def _not(answer: bool | None) -> bool | None:
    return None if answer is None else not answer


def both(operator: str, left: bool | None, right: bool | None) -> bool | None:
    """Three-valued and/or."""
    if operator in {"&&", "-a"}:
        if left is False or right is False:
            return False
        return True if left and right else None
    if left is True or right is True:
        return True
    return False if left is False and right is False else None


def about_file(shell: Shell, operator: str, text: str) -> bool | None:
    """File tests look at the file system as it is now; what the script itself would have made is not known."""
    if not text:
        return False
    path = Path(text)
    if not path.is_absolute():
        if shell.cwd is None:
            return None
        path = shell.cwd / path
    if path in shell.record.generated:
        return True if operator in {"-e", "-f"} else None
    try:
        tests: dict[str, Callable[[], bool]] = {
            "-e": path.exists,
            "-f": path.is_file,
            "-d": path.is_dir,
            "-L": path.is_symlink,
            "-h": path.is_symlink,
            "-s": lambda: path.exists() and path.stat().st_size > 0,
            "-r": lambda: os.access(path, os.R_OK),
            "-w": lambda: os.access(path, os.W_OK),
            "-x": lambda: os.access(path, os.X_OK),
        }
        return bool(tests[operator]()) if operator in tests else None
    except (OSError, ValueError):
        return None


def unary(shell: Shell, operator: str, text: str) -> bool | None:
    if operator == "-z":
        return text == ""
    if operator == "-n":
        return text != ""
    if operator == "-v":
        return text.partition("[")[0] in shell.variables
    return about_file(shell, operator, text)


def binary(operator: str, left: str, right: str, *, pattern: bool) -> bool | None:
    if operator in {"=", "=="}:
        return patterns.matches(right, left) if pattern else left == right
    if operator == "!=":
        return _not(patterns.matches(right, left)) if pattern else left != right
    if operator in NUMBERS:
        try:
            return bool(arithmetic.evaluate(f"({left or 0}) {NUMBERS[operator]} ({right or 0})", lambda _: None))
        except arithmetic.Unknown:
            return None
    if operator == "=~":
        try:
            if len(right) > 200 or len(left) > 2000 or re.search(r"[+*}]\)*[+*{]", right):
                return None
            return re.search(right, left) is not None
        except re.error:
            return None
    if operator in {"<", ">"}:
        return left < right if operator == "<" else left > right
    return None


def evaluate(shell: Shell, node: Any) -> bool | None:
    """A condition's expression node."""
    shell.record.step()
    kind = node.type
    if kind == "test_command":
        inside = [child for child in node.children if child.is_named]
        return evaluate(shell, inside[0]) if len(inside) == 1 else None
    if kind == "parenthesized_expression":
        inside = [child for child in node.children if child.is_named]
        return evaluate(shell, inside[0]) if len(inside) == 1 else None
    if kind == "unary_expression":
        operator = shell.source.raw(node.children[0])
        if operator == "!":
            return _not(evaluate(shell, node.children[-1]))
        operand = value(shell, node.children[-1], quoted=True)
        return unary(shell, operator, text_of(operand)) if known(operand) else None
    if kind == "binary_expression" and len(node.children) >= 3:
        operator = shell.source.raw(node.children[1])
        if operator in {"&&", "||", "-a", "-o"}:
            return both(operator, evaluate(shell, node.children[0]), evaluate(shell, node.children[-1]))
        left, right = value(shell, node.children[0], quoted=True), value(shell, node.children[-1], quoted=True)
        if not known(left) or not known(right):
            return None
        double = shell.source.text[_test_start(node) :][:2] == b"[["
        quoted_right = node.children[-1].type in {"string", "raw_string"}
        return binary(operator, text_of(left), text_of(right), pattern=double and not quoted_right)
    if kind == "negated_command":
        return _not(evaluate(shell, node.children[-1]))
    operand = value(shell, node, quoted=True)
    return bool(text_of(operand)) if known(operand) else None


def _test_start(node: Any) -> int:
    while node is not None and node.type != "test_command":
        node = node.parent
    return int(node.start_byte) if node is not None else 0


def test_words(shell: Shell, texts: list[str]) -> bool | None:
    """``test a = b``, ``[ ... ]`` as a command."""
    if texts and texts[0] == "!":
        return _not(test_words(shell, texts[1:]))
    for operator in ("-o", "-a"):
        if operator in texts[1:-1]:
            at = texts.index(operator, 1)
            return both(operator, test_words(shell, texts[:at]), test_words(shell, texts[at + 1 :]))
    if len(texts) == 1:
        return bool(texts[0])
    if len(texts) == 2:
        return unary(shell, texts[0], texts[1])
    if len(texts) == 3:
        return binary(texts[1], texts[0], texts[2], pattern=False)
    return None if texts else False
