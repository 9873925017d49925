"""Resources, prompt and completion, through a client in both eras."""

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.types import PromptReference, ResourceTemplateReference

from mindspeed_mm_train_profiler import settings
from mindspeed_mm_train_profiler.server import build_server
from mindspeed_mm_train_profiler.skill.__main__ import FOLDER
from mindspeed_mm_train_profiler.skill.questions import BY_ID, QUESTIONS

ERAS = ["auto", "legacy"]
LANGUAGES = ["en", "zh"]
PROMPT = PromptReference(name="collect_profile")
EXPECTED = ["profile_type", "level", "steps", "ranks", "contents", "aic_metrics_type", "analyse_flag", "train_iters"]


async def text(client: Client, uri: str) -> str:
    (content,) = (await client.read_resource(uri)).contents
    return str(content.text)  # type: ignore[union-attr]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("language", LANGUAGES)
async def test_questions_are_data_in_the_skills_order(era: Any, language: str) -> None:
    """SK-08: each with id, text, options with values, default, multiple, when asked, what it sets."""
    async with Client(build_server(), mode=era) as client:
        told = json.loads(await text(client, f"profiling://questions/{language}"))
        one = json.loads(await text(client, f"profiling://questions/{language}/steps"))
    assert [item["id"] for item in told["questions"]] == EXPECTED
    keys = {"id", "text", "options", "default", "multiple", "asked_when", "maps_to", "custom"}
    assert all(keys <= item.keys() and item["text"] and item["options"] for item in told["questions"])
    assert one == told["questions"][2] and one["maps_to"] == ["start_step", "end_step"]
    assert [item["multiple"] for item in told["questions"]].count(True) == 1


@pytest.mark.parametrize("name", ["reference", "troubleshooting"])
@pytest.mark.parametrize("language", LANGUAGES)
async def test_tables_are_the_skills_own_references(name: str, language: str) -> None:
    """SK-32, SK-34: the committed files are the snapshots of both languages."""
    file = {"reference": "parameters"}.get(name, name)
    async with Client(build_server()) as client:
        told = await text(client, f"profiling://{name}/{language}")
    assert told == (FOLDER / f"{file}.{language}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    "uri",
    [
        "profiling://questions/fr",
        "profiling://questions/en/none",
        "profiling://reference/EN",
        "profiling://runs/run-00000000-000000-none",
        "profiling://runs/..%2f..%2fetc",
    ],
)
async def test_what_does_not_exist_is_said_so(era: Any, uri: str) -> None:
    async with Client(build_server(), mode=era) as client:
        with pytest.raises(MCPError) as raised:
            await client.read_resource(uri)
    assert "Traceback" not in str(raised.value) and "internal" not in str(raised.value).lower()


async def test_runs_are_listed_and_read(own_state: Path) -> None:
    folder = own_state / "runs" / "run-20260801-120000-abcd"
    folder.mkdir(parents=True)
    async with Client(build_server()) as client:
        listed = json.loads(await text(client, "profiling://runs"))
        assert [item["id"] for item in listed["items"]] == [folder.name]
        done = await client.complete(
            ResourceTemplateReference(uri="profiling://runs/{run_id}"), {"name": "run_id", "value": "run-2026"}
        )
        assert done.completion.values == [folder.name]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_prompt(era: Any, language: str) -> None:
    """SK-02, SK-03."""
    async with Client(build_server(), mode=era) as client:
        (prompt,) = (await client.list_prompts()).prompts
        assert [(item.name, item.required) for item in prompt.arguments or []] == [
            ("script", False),
            ("language", False),
        ]
        given = await client.get_prompt("collect_profile", {"script": "/data/a b.sh", "language": language})
        bare = await client.get_prompt("collect_profile", {"language": language})
    assert "/data/a b.sh" in given.messages[0].content.text  # type: ignore[union-attr]
    said = bare.messages[0].content.text  # type: ignore[union-attr]
    assert ("请先准备好再进行采集" if language == "zh" else "please prepare one first") in said


async def completed(name: str, value: str) -> list[str]:
    async with Client(build_server()) as client:
        return list((await client.complete(PROMPT, {"name": name, "value": value})).completion.values)


async def test_languages_and_ids_are_completed() -> None:
    assert await completed("language", "") == ["en", "zh"]
    assert await completed("language", "z") == ["zh"]
    assert await completed("id", "l") == ["level"]
    assert await completed("nothing", "l") == []


async def test_scripts_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").mkdir()
    for name in ("train.sh", "train_b.sh", "train.py", ".hidden.sh"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    assert await completed("script", f"{tmp_path}/") == [
        f"{tmp_path}/examples/",
        f"{tmp_path}/train.sh",
        f"{tmp_path}/train_b.sh",
    ]
    assert await completed("script", "tr") == ["train.sh", "train_b.sh"]
    assert await completed("script", f"{tmp_path}/none/x") == []


async def test_scripts_are_completed_inside_the_allowed_directories_only(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "a.sh").touch()
    (inside / "link").symlink_to(outside)
    settings.change(allow_dirs=(inside,))
    assert await completed("script", "") == [f"{inside}/"]
    assert await completed("script", f"{inside}/") == [f"{inside}/a.sh"]
    assert await completed("script", f"{outside}/") == []
    assert await completed("script", f"{inside}/../outside/") == []
    assert await completed("script", str(tmp_path)) == [f"{inside}/"]


async def test_many_are_cut_and_said_so(tmp_path: Path) -> None:
    for number in range(130):
        (tmp_path / f"{number:03}.sh").touch()
    async with Client(build_server()) as client:
        done = (await client.complete(PROMPT, {"name": "script", "value": f"{tmp_path}/"})).completion
    assert len(done.values) == 100 and done.total == 130 and done.has_more is True


def test_every_question_has_a_resource() -> None:
    assert list(BY_ID)[1:] == [question.id for question in QUESTIONS] == EXPECTED
