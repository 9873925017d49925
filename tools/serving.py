"""How a tool's plain function becomes an MCP tool: results rendered, every failure coded.

The SDK keeps the text of a ``ToolError`` only, and gives no structured content with it. Here each failure is a
``CallToolResult`` whose text and structured content carry ``{"error": {code, message, found, expected, hint}}``:
expected ones from the tools, wrong arguments (before the tool runs), and unexpected ones (logged with their trace,
told by their kind alone).
"""

import difflib
import inspect
import logging
from collections.abc import Callable
from typing import Annotated, Any, get_args

import anyio
import anyio.to_thread
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.types import CallToolResult, InputRequiredResult, TextContent, ToolAnnotations
from pydantic import ValidationError

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.tools.common import (
    Injected,
    Result,
    ToolSpec,
    error_info,
    error_text,
    printable,
    resolve_language,
    visible,
)
from mindspeed_mm_train_profiler.tools.compact import compact

log = logging.getLogger("mindspeed_mm_train_profiler")
OptionalContext = Context[Any, Any] | None
"""Of the request: a tool reports its progress there."""


def failure(language: Any, error: CodedError) -> CallToolResult:
    """An expected failure as the client sees it."""
    info = error_info(language, error)
    return CallToolResult(
        content=[TextContent(type="text", text=visible(error_text(language, info)))],
        structured_content={"error": printable(info.model_dump())},
        is_error=True,
    )


def success(language: Any, result: Result) -> CallToolResult:
    """A result: a short text block that is useful alone, and the same as structured content."""
    return CallToolResult(
        content=[TextContent(type="text", text=visible(result.render(language))), *result.extra_content()],
        structured_content=printable(result.model_dump(mode="json")),
    )


def _as_served(parameter: inspect.Parameter) -> inspect.Parameter:
    """A parameter with the SDK's annotation where the server fills it."""
    marks = [extra for extra in get_args(parameter.annotation)[1:] if isinstance(extra, Injected)]
    return parameter.replace(annotation=marks[0].load()) if marks else parameter


def handler(spec: ToolSpec) -> Callable[..., Any]:
    """Wrap a tool's plain function: run it off the event loop, render its result, tell its failure.

    The wrapper keeps the function's parameters (they make the input schema); its return annotation tells the SDK both
    that a CallToolResult comes back and which model its structured content follows.
    """
    function = spec.function
    signature = inspect.signature(function, eval_str=True)
    signature = signature.replace(parameters=[_as_served(parameter) for parameter in signature.parameters.values()])
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
        return success(language, result)

    returned = Annotated[CallToolResult, model]
    call.__name__ = spec.name
    call.__doc__ = spec.description
    call.__signature__ = signature.replace(return_annotation=returned)  # type: ignore[attr-defined]
    call.__annotations__ = {name: p.annotation for name, p in signature.parameters.items()} | {"return": returned}
    return call


def _language_of(arguments: dict[str, Any]) -> Any:
    asked = arguments.get("language")
    return resolve_language(asked if asked in ("zh", "en") else None)


def _argument_error(error: ValidationError) -> CodedError:
    """Which arguments were wrong, with what was found there; the values are the caller's own."""
    found, expected = [], []
    for item in error.errors(include_url=False):
        where = ".".join(str(part) for part in item["loc"])
        given = repr(item.get("input"))
        found.append(f"{where} = {given if len(given) <= 120 else given[:117] + '...'}")
        expected.append(f"{where}: {item['msg']}")
    return CodedError(
        "invalid_arguments", found="; ".join(found[:8]), expected="; ".join(expected[:8]), count=len(found)
    )


class ProfilerServer(MCPServer[Any]):
    """An MCPServer whose argument errors, unknown arguments and crashes are coded like every other failure."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        language = _language_of(arguments)
        tool = self._tool_manager.get_tool(name)
        if tool is not None:
            known = list(tool.parameters.get("properties", {}))
            if unknown := [key for key in arguments if key not in known]:
                close = difflib.get_close_matches(unknown[0], known, n=1)
                return failure(
                    language,
                    CodedError(
                        "unknown_argument",
                        found=", ".join(unknown),
                        expected=", ".join(close or known),
                        tool=name,
                    ),
                )
        try:
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError as error:
            cause = error.__cause__ or error
            if isinstance(cause, CodedError):  # raised by a resolver, before the tool's own function
                return failure(language, cause)
            log.error("tool %s failed unexpectedly", name, exc_info=cause)
            return failure(language, CodedError("internal_error", kind=type(cause).__name__))
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                return failure(language, _argument_error(error.__cause__))
            raise


def with_error(schema: dict[str, Any]) -> dict[str, Any]:
    """An output schema that a failure's ``{"error": ...}`` fits as well.

    Clients on the TypeScript SDK (the Inspector among them) hold structured content against the schema even where
    ``isError`` is set, and then show a schema error instead of the failure.
    """
    open_schema = {key: value for key, value in schema.items() if key not in ("required", "additionalProperties")}
    return {**open_schema, "properties": {**schema.get("properties", {}), "error": {"type": "object"}}}


def register(server: MCPServer[Any], spec: ToolSpec) -> None:
    """Offer one tool: title, all four annotations, schemas from the function's own signature."""
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
    tool = server._tool_manager.get_tool(spec.name)
    if tool is not None:
        tool.parameters = compact(tool.parameters)
        if tool.fn_metadata.output_schema is not None:
            tool.fn_metadata.output_schema = with_error(tool.fn_metadata.output_schema)
