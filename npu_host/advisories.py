"""Pairs of versions known to be bad, from a data file with sources."""

import json
import re
from functools import cache
from importlib import resources
from typing import Any

from mindspeed_mm_train_profiler.errors import Note


@cache
def table() -> list[dict[str, Any]]:
    """Rows of ``advisories.json``: {code, torch_npu (pattern), cann (pattern or null), source}."""
    text = resources.files(__package__).joinpath("advisories.json").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = json.loads(text)["advisories"]
    return rows


def notes(torch_npu: str | None, cann: str | None) -> list[Note]:
    """What is known against these versions; nothing where one that a row needs is not known."""
    found = []
    for row in table():
        if row.get("torch_npu") and (torch_npu is None or not re.fullmatch(row["torch_npu"], torch_npu)):
            continue
        if row.get("cann") and (cann is None or not re.fullmatch(row["cann"], cann)):
            continue
        found.append(Note(row["code"], {"torch_npu": torch_npu or "?", "cann": cann or "?", "source": row["source"]}))
    return found
