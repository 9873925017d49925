"""The server as clients start it: a child process that speaks JSON-RPC on stdout and nothing else."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

import mindspeed_mm_train_profiler as package

SERVER = Path(package.__file__).parent / "server.py"
BIN = Path(sys.executable).parent
WAYS = {
    "python server.py": [sys.executable, str(SERVER)],
    "mcp run server.py": [str(BIN / "mcp"), "run", str(SERVER)],
    "installed command": [str(BIN / "mindspeed-mm-train-profiler")],
    "installed command, serve": [str(BIN / "mindspeed-mm-train-profiler"), "serve"],
}
CONVERSATION = [
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "0"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    {
        "jsonrpc": "2.0",
        "id": 3,
        "method": "tools/call",
        "params": {"name": "detect_engine", "arguments": {"script": "/nowhere.sh"}},
    },
]


def talk(
    command: list[str], messages: list[dict[str, object]], cwd: Path, **env: str
) -> subprocess.CompletedProcess[str]:
    """Send the messages, close stdin only after as many answers as there are requests, return what was printed."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env={**os.environ, **env},
    )
    assert process.stdin and process.stdout
    lines = []
    try:
        for message in messages:
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
            if "id" in message:
                lines.append(process.stdout.readline())
        rest, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    return subprocess.CompletedProcess(command, process.returncode, "".join(lines) + rest, errors)


@pytest.mark.parametrize("way", WAYS)
def test_each_way_of_starting_serves_the_same_and_nothing_foreign_on_stdout(way: str, tmp_path: Path) -> None:
    done = talk(WAYS[way], CONVERSATION, tmp_path)
    answers = [json.loads(line) for line in done.stdout.splitlines()]  # a foreign byte would not be JSON
    assert [answer.get("id") for answer in answers] == [1, 2, 3], done.stderr
    names = [tool["name"] for tool in answers[1]["result"]["tools"]]
    assert names[:2] == ["detect_engine", "check_env"]
    assert answers[2]["result"]["structuredContent"]["error"]["code"] == "no_script"
    assert done.returncode == 0, done.stderr


def test_garbage_on_stdin_gets_no_garbage_back(tmp_path: Path) -> None:
    process = subprocess.run(
        WAYS["installed command"],
        input="not json\n\x00\xff\n{}\n",
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
    )
    for line in process.stdout.splitlines():
        assert json.loads(line)["jsonrpc"] == "2.0"
    assert "Traceback" not in process.stdout


@pytest.mark.parametrize("arguments", [["--no-such-flag"], ["no-such-command"], ["serve", "--no-such-flag"]])
def test_a_start_that_fails_says_so_on_stderr_only(arguments: list[str], tmp_path: Path) -> None:
    process = subprocess.run(
        [*WAYS["installed command"], *arguments],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )
    assert process.returncode != 0
    assert process.stdout == ""
    assert process.stderr and "Traceback" not in process.stderr


def test_a_start_without_its_packages_prints_nothing_on_stdout(tmp_path: Path) -> None:
    (tmp_path / "mcp.py").write_text("raise ImportError('no mcp here')\n", encoding="utf-8")
    process = subprocess.run(
        [sys.executable, "-m", "mindspeed_mm_train_profiler.cli"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        timeout=60,
        stdin=subprocess.DEVNULL,
    )
    assert process.returncode != 0
    assert process.stdout == ""
    assert "no mcp here" in process.stderr


def test_the_version_is_the_packages(tmp_path: Path) -> None:
    process = subprocess.run(
        [*WAYS["installed command"], "--version"], capture_output=True, text=True, timeout=60, cwd=tmp_path
    )
    assert process.stdout.strip().endswith(package.__version__)


async def test_a_real_client_over_stdio_gets_coded_errors(tmp_path: Path) -> None:
    parameters = StdioServerParameters(command=sys.executable, args=[str(SERVER)], cwd=tmp_path, env=dict(os.environ))
    async with Client(stdio_client(parameters)) as client:
        assert len((await client.list_tools()).tools) >= 6
        result = await client.call_tool("detect_engine", {"script": str(tmp_path)})
    assert result.is_error
    assert result.structured_content is not None
    assert result.structured_content["error"]["code"] == "script_is_directory"


def test_the_server_ends_with_its_client(tmp_path: Path) -> None:
    process = subprocess.Popen(
        WAYS["installed command"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    assert process.stdin and process.stdout
    try:
        process.stdin.write(json.dumps(CONVERSATION[0]) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        process.communicate(timeout=20)  # closes stdin
        assert process.returncode == 0
    finally:
        process.kill()
