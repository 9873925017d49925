"""profiler_config.json as torch_npu's dynamic profiler reads it.

Source: torch_npu/profiler/_dynamic_profiler/_dynamic_profiler_config_context.py and _dynamic_profiler_monitor_shm.py
(the file it creates). Unknown keys are ignored, wrong values are reset with a line in the log.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mindspeed_mm_train_profiler.simulator.generations import Generation
from mindspeed_mm_train_profiler.simulator.request import METRICS, Request

Log = Callable[[str, str], None]  # level, message


def template(generation: Generation) -> dict[str, Any]:
    """The file that torch_npu creates where there is none."""
    experimental: dict[str, Any] = {
        "profiler_level": "Level0",
        "aic_metrics": "AiCoreNone",
        "l2_cache": False,
        "op_attr": False,
        "gc_detect_threshold": None,
        "data_simplification": True,
        "record_op_args": False,
        "export_type": ["text"] if generation.export_list else "text",
        "msprof_tx": False,
    }
    experimental |= {"mstx": False} if generation.mstx else {}
    if generation.device_column:
        experimental |= {"host_sys": [], "mstx_domain_include": [], "mstx_domain_exclude": []}
        experimental |= {"sys_io": False, "sys_interconnection": False}
    return {
        "activities": ["CPU", "NPU"],
        "prof_dir": "./",
        "analyse": False,
        **({"async_mode": False} if generation.skip_first_wait else {}),
        "record_shapes": False,
        "profile_memory": False,
        "with_stack": False,
        "with_flops": False,
        "with_modules": False,
        "active": 1,
        **({"warmup": 0} if generation.watch_warmup else {}),
        "start_step": 0,
        "is_rank": False,
        "rank_list": [],
        "experimental_config": experimental,
    }


@dataclass(frozen=True, slots=True)
class Watched:
    """One accepted configuration. ``start_step`` -1: at the next step, where the generation knows it."""

    request: Request
    start_step: int
    active: int
    warmup: int

    @property
    def at_once(self) -> bool:
        return self.start_step == -1

    @property
    def length(self) -> int:
        return self.active + self.warmup


def read(data: dict[str, Any], generation: Generation, rank: int, log: Log) -> Watched | None:
    """The configuration for this rank; None where it is not for this rank."""
    start = data.get("start_step", 0)
    if not isinstance(start, int) or start < generation.watch_from:
        log("INFO", "Start step is not valid, will be reset to 0.")
        start = 0
    log("INFO", f"Start step will be set to {start}.")
    parse = data.get("analyse", False) is True
    if not _for_rank(data, rank, log):
        return None
    if data.get("is_rank") is True and not (generation.watch_async and data.get("async_mode", False) is True):
        ranks = {item for item in data["rank_list"] if isinstance(item, int) and item >= 0}
        closing = "and async_mode is false, " if generation.watch_async else ", "
        log("INFO", f"Rank {rank} is in rank_list {ranks} {closing}profiler data analyse will be closed !")
        parse = False
    given = data.get("experimental_config") or {}
    level = given.get("profiler_level", "Level0")
    metrics = given.get("aic_metrics", "AiCoreNone")
    activities = {str(item).upper() for item in data.get("activities") or ["CPU", "NPU"]} & {"CPU", "NPU"}
    request = Request(
        save_path=str(data.get("prof_dir", "./")),
        level=level if level in ("Level0", "Level1", "Level2") else "Level0",
        metrics=METRICS.get(metrics, METRICS["AiCoreNone"]),
        cpu="CPU" in activities or not activities,
        npu="NPU" in activities or not activities,
        shapes=data.get("record_shapes", False) is True,
        memory=data.get("profile_memory", False) is True,
        stack=data.get("with_stack", False) is True,
        flops=data.get("with_flops", False) is True,
        modules=data.get("with_modules", False) is True,
        simplify=given.get("data_simplification", True) is not False,
        parse=parse,
    )
    warmup = _number(data, "warmup", 0, log) if generation.watch_warmup else 0
    return Watched(request, start, _number(data, "active", 1, log), warmup)


def _number(data: dict[str, Any], key: str, least: int, log: Log) -> int:
    value = data.get(key, least)
    if not isinstance(value, int) or value < least:
        log("WARNING", f"Invalid parameter {key}, reset it to {least}.")
        return least
    return value


def _for_rank(data: dict[str, Any], rank: int, log: Log) -> bool:
    chosen = data.get("is_rank", False)
    if not isinstance(chosen, bool):
        log("WARNING", "Set is_rank failed, is_rank must be bool!")
        return True
    if not chosen:
        return True
    ranks = data.get("rank_list", False)
    if not isinstance(ranks, list):
        log("WARNING", "Set rank_list failed, rank_list must be list!")
        ranks = []
    listed = {item for item in ranks if isinstance(item, int) and item >= 0}
    if rank in listed:
        return True
    log("WARNING", f"Rank {rank} not in valid rank_list {listed}!")
    return False
