"""The MCP surface: tools, resources and prompts are registered here and served. No logic of its own.

``python server.py``, ``mcp run server.py`` and the installed command serve the same object, ``mcp``.
"""

import inspect
import logging
from collections.abc import Callable
from typing import Annotated, Any

import anyio
import anyio.to_thread
from mcp.server import MCPServer
from mcp.types import CallToolResult, TextContent, ToolAnnotations

from mindspeed_mm_train_profiler import __version__
from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.tools import ALL
from mindspeed_mm_train_profiler.tools.common import Result, ToolSpec, error_info, error_text, resolve_language

log = logging.getLogger("mindspeed_mm_train_profiler")

INSTRUCTIONS = """\
Collects performance profiles of MindSpeed-MM training on Ascend NPU hosts.
Order: detect_engine -> check_env -> choose_options (or profiling://questions/en) -> build_config (shows the table, waits
for confirmation) -> launch_training -> poll_status until it ends -> verify_output -> summarize_profile.
The user's own files are never changed; copies are. Answer in the user's language (language="zh" or "en")."""


def failure(language: Any, error: CodedError) -> CallToolResult:
    """An expected failure: text and structured content carry the same code."""
    info = error_info(language, error)
    return CallToolResult(
        content=[TextContent(type="text", text=error_text(language, info))],
        structured_content={"error": info.model_dump()},
        is_error=True,
    )


def handler(spec: ToolSpec) -> Callable[..., Any]:
    """Wrap a tool's plain function: run it off the event loop, render its result, tell its failure.

    The wrapper keeps the function's parameters (they make the input schema); its return annotation tells the SDK both
    that a CallToolResult comes back and which model its structured content follows.
    """
    function = spec.function
    signature = inspect.signature(function, eval_str=True)
    model = signature.return_annotation

    async def call(**arguments: Any) -> CallToolResult:
        language = resolve_language(arguments.get("language"))
        try:
            if inspect.iscoroutinefunction(function):
                result: Result = await function(**arguments)
            else:
                result = await anyio.to_thread.run_sync(lambda: function(**arguments), abandon_on_cancel=True)
        except CodedError as error:
            return failure(language, error)
        except Exception as error:
            log.exception("tool %s failed unexpectedly", spec.name)
            return failure(language, CodedError("internal_error", kind=type(error).__name__))
        content: list[Any] = [TextContent(type="text", text=result.render(language)), *result.extra_content()]
        return CallToolResult(content=content, structured_content=result.model_dump(mode="json"))

    returned = Annotated[CallToolResult, model]
    call.__name__ = spec.name
    call.__doc__ = spec.description
    call.__signature__ = signature.replace(return_annotation=returned)  # type: ignore[attr-defined]
    call.__annotations__ = {name: p.annotation for name, p in signature.parameters.items()} | {"return": returned}
    return call


def build_server() -> MCPServer[Any]:
    """A new server with everything registered."""
    server: MCPServer[Any] = MCPServer(
        "mindspeed-mm-train-profiler",
        title="MindSpeed-MM training profiler",
        instructions=INSTRUCTIONS,
        version=__version__,
        log_level="WARNING",
    )
    for spec in ALL:
        server.add_tool(
            handler(spec),
            name=spec.name,
            title=spec.title,
            description=spec.description,
            annotations=ToolAnnotations(
                title=spec.title,
                read_only_hint=spec.read_only,
                destructive_hint=spec.destructive,
                idempotent_hint=spec.idempotent,
                open_world_hint=spec.open_world,
            ),
        )
    return server


mcp = build_server()

if __name__ == "__main__":
    mcp.run()
