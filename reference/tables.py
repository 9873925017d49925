"""Small helpers for Markdown tables and for saying a JSON schema's type in a word."""

import json
from collections.abc import Iterable, Mapping
from typing import Any


def cell(value: object) -> str:
    """Text that stays inside one cell."""
    return " ".join(str(value).split()).replace("|", "\\|")


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> list[str]:
    """Lines of a table."""
    names = list(head)
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    return lines + ["| " + " | ".join(cell(value) for value in row) + " |" for row in rows]


def type_word(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """``array of integer or "all"``, ``"zh" or "en" or null``, the name of a model, ..."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    for key in ("anyOf", "oneOf"):
        if key in schema:
            words: list[str] = []
            for part in schema[key]:
                word = type_word(part, definitions)
                if word not in words:
                    words.append(word)
            return " or ".join(words)
    if "enum" in schema:
        return " or ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
    if "const" in schema:
        return json.dumps(schema["const"], ensure_ascii=False)
    kind = schema.get("type")
    if kind == "array":
        items = schema.get("items")
        return f"array of {type_word(items, definitions)}" if items else "array"
    return " or ".join(kind) if isinstance(kind, list) else str(kind or "any")


def models_in(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> list[str]:
    """Names of the models a schema refers to, directly or through others, in the order of their first mention."""
    found: list[str] = []

    def visit(value: Any) -> None:
        if isinstance(value, Mapping):
            if isinstance(reference := value.get("$ref"), str):
                name = reference.rpartition("/")[2]
                if name not in found and "properties" in definitions.get(name, {}):
                    found.append(name)
                    visit(definitions[name])
            for key, inner in value.items():
                if key != "$defs":
                    visit(inner)
        elif isinstance(value, list):
            for inner in value:
                visit(inner)

    visit(schema)
    return found
