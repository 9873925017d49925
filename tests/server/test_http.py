"""The HTTP face: who may talk, on which address, with which token."""

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
import uvicorn
from mcp import Client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

from mindspeed_mm_train_profiler import http_server
from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.http_server import Gate, HttpOptions
from mindspeed_mm_train_profiler.server import build_server

TOKEN = "t0ken-" + "x" * 30


async def inner(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"reached"})


def status(options: HttpOptions, path: str = "/mcp", **headers: str) -> int:
    """Status of one request through the gate."""
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"{}", "more_body": False}

    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "headers": [(name.replace("_", "-").encode(), value.encode("utf-8")) for name, value in headers.items()],
    }
    anyio.run(Gate(inner, options), scope, receive, send)
    return int(sent[0]["status"])


@pytest.mark.parametrize("path", ["/mcp", "/", "/anything", "/mcp/../x"])
@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"host": "127.0.0.1:8765"}, 200),
        ({"host": "localhost"}, 200),
        ({"host": "LOCALHOST:1"}, 200),
        ({"host": "[::1]:8765"}, 200),
        ({"host": "evil.example"}, 421),
        ({"host": "localhost.evil.example:8765"}, 421),
        ({"host": "127.0.0.1.evil.example"}, 421),
        ({"host": "[::1].evil.example"}, 421),
        ({"host": "localhost:1@evil.example"}, 421),
        ({"host": ""}, 421),
        ({}, 421),
        ({"host": "localhost:8765", "origin": "http://localhost:8765"}, 200),
        ({"host": "localhost:9000", "origin": "http://LOCALHOST:9000"}, 200),  # through a tunnel
        ({"host": "[::1]:8765", "origin": "http://[::1]:8765"}, 200),
        ({"host": "localhost", "origin": "http://localhost:80"}, 200),
        ({"host": "localhost", "origin": "https://localhost"}, 200),  # a proxy with TLS in front
        ({"host": "localhost:8765", "origin": "http://localhost:3000"}, 403),
        ({"host": "localhost:8765", "origin": "http://localhost"}, 403),
        ({"host": "localhost:8765", "origin": "http://127.0.0.1:8765"}, 403),
        ({"host": "localhost:8765", "origin": "http://localhost:8765/"}, 403),
        ({"host": "localhost:8765", "origin": ""}, 403),
        ({"host": "localhost", "origin": "https://evil.example"}, 403),
        ({"host": "localhost", "origin": "http://[::1].evil.example"}, 403),
        ({"host": "localhost", "origin": "null"}, 403),
        ({"host": "localhost", "content-length": str(http_server.MAX_BODY + 1)}, 413),
        ({"host": "localhost", "origin": "file://localhost"}, 403),
    ],
)
def test_host_and_origin_on_every_route(path: str, headers: dict[str, str], expected: int) -> None:
    assert status(HttpOptions(), path, **headers) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (f"Bearer {TOKEN}", 200),
        (f"bearer {TOKEN}", 200),
        (f"Bearer {TOKEN}x", 401),
        (f"Bearer {TOKEN[:-1]}", 401),
        (f"Basic {TOKEN}", 401),
        ("Bearer", 401),
        ("Bearer é", 401),
        (None, 401),
    ],
)
def test_the_token(given: str | None, expected: int) -> None:
    headers = {"host": "localhost"} | ({"authorization": given} if given else {})
    assert status(HttpOptions(token=TOKEN), "/mcp", **headers) == expected


def test_the_token_is_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    monkeypatch.setattr(http_server.hmac, "compare_digest", lambda a, b: compared.append((a, b)) or True)
    assert status(HttpOptions(token=TOKEN), host="localhost", authorization="Bearer other") == 200
    assert compared == [(b"other", TOKEN.encode())]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "node-17", "example.org"])
def test_another_address_without_a_token_is_refused(host: str) -> None:
    with pytest.raises(CodedError) as caught:
        http_server.build_app(build_server(), HttpOptions(host=host))
    assert caught.value.code == "http_needs_token"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "[::1]", "localhost"])
def test_loopback_needs_none(host: str) -> None:
    assert http_server.is_loopback(host)


def test_names_of_another_address_are_accepted_when_said() -> None:
    options = HttpOptions(host="0.0.0.0", token=TOKEN, allowed_hosts=("Gateway.example",))
    bearer = f"Bearer {TOKEN}"
    assert status(options, host="gateway.example:80", authorization=bearer) == 200
    assert status(options, host=socket.gethostname(), authorization=bearer) == 200
    assert status(options, host="0.0.0.0", authorization=bearer) == 421


def test_pages_are_allowed_by_name_and_port() -> None:
    options = HttpOptions(allowed_origins=("http://localhost:6274", "https://Panel.example"))
    for origin, expected in (
        ("http://localhost:6274", 200),
        ("https://panel.example", 200),
        ("https://panel.example:443", 200),
        ("http://panel.example", 403),
        ("https://localhost:6274", 403),
        ("http://localhost:6275", 403),
    ):
        assert status(options, host="127.0.0.1:8765", origin=origin) == expected, origin


@pytest.mark.parametrize("origin", ["localhost:6274", "ftp://localhost", "http://", "*", "http://localhost/x"])
def test_an_origin_that_is_none_is_wrong_usage(origin: str) -> None:
    done = serve("--port", "0", "--allowed-origin", origin)
    assert done.returncode == 2 and "usage:" in done.stderr and "Traceback" not in done.stderr


def test_token_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(http_server.TOKEN_VARIABLE, raising=False)
    assert http_server.read_token(None) is None
    monkeypatch.setenv(http_server.TOKEN_VARIABLE, TOKEN)
    assert http_server.read_token(None) == TOKEN
    file = tmp_path / "token"
    file.write_text(TOKEN + "\n", encoding="utf-8")
    file.chmod(0o600)
    assert http_server.read_token(str(file)) == TOKEN
    file.chmod(0o640)
    with pytest.raises(CodedError, match="token_exposed"):
        http_server.read_token(str(file))
    file.chmod(0o600)
    file.write_text("short", encoding="utf-8")
    with pytest.raises(CodedError, match="token_short"):
        http_server.read_token(str(file))
    with pytest.raises(CodedError, match="token_unreadable"):
        http_server.read_token(str(tmp_path / "absent"))


def test_an_empty_token_variable_is_not_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(http_server.TOKEN_VARIABLE, "")
    with pytest.raises(CodedError, match="token_short"):
        http_server.read_token(None)


@pytest.mark.parametrize(
    "token", ["two words are no token", "one line of a token\nand another", "пароль-из-многих-букв"]
)
def test_a_token_that_no_header_carries_is_refused(token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(http_server.TOKEN_VARIABLE, token)
    with pytest.raises(CodedError, match="token_malformed"):
        http_server.read_token(None)


def test_a_token_file_of_somebody_else_is_exposed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "token"
    file.write_text(TOKEN)
    file.chmod(0o600)
    owner = file.stat().st_uid
    if owner == 0:
        os.chown(file, 4711, -1)
    else:
        monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    with pytest.raises(CodedError, match="token_exposed"):
        http_server.read_token(str(file))


async def gated(messages: list[dict[str, Any]], *headers: tuple[bytes, bytes], token: str | None = None) -> list[Any]:
    """What the gate sends for a request whose body comes as ``messages``, and then nothing more."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> dict[str, Any]:
        if not messages:
            await anyio.sleep_forever()
        return messages.pop(0)

    scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": [(b"host", b"localhost"), *headers]}
    await Gate(inner, HttpOptions(token=token))(scope, receive, send)
    return sent


async def test_a_body_that_never_ends_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "BODY_TIMEOUT_S", 0.05)
    part = {"type": "http.request", "body": b"{", "more_body": True}
    with anyio.fail_after(10):
        sent = await gated([part])
    assert sent[0]["status"] == 408 and (b"connection", b"close") in sent[0]["headers"]


async def test_a_body_without_a_length_is_bounded() -> None:
    part = {"type": "http.request", "body": b"x" * 70_000, "more_body": True}
    assert (await gated([dict(part) for _ in range(20)]))[0]["status"] == 413


async def test_a_client_that_has_gone_is_no_request() -> None:
    part = {"type": "http.request", "body": b"{", "more_body": True}
    assert await gated([part, {"type": "http.disconnect"}]) == []


async def test_of_two_headers_none_is_overlooked() -> None:
    done = {"type": "http.request", "body": b"", "more_body": False}
    origins = ((b"origin", b"http://localhost"), (b"origin", b"https://evil.example"))
    assert (await gated([dict(done)], *origins))[0]["status"] == 403
    bearers = ((b"authorization", f"Bearer {TOKEN}".encode()), (b"authorization", b"Bearer other"))
    assert (await gated([dict(done)], *bearers, token=TOKEN))[0]["status"] == 401


def test_connections_that_say_nothing_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "HEAD_TIMEOUT_S", 0.3)
    listening = http_server.listen(HttpOptions(port=0))
    config = uvicorn.Config(inner, http=http_server._impatient(), log_level="critical", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        for said in (b"", b"POST /mcp HTTP/1.1\r\nHost: loc", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\nGET /"):
            with socket.create_connection(listening.getsockname(), timeout=10) as silent:
                silent.sendall(said)
                answer = b""
                while part := silent.recv(4096):  # ends when the server closes; else the timeout fails the test
                    answer += part
                assert answer.startswith(b"HTTP/1.1 200" if said.startswith(b"GET") else b"")
    finally:
        server.should_exit = True
        thread.join(20)


def http_status(url: str, **headers: str) -> int:
    """Status of a POST with an empty JSON body."""
    request = urllib.request.Request(url, data=b"{}", headers={"Content-Type": "application/json", **headers})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


@contextlib.contextmanager
def running(*arguments: str, **env: str) -> Iterator[int]:
    """The installed command serving HTTP on a free loopback port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "mindspeed_mm_train_profiler.cli", "serve", "--transport", "http"]
    process = subprocess.Popen(
        [*command, "--port", str(port), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **env},
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
        out, _ = process.communicate(timeout=20)
        assert out == b""


async def test_a_real_client_over_http_with_a_token() -> None:
    with running(MINDSPEED_MM_TRAIN_PROFILER_TOKEN=TOKEN) as port:
        url = f"http://127.0.0.1:{port}/mcp"
        http = create_mcp_http_client(headers={"Authorization": f"Bearer {TOKEN}"})
        async with Client(streamable_http_client(url, http_client=http)) as client:
            assert len((await client.list_tools()).tools) >= 6
        assert http_status(url) == 401
        assert http_status(url, Authorization="Bearer wrong") == 401
        assert http_status(url, Authorization=f"Bearer {TOKEN}") != 401


def serve(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "mindspeed_mm_train_profiler.cli", "serve", "--transport", "http", *words],
        capture_output=True,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )


def test_a_port_in_use_is_a_coded_refusal() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        done = serve("--port", str(other.getsockname()[1]))
    assert done.returncode == 3 and done.stdout == ""
    assert "http_address_refused" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("port", ["99999", "-1", "x"])
def test_a_port_that_is_none_is_wrong_usage(port: str) -> None:
    done = serve("--port", port)
    assert done.returncode == 2 and "usage:" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "variable", ["READ_ONLY=ja", "MAX_NPROC=0", "MAX_NPROC=many", "LOG_LEVEL=loud", "ALLOW_DIR=~no-such-user-here/x"]
)
def test_a_limit_that_is_misspelt_is_not_left_out(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, _, value = f"MINDSPEED_MM_TRAIN_PROFILER_{variable}".partition("=")
    monkeypatch.setenv(name, value)
    done = serve("--port", "0")
    assert done.returncode == 2 and f"{name}={value}" in done.stderr and "Traceback" not in done.stderr


def test_a_directory_of_nobody_is_wrong_usage() -> None:
    done = serve("--port", "0", "--allow-dir", "~no-such-user-here/x")
    assert done.returncode == 2 and "Traceback" not in done.stderr


def test_it_says_where_it_listens() -> None:
    command = [sys.executable, "-m", "mindspeed_mm_train_profiler.cli", "serve", "--transport", "http", "--port", "0"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert process.stderr is not None
        line = process.stderr.readline().decode()
        assert line.startswith("listening on http://127.0.0.1:") and line.strip().endswith("/mcp")
        with socket.create_connection(("127.0.0.1", int(line.split(":")[2].split("/")[0])), timeout=10):
            pass
    finally:
        process.terminate()
        out, _ = process.communicate(timeout=20)
    assert out == b""


def test_a_directory_that_is_not_there_is_said() -> None:
    command = [sys.executable, "-m", "mindspeed_mm_train_profiler.cli", "--allow-dir", "/nowhere/at/all"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout) == (0, "") and "/nowhere/at/all" in done.stderr


def test_a_directory_of_the_variable_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINDSPEED_MM_TRAIN_PROFILER_ALLOW_DIR", "/nowhere/at/all")
    command = [sys.executable, "-m", "mindspeed_mm_train_profiler.cli"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout) == (0, "") and "ALLOW_DIR: /nowhere/at/all" in done.stderr


def test_the_command_refuses_an_open_address(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mindspeed_mm_train_profiler.cli", "serve", "--transport", "http", "--host", "0.0.0.0"],
        capture_output=True,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 3
    assert "http_needs_token" in done.stderr and done.stdout == ""
