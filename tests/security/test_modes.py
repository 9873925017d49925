"""Other users of the host: our records are readable by their owner alone, and nobody can forge them."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from mindspeed_mm_train_profiler import audit
from mindspeed_mm_train_profiler.state import private_folder, state_dir, write_json


@pytest.fixture
def open_umask() -> Any:
    before = os.umask(0)
    yield
    os.umask(before)


def open_to_others(root: Path) -> list[str]:
    """Files and folders that somebody else could read, write or enter."""
    found = []
    for path in [root, *root.rglob("*")]:
        mode = path.lstat().st_mode
        if not stat.S_ISLNK(mode) and mode & (stat.S_IRWXG | stat.S_IRWXO):
            found.append(f"{path.relative_to(root.parent)} {stat.filemode(mode)}")
    return found


def test_folders_and_files_are_private_whatever_the_umask(open_umask: None, own_state: Path) -> None:
    folder = private_folder(state_dir() / "builds" / "x")
    write_json(folder / "manifest.json", {"a": 1})
    audit.record("launch", run_id="run-1")
    assert open_to_others(own_state) == []


def test_a_folder_that_was_open_is_closed(open_umask: None, own_state: Path) -> None:
    (own_state / "runs").mkdir(mode=0o777)
    private_folder(own_state / "runs")
    assert open_to_others(own_state / "runs") == []


@pytest.mark.slow
async def test_a_whole_job_leaves_nothing_open(open_umask: None, call: Any, run_to_end: Any, world: Any) -> None:
    built, status = await run_to_end(world.checkout.scripts["tools_json"])
    assert status["state"] == "succeeded", status["_text"]
    assert open_to_others(world.state) == []
    for copy in built["copies"]:  # beside the originals: open as far as the original is, no further
        mode = Path(copy["copy"]).stat().st_mode
        assert stat.S_IMODE(mode) == stat.S_IMODE(Path(copy["original"]).stat().st_mode)
        assert not mode & stat.S_IWOTH


@pytest.mark.slow
async def test_every_action_leaves_its_line(call: Any, run_to_end: Any, world: Any) -> None:
    built, status = await run_to_end(world.checkout.scripts["tools_json"])
    await call("stop_training", run_id=status["run_id"])
    await call("discard_copies", config_id=built["config_id"])
    lines = [json.loads(line) for line in (world.state / "audit.log").read_text(encoding="ascii").splitlines()]
    actions = " ".join(str(line["action"]) for line in lines)
    assert all(word in actions for word in ("launch", "stop", "discard"))
    assert all({"time", "action", "uid", "pid"} <= set(line) for line in lines)
    assert status["run_id"] in json.dumps(lines)


def test_no_name_forges_a_line(own_state: Path) -> None:
    audit.record("launch", script='x\n{"action": "stop"}\u2028\x1b[2J')
    (line,) = (own_state / "audit.log").read_bytes().splitlines()
    assert json.loads(line)["action"] == "launch"
    assert all(32 <= byte < 127 for byte in line)


def test_the_log_is_not_followed_through_a_link(own_state: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (own_state / "audit.log").symlink_to(victim)
    audit.record("launch")
    assert victim.read_text() == "mine"
