"""Text edits at exact positions: everything outside an edit stays byte for byte the same; and semantic differences."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from mindspeed_mm_train_profiler.errors import CodedError

MAX_DIFF_LINES = 60
"""A diff is to be read by a person; a longer one is cut, and says so."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace bytes ``start:end`` (an insertion where both are equal) by ``new``."""

    start: int
    end: int
    new: bytes


def apply(data: bytes, edits: Iterable[Edit]) -> bytes:
    """The edited bytes. Equal edits count once; overlapping ones raise ``edits_overlap``."""
    result: list[bytes] = []
    position = 0
    last: Edit | None = None
    for edit in sorted(set(edits), key=lambda item: (item.start, item.end)):
        if edit.start < position or (last is not None and edit.start == last.start == last.end):
            raise CodedError("edits_overlap", found=f"{edit.start}:{edit.end}")
        result += [data[position : edit.start], edit.new]
        position = edit.end
        last = edit
    result.append(data[position:])
    return b"".join(result)


def joined(edits: Iterable[Edit]) -> list[Edit]:
    """Edits that start at one place as one, what is inserted first standing first. Equal edits count once."""
    found: dict[int, Edit] = {}
    for edit in dict.fromkeys(edits):
        first = found.get(edit.start)
        if first is None:
            found[edit.start] = edit
        elif first.start == first.end:
            found[edit.start] = Edit(edit.start, edit.end, first.new + edit.new)
        else:
            raise CodedError("edits_overlap", found=f"{edit.start}:{edit.end}")
    return list(found.values())


def text_edits(text: str, edits: Iterable[tuple[int, int, str]]) -> list[Edit]:
    """Edits given in characters of ``text``, as edits of its UTF-8 bytes.

    Insertions at one place are joined in the order given: the inner block's before the outer one's.
    """
    joined: dict[tuple[int, int, int], str] = {}
    for number, (start, end, new) in enumerate(edits):
        key = (start, end, -1 if start == end else number)
        joined[key] = joined.get(key, "") + new
    ascii_only = text.isascii()

    def place(at: int) -> int:
        return at if ascii_only else len(text[:at].encode("utf-8"))

    return [Edit(place(start), place(end), new.encode("utf-8")) for (start, end, _), new in joined.items()]


def unified_diff(before: bytes, after: bytes, name: str, copy: str) -> str:
    """A unified diff of at most ``MAX_DIFF_LINES`` lines; the last line says how many were cut."""

    def lines(data: bytes) -> list[str]:
        return data.decode("utf-8", "replace").replace("\r\n", "\n").splitlines()

    found = list(difflib.unified_diff(lines(before), lines(after), name, copy, n=1, lineterm=""))
    if len(found) > MAX_DIFF_LINES:
        found = [*found[:MAX_DIFF_LINES], f"... {len(found) - MAX_DIFF_LINES} more lines"]
    return "\n".join(found)


class _Missing:
    def __repr__(self) -> str:
        return "(missing)"


MISSING = _Missing()


@dataclass(frozen=True, slots=True)
class Change:
    """One semantic difference. ``before`` is ``MISSING`` where the key is new."""

    key: tuple[str | int, ...]
    before: Any
    after: Any


def same(left: Any, right: Any) -> bool:
    """Equal in value and type at every level: 1, 1.0 and true are three things to a trainer."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right or (left != left and right != right))


def differences(before: Any, after: Any, key: tuple[str | int, ...] = ()) -> list[Change]:
    """All semantic differences, at the deepest mapping that holds them."""
    if isinstance(before, dict) and isinstance(after, dict):
        found: list[Change] = []
        for name in [*before, *(name for name in after if name not in before)]:
            found += differences(before.get(name, MISSING), after.get(name, MISSING), (*key, name))
        return found
    if isinstance(after, dict) and before is MISSING and after:
        return [change for name in after for change in differences(MISSING, after[name], (*key, name))]
    return [] if same(before, after) else [Change(key, before, after)]


def merged(base: Any, wanted: Any) -> Any:
    """``wanted`` laid over ``base``, mapping by mapping."""
    if isinstance(base, dict) and isinstance(wanted, dict):
        return {**base, **{key: merged(base.get(key), value) for key, value in wanted.items()}}
    return wanted


def dotted(key: Iterable[str | int]) -> str:
    return ".".join(str(part) for part in key)
