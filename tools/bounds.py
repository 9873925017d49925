"""Bounds of a result: what does not fit is left out and counted, never sent in full."""

import json
from collections.abc import Sequence
from typing import Any

from mindspeed_mm_train_profiler.tools.common import Result, printable

MAX_BYTES = 24_000
"""Of a result as JSON: about 6,000 tokens, which leaves room for its text block below the cap of 8,000."""
MAX_NAME = 160


def short(text: str, limit: int = MAX_NAME) -> str:
    """Names out of a profile can be of any length."""
    return text if len(text) <= limit else text[:limit] + "..."


def fit(result: Result, names: Sequence[str], *, keep: int = 1, limit: int = MAX_BYTES) -> dict[str, int]:
    """Shorten the named lists from their ends, the largest first, until the result fits; rows left out by name."""
    left_out: dict[str, int] = {}
    while _bytes(result.model_dump(mode="json")) > limit:
        sizes = {name: _bytes([row.model_dump(mode="json") for row in getattr(result, name)]) for name in names}
        longest = max(sizes, key=lambda name: sizes[name] if len(getattr(result, name)) > keep else 0)
        rows: list[Any] = getattr(result, longest)
        if len(rows) <= keep:
            break
        cut = max(1, len(rows) // 4)
        setattr(result, longest, rows[:-cut])
        left_out[longest] = left_out.get(longest, 0) + cut
    return left_out


def _bytes(value: Any) -> int:
    return len(json.dumps(printable(value), ensure_ascii=False).encode("utf-8"))
