"""build_config and discard_copies through a client, in both eras of the protocol."""

from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.types import ElicitResult, ErrorData

from mindspeed_mm_train_profiler.options import ProfileOptions
from mindspeed_mm_train_profiler.server import build_server
from mindspeed_mm_train_profiler.simulator.sample import make_checkout
from mindspeed_mm_train_profiler.tools.build_config import MAX_DIFF_CHARS, build_config

OPTIONS = {"acknowledge": ["missing_paths"], "train_iters": 20}
ERAS = ["auto", "legacy"]


@pytest.fixture
def script(tmp_path: Path) -> str:
    return str(make_checkout(tmp_path / "mm").scripts["yaml"])


def files(script: str) -> set[Path]:
    return set(Path(script).parents[2].rglob("*"))


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_cannot_be_asked_confirms_with_a_second_call(script: str, era: Any) -> None:
    before = files(script)
    async with Client(build_server(), mode=era) as client:
        first = (await client.call_tool("build_config", {"script": script, "options": OPTIONS})).structured_content
        assert first is not None and first["status"] == "needs_confirmation"
        assert first["copies"] == [] and first["config_id"] is None and files(script) == before
        again = first["next_step"]
        assert again["tool"] == "build_config" and again["arguments"]["confirmed"] is True
        built = (await client.call_tool("build_config", again["arguments"])).structured_content
        assert built is not None and built["status"] == "built"
        assert [copy["role"] for copy in built["copies"]] == ["yaml", "tools_json", "script"]
        assert built["expected"] == first["expected"]
        # the same table, with the folder's real name now that it has one
        made = Path(built["save_path"]).name
        assert [{**row, "value": row["value"].replace("run_<time>", made)} for row in first["confirmation"]] == built[
            "confirmation"
        ]
        assert sum(len(copy["diff"]) for copy in built["copies"]) <= MAX_DIFF_CHARS + 200
        assert built["next_step"] == {
            "tool": "launch_training",
            "arguments": {"config_id": built["config_id"]},
            "why": built["next_step"]["why"],
        }
        gone = (await client.call_tool("discard_copies", {"config_id": built["config_id"]})).structured_content
        assert gone is not None and len(gone["removed"]) == 3 and files(script) == before


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (ElicitResult(action="accept", content={"confirm": True}), "built"),
        (ElicitResult(action="accept", content={"confirm": False}), "declined"),
        (ElicitResult(action="decline"), "declined"),
        (ElicitResult(action="cancel"), "declined"),
    ],
)
async def test_the_clients_answer_decides(script: str, era: Any, answer: ElicitResult, status: str) -> None:
    before = files(script)
    asked: list[str] = []

    async def reply(context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return answer

    arguments = {"script": script, "options": OPTIONS, "language": "zh"}
    async with Client(build_server(), mode=era, elicitation_callback=reply) as client:
        result = await client.call_tool("build_config", arguments)
    assert result.structured_content is not None and result.structured_content["status"] == status
    assert asked and all("| 运行脚本 |" in message for message in asked)
    assert (files(script) == before) == (status == "declined")


async def test_a_client_that_advertises_forms_and_fails_has_said_nothing(script: str) -> None:
    before = files(script)

    async def broken(context: Any, params: Any) -> ErrorData:
        return ErrorData(code=-32601, message="Method not found")

    async with Client(build_server(), mode="legacy", elicitation_callback=broken) as client:
        result = await client.call_tool("build_config", {"script": script, "options": OPTIONS})
    told = result.structured_content
    assert told is not None and told["status"] == "needs_confirmation" and files(script) == before
    assert told["next_step"]["tool"] == "build_config" and told["next_step"]["arguments"]["confirmed"] is True


async def test_nobody_is_asked_where_the_call_itself_confirms_or_fails(script: str) -> None:
    async def reply(context: Any, params: Any) -> ElicitResult:
        raise AssertionError("asked")

    async with Client(build_server(), elicitation_callback=reply) as client:
        arguments = {"script": script, "options": OPTIONS}
        result = await client.call_tool("build_config", {**arguments, "confirmed": False})
        assert result.structured_content is not None and result.structured_content["status"] == "declined"
        wrong = await client.call_tool("build_config", {"script": script, "options": {**OPTIONS, "end_step": 3}})
        assert wrong.is_error and wrong.structured_content is not None
        assert wrong.structured_content["error"]["code"] == "end_step_not_after_start"


def test_rows_are_in_the_skills_order(script: str) -> None:
    rows = build_config(script, ProfileOptions(**OPTIONS), language="zh").confirmation
    order = ["运行脚本", "训练引擎", "配置文件", "采集类型", "采集级别", "采集步骤", "采集卡号", "采集内容"]
    assert [row.item for row in rows] == [*order, "AI Core 指标", "在线解析", "训练步数", "输出目录"]
    assert [row.value for row in rows][3:5] == ["static", "level1"] and rows[-2].value == "20"


def test_relative_paths_are_the_servers(script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    options = ProfileOptions(**OPTIONS, save_path="here/out")
    result = build_config(script, options, confirmed=True)
    assert result.save_path == str(tmp_path / "here/out") and (tmp_path / "here/out").is_dir()


async def test_an_unknown_build_cannot_be_discarded() -> None:
    async with Client(build_server()) as client:
        result = await client.call_tool("discard_copies", {"config_id": "../../etc"})
    assert result.is_error and result.structured_content is not None
    assert result.structured_content["error"]["code"] == "build_unknown"
