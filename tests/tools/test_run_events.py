"""Whoever subscribed to runs hears of their changes, and nobody is looked after when no one listens."""

from typing import Any

import anyio
from mcp import Client

from mindspeed_mm_train_profiler.server import build_server
from mindspeed_mm_train_profiler.tools import run_events


async def test_updates_reach_those_who_listen(world: Any) -> None:
    built = await world.built(train_iters=60)
    server = build_server()
    heard: list[str] = []
    async with Client(server) as client:
        launched = await client.call_tool("launch_training", {"config_id": built["config_id"]})
        assert not launched.is_error, launched.content
        run_id = (launched.structured_content or {})["run_id"]
        with anyio.move_on_after(30):
            async with client.listen(
                resource_subscriptions=["profiling://runs", f"profiling://runs/{run_id}"]
            ) as events:
                async for event in events:
                    heard.append(str(event.uri))
                    if "profiling://runs" in heard:  # its state changed: it has ended
                        break
        assert f"profiling://runs/{run_id}" in heard and heard[-1] == "profiling://runs"
    bus = server._subscriptions
    assert isinstance(bus, run_events.RunEvents)
    assert not bus._listeners and bus._task is None


async def test_a_folder_that_cannot_be_read_does_not_end_the_look_out(world: Any, own_state: Any) -> None:
    run_id = (await world.launched())["run_id"]
    await world.ended(run_id)
    broken = own_state / "runs" / "run-20260101-000000-abcdef"
    broken.mkdir(parents=True)
    (broken / "run.json").write_text('{"created": "x", "launcher": 5}', encoding="utf-8")
    found = run_events.snapshot()
    assert found[run_id][0] == "succeeded" and broken.name in found
