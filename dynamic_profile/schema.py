"""profiler_config.json in torch_npu's own spelling: made from the user's options, and checked.

Source: torch_npu/profiler/_dynamic_profiler/_dynamic_profiler_config_context.py. Names of levels and metrics are
attributes of torch_npu's classes and case-sensitive; unknown keys are ignored by torch_npu without a word.
"""

from collections.abc import Sequence
from typing import Any

from mindspeed_mm_train_profiler.dynamic_profile.generations import Generation
from mindspeed_mm_train_profiler.errors import Note
from mindspeed_mm_train_profiler.options import ProfileOptions

LEVELS = ("Level0", "Level1", "Level2", "Level_none")
METRICS = (
    "AiCoreNone",
    "PipeUtilization",
    "ArithmeticUtilization",
    "Memory",
    "MemoryL0",
    "MemoryUB",
    "ResourceConflictRatio",
    "L2Cache",
    "MemoryAccess",
)
BOOLEANS: tuple[str, ...] = (
    "analyse",
    "async_mode",
    "record_shapes",
    "profile_memory",
    "with_stack",
    "with_flops",
    "with_modules",
)
BOOLEANS += ("is_rank",)
SIZE_LIMIT = 1024 * 1024 - 64  # bytes; torch_npu adds a time stamp and is_valid before it compares with 1 MiB


def make_config(
    options: ProfileOptions,
    generation: Generation,
    *,
    start_step: int,
    steps: int,
    save_path: str,
    ranks: Sequence[int] | None,
) -> dict[str, Any]:
    """A complete configuration. ``save_path`` absolute; ``ranks`` None: every rank that watches."""
    experimental: dict[str, Any] = {
        "profiler_level": options.level.replace("level", "Level"),
        "aic_metrics": options.aic_metrics_type,
        "l2_cache": False,
        "op_attr": False,
        "gc_detect_threshold": None,
        "data_simplification": options.data_simplification,
        "record_op_args": False,
        "export_type": ["text"] if generation.export_list else "text",
        "msprof_tx": False,
        "mstx": False,
        "host_sys": [],
        "mstx_domain_include": [],
        "mstx_domain_exclude": [],
        "sys_io": False,
        "sys_interconnection": False,
    }
    config: dict[str, Any] = {
        "activities": ["CPU", "NPU"] if options.with_cpu else ["NPU"],
        "prof_dir": save_path,
        "analyse": options.analyse_flag,
        "async_mode": False,
        "record_shapes": options.record_shapes,
        "profile_memory": options.with_memory,
        "with_stack": options.with_stack,
        "with_flops": False,
        "with_modules": False,
        "active": steps,
        "warmup": 0,
        "start_step": start_step,
        "is_rank": ranks is not None,
        "rank_list": list(ranks or []),
        "experimental_config": {key: value for key, value in experimental.items() if key in generation.experimental},
    }
    return {key: value for key, value in config.items() if key in generation.keys}


def _integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def validate(config: dict[str, Any], generation: Generation) -> list[Note]:
    """What torch_npu of this generation would ignore or reset. Empty: taken as it is written."""
    experimental = config.get("experimental_config") or {}
    if not isinstance(experimental, dict):
        return [_value("experimental_config", experimental, "{...}")]
    notes = [_unknown(key, generation) for key in config if key not in generation.keys]
    notes += [
        _unknown(f"experimental_config.{key}", generation) for key in experimental if key not in generation.experimental
    ]
    notes += [
        _value(key, config[key], "true, false") for key in BOOLEANS if not isinstance(config.get(key, False), bool)
    ]
    start, least = config.get("start_step", 0), -1 if generation.instant else 1
    if not _integer(start) or start < least or start == 0:
        notes.append(_value("start_step", start, f">= 1{', -1' if generation.instant else ''}"))
    if not _integer(config.get("active", 1)) or config.get("active", 1) < 1:
        notes.append(_value("active", config["active"], ">= 1"))
    if not _integer(config.get("warmup", 0)) or config.get("warmup", 0) < 0:
        notes.append(_value("warmup", config["warmup"], ">= 0"))
    ranks = config.get("rank_list", [])
    whole = isinstance(ranks, list) and all(_integer(rank) and rank >= 0 for rank in ranks)
    if not whole or (config.get("is_rank") is True and not ranks):
        notes.append(_value("rank_list", ranks, "[0, ...]"))
    if not str(config.get("prof_dir", "./")).startswith("/"):
        notes.append(_value("prof_dir", config.get("prof_dir", "./"), "/..."))
    activities = config.get("activities")
    if not isinstance(activities, list) or not activities or not {str(item) for item in activities} <= {"CPU", "NPU"}:
        notes.append(_value("activities", activities, "CPU, NPU"))
    for key, allowed in (("profiler_level", LEVELS), ("aic_metrics", METRICS)):
        if key in experimental and experimental[key] not in allowed:
            notes.append(_value(key, experimental[key], ", ".join(allowed)))
    if isinstance(experimental.get("export_type"), list) and not generation.export_list:
        notes.append(_value("export_type", experimental["export_type"], "text"))
    return notes


def _unknown(key: str, generation: Generation) -> Note:
    return Note("dynamic_key_unknown", {"key": key, "generation": generation.name})


def _value(key: str, value: object, allowed: str) -> Note:
    return Note("dynamic_value_invalid", {"key": key, "value": repr(value), "allowed": allowed})
