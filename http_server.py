"""Streamable HTTP for a shared host.

Tools run shell scripts as the server's user, so this face is strict: loopback unless a token is set, any other address
refused outright without one; the token comes from an environment variable or a private file, never from argv (others
read it in ``ps``); Host and Origin are checked on every route, against DNS rebinding and against pages of other
servers on this machine; bodies, sessions and concurrency are bounded.
"""

import hmac
import ipaddress
import os
import re
import socket
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.http_sessions import Sessions, replayed

TOKEN_VARIABLE = "MINDSPEED_MM_TRAIN_PROFILER_TOKEN"
MIN_TOKEN = 16
MAX_BODY = 1024 * 1024
MAX_SESSIONS = 64
MAX_CONCURRENT = 128
HEAD_TIMEOUT_S = 10.0
BODY_TIMEOUT_S = 20.0
"""Connections count against MAX_CONCURRENT before anybody knows who opened them: who says nothing is not waited for."""
HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\s:\[\]/@]+))(?::([0-9]{1,5}))?")
DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """Where to listen and who may talk. ``token`` None: loopback only."""

    host: str = "127.0.0.1"
    port: int = 8765
    token: str | None = None
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()


def read_token(file: str | None) -> str | None:
    """The token from ``--token-file`` or the environment variable; None where neither is given.

    Errors: ``token_unreadable``, ``token_exposed`` (the file is open to others, or another's),
    ``token_malformed``, ``token_short``.
    """
    if file is None:
        token = os.environ.get(TOKEN_VARIABLE)
        if token is None:
            return None
    else:
        try:
            path = Path(file).expanduser()
            with path.open("rb") as opened:  # looked at once it is open: nobody exchanges it in between
                status = os.fstat(opened.fileno())
                token = opened.read(MAX_BODY).decode("utf-8")
        except (OSError, UnicodeDecodeError, RuntimeError) as error:  # RuntimeError: ~ of a user who is not there
            raise CodedError("token_unreadable", found=file, detail=error) from None
        if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO) or status.st_uid not in {0, os.getuid()}:
            raise CodedError("token_exposed", found=f"{path} ({stat.filemode(status.st_mode)})", path=path)
    token = token.strip()
    if not re.fullmatch(r"[!-~]*", token):  # no header could carry it
        raise CodedError("token_malformed")
    if len(token) < MIN_TOKEN:
        raise CodedError("token_short", found=f"{len(token)} characters", expected=f">= {MIN_TOKEN}")
    return token


def is_loopback(host: str) -> bool:
    """Whether an address to bind is reachable from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def accepted_hosts(options: HttpOptions) -> frozenset[str]:
    """Host names, lower case and without port, under which a request may address this server."""
    names = {"localhost", "127.0.0.1", "::1", *options.allowed_hosts}
    if not is_loopback(options.host):
        names |= {socket.gethostname(), socket.getfqdn()}
        if options.host not in {"0.0.0.0", "::"}:
            names.add(options.host)
    return frozenset(name.strip("[]").lower() for name in names)


def _host_name(value: str) -> str:
    """``Host`` without its port: ``a:1`` -> a, ``[::1]:1`` -> ::1; nothing where it is no host at all."""
    found = HOST.fullmatch(value.strip().lower())
    return (found[1] or found[2]) if found else ""


def _place(value: str, default_port: int) -> tuple[str, int] | None:
    """``host:port`` as name and port; None where it is no host at all."""
    found = HOST.fullmatch(value.strip().lower())
    return (found[1] or found[2], int(found[3] or default_port)) if found else None


def origin_of(value: str) -> tuple[str, str, int] | None:
    """An origin's scheme, name and port; None where it is none of http or https."""
    scheme, mark, rest = value.strip().lower().partition("://")
    place = _place(rest, DEFAULT_PORTS[scheme]) if mark and scheme in DEFAULT_PORTS else None
    return (scheme, *place) if place else None


class Gate:
    """ASGI middleware in front of every route: Host, Origin, token."""

    def __init__(self, app: ASGIApp, options: HttpOptions) -> None:
        self.app = app
        self.hosts = accepted_hosts(options)
        self.origins = {origin_of(value) for value in options.allowed_origins} - {None}
        self.token = options.token.encode() if options.token else None

    def known(self, origin: str, host: str) -> bool:
        """A page that this very address served (through a tunnel, too, the browser's ``Host`` says which), or one that
        was allowed by name. Another port of the same host is another server, whose pages have no business here."""
        found = origin_of(origin)
        return found is not None and (found[1:] == _place(host, DEFAULT_PORTS[found[0]]) or found in self.origins)

    def refusal(self, headers: Headers) -> PlainTextResponse | None:
        host = headers.get("host", "")
        if _host_name(host) not in self.hosts:
            return _refused("Invalid Host header", 421)
        if not all(self.known(origin, host) for origin in headers.getlist("origin")):
            return _refused("Invalid Origin header", 403)
        if self.token is not None:
            kind, _, given = headers.get("authorization", "").partition(" ")
            same = hmac.compare_digest(given.strip().encode("utf-8", "surrogateescape"), self.token)
            if kind.lower() != "bearer" or not same or len(headers.getlist("authorization")) != 1:
                return _refused("Unauthorized", 401, {"WWW-Authenticate": "Bearer"})
        declared = headers.get("content-length", "0")
        if not declared.isdecimal() or int(declared[:20]) > MAX_BODY:
            return _refused("Request body too large", 413)
        return None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            refused = self.refusal(Headers(scope=scope))
            if refused is None:
                body = await _body(receive)
                if body is None:  # the client has gone
                    return
                if isinstance(body, bytes):
                    await self.app(scope, replayed(body, receive), send)
                    return
                refused = body
            await refused(scope, receive, send)
            return
        if scope["type"] == "websocket":  # nothing here speaks it
            await send({"type": "websocket.close", "code": 1008})
            return
        await self.app(scope, receive, send)


def _refused(words: str, status: int, headers: dict[str, str] | None = None) -> PlainTextResponse:
    """A refusal ends the connection: the rest of its body is not waited for."""
    return PlainTextResponse(words, status_code=status, headers={"Connection": "close", **(headers or {})})


async def _body(receive: Receive) -> bytes | PlainTextResponse | None:
    """The whole body, or the refusal of one that is too long or comes too slowly; None where the client has gone."""
    body = bytearray()
    with anyio.move_on_after(BODY_TIMEOUT_S):
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return None
            body += message.get("body", b"")
            if len(body) > MAX_BODY:
                return _refused("Request body too large", 413)
            if not message.get("more_body", False):
                return bytes(body)
    return _refused("Request Timeout", 408)


def build_app(server: MCPServer[Any], options: HttpOptions) -> ASGIApp:
    """The guarded application. Error: ``http_needs_token`` for an address others reach, without a token."""
    if options.token is None and not is_loopback(options.host):
        raise CodedError("http_needs_token", found=options.host, variable=TOKEN_VARIABLE)
    app = server.streamable_http_app(
        max_request_body_size=MAX_BODY,
        max_sessions=MAX_SESSIONS,
        # Host and Origin are checked in front, on every route; the SDK's own check knows exact ports only
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return Gate(Sessions(app), options)


def serve(server: MCPServer[Any], options: HttpOptions, log_level: str) -> None:
    """Serve until interrupted."""
    import uvicorn

    app = build_app(server, options)
    listening = listen(options)
    host, port = listening.getsockname()[:2]
    sys.stderr.write(f"listening on http://{f'[{host}]' if ':' in host else host}:{port}/mcp\n")
    sys.stderr.flush()
    config = uvicorn.Config(
        app,
        http=_impatient(),
        log_level=log_level.lower(),
        access_log=False,
        limit_concurrency=MAX_CONCURRENT,
        timeout_graceful_shutdown=5,
    )
    uvicorn.Server(config).run(sockets=[listening])


def _impatient() -> type[Any]:
    """uvicorn's protocol, which has no bound of its own on the time until a request's head is there."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Impatient(H11Protocol):
        head: Any = None  # the timer

        def _watch(self) -> None:
            waiting = self.cycle is None or self.cycle.response_complete
            if waiting and self.head is None:
                self.head = self.loop.call_later(HEAD_TIMEOUT_S, self.transport.close)
            elif not waiting and self.head is not None:
                self.head.cancel()
                self.head = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            if self.head is not None:
                self.head.cancel()
            super().connection_lost(exc)

    return Impatient


def listen(options: HttpOptions) -> socket.socket:
    """The socket to serve on. Error: ``http_address_refused`` (in use, not ours, no such address)."""
    try:
        family, _, _, _, address = socket.getaddrinfo(
            options.host.strip("[]"), options.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(family, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(2048)
    except OSError as error:
        raise CodedError("http_address_refused", found=f"{options.host}:{options.port}", detail=error) from None
    return made
