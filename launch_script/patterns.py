"""Shell patterns (``*``, ``?``, ``[...]``) and the expansions that use them."""

import re
from functools import lru_cache

MAX_PATTERN = 400


@lru_cache(maxsize=512)
def regex(pattern: str, greedy: bool = True) -> "re.Pattern[str] | None":
    """The pattern as a regular expression; None where it is longer than any real one or cannot be one."""
    if len(pattern) > MAX_PATTERN or pattern.count("*") > 12:
        return None
    out, index = [], 0
    while index < len(pattern):
        char = pattern[index]
        if char == "*":
            out.append(".*" if greedy else ".*?")
        elif char == "?":
            out.append(".")
        elif char == "[" and (end := pattern.find("]", index + 2)) > 0:
            inside = pattern[index + 1 : end].replace("\\", "\\\\")
            out.append("[" + ("^" + inside[1:] if inside[:1] in "!^" else inside) + "]")
            index = end
        elif char == "\\" and index + 1 < len(pattern):
            index += 1
            out.append(re.escape(pattern[index]))
        else:
            out.append(re.escape(char))
        index += 1
    try:
        return re.compile("".join(out), re.S)
    except re.error:
        return None


def _costly(pattern: str, text: str) -> bool:
    """Several stars over a long text backtrack without end; no launch script needs that."""
    return len(text) > 20_000 or (pattern.count("*") > 2 and len(text) > 400)


def matches(pattern: str, text: str) -> bool | None:
    found = None if _costly(pattern, text) else regex(pattern)
    return None if found is None else found.fullmatch(text) is not None


def strip(operator: str, text: str, pattern: str) -> str | None:
    """``${v#p}``, ``##``, ``%``, ``%%``."""
    compiled = regex(pattern)
    if compiled is None:
        return None
    sizes = range(len(text) + 1) if len(operator) == 1 else range(len(text), -1, -1)
    if _costly(pattern, text) or len(text) > 4_000:
        return None
    for size in sizes:
        if operator[0] == "#" and compiled.fullmatch(text, 0, size):
            return text[size:]
        if operator[0] == "%" and compiled.fullmatch(text, len(text) - size):
            return text[: len(text) - size]
    return text


def substitute(operator: str, text: str, pattern: str, replacement: str) -> str | None:
    """``${v/p/r}``, ``//``, ``/#``, ``/%``."""
    compiled = regex(pattern)
    if compiled is None or _costly(pattern, text):
        return None
    if operator == "//":
        return compiled.sub(lambda _: replacement, text) if pattern else text
    if operator == "/#":
        found = compiled.match(text)
        return replacement + text[found.end() :] if found else text
    if operator == "/%":
        for start in range(len(text) + 1):
            if compiled.fullmatch(text, start):
                return text[:start] + replacement
        return text
    return compiled.sub(lambda _: replacement, text, count=1) if pattern else text
