"""Whoever subscribed to runs hears of their changes, and nobody is looked after when no one listens."""

from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp.types import ResourceUpdatedNotification

from mindspeed_mm_train_profiler.server import build_server
from mindspeed_mm_train_profiler.tools import run_events, run_subscriptions


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


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
async def test_clients_before_2026_07_28_subscribe_by_request(world: Any) -> None:
    built = await world.built(train_iters=60)
    server = build_server()
    heard: list[str] = []
    ended = anyio.Event()

    async def hear(message: Any) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            heard.append(str(message.params.uri))
            if heard[-1] == run_events.RUNS:
                ended.set()

    async with Client(server, mode="legacy", message_handler=hear) as client:
        assert client.server_capabilities.resources.subscribe
        launched = await client.call_tool("launch_training", {"config_id": built["config_id"]})
        assert not launched.is_error, launched.content
        run = f"{run_events.RUNS}/{(launched.structured_content or {})['run_id']}"
        for address in (run, run, run_events.RUNS):
            await client.session.subscribe_resource(address)
        with anyio.fail_after(30):
            await ended.wait()
        assert run in heard and set(heard) <= {run, run_events.RUNS}
        await client.session.unsubscribe_resource(run_events.RUNS)
        assert server._subscriptions._listeners
        await client.session.unsubscribe_resource(run)
        assert not server._subscriptions._listeners, "nobody listens any more"
        await client.session.unsubscribe_resource(run)  # once more: harmless
        await client.session.subscribe_resource(run)
        with pytest.raises(MCPError, match="no resource of this server"):
            await client.session.subscribe_resource("file:///etc/passwd")
    with anyio.fail_after(5):
        while server._subscriptions._listeners:  # the connection is gone
            await anyio.sleep(0.01)
    assert server._subscriptions._task is None


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
async def test_one_connection_subscribes_to_so_many(own_state: Any) -> None:
    async with Client(build_server(), mode="legacy") as client:
        for number in range(run_subscriptions.MOST):
            await client.session.subscribe_resource(f"{run_events.RUNS}/run-{number}")
        await client.session.subscribe_resource(f"{run_events.RUNS}/run-0")
        with pytest.raises(MCPError, match="more than"):
            await client.session.subscribe_resource(run_events.RUNS)
