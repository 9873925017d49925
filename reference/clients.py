"""The connection recipes as Markdown: a section a client, a fenced block a transport."""

from mindspeed_mm_train_profiler.reference import recipes
from mindspeed_mm_train_profiler.skill.wording import Language, text


def _block(language: Language, block: recipes.Block) -> list[str]:
    where = text(language, "recipes.into", file=block.file) if block.file else None
    note = text(language, block.note) if block.note else None
    said = " ".join(part for part in (where, note) if part)
    return [*([said, ""] if said else []), f"```{block.format}", block.text, "```", ""]


def _client(language: Language, client: recipes.Client) -> list[str]:
    where = text(language, f"recipes.where.{client.id}")
    lines = [f"## {client.name}", "", where, text(language, "recipes.source", url=client.source), ""]
    for transport in recipes.TRANSPORTS:
        lines += [f"**{text(language, f'recipes.transport.{transport}')}**", ""]
        for block in client.blocks[transport]:
            lines += _block(language, block)
    return lines


def render(language: Language) -> str:
    """All recipes in one language."""
    lines: list[str] = []
    for client in recipes.CLIENTS:
        lines += _client(language, client)
    return "\n".join(lines).rstrip("\n")
