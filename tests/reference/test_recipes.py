"""Connection recipes: every block parses, and every recipe that can be tried here reaches the server."""

import contextlib
import json
import os
import re
import shlex
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

from mindspeed_mm_train_profiler.reference import recipes

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = None

TOKEN = "recipe-token-" + "y" * 24
BLOCKS = [
    pytest.param(client, transport, block, id=f"{client.id}-{transport}-{number}")
    for client in recipes.CLIENTS
    for transport in recipes.TRANSPORTS
    for number, block in enumerate(client.blocks[transport])
]


def parsed(block: recipes.Block) -> Any:
    """The block's value, by a parser of its own format; the words of a command line for bash."""
    if block.format == "json":
        return json.loads(block.text)
    if block.format == "toml":
        if tomllib is None:
            pytest.skip("tomllib is in the standard library from Python 3.11 on")
        return tomllib.loads(block.text)
    return shlex.split(block.text)


def entry(value: Any) -> dict[str, Any]:
    """The server's own entry, wherever the client's format keeps it."""
    if isinstance(value, dict):
        if isinstance(value.get(recipes.SERVER), dict):
            return dict(value[recipes.SERVER])
        for inner in value.values():
            if found := entry(inner):
                return found
    return {}


def command_of(block: recipes.Block) -> list[str]:
    """What the client would start for this block."""
    value = parsed(block)
    if block.format == "bash":
        return list(value[value.index("--") + 1 :])
    found = entry(value)
    command = found["command"]
    return list(command) if isinstance(command, list) else [command, *found.get("args", [])]


def test_the_clients_of_the_contract_are_all_there() -> None:
    assert [client.name for client in recipes.CLIENTS] == [
        "Claude Code",
        "Claude Desktop",
        "Cursor",
        "VS Code",
        "Codex",
        "OpenCode",
        "Trae",
        "Cherry Studio",
    ]
    assert all(set(client.blocks) == set(recipes.TRANSPORTS) for client in recipes.CLIENTS)


@pytest.mark.parametrize(("client", "transport", "block"), BLOCKS)
def test_a_block_parses_and_says_what_its_transport_says(
    client: recipes.Client, transport: recipes.Transport, block: recipes.Block
) -> None:
    if transport == "http":
        found = entry(parsed(block))
        assert recipes.URL in (found.get("url"), *found.get("args", []))
        assert TOKEN not in block.text
    else:
        assert command_of(block) == recipes.argv(transport)


@pytest.mark.parametrize(("client", "transport", "block"), BLOCKS)
def test_no_block_holds_a_token_where_a_variable_would_do(
    client: recipes.Client, transport: recipes.Transport, block: recipes.Block
) -> None:
    literal = "<token>" in block.text
    assert literal == (transport == "http" and client.id in {"claude_desktop", "trae", "cherry_studio"})
    if literal:
        assert block.note in {"recipes.note.bridge", "recipes.note.literal_token"}


def test_trae_takes_no_blank_in_a_command() -> None:
    (trae,) = [client for client in recipes.CLIENTS if client.id == "trae"]
    assert all(" " not in command_of(block)[0] for t in ("local", "ssh") for block in trae.blocks[t])


def test_lists_of_words_stand_on_one_line() -> None:
    value = {"a": ["x", 'with "quotes"', "tail, comma"], "b": [], "c": [1, 2], "d": ["[", "]"]}
    text = recipes._json(value)
    assert json.loads(text) == value
    assert '["[", "]"]' in text


@pytest.fixture
def path_with_command_and_ssh(tmp_path: Path) -> str:
    """A PATH with the installed command, and an ``ssh`` that does what sshd does: its words joined, run by a shell."""
    command = tmp_path / recipes.COMMAND
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m mindspeed_mm_train_profiler.cli "$@"\n')
    ssh = tmp_path / "ssh"
    ssh.write_text(
        "#!/bin/sh\n"
        'while [ $# -gt 0 ]; do case "$1" in -T) shift;; -o) shift 2;; -*) exit 255;; *) break;; esac; done\n'
        'echo "$1" > "$SSH_HOST_FILE"; shift\n'
        'exec sh -c "$*"\n'
    )
    for file in (command, ssh):
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return f"{tmp_path}{os.pathsep}{os.environ['PATH']}"


STARTED = {tuple(command_of(b.values[2])): b for b in BLOCKS if b.values[1] != "http" and b.values[2].format == "json"}


@pytest.mark.parametrize("command", STARTED, ids=lambda command: command[0])
async def test_what_a_client_starts_is_the_server(
    command: tuple[str, ...], path_with_command_and_ssh: str, tmp_path: Path
) -> None:
    env = {
        "PATH": path_with_command_and_ssh,
        "HOME": str(tmp_path),
        "SSH_HOST_FILE": str(tmp_path / "host"),
        "MINDSPEED_MM_TRAIN_PROFILER_STATE": str(tmp_path / "state"),
    }
    parameters = StdioServerParameters(command=command[0], args=list(command[1:]), env=env)
    async with Client(stdio_client(parameters)) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
    assert {"detect_engine", "verify_output"} <= names
    if command[0] == "ssh":
        assert (tmp_path / "host").read_text().strip() == recipes.HOST


@contextlib.contextmanager
def serving() -> Iterator[int]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    process = subprocess.Popen(
        [sys.executable, "-m", "mindspeed_mm_train_profiler.cli", "serve", "--transport", "http", "--port", str(port)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, recipes.TOKEN_VARIABLE: TOKEN},
    )
    try:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            assert process.poll() is None
        yield port
    finally:
        process.terminate()
        process.wait(timeout=20)


def headers_sent(client: recipes.Client) -> dict[str, str]:
    """The headers this client would send, its variable or placeholder replaced by the token."""
    found = entry(parsed(client.blocks["http"][0]))
    if variable := found.get("bearer_token_env_var"):
        assert variable == recipes.TOKEN_VARIABLE
        return {"Authorization": f"Bearer {TOKEN}"}
    if "env" in found:  # the bridge: its --header argument, filled from its env
        name, _, value = str(found["args"][found["args"].index("--header") + 1]).partition(":")
        value = re.sub(r"\$\{(\w+)\}", lambda m: found["env"][m[1]], value)
        return {name: value.replace("<token>", TOKEN)}
    pattern = r"\$\{env:\w+\}|\$\{input:[\w-]+\}|\$\{\w+\}|\{env:\w+\}|<token>"
    return {name: re.sub(pattern, TOKEN, value) for name, value in found["headers"].items()}


async def test_every_http_recipe_reaches_a_server_with_a_token() -> None:
    with serving() as port:
        for client in recipes.CLIENTS:
            if client.id == "codex" and tomllib is None:
                continue
            http = create_mcp_http_client(headers=headers_sent(client))
            url = recipes.URL.replace("8765", str(port))
            async with Client(streamable_http_client(url, http_client=http)) as session:
                assert (await session.list_tools()).tools, client.id
