"""File names that look like options, commands or line breaks: they stay names, all the way to the running training."""

import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

NAMES = [
    "-x.sh",
    "--help.sh",
    "-c 'touch canary'.sh",
    "a b.sh",
    'quo"te.sh',
    "apo'strophe.sh",
    "new\nline.sh",
    "tab\there.sh",
    "$(touch canary).sh",
    "`touch canary`.sh",
    "${IFS}x;touch canary;.sh",
    "a&touch canary&.sh",
    "|touch canary|.sh",
    "*.sh",
    "[a-z]?.sh",
    "采集脚本.sh",
    "back\\slash.sh",
    "%s%n{found}.sh",
    "#hash.sh",
    "~.sh",
]


def renamed(world: Any, name: str) -> Path:
    """The FSDP2 script under another name, in its own folder."""
    script = world.checkout.scripts["fsdp2"]
    target = script.with_name(name)
    shutil.copy2(script, target)
    return Path(target)


def no_canary(world: Any) -> bool:
    return not list(world.folder.rglob("canary*"))


@pytest.mark.parametrize("name", NAMES)
async def test_a_name_is_read_and_copied_as_it_is(call: Any, world: Any, name: str) -> None:
    script = renamed(world, name)
    seen = await call("detect_engine", script=str(script))
    assert not seen["_error"], seen["_text"]
    assert seen["engine"] == "fsdp2" and seen["script"] == str(script)
    before = script.read_bytes()
    built = await call("build_config", script=str(script), options={}, confirmed=True)
    assert not built["_error"], built["_text"]
    copy = next(Path(item["copy"]) for item in built["copies"] if item["role"] == "script")
    assert copy.parent == script.parent and copy.is_file() and not copy.is_symlink()
    assert script.read_bytes() == before
    words = shlex.split(built["command"])
    assert str(copy) in words or any(word.endswith(str(copy)) for word in words), built["command"]
    assert no_canary(world)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["-x.sh", "new\nline.sh", "$(touch canary).sh", "a b'\"c.sh", "*.sh"])
async def test_a_name_survives_the_whole_job(call: Any, run_to_end: Any, world: Any, name: str) -> None:
    _, status = await run_to_end(renamed(world, name))
    assert status["state"] == "succeeded", status["_text"]
    verified = await call("verify_output", run_id=status["run_id"])
    assert verified["verdict"] == "complete", verified["_text"]
    assert no_canary(world)


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["-dash", "a b", "$(touch canary)", "new\nline", "quo\"te'"])
async def test_a_folder_survives_the_whole_job(call: Any, run_to_end: Any, world: Any, folder: str) -> None:
    """The checkout, and the place where sessions go, have such names."""
    root = world.folder / folder / "MindSpeed-MM"
    shutil.copytree(world.checkout.root, root, symlinks=True)
    script = root / world.checkout.scripts["fsdp2"].relative_to(world.checkout.root)
    _, status = await run_to_end(script, save_path=str(world.folder / folder / "collected"))
    assert status["state"] == "succeeded", status["_text"]
    assert (await call("verify_output", run_id=status["run_id"]))["verdict"] in {"complete", "unparsed"}
    assert no_canary(world)


async def test_script_arguments_and_environment_stay_words(call: Any, run_to_end: Any, world: Any) -> None:
    words = ["$(touch canary)", "; touch canary", "-x", "a b", "\n"]
    script = world.checkout.scripts["tools_json"]
    seen = await call("detect_engine", script=str(script), script_args=words, env={"X": "$(touch canary)"})
    assert not seen["_error"]
    built = await call(
        "build_config", script=str(script), options={}, script_args=words, env={"X": "$(touch canary)"}, confirmed=True
    )
    assert not built["_error"], built["_text"]
    assert shlex.split(built["command"])[-len(words) :] == words or "canary" in built["command"]
    assert no_canary(world)
