"""The tool reference: arguments, results and hints, from the schemas that clients receive."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from mindspeed_mm_train_profiler.reference.tables import models_in, table, type_word
from mindspeed_mm_train_profiler.skill.wording import Language, described, text

# the common part of every result is described once
COMMON = ("ok", "summary", "warnings", "next_step", "error")
COMMON_MODELS = ("Remark", "NextStep")


@cache
def listed() -> tuple[Any, ...]:
    """The tools as ``tools/list`` gives them."""
    import anyio

    from mindspeed_mm_train_profiler.server import build_server

    return tuple(anyio.run(build_server().list_tools))


def _default(schema: Mapping[str, Any], name: str, required: bool) -> str:
    if required:
        return ""
    return f"`{json.dumps(schema['default'], ensure_ascii=False)}`" if schema.get("default") is not None else "-"


def _fields(language: Language, schema: Mapping[str, Any], skip: tuple[str, ...] = (), *, given: bool) -> list[str]:
    """A table of a schema's properties; ``given``: arguments, with what happens when they are left out."""
    definitions = schema.get("$defs", {})
    required = set(schema.get("required", ()))
    rows = []
    for name, field in schema.get("properties", {}).items():
        if name in skip:
            continue
        row = [f"`{name}`", type_word(field, definitions)]
        if given:
            row.append(
                text(language, "reference.required") if name in required else _default(field, name, name in required)
            )
        rows.append([*row, described(language, field.get("description", ""))])
    if not rows:
        return []
    head = [text(language, "reference.name"), text(language, "reference.type")]
    if given:
        head.append(text(language, "reference.default"))
    return table([*head, text(language, "reference.meaning")], rows)


def _models(language: Language, schema: Mapping[str, Any], *, given: bool) -> list[str]:
    definitions = schema.get("$defs", {})
    lines: list[str] = []
    for name in models_in(schema, definitions):
        if name in COMMON_MODELS:
            continue
        model = {**definitions[name], "$defs": definitions}
        lines += ["", f"`{name}`:", "", *_fields(language, model, given=given)]
    return lines


def _tool(language: Language, tool: Any) -> list[str]:
    hints = tool.annotations
    words = [
        text(language, f"reference.hint.{name}.{'yes' if getattr(hints, f'{name}_hint') else 'no'}")
        for name in ("read_only", "destructive", "idempotent", "open_world")
    ]
    lines = [f"## {tool.name}", "", f"**{described(language, tool.title)}** ({', '.join(words)})", ""]
    lines += [described(language, str(tool.description)), ""]
    lines += [f"**{text(language, 'reference.arguments')}**", "", *_fields(language, tool.input_schema, given=True)]
    lines += _models(language, tool.input_schema, given=True)
    if tool.output_schema:
        own = _fields(language, tool.output_schema, COMMON, given=False)
        lines += [
            "",
            f"**{text(language, 'reference.result')}**",
            "",
            *(own or [text(language, "reference.common_only")]),
        ]
        lines += _models(language, tool.output_schema, given=False)
    return [*lines, ""]


def render(language: Language) -> str:
    """Every tool, in the order in which it is listed."""
    lines: list[str] = []
    for tool in listed():
        lines += _tool(language, tool)
    return "\n".join(lines).rstrip("\n")
