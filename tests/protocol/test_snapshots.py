"""One committed snapshot of every tool's face: a change of what clients see is a change of a file, seen in review.

``UPDATE_SNAPSHOTS=1 pytest tests/protocol/test_snapshots.py`` writes them anew.
"""

import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp import Client

from mindspeed_mm_train_profiler.server import build_server
from mindspeed_mm_train_profiler.tools import ALL

FOLDER = Path(__file__).parent / "snapshots"
NAMES = [spec.name for spec in ALL]


async def faces() -> dict[str, dict[str, Any]]:
    """Every tool as ``tools/list`` sends it."""
    async with Client(build_server()) as client:
        tools = (await client.list_tools()).tools
    return {tool.name: tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools}


def written(face: dict[str, Any]) -> str:
    return json.dumps(face, indent=2, ensure_ascii=False, sort_keys=True) + "\n"


@pytest.mark.parametrize("name", NAMES)
async def test_a_tools_face_is_the_committed_one(name: str) -> None:
    file = FOLDER / f"{name}.json"
    text = written((await faces())[name])
    if os.environ.get("UPDATE_SNAPSHOTS"):
        file.write_text(text, encoding="utf-8")
    assert file.is_file(), "no snapshot: run with UPDATE_SNAPSHOTS=1 and commit the file"
    assert json.loads(file.read_text(encoding="utf-8")) == json.loads(text), (
        "the tool's face changed: if that is meant, run with UPDATE_SNAPSHOTS=1 and commit"
    )


def test_no_snapshot_is_left_of_a_tool_that_went() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
async def test_a_tools_face_is_complete(name: str) -> None:
    """Title, description, all four annotations, both schemas valid JSON Schema, every argument described."""
    face = (await faces())[name]
    assert len(name) <= 64 and name.islower()
    assert face["title"] and face["description"]
    assert set(face["annotations"]) >= {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint", "title"}
    for key in ("inputSchema", "outputSchema"):
        jsonschema.Draft202012Validator.check_schema(face[key])
        assert face[key]["type"] == "object"
    assert "language" in face["inputSchema"]["properties"]
    assert {"ok", "summary", "warnings", "next_step"} <= set(face["outputSchema"]["properties"])


def test_a_tool_that_changes_nothing_is_said_so_and_no_other() -> None:
    known = {
        "detect_engine", "check_env", "poll_status", "verify_output", "list_runs", "choose_options",
        "compare_profiles", "summarize_profile",
    }  # fmt: skip
    said = {spec.name for spec in ALL if spec.read_only}
    assert said <= known
    assert {"detect_engine", "check_env", "poll_status", "verify_output"} <= said
    assert {spec.name for spec in ALL if spec.destructive} <= {
        "launch_training", "stop_training", "discard_copies", "parse_offline",
    }  # fmt: skip
