"""Paths: nothing outside the allowed directories, ids are no paths, links are not followed into other people's files."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from mindspeed_mm_train_profiler import settings
from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.tools.common import argument_path

BAD_IDS = [
    "../../../etc/passwd",
    "/etc/passwd",
    "..",
    ".",
    "",
    "run-20260101-000000-abcdef/../../..",
    "run-\x00",
    "-rf",
    "a" * 5000,
    "run-20260101-000000-abcdef\n",
    "%2e%2e%2f",
]


@pytest.fixture
def fenced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that paths may lie in, and a neighbour that they may not."""
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "inside-too").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("secret")
    settings.change(allow_dirs=(inside.resolve(),))
    monkeypatch.chdir(inside)
    return inside


@pytest.mark.parametrize(
    "path",
    [
        "../outside/secret",
        "x/../../outside/secret",
        "/etc/passwd",
        "~/secret",
        "link/secret",
        "link",
        "../inside-too",
        "deep/link2/../../../outside/secret",
        "loop/x",
    ],
)
def test_nothing_outside_an_allowed_directory(fenced: Path, path: str) -> None:
    (fenced / "link").symlink_to("../outside")
    (fenced / "deep").mkdir()
    (fenced / "deep" / "link2").symlink_to("/")
    (fenced / "loop").symlink_to("loop")
    with pytest.raises(CodedError) as caught:
        found = argument_path(path)
        assert found.resolve().is_relative_to(fenced), found
        raise CodedError("path_not_allowed")  # it stayed inside: as good
    assert caught.value.code in {"path_not_allowed", "path_invalid"}


@pytest.mark.parametrize("path", ["", "   ", "a\0b", "\0", "~no-such-user-here/x.sh"])
def test_what_is_no_path_is_said_so(path: str) -> None:
    with pytest.raises(CodedError, match="path_invalid"):
        argument_path(path)


@given(st.lists(st.sampled_from(["..", ".", "a", "link", "", "~", "…", "-x"]), min_size=1, max_size=8))
def test_an_accepted_path_lies_inside(parts: list[str]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        inside = Path(folder).resolve() / "inside"
        (inside / "a").mkdir(parents=True)
        (inside / "link").symlink_to("..")
        before = settings.current()
        settings.change(allow_dirs=(inside,))
        try:
            found = argument_path("/".join(parts), base=inside)
            assert found.resolve().is_relative_to(inside)
        except CodedError as error:
            assert error.code in {"path_not_allowed", "path_invalid"}
        finally:
            settings.change(allow_dirs=before.allow_dirs)


@pytest.mark.parametrize("bad", BAD_IDS)
@pytest.mark.parametrize(
    ("tool", "argument"),
    [
        ("poll_status", "run_id"),
        ("stop_training", "run_id"),
        ("verify_output", "run_id"),
        ("parse_offline", "run_id"),
        ("launch_training", "config_id"),
        ("discard_copies", "config_id"),
    ],
)
async def test_an_id_is_no_path(call: Any, world: Any, tool: str, argument: str, bad: str) -> None:
    before = sorted(world.folder.rglob("*"))
    result = await call(tool, **{argument: bad})
    assert result["_error"]
    assert result["error"]["code"] not in {"internal_error"}, result["_text"]
    assert sorted(world.folder.rglob("*")) == before
    assert "root:" not in result["_text"]


@pytest.mark.parametrize("tool", ["detect_engine", "build_config", "check_env"])
async def test_tools_keep_to_the_allowed_directories(call: Any, world: Any, tool: str) -> None:
    allowed = world.folder / "allowed"
    allowed.mkdir()
    settings.change(allow_dirs=(allowed.resolve(),))
    outside = world.checkout.scripts["tools_json"]
    (allowed / "run.sh").symlink_to(outside)
    for script in (outside, allowed / "run.sh", allowed / ".." / outside.relative_to(world.folder)):
        result = await call(tool, script=str(script), **({"options": {}} if tool == "build_config" else {}))
        assert result["_error"] and result["error"]["code"] == "path_not_allowed", script


async def test_a_save_path_outside_is_refused(call: Any, world: Any) -> None:
    settings.change(allow_dirs=(world.checkout.root.resolve(),))
    options = {"save_path": str(world.folder / "elsewhere")}
    script = str(world.checkout.scripts["tools_json"])
    result = await call("build_config", script=script, options=options, confirmed=True)
    assert result["_error"] and result["error"]["code"] == "path_not_allowed"
    assert not (world.folder / "elsewhere").exists()


async def test_discarding_follows_no_link_and_removes_nothing_that_changed(call: Any, world: Any) -> None:
    script = str(world.checkout.scripts["fsdp2"])
    built = await call("build_config", script=script, options={}, confirmed=True)
    copies = [Path(copy["copy"]) for copy in built["copies"]]
    victim = world.folder / "victim"
    victim.write_text("mine")
    copies[0].unlink()
    copies[0].symlink_to(victim)
    copies[1].write_text("edited by the user since")
    await call("discard_copies", config_id=built["config_id"])
    assert victim.read_text() == "mine"
    assert copies[1].read_text() == "edited by the user since"


async def test_a_script_that_is_swapped_after_the_build_is_not_launched(call: Any, world: Any) -> None:
    """What was confirmed is what runs: a copy that changed since is refused."""
    script = str(world.checkout.scripts["tools_json"])
    built = await call("build_config", script=script, options={}, confirmed=True)
    copy = next(Path(item["copy"]) for item in built["copies"] if item["role"] == "script")
    evil = world.folder / "evil.sh"
    evil.write_text(f"touch {world.canary}\n")
    copy.unlink()
    copy.symlink_to(evil)
    result = await call("launch_training", config_id=built["config_id"])
    assert result["_error"], result["_text"]
    assert not world.canary.exists()


async def test_a_device_or_a_pipe_is_not_read(call: Any, world: Any) -> None:
    pipe = world.folder / "pipe.sh"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero"), Path("/dev/stdin")):
        result = await call("detect_engine", script=str(path))
        assert result["_error"] and result["error"]["code"] != "internal_error", path


async def _asked(script: Path, home: Path, cwd: Path, *flags: str) -> Any:
    """What a server of its own says of a script: started as a client starts it, with nothing allowed by name."""
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_ALLOW_DIR")}
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "mindspeed_mm_train_profiler.cli", "serve", *flags],
        env={**environment, "HOME": str(home)},
        cwd=cwd,
    )
    async with Client(stdio_client(parameters)) as client:
        return await client.call_tool("detect_engine", {"script": str(script)}, read_timeout_seconds=30)


@pytest.mark.parametrize(
    ("place", "cwd", "flags", "allowed"),
    [
        ("project", "project", (), True),
        ("home", "project", (), True),
        ("elsewhere", "project", (), False),
        ("elsewhere", "project", ("--allow-dir", "/"), True),
        ("project", "project", ("--allow-dir", "elsewhere"), False),
        ("project", "/", (), False),
        ("home", "/", (), True),
    ],
)
async def test_a_server_starts_with_its_working_directory_and_home(
    place: str, cwd: str, flags: tuple[str, ...], allowed: bool, tmp_path: Path
) -> None:
    for name in ("project", "home", "elsewhere"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.sh").write_text("torchrun --nproc_per_node 1 pretrain_vlm.py\n", encoding="utf-8")
    words = [str(tmp_path / flag) if flag == "elsewhere" else flag for flag in flags]
    script = tmp_path / place / "train.sh"
    result = await _asked(script, tmp_path / "home", Path(cwd) if cwd == "/" else tmp_path / cwd, *words)
    if allowed:
        assert not result.is_error, result
    else:
        assert result.is_error and "path_not_allowed" in str(result.content)
