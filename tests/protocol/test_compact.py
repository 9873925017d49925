"""Short schemas say the same: what the long one accepts (null aside), the short one accepts too."""

from typing import Annotated, Any, Literal

import jsonschema
import pytest
from pydantic import BaseModel, Field

from mindspeed_mm_train_profiler.tools.compact import compact


class Inner(BaseModel):
    title: str | None = None
    kind: Literal["a", "b"] = "a"


class Arguments(BaseModel):
    script: str
    title: Annotated[str | None, Field(description="a field of that name")] = None
    ranks: list[int] | Literal["all"] | None = None
    inner: Inner | None = None
    must_be_null_or_text: str | None
    count: int | None = 3
    properties: dict[str, int] | None = None


LONG = Arguments.model_json_schema()
SHORT = compact(LONG)


def test_titles_go_and_fields_named_title_stay() -> None:
    assert "title" not in SHORT and "title" in SHORT["properties"] and "title" in SHORT["$defs"]["Inner"]["properties"]
    assert SHORT["properties"]["title"] == {"type": "string", "description": "a field of that name"}
    assert SHORT["properties"]["properties"] == {"type": "object", "additionalProperties": {"type": "integer"}}


def test_null_goes_only_where_leaving_out_says_it() -> None:
    assert {"type": "null"} not in SHORT["properties"]["ranks"]["anyOf"]
    assert {"type": "null"} in SHORT["properties"]["must_be_null_or_text"]["anyOf"]
    assert {"type": "null"} in SHORT["properties"]["count"]["anyOf"] and SHORT["properties"]["count"]["default"] == 3
    assert SHORT["required"] == LONG["required"]


@pytest.mark.parametrize(
    "value",
    [
        {"script": "x", "must_be_null_or_text": None},
        {"script": "x", "must_be_null_or_text": "y", "ranks": "all", "count": None, "properties": {"a": 1}},
        {"script": "x", "must_be_null_or_text": "y", "ranks": [0], "inner": {"title": "t", "kind": "b"}, "title": "t"},
    ],
)
def test_what_was_valid_is_valid(value: dict[str, Any]) -> None:
    jsonschema.validate(value, LONG)
    jsonschema.validate(value, SHORT)


@pytest.mark.parametrize(
    "value", [{}, {"script": 1, "must_be_null_or_text": None}, {"script": "x", "inner": {"kind": "c"}}]
)
def test_what_was_not_is_not(value: dict[str, Any]) -> None:
    for schema in (LONG, SHORT):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(value, schema)


def test_the_given_schema_is_not_changed() -> None:
    before = Arguments.model_json_schema()
    compact(before)
    assert before == LONG
