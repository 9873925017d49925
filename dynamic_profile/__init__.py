"""Dynamic collection: write profiler_config.json so that torch_npu accepts it, and tell what became of it."""

from mindspeed_mm_train_profiler.dynamic_profile.follow import Progress, status
from mindspeed_mm_train_profiler.dynamic_profile.generations import (
    Generation,
    generation,
    installed_generation,
    template_generation,
)
from mindspeed_mm_train_profiler.dynamic_profile.schema import make_config, validate
from mindspeed_mm_train_profiler.dynamic_profile.shared_memory import Segment, find_segments, remove_segment
from mindspeed_mm_train_profiler.dynamic_profile.windows import history, settle, trigger

__all__ = [
    "Generation",
    "Progress",
    "Segment",
    "find_segments",
    "generation",
    "history",
    "installed_generation",
    "make_config",
    "remove_segment",
    "settle",
    "status",
    "template_generation",
    "trigger",
    "validate",
]
