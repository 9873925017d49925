"""Answers that are numbers: a window of steps, a list of ranks, a count of iterations.

Numbers stand for what the question is about, never for the position of an option.
"""

import re
from collections.abc import Mapping
from typing import Any

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.skill.questions import Question
from mindspeed_mm_train_profiler.skill.words import core, plain, refuse

MAX_NUMBER = 10**9
MAX_RANKS = 65_536

STEP_NOISE = re.compile(
    r"\b(steps?|from|start(_step)?|end(_step)?|starts?|ends?|till|until|to|and|between|window)\b"
    r"|窗口|之间|介于|第|步|从|到|至|起始|终止|起|止|开始|结束|为止|采集|[~〜–—:=,、;|/\[\](){}和与]|\.\.+|-"
)
LENGTH = (
    re.compile(
        r"(?:from |从\s*|starting at |start at )?(?:step |第\s*)?(?P<start>\d+)\s*(?:步)?\s*"
        r"(?:for|起采|起共|开始共|开始,?\s*采集?)\s*(?P<count>\d+)\s*(?:steps?|步|个step)?"
    ),
    re.compile(r"(?P<count>\d+) steps? (?:from|starting at|starting from)(?: step)? (?P<start>\d+)"),
)


def _whole(raw: Any) -> int | None:
    """A whole number from JSON; 12.0 is one, true is none."""
    if isinstance(raw, bool) or not isinstance(raw, int | float) or raw != raw or abs(raw) > MAX_NUMBER:
        return None
    return int(raw) if raw == int(raw) else None


def window(start: int, end: int) -> dict[str, Any]:
    """A window's option fields.

    Errors: ``start_step_too_small``, ``end_step_not_after_start``, ``number_too_large``.
    """
    if max(start, end) > MAX_NUMBER:
        raise CodedError("number_too_large", found=max(start, end), expected=f"<= {MAX_NUMBER}")
    if start < 1:
        raise CodedError("start_step_too_small", found=start, expected=">= 1")
    if end <= start:
        raise CodedError("end_step_not_after_start", found=f"start_step={start}, end_step={end}", expected=f"> {start}")
    return {"start_step": start, "end_step": end}


def steps(question: Question, raw: Any) -> dict[str, Any]:
    if isinstance(raw, Mapping) and set(raw) in ({"start_step"}, {"end_step"}):
        raise CodedError("step_bound_missing", found=", ".join(f"{name}={value}" for name, value in raw.items()))
    if isinstance(raw, Mapping) and set(raw) == {"start_step", "end_step"}:
        raw = [raw["start_step"], raw["end_step"]]
    if isinstance(raw, list | tuple):
        numbers = [_whole(part) for part in raw]
        if len(numbers) != 2 or None in numbers:
            raise refuse(question.id, raw)
        return window(*(number for number in numbers if number is not None))
    if not isinstance(raw, str):
        raise refuse(question.id, raw)
    text = core(plain(raw))
    for pattern in LENGTH:
        if found := pattern.fullmatch(text):
            start, count = int(found["start"]), int(found["count"])
            if count < 1:
                raise refuse(question.id, raw)
            return window(start, start + count)
    if re.search(r"\d\.\d|(^|[^\d\s])\s*-\s*\d", text.replace("..", "~")) and not re.search(r"\d\s*-\s*\d", text):
        negative = re.fullmatch(r"(-\d+)\s*(?:~|to|到|至)\s*(-?\d+)", text)
        if negative:
            return window(int(negative[1]), int(negative[2]))
        raise refuse(question.id, raw)
    found_numbers = re.findall(r"\d+", text)
    if len(found_numbers) != 2 or re.search(r"\d\.\d", text.replace("..", "~")):
        raise refuse(question.id, raw)
    if STEP_NOISE.sub(" ", re.sub(r"\d+", " ", text)).strip():
        raise refuse(question.id, raw)
    first, second = found_numbers
    if re.search(rf"(\bends?(_step)?|结束|终止)\D*{first}\b.*(\bstarts?(_step)?|起始|开始)\D*{second}\b", text):
        first, second = second, first
    return window(int(first), int(second))


ALL_RANKS = re.compile(
    r"(all|every|each|全部|所有|每张|每个|每一张|全|-1|\[-1\])\s*(the )?"
    r"(ranks?|cards?|npus?|devices?|卡|的卡|卡号|节点的卡)?"
    r"|(ranks?|卡号)\s*[:=]?\s*(all|-1|\[-1\]|全部|所有)|every rank|all of them"
)
RANK_UNIT = re.compile(r"[:=]|\b(ranks?|cards?|npus?|devices?|and)\b|(?<![a-z])ranks?|第|号|张|卡|和|与|[\[\]()]")
HOW_MANY = re.compile(r"[1-9]\d*\s*(张|个)?\s*(卡|cards?|ranks|npus?|devices?)")
"""A number of cards: which ones is not said."""
RANK_PART = re.compile(r"(\d+)(?:\s*(?:-|~|〜|–|—|\.\.+|to|到|至)\s*(\d+))?")


def rank_list(question: str, numbers: list[int], raw: Any) -> dict[str, Any]:
    if not numbers or min(numbers) < 0 or max(numbers) > MAX_RANKS:
        raise refuse(question, raw)
    return {"ranks": sorted(set(numbers))}


def ranks(question: Question, raw: Any) -> dict[str, Any]:
    if (single := _whole(raw)) is not None:
        raw = [single]
    if isinstance(raw, list | tuple):
        numbers = [_whole(part) if not isinstance(part, str) else None for part in raw]
        if raw and all(isinstance(part, str) for part in raw):
            return ranks(question, ",".join(raw))
        if numbers == [-1]:
            return {"ranks": "all"}
        if not raw or None in numbers:
            raise refuse(question.id, raw)
        return rank_list(question.id, [number for number in numbers if number is not None], raw)
    if not isinstance(raw, str):
        raise refuse(question.id, raw)
    text = core(plain(raw))
    if ALL_RANKS.fullmatch(text):
        return {"ranks": "all"}
    if found := re.fullmatch(r"(?:the )?(?:first|前)\s*(\d+)\s*(?:张|个)?\s*(?:ranks?|cards?|npus?|卡)?", text):
        count = int(found[1])
        if not 0 < count <= MAX_RANKS:
            raise refuse(question.id, raw)
        return rank_list(question.id, list(range(count)), raw)
    if HOW_MANY.fullmatch(text):
        raise refuse(question.id, raw)
    text = re.sub(r"\s*(,|、|;|/|\+|&)\s*", ",", text)
    text = re.sub(r",+", ",", re.sub(r"\s*(\band\b|和|与)\s*", ",", text))
    text = re.sub(r"\s+", " ", RANK_UNIT.sub(" ", text)).strip()
    text = re.sub(r"(?<=\d) (?=\d)", ",", text)
    numbers_found: list[int] = []
    for part in text.split(","):
        match = RANK_PART.fullmatch(part.strip())
        if match is None:
            raise refuse(question.id, raw)
        first = int(match[1])
        last = int(match[2]) if match[2] else first
        if last < first or last > MAX_RANKS:
            raise refuse(question.id, raw)
        numbers_found.extend(range(first, last + 1))
    return rank_list(question.id, numbers_found, raw)


UNITS = {"": 1, "k": 1000, "千": 1000, "w": 10000, "万": 10000}


def iterations(question: Question, raw: Any) -> dict[str, Any]:
    count = _whole(raw)
    if isinstance(raw, str):
        text = core(plain(raw))
        found = re.fullmatch(
            r"(?:train[-_]iters\s*[:=]?\s*|训练\s*|run\s*|for\s*|共\s*)?(\d{1,3}(?:,\d{3})+|\d+)\s*(k|千|w|万)?\s*"
            r"(?:steps?|iterations?|iters?|times|个?step|步|次迭代|个?迭代|轮迭代|次|轮)?",
            text,
        )
        if found:
            count = int(found[1].replace(",", "")) * UNITS[found[2] or ""]
    if count is None:
        raise refuse(question.id, raw)
    if count < 1:
        raise CodedError("train_iters_not_positive", found=count, expected=">= 1")
    if count > MAX_NUMBER:
        raise CodedError("number_too_large", found=count, expected=f"<= {MAX_NUMBER}")
    return {"train_iters": count}
