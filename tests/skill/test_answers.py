"""Answers as people give them, in both languages; what is not understood is refused, never guessed."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.skill import wording
from mindspeed_mm_train_profiler.skill.answers import keeps, understand
from mindspeed_mm_train_profiler.skill.questions import BY_ID, CONTENTS, QUESTIONS


def contents(*chosen: str) -> dict[str, bool]:
    return {name: name in chosen for name in CONTENTS}


ALL_CONTENTS = contents(*CONTENTS)

UNDERSTOOD: dict[str, list[tuple[Any, Any]]] = {
    # SK-08, SK-17
    "profile_type": [
        ("静态", "static"), ("static", "static"), ("Static", "static"), ("动态", "dynamic"), ("dynamic", "dynamic"),
        ("静态采集", "static"), ("请用静态", "static"), ("dynamic please", "dynamic"), (" 动态。", "dynamic"),
    ],
    # SK-09
    "level": [
        ("Level0", "level0"), ("Level1", "level1"), ("Level2", "level2"), ("level 2", "level2"), ("L1", "level1"),
        ("Ｌｅｖｅｌ１", "level1"), ("级别2", "level2"), (0, "level0"), ("2", "level2"), ("全量", "level2"), ("basic", "level0"),
        ("level_1", "level1"), ("级别 1", "level1"), ("Level-2", "level2"), ("1 级", "level1"),
    ],
    # SK-10
    "steps": [
        ("10~12", (10, 12)), ("5-8", (5, 8)), ("10 ~ 12", (10, 12)), ("step 10 到 12", (10, 12)), ("step 5 to 8", (5, 8)),
        ("steps 5 to 8", (5, 8)), ("从 5 到 8", (5, 8)), ("第5步到第8步", (5, 8)), ("5至8", (5, 8)), ("10..12", (10, 12)),
        ("start_step=5, end_step=8", (5, 8)), ("end 8 start 5", (5, 8)), ("from 10 for 3 steps", (10, 13)),
        ("3 steps from 10", (10, 13)), ("从10开始采3步", (10, 13)), ([5, 8], (5, 8)), ([5.0, 8], (5, 8)),
        ({"start_step": 20, "end_step": 22}, (20, 22)), ("１０～１２", (10, 12)), ("10—12", (10, 12)), ("[5, 8]", (5, 8)),
        ("between 5 and 8", (5, 8)), ("结束8 起始5", (5, 8)), ("custom: 20-22", (20, 22)),
        ("采集第10到12步", (10, 12)), ("自定义 20~22", (20, 22)), ("起始5 结束8", (5, 8)),
    ],
    # SK-11
    "ranks": [
        ("rank 0", [0]), ("仅 rank 0", [0]), ("only rank 0", [0]), ("全部", "all"), ("全部 rank", "all"), ("all", "all"),
        ("所有卡", "all"), ("all ranks", "all"), ("every rank", "all"), ("-1", "all"), (-1, "all"), ([-1], "all"),
        ("0,1,2", [0, 1, 2]), ("0，1，2", [0, 1, 2]), ("0、1、2", [0, 1, 2]), ("0 1 2", [0, 1, 2]), ("0-3", [0, 1, 2, 3]),
        ("0~3", [0, 1, 2, 3]), ("0到3", [0, 1, 2, 3]), ("rank 0 to 3", [0, 1, 2, 3]), ("0-1,8-9", [0, 1, 8, 9]),
        ("0 和 1", [0, 1]), ("cards 0 and 1", [0, 1]), ("rank0,rank2", [0, 2]), ("第0卡", [0]), ("0号卡", [0]),
        ("前4张卡", [0, 1, 2, 3]), ("first 2 ranks", [0, 1]), ([3, 1, 1], [1, 3]), (5, [5]), (["0", "1"], [0, 1]),
        ("[0, 1]", [0, 1]),
        ("只采集 rank 0", [0]), ("只要0卡", [0]), ("每张卡", "all"), ("ranks: [0, 1]", [0, 1]), ("ranks: all", "all"), ("自定义 0,1,2", [0, 1, 2]),
    ],
    # SK-12
    "contents": [
        ("CPU 事件", contents("with_cpu")), ("CPU事件", contents("with_cpu")), ("内存占用", contents("with_memory")),
        ("CPU 事件、内存占用和算子调用栈", contents("with_cpu", "with_memory", "with_stack")),
        ("cpu events, tensor input shapes", contents("with_cpu", "record_shapes")),
        (["with_cpu", "数据简化模式"], contents("with_cpu", "data_simplification")), ([], contents()), ("无", contents()),
        ("全部", ALL_CONTENTS), ("all", ALL_CONTENTS), ("再加内存", contents("with_cpu", "with_memory")),
        ("默认+内存", contents("with_cpu", "with_memory")), ("also memory", contents("with_cpu", "with_memory")),
        ("只要CPU", contents("with_cpu")), ("不需要", contents()),
    ],
    # SK-13
    "aic_metrics_type": [
        ("PipeUtilization", "PipeUtilization"), ("pipe", "PipeUtilization"), ("arithmeticutilization", "ArithmeticUtilization"),
        ("ArithmeticUtilization", "ArithmeticUtilization"), ("算术利用率", "ArithmeticUtilization"),
    ],
    # SK-14
    "analyse_flag": [
        ("开启", True), ("关闭", False), ("on", True), ("off", False), (True, True), (False, False), ("是", True), ("否", False),
        ("yes", True), ("no", False), ("不解析", False), ("don't parse", False), ("离线", False), ("offline", False),
        ("关闭在线解析", False), ("关闭，需手动跑离线解析", False), ("parse online", True), ("在线解析", True), ("off, parse later", False),
        ("不需要", False), ("不开启", False), ("不要开启", False), ("需要", True), ("启用", True),
    ],
    # SK-15
    "train_iters": [
        ("20", 20), ("100", 100), (1000, 1000), ("10000", 10000), ("10,000", 10000), ("100步", 100), ("100 iterations", 100),
        ("1k", 1000), ("1万", 10000), ("train_iters=50", 50), (50.0, 50), ("训练 30 步", 30), ("５０", 50),
        ("20次", 20), ("自定义 50", 50), ("设为 60", 60),
    ],
}  # fmt: skip

REFUSED: dict[str, list[Any]] = {
    "profile_type": ["", "1", 1, None, "不要动态", "static or dynamic", "both", True, ["static"]],
    "level": ["3", 3, "level", "level3", "level1 or level2", True, 1.5, None],
    "steps": ["", "10", "10.5~12", "iterations 5 to 8", "5 through 8", "5 8 11", "all", [5], [5, 8, 9], [True, 8], {}, "10k~12k"],
    "ranks": ["", "all but 0", "除了0", "3-0", "8张卡", "8卡", "4 cards", "1.5", "-2", [], [0, -1], True, [0, "x"], "rank", {}, "0-99999999"],
    "contents": ["", "cpu or memory", "cpu and flops", 1, True, [1], {"with_cpu": True}],
    "aic_metrics_type": ["", "Memory", "L2Cache", "both"],
    "analyse_flag": ["", "maybe", "not off", "no offline", "不要关闭", 1, "online or offline", "开启或关闭"],
    "train_iters": ["", "abc", "1.5", 1.5, True, "-5", "100 or 200", "一百", None, float("nan"), float("inf")],
}  # fmt: skip


@pytest.mark.parametrize(
    ("question", "raw", "value"), [(name, raw, value) for name, rows in UNDERSTOOD.items() for raw, value in rows]
)
def test_understood(question: str, raw: Any, value: Any) -> None:
    """SK-17: every answer of the skill's mapping table, and natural variants."""
    sets = understand(question, raw)
    if question == "steps":
        assert (sets["start_step"], sets["end_step"]) == value
    elif question == "contents":
        assert sets == value
    else:
        assert sets == {question: value}


@pytest.mark.parametrize(("question", "raw"), [(name, raw) for name, rows in REFUSED.items() for raw in rows])
def test_refused(question: str, raw: Any) -> None:
    with pytest.raises(CodedError) as raised:
        understand(question, raw)
    assert raised.value.code == "answer_not_understood"


@pytest.mark.parametrize(
    ("question", "raw", "code"),
    [
        ("steps", "0~2", "start_step_too_small"),
        ("steps", [0, 2], "start_step_too_small"),
        ("steps", "-1~3", "start_step_too_small"),
        ("steps", "8~5", "end_step_not_after_start"),
        ("steps", "5~5", "end_step_not_after_start"),
        ("steps", "5~99999999999", "number_too_large"),
        ("train_iters", "0", "train_iters_not_positive"),
        ("train_iters", -3, "train_iters_not_positive"),
        ("train_iters", "99999999999", "number_too_large"),
    ],
)
def test_out_of_range(question: str, raw: Any, code: str) -> None:
    """SK-30: start_step 0 is refused with its reason."""
    with pytest.raises(CodedError) as raised:
        understand(question, raw)
    assert raised.value.code == code
    for language in wording.LANGUAGES:
        assert all(part is None or part for part in wording.error_texts(language, raised.value))


@pytest.mark.parametrize("language", wording.LANGUAGES)
@pytest.mark.parametrize("question", QUESTIONS, ids=lambda item: item.id)
def test_every_label_and_value_is_an_answer(question: Any, language: wording.Language) -> None:
    """What a form shows can be said back, in either language."""
    for option in question.options:
        said = wording.text(language, f"question.{question.id}.{option.value}")
        for raw in (said, option.value):
            sets = understand(question.id, raw)
            assert {name: sets[name] for name in option.sets} == option.sets


def test_keep_or_override() -> None:
    assert keeps("keep") and keeps("保留") and not keeps("override") and not keeps("替换")
    for language in wording.LANGUAGES:
        assert wording.text(language, "question.existing_profile.keep")
    with pytest.raises(CodedError):
        keeps("maybe")


@given(question=st.sampled_from([item.id for item in QUESTIONS]), raw=st.text(max_size=60))
def test_any_text_is_understood_or_refused(question: str, raw: str) -> None:
    try:
        sets = understand(question, raw)
    except CodedError as error:
        assert f"{error.code}.message" in wording.catalogue("zh")
    else:
        assert set(sets) <= set(BY_ID[question].maps_to)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(question=st.sampled_from([item.id for item in QUESTIONS]), raw=json_values)
def test_any_json_is_understood_or_refused(question: str, raw: Any) -> None:
    try:
        sets = understand(question, raw)
    except CodedError as error:
        assert f"{error.code}.message" in wording.catalogue("en")
    else:
        assert set(sets) <= set(BY_ID[question].maps_to)


@given(
    start=st.integers(1, 10_000),
    length=st.integers(1, 50),
    form=st.sampled_from(["{}~{}", "{} - {}", "step {} to {}", "{}到{}"]),
)
def test_windows_in_all_spellings(start: int, length: int, form: str) -> None:
    assert understand("steps", form.format(start, start + length)) == {"start_step": start, "end_step": start + length}


@given(
    ranks=st.lists(st.integers(0, 4095), min_size=1, max_size=20),
    joint=st.sampled_from([",", "、", ", ", " ", ";", " 和 "]),
)
def test_rank_lists_in_all_spellings(ranks: list[int], joint: str) -> None:
    assert understand("ranks", joint.join(map(str, ranks))) == {"ranks": sorted(set(ranks))}
