"""A line of its own by which a variable follows the allocation, behind everything that sets it:

    case $(hostname) in a) NODE_RANK=0;; b) NODE_RANK=1;; esac
    [ -z "${MM_PROFILER_NODE_RANK-}" ] || NODE_RANK=$MM_PROFILER_NODE_RANK

For values that no definition tells alone (a loop over a hostfile, a branch on the host's name, a positional argument):
what the script derives from the variable afterwards follows as well. By hand the line does nothing.
"""

import re
from typing import Any

from mindspeed_mm_train_profiler.launch_script import syntax
from mindspeed_mm_train_profiler.launch_script.plan import LauncherCall, SourceFile
from mindspeed_mm_train_profiler.profile_config.edits import Edit
from mindspeed_mm_train_profiler.profile_config.shell_edit import Located, Sources

BLOCKS = frozenset(
    ["program", "compound_statement", "subshell", "do_group", "if_statement", "elif_clause", "else_clause", "case_item"]
)
"""Nodes whose children are statements that run one after the other."""
COMMENT = re.compile(rb"(?m)^[ \t]*#.*$")
SOURCED = re.compile(rb"(?m)^\s*(?:source|\.)\s")


def spelled(sources: Sources, option: str) -> tuple[SourceFile, int, str] | None:
    """(file, position, name) of the one variable that the option's value is written as; None for none or several."""
    found = [
        (file, match.start(), match[1].decode())
        for file in sources.files.values()
        for match in _given(option).finditer(_code(file.data))
    ]
    return found[0] if len({name for *_, name in found}) == 1 else None


def used_elsewhere(sources: Sources, option: str) -> str | None:
    """The option's variable where something beside the launcher's option uses it as well."""
    if (named := spelled(sources, option)) is None:
        return None
    mentioned = re.compile(rb"(?<![\w\-])%s\b(?!\+?=)" % named[2].encode())
    rest = (_given(option).sub(b"", _code(file.data)) for file in sources.files.values())
    return named[2] if any(mentioned.search(data) for data in rest) else None


def own_name(sources: Sources, call: LauncherCall, option: str) -> tuple[SourceFile, int, str] | None:
    """The variable that scripts name after the option, where one is set that the launcher is not given."""
    name, file = option.upper(), sources.files.get(call.launcher_span.path)
    if file is None or not any(_sets(name).search(_code(other.data)) for other in sources.files.values()):
        return None
    return file, call.launcher_span.start, name


def set_once(sources: Sources, name: str) -> bool:
    """Whether nothing but one definition sets the variable, as far as the text tells."""
    return sum(len(_sets(name).findall(_code(file.data))) for file in sources.files.values()) == 1


def line(sources: Sources, at: tuple[SourceFile, int, str], variable: str) -> Located | None:
    """The edit that adds the line; None where the variable cannot be set again."""
    file, use, name = at
    kept = re.compile(rb"\b(?:readonly|(?:declare|typeset|local)\s+-\w*r\w*)\b[^\n;]*\b%s\b" % name.encode())
    if any(kept.search(_code(other.data)) for other in sources.files.values()):
        return None
    place = _place(sources, file, use, name)
    if place is None:
        return None
    before = file.data[file.data.rfind(b"\n", 0, place) + 1 : place]
    indent = before if not before.strip() else b""
    text = f'[ -z "${{{variable}-}}" ] || {name}=${variable}\n'.encode()
    return file.path, Edit(place, place, text + indent)


def _given(option: str) -> "re.Pattern[bytes]":
    """The option with a variable behind it, in either spelling."""
    words = option.replace("_", "[-_]").encode()
    return re.compile(rb"--" + words + rb"""(?:=|\s+|\s*\\\n\s*)["']?\$\{?([A-Za-z_]\w*)""")


def _code(data: bytes) -> bytes:
    """The bytes with comment lines blanked; positions stay."""
    return COMMENT.sub(lambda match: b" " * len(match[0]), data)


def _sets(name: str) -> "re.Pattern[bytes]":
    """What gives a variable another value, as text: an assignment, ``:=``, a loop, ``read`` and its like."""
    word = name.encode()
    return re.compile(
        rb"(?<![\w$\-{.])%(n)s(?:\[[^\]\n]*\])?(?:[-+*/%%|&^]|<<|>>)?=(?!=)|\$\{%(n)s:?=|(?:\+\+|--)%(n)s\b(?!-)"
        rb"|(?<![\w$\-{])%(n)s\s?(?:\+\+|--)"
        rb"|\b(?:read|mapfile|readarray|for|unset|getopts|printf\s+-v)\b[^\n;|&]*(?<![\w$\-{])%(n)s\b" % {b"n": word}
    )


def _place(sources: Sources, file: SourceFile, use: int, name: str) -> int | None:
    """Before the first statement behind the last one that sets the variable, in the innermost block around the use."""
    code, sets = _code(file.data), _sets(name)
    elsewhere = any(sets.search(_code(other.data)) for other in sources.files.values() if other is not file)

    def changes(node: Any) -> bool:
        text = code[node.start_byte : node.end_byte]
        return bool(sets.search(text) or (elsewhere and SOURCED.search(text)))

    node = syntax.parse_tree(file.data).root_node.descendant_for_byte_range(use, use + 1)
    called_later = False
    while node is not None:
        block = node.parent
        called_later = called_later or node.type == "function_definition"
        if block is not None and block.type in BLOCKS:
            rows = [child for child in block.named_children if child.type != "comment"]
            here = next(index for index, child in enumerate(rows) if child == node)
            last = len(rows) - 1 if called_later and block.type == "program" else here
            behind = next((index + 1 for index in range(last - 1, -1, -1) if changes(rows[index])), None)
            if behind is None and block.type == "program":  # it comes from outside: before its first use
                uses = re.compile(rb"\$\{?%s\b" % name.encode())
                behind = next((i for i in range(here) if uses.search(code, rows[i].start_byte, rows[i].end_byte)), here)
            if behind is not None:
                start: int = rows[behind].start_byte
                return start + len(file.data[start:]) - len(file.data[start:].lstrip())
        node = block
    return None
