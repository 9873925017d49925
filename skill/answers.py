"""Understanding an answer: a word, a list or a number, in either language, becomes option fields.

Nothing is guessed: what is not wholly understood raises ``answer_not_understood`` with the question's id, so that it is
asked again. Numbers stand for what the question is about, never for the position of an option.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.skill.questions import BY_ID, CONTENTS, Question

MAX_CHARS = 2000
MAX_NUMBER = 10**9
MAX_RANKS = 65_536

DEFAULT = re.compile(r"(use |the |用|就用|按)?\s*(default|defaults|recommended|默认|默认值|推荐|推荐值)(的|即可|吧)?")
FILLER = re.compile(
    r"^(please|i want|i'd like|use|choose|select|take|only|just|"
    r"我要|我想要|请用|请|选择|选|采用|使用|用|就|仅仅|仅|只)\s*"
    r"|\s*(please|only|thanks|模式|采集|类型|指标|就行|就好|即可|吧|的)$"
)


def refuse(question: str, raw: Any) -> CodedError:
    shown = raw if isinstance(raw, str) else repr(raw)
    return CodedError("answer_not_understood", found=shown[:200], question=question)


def plain(raw: str) -> str:
    """Lower case, full-width forms made plain, blanks collapsed, a closing mark dropped."""
    text = re.sub(r"\s+", " ", unicodedata.normalize("NFKC", raw).casefold()).strip()
    text = re.sub(r"(?<=\S)\s*\([^()]*\)$", "", text)  # a label's remark: "level1 (recommended)"
    return text.strip("。.!\"'`“”‘’「」").strip()


def core(text: str) -> str:
    """The answer without words that carry nothing ("please", "就用")."""
    while (less := FILLER.sub("", text).strip()) != text and less:
        text = less
    return text


WORDS: dict[str, dict[str, tuple[str, ...]]] = {
    "profile_type": {
        "static": ("static", "静态", "static collection", "固定", "固定窗口", "固定起止step", "fixed", "fixed window"),
        "dynamic": ("dynamic", "动态", "dynamic collection", "运行中控制", "at run time"),
    },
    "level": {
        "level0": ("level0", "level 0", "l0", "lv0", "0", "0级", "级别0", "基础", "basic", "最低"),
        "level1": ("level1", "level 1", "l1", "lv1", "1", "1级", "级别1"),
        "level2": ("level2", "level 2", "l2", "lv2", "2", "2级", "级别2", "全量", "full", "最高"),
    },
    "aic_metrics_type": {
        "PipeUtilization": ("pipeutilization", "pipe utilization", "pipe", "流水线利用率", "流水线", "流水利用率"),
        "ArithmeticUtilization": (
            "arithmeticutilization",
            "arithmetic utilization",
            "arithmetic",
            "算术利用率",
            "算术",
            "计算利用率",
        ),
    },
    "existing_profile": {
        "keep": ("keep", "keep it", "keep them", "保留", "沿用", "不改", "保持不变"),
        "override": ("override", "overwrite", "replace", "replace them", "覆盖", "替换", "重新选择", "重选"),
    },
    "contents": {
        "with_cpu": ("with_cpu", "cpu", "cpu事件", "cpu 事件", "cpu events", "cpu event", "host events"),
        "with_memory": ("with_memory", "memory", "memory usage", "内存", "内存占用", "显存", "显存占用"),
        "with_stack": (
            "with_stack",
            "stack",
            "stacks",
            "call stack",
            "call stacks",
            "operator call stacks",
            "operator call stack",
            "算子调用栈",
            "调用栈",
            "堆栈",
        ),
        "record_shapes": (
            "record_shapes",
            "shape",
            "shapes",
            "input shapes",
            "tensor shapes",
            "tensor input shapes",
            "tensor输入形状",
            "tensor 输入形状",
            "tensor形状",
            "tensor 形状",
            "输入形状",
            "形状",
        ),
        "data_simplification": (
            "data_simplification",
            "data simplification",
            "simplification",
            "simplified data",
            "数据简化",
            "数据简化模式",
            "简化",
        ),
    },
}


def _alias(question: str, text: str) -> str | None:
    short = core(text)
    for value, words in WORDS[question].items():
        if text in words or short in words:
            return value
    return None


def _choice(question: Question, raw: Any) -> dict[str, Any]:
    if question.id == "level" and isinstance(raw, int) and not isinstance(raw, bool):
        raw = str(raw)
    if not isinstance(raw, str):
        raise refuse(question.id, raw)
    value = _alias(question.id, plain(raw))
    if value is None:
        raise refuse(question.id, raw)
    return dict(next(option.sets for option in question.options if option.value == value))


STEP_NOISE = re.compile(
    r"\b(steps?|from|start(_step)?|end(_step)?|till|until|to|and)\b|第|步|从|到|至|起|止|开始|结束|为止|[~〜–—:=,、\[\]()和]|\.\.+|-"
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


def _steps(question: Question, raw: Any) -> dict[str, Any]:
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
    if re.search(rf"\bend(_step)?\s*[:=]?\s*{first}\b.*\bstart(_step)?\s*[:=]?\s*{second}\b", text):
        first, second = second, first
    return window(int(first), int(second))


ALL_RANKS = re.compile(
    r"(all|every|全部|所有|全|-1|\[-1\])\s*(the )?(ranks?|cards?|npus?|devices?|卡|的卡|卡号|节点的卡)?"
    r"|every rank|all of them"
)
RANK_UNIT = re.compile(r"\b(ranks?|cards?|npus?|devices?|and)\b|(?<![a-z])ranks?|第|号|张|卡|和|与|[\[\]()]")
HOW_MANY = re.compile(r"[1-9]\d*\s*(张|个)?\s*(卡|cards?|ranks|npus?|devices?)")
"""A number of cards: which ones is not said."""
RANK_PART = re.compile(r"(\d+)(?:\s*(?:-|~|〜|–|—|\.\.+|to|到|至)\s*(\d+))?")


def rank_list(question: str, numbers: list[int], raw: Any) -> dict[str, Any]:
    if not numbers or min(numbers) < 0 or max(numbers) > MAX_RANKS:
        raise refuse(question, raw)
    return {"ranks": sorted(set(numbers))}


def _ranks(question: Question, raw: Any) -> dict[str, Any]:
    if (single := _whole(raw)) is not None:
        raw = [single]
    if isinstance(raw, list | tuple):
        numbers = [_whole(part) if not isinstance(part, str) else None for part in raw]
        if raw and all(isinstance(part, str) for part in raw):
            return _ranks(question, ",".join(raw))
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


NOTHING = {"none", "nothing", "无", "没有", "都不要", "都不选", "不需要"}
EVERYTHING = {"all", "everything", "全部", "所有", "全选", "都要", "全都要", "all of them"}
ADDING = re.compile(r"^(also|add|plus|and also|in addition|再加上|再加|加上|还要|另外|外加|再)\s*")


def contents(chosen: set[str]) -> dict[str, Any]:
    return {name: name in chosen for name in CONTENTS}


def _contents(question: Question, raw: Any) -> dict[str, Any]:
    if isinstance(raw, list | tuple):
        parts, adding = list(raw), False
        if not all(isinstance(part, str) for part in parts):
            raise refuse(question.id, raw)
    elif isinstance(raw, str):
        text = plain(raw)
        short = core(text)
        if short in NOTHING:
            return contents(set())
        if short in EVERYTHING:
            return contents(set(CONTENTS))
        less = ADDING.sub("", text)
        adding = less != text
        parts = [part for part in re.split(r"\s*(?:,|、|;|/|\+|&|\band\b|\bplus\b|和|与|以及|加上)\s*", less) if part]
        if not parts:
            raise refuse(question.id, raw)
    else:
        raise refuse(question.id, raw)
    chosen = {"with_cpu"} if adding else set()
    for part in parts:
        text = plain(part)
        if DEFAULT.fullmatch(text):
            chosen.add("with_cpu")
        elif (name := _alias(question.id, text)) is not None:
            chosen.add(name)
        else:
            raise refuse(question.id, raw)
    return contents(chosen)


OFF = re.compile(r"关闭|关掉|关|不要|不用|不|否|无需|\b(off|no|false|disabled?|don't|do not|without)\b")
OFFLINE = re.compile(r"离线|\boffline\b|\blater\b|之后|稍后|手动")
ON = re.compile(r"开启|打开|开|是的|是|要|\b(on|yes|true|enabled?|y)\b")
ABOUT = re.compile(r"在线|解析|自动|训练完|需|跑|\b(online|parse|parsing|analyse|analysis|the data|it|n)\b|[,、 ]")


def _analyse(question: Question, raw: Any) -> dict[str, Any]:
    if isinstance(raw, bool):
        return {"analyse_flag": raw}
    if not isinstance(raw, str):
        raise refuse(question.id, raw)
    text = core(plain(raw))
    if text == "n":
        return {"analyse_flag": False}
    off, offline = OFF.findall(text), OFFLINE.search(text)
    rest = OFFLINE.sub(" ", OFF.sub(" ", text))
    on = ON.search(rest)
    rest = ABOUT.sub("", ON.sub(" ", rest)).strip()
    online = re.search(r"在线|解析|自动|\b(online|parse|parsing|analyse|analysis)\b", text)
    if rest or len(off) > 1 or (off and on) or not (off or offline or on or online):
        raise refuse(question.id, raw)
    if offline:
        # "off, parse later" says the same thing twice; "no offline parsing" says neither
        if off and not re.search(r"[,、]", text):
            raise refuse(question.id, raw)
        if re.search(r"在线|\bonline\b", text) and not off:
            raise refuse(question.id, raw)
        return {"analyse_flag": False}
    return {"analyse_flag": not off}


UNITS = {"": 1, "k": 1000, "千": 1000, "w": 10000, "万": 10000}


def _iterations(question: Question, raw: Any) -> dict[str, Any]:
    count = _whole(raw)
    if isinstance(raw, str):
        text = core(plain(raw))
        found = re.fullmatch(
            r"(?:train[-_]iters\s*[:=]?\s*|训练\s*|run\s*|for\s*|共\s*)?(\d{1,3}(?:,\d{3})+|\d+)\s*(k|千|w|万)?\s*"
            r"(?:steps?|iterations?|iters?|个?step|步|次迭代|个?迭代|轮迭代)?",
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


PARSERS: dict[str, Callable[[Question, Any], dict[str, Any]]] = {
    "profile_type": _choice,
    "level": _choice,
    "steps": _steps,
    "ranks": _ranks,
    "contents": _contents,
    "aic_metrics_type": _choice,
    "analyse_flag": _analyse,
    "train_iters": _iterations,
}


def is_default(raw: Any) -> bool:
    """Whether the answer says: the default."""
    return isinstance(raw, str) and DEFAULT.fullmatch(plain(raw)) is not None


def understand(question_id: str, raw: Any) -> dict[str, Any]:
    """The option fields an answer settles. The default of the case is the caller's to fill in (``is_default``).

    Errors: ``answer_not_understood``, ``start_step_too_small``, ``end_step_not_after_start``,
    ``train_iters_not_positive``, ``number_too_large``.
    """
    question = BY_ID[question_id]
    if isinstance(raw, str) and len(raw) > MAX_CHARS:
        raise refuse(question_id, raw)
    for option in question.options:
        if isinstance(raw, str) and raw.strip() == option.value and not question.multiple:
            return dict(option.sets)
    return PARSERS[question_id](question, raw)


def keeps(raw: Any) -> bool:
    """The answer to the question about an enabled profile block: True keeps it."""
    value = _alias("existing_profile", plain(raw)) if isinstance(raw, str) else None
    if value is None:
        raise refuse("existing_profile", raw)
    return value == "keep"
