"""The MCP surface: tools, resources and prompts are registered here and served. No logic of its own.

``python server.py``, ``mcp run server.py`` and the installed command serve the same object, ``mcp``.
"""

from typing import Any

from mcp.server import MCPServer

from mindspeed_mm_train_profiler import __version__, settings
from mindspeed_mm_train_profiler.tools import ALL, conversation, run_subscriptions
from mindspeed_mm_train_profiler.tools.run_events import RunEvents
from mindspeed_mm_train_profiler.tools.serving import ProfilerServer, handler, register

__all__ = ["build_server", "handler"]

INSTRUCTIONS = """\
Collects performance profiles of MindSpeed-MM training on Ascend NPU hosts.
Order: detect_engine -> check_env -> choose_options (or profiling://questions/en) -> build_config (shows the table,
waits for confirmation) -> launch_training -> poll_status until it ends -> verify_output -> summarize_profile.
The user's own files are never changed; copies are. Answer in the user's language (language="zh" or "en")."""


def build_server() -> MCPServer[Any]:
    """A new server with everything registered; a read-only one lacks the tools that write or start something."""
    events = RunEvents()
    server = ProfilerServer(
        "mindspeed-mm-train-profiler",
        title="MindSpeed-MM training profiler",
        instructions=INSTRUCTIONS,
        version=__version__,
        log_level="WARNING",
        subscriptions=events,
    )
    for spec in ALL:
        if spec.read_only or not settings.current().read_only:
            register(server, spec)
    conversation.register(server)
    run_subscriptions.register(server, events)
    return server


def __getattr__(name: str) -> Any:
    """``mcp``, made on first use: the command makes its own after reading its flags."""
    if name == "mcp":
        globals()["mcp"] = build_server()
        return globals()["mcp"]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


if __name__ == "__main__":
    build_server().run()
