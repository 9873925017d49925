"""Edits at positions: bytes outside them equal, the semantic difference exactly the request."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.profile_config import json_edit, yaml_edit, yaml_nodes
from mindspeed_mm_train_profiler.profile_config.edits import (
    MISSING,
    Edit,
    apply,
    differences,
    merged,
    same,
    unified_diff,
)

quick = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])

KEYS = st.sampled_from(["enable", "ranks", "level", "save_path", "tools", "profile", "static_param", "über", "a b"])
SCALARS = st.one_of(
    st.booleans(),
    st.integers(-5, 10_000),
    st.none(),
    st.text(st.characters(min_codepoint=32, max_codepoint=0x4E20, exclude_categories=("Cs", "Cc")), max_size=12),
)
VALUES = st.recursive(
    st.one_of(SCALARS, st.lists(st.integers(-1, 9), max_size=4)),
    lambda inner: st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=10,
)
DOCUMENTS = st.dictionaries(KEYS, VALUES, min_size=1, max_size=5)


def outside(before: bytes, edits: list[Edit]) -> list[bytes]:
    parts, at = [], 0
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        parts.append(before[at : edit.start])
        at = edit.end
    return [*parts, before[at:]]


def holds_in_order(after: bytes, parts: list[bytes]) -> bool:
    at = 0
    for part in parts:
        found = after.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return after.startswith(parts[0]) and after.endswith(parts[-1])


@quick
@given(DOCUMENTS, DOCUMENTS, st.sampled_from([None, 1, 2, 4, "\t"]), st.booleans(), st.booleans())
def test_json_difference_is_exactly_the_request(
    document: dict[str, Any], wanted: dict[str, Any], indent: Any, crlf: bool, final: bool
) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=False) + ("\n" if final else "")
    text = text.replace("\n", "\r\n") if crlf else text
    before = text.encode()
    edits = json_edit.set_members(text, wanted)
    after = apply(before, edits)
    assert same(json.loads(after), merged(document, wanted))
    assert holds_in_order(after, outside(before, edits))
    assert (b"\r\n" in after) == (b"\r\n" in before) or b"\n" not in before


@quick
@given(DOCUMENTS, DOCUMENTS, st.sampled_from([False, True, None]), st.integers(2, 6), st.booleans(), st.booleans())
def test_yaml_difference_is_exactly_the_request(
    document: dict[str, Any], wanted: dict[str, Any], flow: Any, indent: int, crlf: bool, final: bool
) -> None:
    text = yaml.safe_dump(document, default_flow_style=flow, indent=indent, allow_unicode=True, sort_keys=False)
    text = text if final else text.rstrip("\n")
    text = text.replace("\n", "\r\n") if crlf else text
    assume(same(yaml.safe_load(text), document))
    before = text.encode()
    edits = yaml_edit.set_keys(text, yaml.safe_load(text), wanted)
    after = apply(before, edits)
    assert same(yaml.safe_load(after), merged(document, wanted))
    assert holds_in_order(after, outside(before, edits))


PROFILE = {"tools": {"profile": {"enable": True, "ranks": [0], "static_param": {"level": "level2", "start_step": 7}}}}

YAMLS = {
    "missing section goes to the end": "a: 1  # one\n",
    "no final newline": "a: 1",
    "empty section": "tools:\na: 1\n",
    "section of a comment only": "tools:  # nothing yet\n  # really\na: 1\n",
    "explicit null": "tools: ~\na: 1\n",
    "memory_profile only, odd indent": "tools:\n      memory_profile:\n            enable: false # keep\na: 1\n",
    "flow": "tools: {profile: {enable: false, ranks: [0, 1]}, x: 1}\n",
    "flow with trailing comma": "tools: {profile: {enable: false,},}\n",
    "multi-line flow": "tools: {\n  profile: {\n    enable: false\n  }\n}\n",
    "block list": "tools:\n  profile:\n    ranks:\n    - 0\n    - 1\n    enable: false\n",
    "indented block list": "tools:\n  profile:\n    enable: off\n    ranks:\n      - 0   # zero\n      - 1\n",
    "two blocks, the last counts": "tools:\n  profile:\n    enable: false\ntools:\n  x: 1\n",
    "anchored scalar used elsewhere": "tools:\n  profile:\n    static_param:\n      start_step: &s 10\nb: *s\nc: *s\n",
    "alias as value": "p: &p level1\ntools:\n  profile:\n    static_param:\n      level: *p\n",
    "section behind an alias": "base: &b\n  profile:\n    enable: false\n    keep: 1\ntools: *b\n",
    "merge key": "base: &b\n  enable: false\n  static_param: {level: level0, keep: 1}\ntools:\n  profile:\n    <<: *b\n",
    "quoted keys": "\"tools\":\n  'profile':\n    enable: 'false'\n",
    "block scalar at the end": "tools:\n  profile:\n    note: |\n      text\n      more\nz: 1\n",
    "block scalar is the file's end": "tools:\n  profile:\n    note: |\n      text\n",
    "document end": "tools:\n  x: 1\n...\n",
    "CRLF": "tools:\r\n  x: 1\r\nb: 2\r\n",
    "Chinese": "# 注释\n名称: 值\ntools:\n  x: 值  # 注释\n",
}


@pytest.mark.parametrize("name", YAMLS)
def test_yaml_shapes(name: str) -> None:
    text = YAMLS[name]
    loaded = yaml.safe_load(text)
    after = apply(text.encode(), yaml_edit.set_keys(text, loaded, PROFILE))
    assert same(yaml.safe_load(after), merged(loaded, PROFILE)), after.decode()
    root = yaml_nodes.parse(after.decode())
    assert root is not None
    tools = [key for key, _ in root.pairs if key.text == "tools"]
    assert len(tools) == text.count("tools") or len(tools) == 1
    for comment in ("# one", "# keep", "# nothing yet", "# really", "注释"):
        assert (comment in text) == (comment in after.decode())


def test_yaml_shared_block_is_refused_with_its_line() -> None:
    text = "tools:\n  profile: &p\n    enable: false\nother: *p\n"
    with pytest.raises(CodedError) as error:
        yaml_edit.set_keys(text, yaml.safe_load(text), PROFILE)
    assert error.value.code == "yaml_anchor_shared" and error.value.params["line"] == 2


def test_yaml_untouched_where_all_is_there() -> None:
    text = "tools: {profile: {enable: yes, ranks: [0], static_param: {level: level2, start_step: 7}}}\n"
    assert yaml_edit.set_keys(text, yaml.safe_load(text), PROFILE) == []


def test_yaml_duplicates_are_found_with_their_line() -> None:
    root = yaml_nodes.parse("a: 1\nb: {c: 1, c: 2}\na: 3\n")
    assert root is not None and sorted(yaml_nodes.duplicates(root)) == [("a", 3), ("c", 2)]


@pytest.mark.parametrize("text", ["- a\n", "", "text\n"])
def test_yaml_without_a_mapping_is_refused(text: str) -> None:
    with pytest.raises(CodedError, match="config_root_not_mapping"):
        yaml_edit.set_keys(text, yaml.safe_load(text), PROFILE)


@pytest.mark.parametrize(
    "value", ["on", "1e5", "1e-5", "null", "~", "", "a: b", "#x", "./x y", "0x1", "=", "yes", "a\nb", "日本"]
)
def test_yaml_spelling_of_strings(value: str) -> None:
    assert yaml.safe_load(yaml_edit.scalar(value)) == value
    assert yaml.safe_load(yaml_edit.scalar([value, {value or "k": 1}])) == [value, {value or "k": 1}]


def test_json_list_over_lines_and_style() -> None:
    text = '{\n\t"profile": {\n\t\t"ranks": [\n\t\t\t0,\n\t\t\t1\n\t\t]\n\t}\n}'
    after = apply(text.encode(), json_edit.set_members(text, {"profile": {"ranks": [0], "x": {"y": 1}}})).decode()
    assert after == '{\n\t"profile": {\n\t\t"ranks": [0],\n\t\t"x": {\n\t\t\t"y": 1\n\t\t}\n\t}\n}'


def test_json_last_of_equal_keys_counts() -> None:
    text = '{"a": 1, "a": 2}'
    assert apply(text.encode(), json_edit.set_members(text, {"a": 3})) == b'{"a": 1, "a": 3}'


def test_overlapping_edits_are_refused() -> None:
    with pytest.raises(CodedError, match="edits_overlap"):
        apply(b"abcdef", [Edit(0, 3, b"x"), Edit(2, 4, b"y")])
    assert apply(b"abcdef", [Edit(1, 2, b"x"), Edit(1, 2, b"x"), Edit(4, 4, b"!")]) == b"axcd!ef"


def test_differences_name_new_keys_and_types() -> None:
    found = differences({"a": 1, "b": {"c": 1}}, {"a": True, "b": {"c": 1, "d": {"e": 2}}})
    assert [(c.key, c.before, c.after) for c in found] == [(("a",), 1, True), (("b", "d", "e"), MISSING, 2)]


def test_long_diffs_say_that_they_are_cut() -> None:
    diff = unified_diff(b"a\n" * 200, b"b\n" * 200, "x", "y")
    assert diff.splitlines()[-1].endswith("more lines") and len(diff.splitlines()) == 61
