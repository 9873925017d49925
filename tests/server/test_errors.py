"""Every failure of a tool reaches the client with a code, in text and in structured content, in both protocol eras."""

import logging
from typing import Annotated, Any, Literal

import pytest
from mcp import Client
from mcp.server import MCPServer
from mcp.server.mcpserver import Resolve
from pydantic import BaseModel, ConfigDict, Field

from mindspeed_mm_train_profiler import settings
from mindspeed_mm_train_profiler.errors import CodedError, Note
from mindspeed_mm_train_profiler.tools.common import Language, NextStep, Result, ToolSpec, remarks, resolve_language
from mindspeed_mm_train_profiler.tools.serving import ProfilerServer, register

MODES = ["auto", "legacy"]


class Settings(BaseModel):
    model_config = ConfigDict(extra="forbid")
    start_step: Annotated[int, Field(ge=1)] = 10


class Answer(Result):
    value: int | None = None


def sample(
    kind: Literal["fine", "coded", "crash", "printing"],
    options: Settings | None = None,
    count: Annotated[int, Field(ge=1, le=5)] = 1,
    language: Language = None,
) -> Answer:
    if kind == "coded":
        raise CodedError("config_malformed", found="/x/tools.json:3:7", kind="JSON", detail="Expecting ','")
    if kind == "crash":
        raise RuntimeError("a secret path /home/someone")
    if kind == "printing":
        print("noise that must not reach the protocol")
    spoken = resolve_language(language)
    return Answer(
        summary="done",
        value=count,
        warnings=remarks(spoken, [Note("path_invalid", {"found": "''"})]),
        next_step=NextStep(tool="sample", why="because"),
    )


def spec(function: Any = sample) -> ToolSpec:
    return ToolSpec("sample", "A sample", "For tests.", function, True, False, True, False)


@pytest.fixture
def server() -> MCPServer[Any]:
    server = ProfilerServer("test")
    register(server, spec())
    return server


async def call(server: MCPServer[Any], mode: str, /, **arguments: Any) -> Any:
    async with Client(server, mode=mode) as client:
        return await client.call_tool("sample", arguments)


@pytest.mark.parametrize("mode", MODES)
async def test_a_result_has_text_and_structure(server: MCPServer[Any], mode: str) -> None:
    result = await call(server, mode, kind="fine", count=3)
    assert not result.is_error
    assert result.structured_content["value"] == 3
    assert result.structured_content["warnings"][0]["code"] == "path_invalid"
    text = result.content[0].text
    assert text.startswith("done")
    assert "path_invalid" in text and "sample - because" in text


@pytest.mark.parametrize("mode", MODES)
async def test_an_expected_failure_keeps_code_and_text(server: MCPServer[Any], mode: str) -> None:
    result = await call(server, mode, kind="coded")
    assert result.is_error
    error = result.structured_content["error"]
    assert error["code"] == "config_malformed"
    assert error["found"] == "/x/tools.json:3:7"
    assert error["hint"]
    assert "config_malformed" in result.content[0].text and "/x/tools.json:3:7" in result.content[0].text


async def test_failures_speak_the_asked_language(server: MCPServer[Any]) -> None:
    result = await call(server, "auto", kind="coded", language="zh")
    assert "配置文件" in result.structured_content["error"]["message"]
    assert "Expecting ','" in result.content[0].text  # quoted errors are not translated


async def test_the_servers_language_is_the_default(server: MCPServer[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "_current", settings.Settings(language="zh"))
    result = await call(server, "auto", kind="coded")
    assert "配置文件" in result.structured_content["error"]["message"]


@pytest.mark.parametrize("mode", MODES)
async def test_a_crash_is_logged_and_shown_short(
    server: MCPServer[Any], mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, "mindspeed_mm_train_profiler"):
        result = await call(server, mode, kind="crash")
    assert result.is_error
    assert result.structured_content["error"]["code"] == "internal_error"
    assert "someone" not in result.content[0].text and "Traceback" not in result.content[0].text
    assert any(record.exc_info and "someone" in str(record.exc_info[1]) for record in caplog.records)


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        ({"kind": "other"}, "kind"),
        ({"kind": "fine", "count": 9}, "count"),
        ({"kind": "fine", "options": {"start_step": 0}}, "options.start_step"),
        ({"kind": "fine", "options": {"strat_step": 3}}, "options.strat_step"),
        ({}, "kind"),
    ],
)
async def test_wrong_arguments_are_coded_and_named(
    server: MCPServer[Any], arguments: dict[str, Any], where: str
) -> None:
    result = await call(server, "auto", **arguments)
    error = result.structured_content["error"]
    assert error["code"] == "invalid_arguments"
    assert where in error["found"] and where in error["expected"]
    assert "pydantic" not in result.content[0].text


async def test_an_unknown_argument_is_refused_with_the_likely_one(server: MCPServer[Any]) -> None:
    result = await call(server, "auto", kind="fine", cuont=3)
    error = result.structured_content["error"]
    assert error["code"] == "unknown_argument"
    assert (error["found"], error["expected"]) == ("cuont", "count")


async def test_a_coded_error_of_a_resolver_keeps_its_code() -> None:
    def look_first(kind: str) -> int:
        raise CodedError("config_missing", found=kind)

    def asks(kind: str, size: Annotated[int, Resolve(look_first)]) -> Answer:
        return Answer(value=size)

    server = ProfilerServer("test")
    register(server, spec(asks))
    result = await call(server, "auto", kind="/x")
    assert result.structured_content["error"]["code"] == "config_missing"


async def test_all_four_annotations_and_both_schemas_are_published(server: MCPServer[Any]) -> None:
    async with Client(server) as client:
        (tool,) = (await client.list_tools()).tools
    assert tool.annotations is not None
    hints = tool.annotations.model_dump(exclude_none=True)
    assert set(hints) == {"title", "read_only_hint", "destructive_hint", "idempotent_hint", "open_world_hint"}
    assert tool.output_schema is not None and "value" in tool.output_schema["properties"]
    assert set(tool.input_schema["properties"]) == {"kind", "options", "count", "language"}
