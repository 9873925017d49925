"""Understanding an answer: a word, a list or a number, in either language, becomes option fields.

Nothing is guessed: what is not wholly understood raises ``answer_not_understood`` with the question's id, so that it is
asked again. Numbers stand for what the question is about, never for the position of an option.
"""

import re
from collections.abc import Callable
from typing import Any

from mindspeed_mm_train_profiler.skill.numbers import iterations, ranks, steps
from mindspeed_mm_train_profiler.skill.questions import BY_ID, CONTENTS, Question
from mindspeed_mm_train_profiler.skill.words import DEFAULT, MAX_CHARS, core, plain, refuse

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


def squeezed(text: str) -> str:
    """Without the marks that people put between the parts of a name: level_1, Pipe-Utilization, 级别 1."""
    return re.sub(r"[\s_:=-]+", "", text)


SQUEEZED = {
    question: {squeezed(word): value for value, words in options.items() for word in words}
    for question, options in WORDS.items()
}


def _alias(question: str, text: str) -> str | None:
    known = SQUEEZED[question]
    return known.get(squeezed(text)) or known.get(squeezed(core(text)))


def _choice(question: Question, raw: Any) -> dict[str, Any]:
    if question.id == "level" and isinstance(raw, int) and not isinstance(raw, bool):
        raw = str(raw)
    if not isinstance(raw, str):
        raise refuse(question.id, raw)
    value = _alias(question.id, plain(raw))
    if value is None:
        raise refuse(question.id, raw)
    return dict(next(option.sets for option in question.options if option.value == value))


NOTHING = {"none", "nothing", "no", "无", "没有", "都不要", "都不选", "不需要", "都不需要", "不用", "不要"}
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


OFF = re.compile(
    r"关闭|关掉|关|不(?:需要|要开启|要打开|开启|打开|启用|要|用|开|做)|不|否|无需"
    r"|\b(off|no|false|disabled?|don't|do not|without)\b"
)
OFFLINE = re.compile(r"离线|\boffline\b|\blater\b|之后|稍后|手动")
ON = re.compile(r"开启|打开|启用|开|是的|是|需要|要|\b(on|yes|true|enabled?|y)\b")
ABOUT = re.compile(r"在线|解析|自动|训练完|需|跑|进行|\b(online|parse|parsing|analyse|analysis|the data|it|n)\b|[,、 ]")


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


PARSERS: dict[str, Callable[[Question, Any], dict[str, Any]]] = {
    "profile_type": _choice,
    "level": _choice,
    "steps": steps,
    "ranks": ranks,
    "contents": _contents,
    "aic_metrics_type": _choice,
    "analyse_flag": _analyse,
    "train_iters": iterations,
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
