"""What schemas and options say of themselves, in Chinese: complete, nothing left over, shown where help is asked for."""

import argparse
import re
from collections.abc import Iterator
from typing import Any

import pytest

from mindspeed_mm_train_profiler import cli
from mindspeed_mm_train_profiler.reference import resources, tools
from mindspeed_mm_train_profiler.simulator.demo_options import demo_parser
from mindspeed_mm_train_profiler.skill import helping, wording
from mindspeed_mm_train_profiler.skill.wording import schema_zh
from mindspeed_mm_train_profiler.terminal.main import build_parser


def of_schema(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("description"), str):
            yield value["description"].strip()
        for inner in value.values():
            yield from of_schema(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from of_schema(inner)


def of_parser(parser: argparse.ArgumentParser) -> Iterator[str]:
    yield from (text for text in (parser.description, parser.epilog) if text)
    for action in parser._actions:
        if action.help and action.help != argparse.SUPPRESS:
            yield action.help
        if isinstance(action, argparse._SubParsersAction):
            yield from (choice.help for choice in action._choices_actions if choice.help)
            for sub in action.choices.values():
                yield from of_parser(sub)


def everything() -> set[str]:
    found: set[str] = set()
    for tool in tools.listed():
        found |= {tool.title, tool.description.strip()}
        for schema in (tool.input_schema, tool.output_schema or {}):
            found |= set(of_schema({key: value for key, value in schema.items() if key != "description"}))
    for parser in (build_parser(), cli.serve_parser(), demo_parser()):
        found |= set(of_parser(parser))
    for listed in resources.listed():
        found |= {resources._first("en", item) for item in listed}
    return found


def test_everything_has_its_words() -> None:
    assert sorted(text for text in everything() if schema_zh.chinese(text) is None) == []


def test_no_words_are_left_over() -> None:
    texts = everything()
    used = texts | {piece for text in texts for piece in re.sub(r" \[[A-Z_]+\]$", "", text).split("; ")}
    used |= {re.sub(r" \[[A-Z_]+\]$", "", text) for text in texts}
    assert sorted(set(schema_zh.TEXTS) - used) == []


def test_names_values_and_variables_stay_as_they_are() -> None:
    """What one types or reads in a result is the same in both languages."""
    typed = re.compile(r"`+[^`]+`+|--[a-z-]+=?[\w:]*|\b[a-z]+_[a-z_]+\b|\[[A-Z_]+\]|\b[A-Z]{2,}_[A-Z_]+\b")
    for text in everything():
        told = schema_zh.chinese(text) or ""
        assert set(typed.findall(text)) <= set(typed.findall(told)), (text, told)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1 to 100", "1 到 100"),
        ("for a change; 0 to 20", "等待变化的秒数；0 到 20"),
        ("of a_b, c_d; separated by commas, or repeated", "可取 a_b, c_d；用逗号分隔，或重复给出"),
        ("port for http [SOME_VARIABLE]", "http 的端口 [SOME_VARIABLE]"),
        ("no such words; repeatable", None),
    ],
)
def test_parts(text: str, told: str | None) -> None:
    assert schema_zh.chinese(text) == told
    assert wording.described("zh", text) == (told or text) and wording.described("en", text) == text


@pytest.mark.parametrize(
    ("words", "language"),
    [
        (["collect", "--help"], "en"),
        (["--language", "zh", "-h"], "zh"),
        (["x", "--language=zh"], "zh"),
        (["--language"], "en"),
        (["--language", "fr"], "en"),
    ],
)
def test_the_language_a_command_line_asks_for(words: list[str], language: str) -> None:
    assert helping.spoken(words) == language


@pytest.mark.parametrize("words", [["status", "--help"], ["serve", "-h"], ["demo", "--help"], ["--help"]])
def test_help_in_chinese(words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit) as ended:
        cli.main([*words, "--language", "zh"])
    shown = capsys.readouterr().out
    assert ended.value.code == 0 and "选项:" in shown and "显示帮助后退出" in shown
    english = [line for line in shown.splitlines() if re.search(r"\b(the|and|or|with)\b", line)]
    assert english == [], english
    with pytest.raises(SystemExit):
        cli.main(words)
    assert re.search(r"[\u4e00-\u9fff]", capsys.readouterr().out) is None
