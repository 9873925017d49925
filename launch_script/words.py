"""The arguments that one written word becomes: braces, expansions, and the blanks that were escaped."""

import re
from typing import Any

from mindspeed_mm_train_profiler.errors import Note
from mindspeed_mm_train_profiler.launch_script.alternatives import alternatives, unread
from mindspeed_mm_train_profiler.launch_script.expansion import line_of, value
from mindspeed_mm_train_profiler.launch_script.plan import Word
from mindspeed_mm_train_profiler.launch_script.state import Shell
from mindspeed_mm_train_profiler.launch_script.syntax import decode
from mindspeed_mm_train_profiler.launch_script.values import Frag, make_word, separated, words

ESCAPED_BLANK = re.compile(rb"(?:[ \t]|\\\n)*\\[ \t]")
"""``\\`` and a blank behind it make a word, of one blank; to the grammar they are nothing."""


def word_list(shell: Shell, node: Any) -> list[Word]:
    """The arguments that one written word becomes, and those of the escaped blanks behind it."""
    text, behind = shell.source.text, node.end_byte
    result = _words_of(shell, node)
    while found := ESCAPED_BLANK.match(text, behind):
        behind = found.end()
        line = line_of(node) + text.count(b"\n", node.start_byte, behind)
        span = shell.source.piece(behind - 1, behind, line)
        if text[behind : behind + 1] not in b" \t\n":  # it begins the next word
            why = Note("expansion_not_read", {})
            result += words(shell.record.unknown("\\ ", shell.source, node, why), line, span)
            continue
        blank = Frag(decode(text[behind - 1 : behind]), span, quoted=True)
        result.append(make_word([blank], line, span))
    return result


def _words_of(shell: Shell, node: Any) -> list[Word]:
    raw = shell.source.raw(node)
    if "{" in raw and node.type in {"brace_expression", "concatenation", "word"}:
        if (written := alternatives(raw)) is not None:
            span = shell.source.span(node)
            return [make_word([Frag(text)], line_of(node), span) for text in written if text]
        if unread(raw):
            return words(
                shell.record.unknown(raw, shell.source, node, Note("expansion_not_read", {})),
                line_of(node),
                shell.source.span(node),
            )
    found = value(shell, node)
    if "IFS" in shell.variables:
        found = separated(found, shell.text("IFS"))
    return words(found, line_of(node), shell.source.span(node))
