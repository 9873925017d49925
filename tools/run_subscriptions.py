"""``resources/subscribe`` of clients before protocol 2026-07-28; later ones listen to the bus of ``run_events`` itself.

The SDK (mcp 2.x) leaves these two requests to its low-level server, and a connection is reached through the session.
"""

import asyncio
import logging
from dataclasses import dataclass, field
from typing import Any

from mcp import MCPError
from mcp.server import MCPServer

from mindspeed_mm_train_profiler.tools.run_events import RunEvents

log = logging.getLogger("mindspeed_mm_train_profiler")
KEY = "mindspeed_mm_train_profiler.subscriptions"
MOST = 200
"""Addresses that one connection may subscribe to."""
INVALID_PARAMS = -32602
SCHEME = "profiling://"


@dataclass(slots=True)
class Subscriptions:
    """Of one connection. ``tell`` is called by the bus, on the event loop, for every event."""

    connection: Any
    addresses: set[str] = field(default_factory=set)
    sending: set["asyncio.Task[None]"] = field(default_factory=set)
    leave: Any = None

    def tell(self, event: Any) -> None:
        address = str(getattr(event, "uri", ""))
        if address in self.addresses:
            task = asyncio.get_running_loop().create_task(self.connection.send_resource_updated(address))
            self.sending.add(task)
            task.add_done_callback(self.sending.discard)

    def end(self) -> None:
        """The last address, or the connection, is gone."""
        self.addresses.clear()
        if self.leave is not None:
            self.leave()
            self.leave = None
        for task in self.sending:
            task.cancel()


def register(server: MCPServer[Any], bus: RunEvents) -> None:
    """Serve ``resources/subscribe`` and ``resources/unsubscribe``."""
    from mcp.types import EmptyResult, SubscribeRequestParams, UnsubscribeRequestParams

    def of(context: Any) -> Subscriptions:
        connection = context.session._connection
        found: Subscriptions | None = connection.state.get(KEY)
        if found is None:
            found = connection.state[KEY] = Subscriptions(connection)
            connection.exit_stack.callback(found.end)
        return found

    async def subscribe(context: Any, params: SubscribeRequestParams) -> EmptyResult:
        mine, address = of(context), str(params.uri)
        if not address.startswith(SCHEME):
            raise MCPError(INVALID_PARAMS, f"no resource of this server: {address[:200]}")
        if len(mine.addresses) >= MOST and address not in mine.addresses:
            raise MCPError(INVALID_PARAMS, f"more than {MOST} subscriptions")
        mine.addresses.add(address)
        if mine.leave is None:
            mine.leave = bus.subscribe(mine.tell)
        return EmptyResult()

    async def unsubscribe(context: Any, params: UnsubscribeRequestParams) -> EmptyResult:
        mine = of(context)
        mine.addresses.discard(str(params.uri))
        if not mine.addresses:
            mine.end()
        return EmptyResult()

    low = server._lowlevel_server
    low.add_request_handler("resources/subscribe", SubscribeRequestParams, subscribe)
    low.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, unsubscribe)
