"""The reference of resources and prompts, from what the server lists."""

from functools import cache
from typing import Any

from mindspeed_mm_train_profiler.reference.tables import table
from mindspeed_mm_train_profiler.skill.wording import Language, described, text


@cache
def listed() -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """(resources and templates, prompts) as clients are told of them."""
    import anyio

    from mindspeed_mm_train_profiler.server import build_server

    async def ask() -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        server = build_server()
        return (*await server.list_resource_templates(), *await server.list_resources()), tuple(
            await server.list_prompts()
        )

    return anyio.run(ask)


def address(resource: Any) -> str:
    """The resource's address, or the template of such addresses."""
    return str(getattr(resource, "uri_template", None) or resource.uri)


def render(language: Language) -> str:
    """One table of resources, one of prompts."""
    resources, prompts = listed()
    name, meaning = text(language, "reference.name"), text(language, "reference.meaning")
    ordered = sorted(resources, key=address)
    rows = [[f"`{address(item)}`", str(item.mime_type), _first(language, item)] for item in ordered]
    lines = table([text(language, "reference.address"), text(language, "reference.type"), meaning], rows)
    asked = []
    for item in prompts:
        given = ", ".join(f"`{one.name}`" for one in item.arguments or ())
        asked.append([f"`{item.name}`", given, _first(language, item)])
    head = [name, text(language, "reference.arguments"), meaning]
    return "\n".join([*lines, "", text(language, "reference.updates"), "", *table(head, asked)])


def _first(language: Language, item: Any) -> str:
    return described(language, str(item.description or item.title or "").strip().partition("\n")[0])
