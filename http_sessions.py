"""Sessions of clients that went away without a word give way to new ones, once every place is taken.

The SDK ends a session that nobody uses after half an hour, and refuses new ones while all places are taken. What is
ended here is ended as its client would end it: by a DELETE of the protocol. A session with a request or a stream open
is in use, whatever its age.
"""

from collections import Counter

import anyio
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

IDLE_S = 60.0
"""Unused for this long, a session gives way. Its client, should it come back, is told 404 and opens another."""
FORGOTTEN_S = 45 * 60.0
"""Longer than the SDK keeps a session that nobody uses: nothing is known of it any more."""
HEADER = "mcp-session-id"
ALL_TAKEN = 503


def replayed(body: bytes, receive: Receive) -> Receive:
    """``receive`` for an application, with a body that was read before."""
    waiting = [body]

    async def replay() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await receive()

    return replay


class Sessions:
    """ASGI middleware; requests reach it with their body in one message (the gate read it)."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.used: dict[str, float] = {}  # the longest unused first
        self.busy: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        session = Headers(scope=scope).get(HEADER) if scope["type"] == "http" else None
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif session is None:
            await self._opened(scope, receive, send)
        else:
            await self._watched(session, scope, receive, send)

    async def _opened(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A request outside any session: it may open one, for which room is made where there is none."""
        body = (await receive()).get("body", b"")
        while refusal := await self._watched(None, scope, replayed(body, receive), send):
            if not await self._room(scope):
                for message in refusal:
                    await send(message)
                return

    async def _watched(self, session: str | None, scope: Scope, receive: Receive, send: Send) -> list[Message]:
        """Serve one request and note its session's use; that all places are taken is kept back and returned."""
        status = 0
        opening = session is None
        refusal: list[Message] = []

        async def watching(message: Message) -> None:
            nonlocal session, status
            if message["type"] == "http.response.start":
                status = message["status"]
                named = Headers(raw=message.get("headers", [])).get(HEADER)
                if opening and named is not None and status < 400:
                    session = named
                    self.busy[session] += 1
            if opening and status == ALL_TAKEN:
                refusal.append(message)
            else:
                await send(message)

        if session is not None:
            self.busy[session] += 1
        try:
            await self.app(scope, receive, watching)
        finally:
            if session is not None:
                self._let_go(session, gone=status == 404 or (scope["method"] == "DELETE" and status < 400))
        return refusal

    def _let_go(self, session: str, gone: bool) -> None:
        now = anyio.current_time()
        self.busy[session] -= 1
        if self.busy[session] <= 0:
            del self.busy[session]
        self.used.pop(session, None)
        if not gone:
            self.used[session] = now
        for name in [name for name, last in self.used.items() if now - last > FORGOTTEN_S and name not in self.busy]:
            del self.used[name]

    async def _room(self, scope: Scope) -> bool:
        """End the session that was unused for longest; False where each is in use or was a moment ago."""
        now = anyio.current_time()
        for session, last in list(self.used.items()):
            if session in self.busy or now - last < IDLE_S or self.used.pop(session, None) is None:
                continue
            statuses: list[int] = []

            async def answered(message: Message, statuses: list[int] = statuses) -> None:
                if message["type"] == "http.response.start":
                    statuses.append(message["status"])

            async def nothing() -> Message:
                return {"type": "http.request", "body": b"", "more_body": False}

            ending = {**scope, "method": "DELETE", "headers": [(HEADER.encode(), session.encode("latin-1"))]}
            await self.app(ending, nothing, answered)
            if statuses and statuses[0] < 400:
                return True
        return False
