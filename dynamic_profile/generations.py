"""What torch_npu's dynamic profiler understands, by generation: each row says what changed.

Sources: Ascend/pytorch branches v2.1.0-6.0.0, v2.1.0-7.0.0, v2.6.0-7.1.0, v2.7.1-7.2.0, v2.7.1-7.3.0, v2.7.1-26.0.0,
v2.7.1-26.1.0: torch_npu/profiler/dynamic_profile.py, _dynamic_profiler/_dynamic_profiler_config_context.py (keys read),
_dynamic_profiler_monitor_shm.py (the template with its defaults).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

BASE_KEYS = frozenset({"activities", "prof_dir", "analyse", "record_shapes", "profile_memory", "with_stack"})
BASE_KEYS |= {"with_flops", "with_modules", "active", "start_step", "is_rank", "rank_list", "metadata"}
BASE_KEYS |= {"experimental_config"}
BASE_EXPERIMENTAL = frozenset({"profiler_level", "aic_metrics", "l2_cache", "op_attr", "gc_detect_threshold"})
BASE_EXPERIMENTAL |= {"data_simplification", "record_op_args", "export_type", "msprof_tx"}
ADDED_7_1 = frozenset({"host_sys", "mstx_domain_include", "mstx_domain_exclude", "sys_io", "sys_interconnection"})


@dataclass(frozen=True, slots=True)
class Generation:
    """``late``: a start step that has passed: ignored silently, warned of at every step, or warned of and dropped."""

    name: str
    keys: frozenset[str] = BASE_KEYS
    experimental: frozenset[str] = BASE_EXPERIMENTAL
    export_list: bool = False  # export_type may be a list
    instant: bool = False  # start_step -1 starts with the next step
    late: Literal["silent", "repeat", "drop"] = "silent"
    poll_limit_s: int | None = None  # longest interval between two looks at the file
    async_keeps_parse: bool = False  # async_mode keeps the parse of a ranked configuration on


G6_0 = Generation("6.0.0")
G7_0 = replace(G6_0, name="7.0.0", keys=BASE_KEYS | {"warmup", "async_mode"}, export_list=True)
G7_1 = replace(G7_0, name="7.1.0", experimental=BASE_EXPERIMENTAL | ADDED_7_1)
G7_2 = replace(G7_1, name="7.2.0", experimental=G7_1.experimental | {"mstx"}, instant=True, late="repeat")
G7_3 = replace(G7_2, name="7.3.0", late="drop", poll_limit_s=50, async_keeps_parse=True)
G26_0 = replace(G7_3, name="26.0.0")
G26_1 = replace(G26_0, name="26.1.0")
# What every row understands: for a torch_npu that could not be told.
UNKNOWN = replace(G6_0, name="unknown")

TABLE: dict[str, Generation] = {row.name: row for row in (G6_0, G7_0, G7_1, G7_2, G7_3, G26_0, G26_1)}
ALIASES = {"6.0.rc3": G6_0, "master": G26_1}

# Newest first: a text of the installed sources that this generation has and the one before has not.
# 7.3 and 26.0 have the same dynamic_profile.py: told as 7.3.0, whose row differs in the name only.
MARKS: tuple[tuple[str, str, Generation], ...] = (
    ("dynamic_profile.py", "def set_state", G26_1),
    ("dynamic_profile.py", "_max_poll_interval", G7_3),
    ("dynamic_profile.py", "config is not effective", G7_2),
    ("_dynamic_profiler/_dynamic_profiler_config_context.py", "sys_interconnection", G7_1),
    ("_dynamic_profiler/_dynamic_profiler_config_context.py", "_parse_warmup", G7_0),
    ("_dynamic_profiler/_dynamic_profiler_config_context.py", "start_step", G6_0),
)


# Newest first: a key that this generation's template has and the one before has not.
TEMPLATE_MARKS: tuple[tuple[Literal["", "experimental_config"], str, Generation], ...] = (
    ("", "async_mode", G26_1),
    ("experimental_config", "mstx", G7_2),
    ("experimental_config", "sys_interconnection", G7_1),
    ("", "warmup", G7_0),
    ("", "start_step", G6_0),
)


def generation(name: str | None) -> Generation:
    """The row for a release name ("7.2.0", "26.1.0", "master"); ``UNKNOWN`` for anything else.

    A package version such as "2.7.1.post2" does not say the release by itself: use ``installed_generation``.
    """
    if name is None:
        return UNKNOWN
    return TABLE.get(name) or ALIASES.get(name) or UNKNOWN


def template_generation(config: Mapping[str, object]) -> Generation:
    """The generation whose watcher wrote this file, by its keys (_dynamic_profiler_monitor_shm.py, JSON_DATA).

    Generations with the same template are told as the oldest of them, which understands least.
    """
    experimental = config.get("experimental_config")
    inner = experimental if isinstance(experimental, Mapping) else {}
    for holder, key, row in TEMPLATE_MARKS:
        if key in (config if holder == "" else inner):
            return row
    return UNKNOWN


def installed_generation(package: Path) -> Generation:
    """The generation of an installed torch_npu package folder, by its sources; nothing is imported."""
    for file, mark, row in MARKS:
        try:
            text = (package / "profiler" / file).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        if mark in text:
            return row
    return UNKNOWN
