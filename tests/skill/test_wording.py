"""Both catalogues over all modules: the same keys, the same placeholders, the same quoted words."""

import importlib
import re
import string

import pytest

from mindspeed_mm_train_profiler.skill import wording
from mindspeed_mm_train_profiler.skill.questions import EXISTING, QUESTIONS, RULES

EN, ZH = wording.catalogue("en"), wording.catalogue("zh")


def holes(template: str) -> list[str]:
    return sorted({name for _, name, _, _ in string.Formatter().parse(template) if name})


def test_both_languages_have_the_same_keys() -> None:
    """SK-37."""
    assert EN.keys() == ZH.keys()


@pytest.mark.parametrize("language", wording.LANGUAGES)
def test_no_text_is_empty(language: wording.Language) -> None:
    empty = [key for key, value in wording.catalogue(language).items() if not value and "separator" not in key]
    assert empty == []


def test_both_languages_have_the_same_placeholders() -> None:
    assert [key for key in EN if holes(EN[key]) != holes(ZH[key])] == []


def test_code_words_are_not_translated() -> None:
    """SK-01: whatever stands between backticks is the same in both."""
    words = re.compile(r"`([^`]+)`")
    assert [key for key in EN if set(words.findall(EN[key])) != set(words.findall(ZH[key]))] == []


def test_each_hint_has_a_message() -> None:
    for key in EN:
        if key.endswith(".hint") and not key.startswith("common"):
            assert key.removesuffix("hint") + "message" in EN, key


def test_modules_of_both_languages_are_the_same() -> None:
    import pkgutil

    names = []
    for language in wording.LANGUAGES:
        package = importlib.import_module(f"{wording.__name__}.{language}")
        names.append(sorted(info.name for info in pkgutil.iter_modules(package.__path__)))
    assert names[0] == names[1] and len(names[0]) > 10


def test_every_question_is_worded() -> None:
    for question in (EXISTING, *QUESTIONS):
        keys = ["text", *question.values(), *(["custom", "custom_hint"] if question.custom else [])]
        assert all(f"question.{question.id}.{key}" in EN for key in keys)
    assert {key.removeprefix("question.when.") for key in EN if key.startswith("question.when.")} == set(RULES)


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("no_script", "Profiling 需要可运行的训练脚本，请先准备好再进行采集。"),
        ("npu_unavailable", "当前环境未检测到 NPU，请在有 Ascend NPU 的环境中运行。"),
        ("torch_npu_unavailable", "请安装 torch_npu 后再试。"),
        ("paths_missing", "训练脚本中引用的路径不存在"),
    ],
)
def test_stops_are_worded_as_the_skill_words_them(code: str, sentence: str) -> None:
    """SK-03, SK-18, SK-19, SK-20."""
    assert sentence in ZH[f"{code}.message"] + (ZH.get(f"{code}.hint") or "")


def test_a_failed_training_is_told_with_its_exit_code() -> None:
    """SK-27."""
    said = wording.text("zh", "poll.state.failed", run_id="run-1", code=137)
    assert "训练执行失败（退出码: 137）" in said and "Profiling 采集需要训练正常运行" in said


@pytest.mark.parametrize("language", wording.LANGUAGES)
def test_the_questions_are_the_committed_ones(language: wording.Language) -> None:
    """A snapshot of each language: a change of wording or order is seen in review. UPDATE_SNAPSHOTS=1 writes it."""
    import json
    import os
    from pathlib import Path

    from mindspeed_mm_train_profiler.skill import catalogue

    file = Path(__file__).parent / "snapshots" / f"questions.{language}.json"
    found = json.loads(json.dumps(catalogue.questions(language), ensure_ascii=False))
    if os.environ.get("UPDATE_SNAPSHOTS"):
        file.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    assert json.loads(file.read_text(encoding="utf-8")) == found


@pytest.mark.parametrize(
    ("count", "words"), [(0, "0 ranks"), (1, "1 rank"), ("1", "1 rank"), (2, "2 ranks"), ("?", "? ranks")]
)
def test_a_number_takes_the_word_that_goes_with_it(count: object, words: str) -> None:
    assert wording.text("en", "summary.done", ranks=count, steps=1, path="p") == f"{words}, 1 step row read from p."
