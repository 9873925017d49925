"""How each client is connected: one table, from which documents and tests are made.

Three ways to reach the server, the same for every client:

    local   the client starts the command on this machine and speaks over its stdin and stdout
    ssh     the client starts ``ssh HOST COMMAND``: the server runs on the NPU host, nothing listens anywhere
    http    the client talks to a server that somebody started on the host (behind ``ssh -L``, or with a token)

The formats follow each client's own documentation (``source``); they were read there on 2026-12-01. A token never
stands in a block where the client can read it from a variable.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Transport = Literal["local", "ssh", "http"]
Format = Literal["json", "toml", "bash"]
TRANSPORTS: tuple[Transport, ...] = ("local", "ssh", "http")

SERVER = "mindspeed-mm-train-profiler"
COMMAND = "mindspeed-mm-train-profiler"
HOST = "npu-host"
URL = "http://127.0.0.1:8765/mcp"
TOKEN_VARIABLE = "MINDSPEED_MM_TRAIN_PROFILER_TOKEN"

# -T: no terminal, its line discipline would break the protocol. BatchMode: fail instead of asking for a password
# where nobody can answer. The interval notices a dead connection; the training survives it.
SSH_ARGUMENTS = ("-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=30", HOST, COMMAND)


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of configuration. ``file``: where it goes (None: a command to run). ``note``: catalogue key."""

    format: Format
    text: str
    file: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Client:
    """A client and its blocks by transport. ``source``: its maker's page on the format. Where the file lies stands in
    the catalogues under ``recipes.where.<id>``."""

    id: str
    name: str
    source: str
    blocks: Mapping[Transport, tuple[Block, ...]]


def argv(transport: Transport) -> list[str]:
    """The command that a client starts; ``http`` starts none."""
    return {"local": [COMMAND], "ssh": ["ssh", *SSH_ARGUMENTS], "http": []}[transport]


def _json(value: Any) -> str:
    """JSON as people write it: lists of words on one line."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return re.sub(r'\[\s+((?:"[^"]*",?\s*)+)\]', lambda found: "[" + " ".join(found[1].split()) + "]", text)


def _stdio(transport: Transport) -> dict[str, Any]:
    command, *arguments = argv(transport)
    return {"command": command, "args": arguments} if arguments else {"command": command}


def _entry(root: str, entry: Mapping[str, Any]) -> str:
    return _json({root: {SERVER: entry}})


def _toml(lines: Mapping[str, Any]) -> str:
    """A Codex table. TOML basic strings and arrays of them are written as JSON writes them."""
    rows = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in lines.items()]
    return "\n".join([f"[mcp_servers.{SERVER}]", *rows])


def _bearer(reference: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {reference}"}


def _claude_code() -> dict[Transport, tuple[Block, ...]]:
    def stdio(transport: Transport) -> tuple[Block, ...]:
        words = " ".join(argv(transport))
        return (
            Block("bash", f"claude mcp add --scope user {SERVER} -- {words}"),
            Block("json", _entry("mcpServers", _stdio(transport)), ".mcp.json"),
        )

    remote = {"type": "http", "url": URL, "headers": _bearer(f"${{{TOKEN_VARIABLE}}}")}
    return {
        "local": stdio("local"),
        "ssh": stdio("ssh"),
        "http": (Block("json", _entry("mcpServers", remote), ".mcp.json", "recipes.note.variable"),),
    }


def _claude_desktop() -> dict[Transport, tuple[Block, ...]]:
    file = "claude_desktop_config.json"
    bridge = {
        "command": "npx",
        # no blank around the colon: the header is one argument, and a blank would be cut on Windows
        "args": ["-y", "mcp-remote", URL, "--header", "Authorization:${AUTHORIZATION}"],
        "env": {"AUTHORIZATION": "Bearer <token>"},
    }
    return {
        "local": (Block("json", _entry("mcpServers", _stdio("local")), file),),
        "ssh": (Block("json", _entry("mcpServers", _stdio("ssh")), file),),
        "http": (Block("json", _entry("mcpServers", bridge), file, "recipes.note.bridge"),),
    }


def _cursor() -> dict[Transport, tuple[Block, ...]]:
    file = "~/.cursor/mcp.json"
    remote = {"url": URL, "headers": _bearer(f"${{env:{TOKEN_VARIABLE}}}")}
    return {
        "local": (Block("json", _entry("mcpServers", _stdio("local")), file),),
        "ssh": (Block("json", _entry("mcpServers", _stdio("ssh")), file),),
        "http": (Block("json", _entry("mcpServers", remote), file, "recipes.note.variable"),),
    }


def _vs_code() -> dict[Transport, tuple[Block, ...]]:
    file = ".vscode/mcp.json"
    asked = {"type": "promptString", "id": "profiler-token", "description": "mindspeed-mm-train-profiler token"}
    remote = {
        "inputs": [{**asked, "password": True}],
        "servers": {SERVER: {"type": "http", "url": URL, "headers": _bearer("${input:profiler-token}")}},
    }

    def stdio(transport: Transport) -> tuple[Block, ...]:
        return (Block("json", _entry("servers", {"type": "stdio", **_stdio(transport)}), file),)

    return {
        "local": stdio("local"),
        "ssh": stdio("ssh"),
        "http": (Block("json", _json(remote), file, "recipes.note.prompt"),),
    }


def _codex() -> dict[Transport, tuple[Block, ...]]:
    file = "~/.codex/config.toml"
    # polls wait up to 20 s, a parse job returns at once: 60 s is ample
    limits = {"startup_timeout_sec": 30, "tool_timeout_sec": 60}

    def stdio(transport: Transport) -> tuple[Block, ...]:
        words = " ".join(argv(transport))
        return (
            Block("bash", f"codex mcp add {SERVER} -- {words}"),
            Block("toml", _toml({**_stdio(transport), **limits}), file),
        )

    remote = {"url": URL, "bearer_token_env_var": TOKEN_VARIABLE, **limits}
    return {
        "local": stdio("local"),
        "ssh": stdio("ssh"),
        "http": (Block("toml", _toml(remote), file, "recipes.note.variable"),),
    }


def _opencode() -> dict[Transport, tuple[Block, ...]]:
    file = "opencode.json"

    def both(entry: Mapping[str, Any], note: str | None = None) -> tuple[Block, ...]:
        schema = {"$schema": "https://opencode.ai/config.json"}
        return (
            Block("json", _json({**schema, "mcp": {"servers": {SERVER: entry}}}), file, note),
            Block("json", _json({**schema, "mcp": {SERVER: entry}}), file, "recipes.note.opencode_v1"),
        )

    remote = {"type": "remote", "url": URL, "oauth": False, "headers": _bearer(f"{{env:{TOKEN_VARIABLE}}}")}
    return {
        "local": both({"type": "local", "command": argv("local")}),
        "ssh": both({"type": "local", "command": argv("ssh")}),
        "http": both(remote, "recipes.note.variable"),
    }


def _trae() -> dict[Transport, tuple[Block, ...]]:
    file = ".trae/mcp.json"
    remote = {"url": URL, "headers": _bearer("<token>")}
    return {
        "local": (Block("json", _entry("mcpServers", _stdio("local")), file),),
        "ssh": (Block("json", _entry("mcpServers", _stdio("ssh")), file),),
        "http": (Block("json", _entry("mcpServers", remote), file, "recipes.note.literal_token"),),
    }


def _cherry_studio() -> dict[Transport, tuple[Block, ...]]:
    remote = {"type": "streamableHttp", "url": URL, "headers": _bearer("<token>")}

    def stdio(transport: Transport) -> tuple[Block, ...]:
        return (Block("json", _entry("mcpServers", {"type": "stdio", **_stdio(transport)})),)

    return {
        "local": stdio("local"),
        "ssh": stdio("ssh"),
        "http": (Block("json", _entry("mcpServers", remote), None, "recipes.note.literal_token"),),
    }


CLIENTS: tuple[Client, ...] = (
    Client("claude_code", "Claude Code", "https://code.claude.com/docs/en/mcp", _claude_code()),
    Client(
        "claude_desktop",
        "Claude Desktop",
        "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
        _claude_desktop(),
    ),
    Client("cursor", "Cursor", "https://cursor.com/docs/mcp", _cursor()),
    Client("vs_code", "VS Code", "https://code.visualstudio.com/docs/agents/reference/mcp-configuration", _vs_code()),
    Client("codex", "Codex", "https://developers.openai.com/codex/mcp", _codex()),
    Client("opencode", "OpenCode", "https://opencode.ai/docs/mcp-servers", _opencode()),
    Client("trae", "Trae", "https://docs.trae.cn", _trae()),
    Client("cherry_studio", "Cherry Studio", "https://docs.cherry-ai.com", _cherry_studio()),
)
