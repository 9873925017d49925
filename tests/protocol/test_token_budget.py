"""What the server costs a model: the tool list, and (in test_results.py) results as they come by default.

Tokens are estimated, so that no tokenizer has to be downloaded: 4.4 letters or blanks, 2.6 digits or marks, or one
character outside ASCII make one. ``ANCHORS`` were counted with two public tokenizers, cl100k_base and o200k_base.
"""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client

from mindspeed_mm_train_profiler.server import INSTRUCTIONS, build_server

TOOL_LIST = 3_000

# text, (tokens by cl100k_base, tokens by o200k_base)
ANCHORS = [
    (
        '{"type":"object","properties":{"script":{"type":"string","description":"Path of the launch script (.sh)."},'
        '"workdir":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null}},"required":["script"]}',
        (48, 51),
    ),
    (
        "Reads a launch script without running it: engine, configuration chain, iterations, ranks, missing paths.",
        (21, 20),
    ),
    ("训练执行失败（退出码: 1）。Profiling 采集需要训练正常运行，请修复训练配置后重试。", (40, 28)),
    (
        '{"steps":[{"rank":0,"step":10,"compute_us":48211.3,"communication_us":9120.07,"free_us":null}],'
        '"path":"/data/npu_profiling/host_1234_20260801120000123_ascend_pt"}',
        (55, 60),
    ),
]


def estimate(text: str) -> int:
    """Tokens of a text, estimated."""
    wide = sum(ord(character) > 127 for character in text)
    letters = sum(character.isascii() and (character.isalpha() or character.isspace()) for character in text)
    return wide + round(letters / 4.4 + (len(text) - wide - letters) / 2.6)


def seen_by_model(tool: Any) -> str:
    """What clients put before a model: name, description and input schema. The output schema stays with the client."""
    face = {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
    return json.dumps(face, ensure_ascii=False, separators=(",", ":"))


async def test_the_tool_list_keeps_to_its_budget() -> None:
    async with Client(build_server()) as client:
        tools = (await client.list_tools()).tools
    costs = {tool.name: estimate(seen_by_model(tool)) for tool in tools}
    total = sum(costs.values()) + estimate(INSTRUCTIONS)
    assert total <= TOOL_LIST, f"{total} tokens: {costs}"


@pytest.mark.parametrize(("text", "counted"), ANCHORS)
def test_the_estimate_is_near_what_tokenizers_count(text: str, counted: tuple[int, int]) -> None:
    assert max(counted) * 0.8 <= estimate(text) <= max(counted) * 1.3


@given(st.text(max_size=200), st.text(max_size=200))
def test_the_estimate_grows_with_the_text(first: str, second: str) -> None:
    assert estimate(first + " " + second) >= max(estimate(first), estimate(second))
