"""Updates of runs to those who subscribed to them: ``profiling://runs`` and ``profiling://runs/{run_id}``.

Runs live outside this server (another server, a terminal may start and stop them), so their folders are looked at while
somebody listens, and not at all otherwise.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import anyio.to_thread

log = logging.getLogger("mindspeed_mm_train_profiler")
TICK_S = 1.0
MOST = 100
RUNS = "profiling://runs"


class RunEvents:
    """The SDK's subscription bus; the first listener starts the look-out, the last one's leaving ends it."""

    def __init__(self) -> None:
        self._listeners: dict[object, Callable[[Any], None]] = {}
        self._task: asyncio.Task[None] | None = None

    async def publish(self, event: Any) -> None:
        """Deliver an event to every listener; one that raises does not stop the others."""
        for listener in list(self._listeners.values()):
            try:
                listener(event)
            except Exception:
                log.exception("a subscription listener failed")
        await anyio.lowlevel.checkpoint()

    def subscribe(self, listener: Callable[[Any], None]) -> Callable[[], None]:
        """Register a listener; returns what takes it off again."""
        token = object()
        self._listeners[token] = listener
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._watch())

        def leave() -> None:
            self._listeners.pop(token, None)
            if not self._listeners and self._task is not None:
                self._task.cancel()
                self._task = None

        return leave

    async def _watch(self) -> None:
        from mcp.server.subscriptions import ResourceUpdated

        before = await anyio.to_thread.run_sync(snapshot)
        while self._listeners:
            await asyncio.sleep(TICK_S)
            now = await anyio.to_thread.run_sync(snapshot)
            changed = [run_id for run_id in now if now[run_id] != before.get(run_id)]
            for run_id in changed:
                await self.publish(ResourceUpdated(uri=f"{RUNS}/{run_id}"))
            if {key: value[0] for key, value in now.items()} != {key: value[0] for key, value in before.items()}:
                await self.publish(ResourceUpdated(uri=RUNS))
            before = now


def snapshot() -> dict[str, tuple[Any, ...]]:
    """(state, iteration, sessions) by run, of the newest runs."""
    from itertools import islice

    from mindspeed_mm_train_profiler.runs import folder as folders
    from mindspeed_mm_train_profiler.runs import poll

    found: dict[str, tuple[Any, ...]] = {}
    for folder in islice(folders.all_runs(), MOST):
        try:
            state = poll.state_of(folder)[0]
            iteration = (folder.read("status") or {}).get("iteration") if state in poll.ACTIVE else None
            sessions = len(poll.sessions(folder, folder.read("build") or {})) if state in poll.ACTIVE else None
            found[folder.run_id] = (state, iteration, sessions)
        except Exception:  # a folder that cannot be read must not end the look-out
            found[folder.run_id] = ("unreadable",)
    return found
