"""Input schemas as short as they can be said: every chat pays for the tool list.

Pydantic writes a title for every field, and ``anyOf: [X, null]`` with ``default: null`` for every optional one. A model
reads nothing in that which the field's name and its absence from ``required`` do not say. The arguments themselves are
validated by the function's own types, so that null stays accepted.
"""

from typing import Any


def compact(schema: dict[str, Any]) -> dict[str, Any]:
    """The same schema without titles and without the null of optional fields."""
    return {key: _inside(key, value) for key, value in _shorter(schema).items()}


def _inside(key: str, value: Any) -> Any:
    if key in ("properties", "$defs"):  # names of fields and models: not keywords
        return {name: compact(inner) for name, inner in value.items()}
    if isinstance(value, dict) and key != "default":
        return compact(value)
    if isinstance(value, list) and key in ("anyOf", "oneOf", "allOf"):
        return [compact(item) for item in value]
    return value


def _shorter(schema: dict[str, Any]) -> dict[str, Any]:
    found = {key: value for key, value in schema.items() if key != "title"}
    if "$ref" in found and isinstance(found.get("default"), dict):
        del found["default"]  # the model's fields tell their own
    options = found.get("anyOf")
    if options and "default" in found and found["default"] is None:
        del found["default"]
        rest = [option for option in options if option != {"type": "null"}]
        if len(rest) == 1:
            del found["anyOf"]
            found = {**{key: value for key, value in rest[0].items() if key != "title"}, **found}
        else:
            found["anyOf"] = rest
    if "enum" in found or "const" in found:
        found.pop("type", None)  # the values tell it
    if isinstance(found.get("additionalProperties"), bool):
        del found["additionalProperties"]  # an unknown name is refused with that name by the function's own types
    if found.get("minimum") in (0, 1):
        del found["minimum"]  # counts and times
    found.pop("maxLength", None)
    return found
