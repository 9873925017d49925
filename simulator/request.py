"""What torch_npu.profiler is asked for, in its own names, whoever asks: a static window or a dynamic configuration."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mindspeed_mm_train_profiler.simulator.generations import Generation
from mindspeed_mm_train_profiler.simulator.messages import Messages

LEVELS = {"level0": "Level0", "level1": "Level1", "level2": "Level2"}
METRICS = {
    "PipeUtilization": "ACL_AICORE_PIPE_UTILIZATION",
    "ArithmeticUtilization": "ACL_AICORE_ARITHMETIC_UTILIZATION",
    "AiCoreNone": "ACL_AICORE_NONE",
    "Memory": "ACL_AICORE_MEMORY_BANDWIDTH",
    "MemoryL0": "ACL_AICORE_L0B_AND_WIDTH",
    "MemoryUB": "ACL_AICORE_MEMORY_UB",
    "ResourceConflictRatio": "ACL_AICORE_RESOURCE_CONFLICT_RATIO",
    "L2Cache": "ACL_AICORE_L2_CACHE",
    "MemoryAccess": "ACL_AICORE_MEMORY_ACCESS",
}


@dataclass(frozen=True, slots=True)
class Request:
    """``level``: Level0, Level1, Level2. ``metrics``: the ACL name. ``parse``: parse when the window closes."""

    save_path: str
    level: str = "Level0"
    metrics: str = METRICS["AiCoreNone"]
    cpu: bool = True
    npu: bool = True
    shapes: bool = False
    memory: bool = False
    stack: bool = False
    flops: bool = False
    modules: bool = False
    simplify: bool = True
    parse: bool = True

    @property
    def level1(self) -> bool:
        return self.level in ("Level1", "Level2")


@dataclass(frozen=True, slots=True)
class Place:
    """Which rank asks, and the device it holds."""

    rank: int
    world_size: int
    device: int


def from_static(static: Mapping[str, Any]) -> Request:
    """MindSpeed-MM's static_param (checked before) in torch_npu's names."""
    return Request(
        save_path=static["save_path"],
        level=LEVELS[static["level"]],
        metrics=METRICS[static.get("aic_metrics_type", "PipeUtilization")],
        cpu=static["with_cpu"],
        shapes=static["record_shapes"],
        memory=static["with_memory"],
        stack=static["with_stack"],
        simplify=static["data_simplification"],
        parse=static["analyse_flag"],
    )


def settle_metrics(level: str, metrics: str, generation: Generation, messages: Messages) -> str:
    """The metrics torch_npu ends up with (experimental_config.py): none at Level0, a default above it."""
    none = METRICS["AiCoreNone"]
    if level == "Level0":
        if metrics != none:
            messages.warning(
                "Please use level1 or level2 if you want to collect aic metrics, reset aic metrics to None!"
            )
        return none
    return METRICS["PipeUtilization"] if metrics == none and generation.metrics_default else metrics
