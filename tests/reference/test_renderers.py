"""References made from the code: nothing left out, nothing that breaks a table."""

import argparse
import re
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from mindspeed_mm_train_profiler.cli import serve_parser
from mindspeed_mm_train_profiler.options import ProfileOptions
from mindspeed_mm_train_profiler.reference import codes, commands, options, resources, tables, tools
from mindspeed_mm_train_profiler.skill.wording import LANGUAGES, Language, catalogue
from mindspeed_mm_train_profiler.terminal.main import build_parser
from mindspeed_mm_train_profiler.tools import ALL


class Inner(BaseModel):
    rank: int | None = None
    kind: Literal["a", "b"] = Field("a", description="which | one\nof both")


class Outer(BaseModel):
    inner: list[Inner]
    ranks: list[int] | Literal["all"] = "all"
    env: dict[str, str] = Field(default_factory=dict)


SCHEMA = Outer.model_json_schema()


@pytest.mark.parametrize(
    ("field", "expected"),
    [("inner", "array of Inner"), ("ranks", 'array of integer or "all"'), ("env", "object")],
)
def test_a_type_in_a_word(field: str, expected: str) -> None:
    assert tables.type_word(SCHEMA["properties"][field], SCHEMA["$defs"]) == expected


def test_null_and_enumerations() -> None:
    inner = SCHEMA["$defs"]["Inner"]["properties"]
    assert tables.type_word(inner["rank"], {}) == "integer or null"
    assert tables.type_word(inner["kind"], {}) == '"a" or "b"'
    assert tables.type_word({"type": ["string", "null"]}, {}) == "string or null"
    assert tables.type_word({}, {}) == "any"


def test_models_are_found_through_others_and_once() -> None:
    assert tables.models_in(SCHEMA, SCHEMA["$defs"]) == ["Inner"]
    circle = {
        "$defs": {"A": {"properties": {"next": {"$ref": "#/$defs/A"}}}},
        "properties": {"x": {"$ref": "#/$defs/A"}},
    }
    assert tables.models_in(circle, circle["$defs"]) == ["A"]


@given(st.text())
def test_a_cell_never_leaves_its_row(text: str) -> None:
    (line,) = tables.table(["one"], [[text]])[2:]
    assert "\n" not in line.replace("\r", "")
    assert "|" not in re.sub(r"\\\|", "", line[2:-2])
    assert line.startswith("| ") and line.endswith(" |")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_command_and_option_is_in_the_reference(language: Language) -> None:
    text = commands.render(language)
    for name, parser, _ in commands.subcommands(build_parser()):
        section = text.partition(f"## mindspeed-mm-train-profiler {name}\n")[2].partition("\n## ")[0]
        assert section, name
        for action in (serve_parser() if name == "serve" else parser)._actions:
            if not isinstance(action, argparse._HelpAction):
                assert all(f"{option}" in section for option in action.option_strings), (name, action.option_strings)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_tool_and_argument_is_in_the_reference(language: Language) -> None:
    text = tools.render(language)
    for tool in tools.listed():
        section = text.partition(f"## {tool.name}\n")[2].partition("\n## ")[0]
        for name in tool.input_schema["properties"]:
            assert f"| `{name}` |" in section, (tool.name, name)
        for name in set(tool.output_schema["properties"]) - set(tools.COMMON):
            assert f"| `{name}` |" in section, (tool.name, name)
    assert [spec.name for spec in ALL] == re.findall(r"^## (\w+)$", text, re.MULTILINE)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_code_is_in_the_table(language: Language) -> None:
    listed = [code for rows in codes.codes(language).values() for code, _, _ in rows]
    assert sorted(listed) == sorted(
        key.removesuffix(".message") for key in catalogue(language) if key.endswith(".message")
    )


def test_placeholders_are_shown_in_italics() -> None:
    assert codes._shown("{found} of {count:,}: {{x}}") == "*found* of *count*: {x}"
    assert codes._shown("{count:path is|paths are} not there") == "*count* paths are not there"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_option_is_in_the_table_and_has_its_place(language: Language) -> None:
    rows = options.render(language).splitlines()[2:]
    assert [row.split("`")[1] for row in rows] == list(ProfileOptions.model_fields)
    assert set(options.PLACES) | set(options.OWN) == set(ProfileOptions.model_fields)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_resource_and_prompt_stands_in_its_table(language: Language) -> None:
    rendered = resources.render(language)
    for address in ("questions/{language}", "runs/{run_id}", "troubleshooting/{language}"):
        assert rendered.count(f"| `profiling://{address}` |") == 1
    listed, prompts = resources.listed()
    rows = [line for line in rendered.splitlines() if line.startswith("| `")]
    assert len(rows) == len(listed) + len(prompts) and len(listed) >= 6
    assert "`profiling://runs/{run_id}`" in rendered.split("subscriptions/listen")[0]
