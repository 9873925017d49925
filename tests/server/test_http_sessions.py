"""All places taken: who left without a word gives way, who is there stays."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import pytest

from mindspeed_mm_train_profiler import http_server, http_sessions
from mindspeed_mm_train_profiler.http_server import HttpOptions
from mindspeed_mm_train_profiler.server import build_server

PLACES = 3
URL = "http://localhost/mcp"
SPOKEN = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
OPENING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


@asynccontextmanager
async def client(monkeypatch: pytest.MonkeyPatch, idle_s: float) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the whole application with few places."""
    monkeypatch.setattr(http_server, "MAX_SESSIONS", PLACES)
    monkeypatch.setattr(http_sessions, "IDLE_S", idle_s)
    gate: Any = http_server.build_app(build_server(), HttpOptions())
    starlette = gate.app.app
    with anyio.fail_after(60):
        async with (
            starlette.router.lifespan_context(starlette),
            httpx2.AsyncClient(transport=httpx2.ASGITransport(app=gate), headers=SPOKEN) as made,
        ):
            yield made


async def opened(made: httpx2.AsyncClient) -> tuple[int, str]:
    answer = await made.post(URL, json=OPENING)
    return answer.status_code, answer.headers.get("mcp-session-id", "")


async def used(made: httpx2.AsyncClient, session: str) -> int:
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    return (await made.post(URL, json=ping, headers={"mcp-session-id": session})).status_code


async def test_the_longest_unused_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    async with client(monkeypatch, 0.0) as made:
        first, second, third = [(await opened(made))[1] for _ in range(PLACES)]
        assert await used(made, first) == 200
        status, fourth = await opened(made)
        assert status == 200 and fourth not in {"", first, second, third}
        assert [await used(made, one) for one in (first, second, third, fourth)] == [200, 404, 200, 200]


async def test_a_session_that_was_used_a_moment_ago_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    async with client(monkeypatch, 60.0) as made:
        sessions = [(await opened(made))[1] for _ in range(PLACES)]
        assert (await opened(made))[0] == 503
        assert [await used(made, one) for one in sessions] == [200] * PLACES


async def test_a_session_with_a_request_open_stays() -> None:
    """Places for one: it is held by a stream, then it is not."""
    streaming, let_go = anyio.Event(), anyio.Event()
    taken: set[str] = set()

    async def application(scope: Any, receive: Any, send: Any) -> None:
        session = dict(scope["headers"]).get(b"mcp-session-id", b"").decode()
        status, headers = 200, []
        if scope["method"] == "GET":
            streaming.set()
            await let_go.wait()
        elif scope["method"] == "DELETE":
            taken.discard(session)
        elif taken:
            status = 503
        else:
            taken.add("s")
            headers = [(b"mcp-session-id", b"s")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    sessions = http_sessions.Sessions(application)

    async def ask(method: str, *headers: tuple[bytes, bytes]) -> int:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        async def receive() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        await sessions({"type": "http", "method": method, "path": "/mcp", "headers": list(headers)}, receive, send)
        assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
        return int(sent[0]["status"])

    with anyio.fail_after(30), pytest.MonkeyPatch.context() as patched:
        patched.setattr(http_sessions, "IDLE_S", 0.0)
        assert await ask("POST") == 200
        async with anyio.create_task_group() as group:
            group.start_soon(ask, "GET", (b"mcp-session-id", b"s"))
            await streaming.wait()
            assert await ask("POST") == 503
            let_go.set()
        assert await ask("POST") == 200


async def test_what_the_server_forgot_is_forgotten_here(monkeypatch: pytest.MonkeyPatch) -> None:
    async with client(monkeypatch, 0.0) as made:
        for _ in range(PLACES * 3):
            status, session = await opened(made)
            assert status == 200
            assert (await made.delete(URL, headers={"mcp-session-id": session})).status_code == 200
        sessions: Any = made._transport.app.app  # type: ignore[attr-defined]
        assert not sessions.used and not sessions.busy
