"""The profiler of one simulated rank, as MindSpeed-MM builds it.

``start``, ``step`` and ``stop`` as ``mindspeed_mm/tools/profiler.py`` and ``fsdp/tools/profiler.py`` have them.
"""

from typing import Protocol

from mindspeed_mm_train_profiler.simulator.engines import EngineError, ProfileSettings
from mindspeed_mm_train_profiler.simulator.generations import generation
from mindspeed_mm_train_profiler.simulator.messages import Messages
from mindspeed_mm_train_profiler.simulator.recorder import Recorder
from mindspeed_mm_train_profiler.simulator.request import Place, from_static
from mindspeed_mm_train_profiler.simulator.switches import Switches
from mindspeed_mm_train_profiler.simulator.watcher import DynamicProfiler


class Profiler(Protocol):
    """What the training loop calls."""

    def start(self) -> None: ...
    def step(self) -> None: ...
    def stop(self) -> None: ...
    def recording(self) -> bool: ...


class Disabled:
    """A rank that does not profile."""

    def start(self) -> None: ...
    def step(self) -> None: ...
    def stop(self) -> None: ...

    def recording(self) -> bool:
        return False


def make_profiler(settings: ProfileSettings, switches: Switches, place: Place) -> Profiler:
    """The profiler that MindSpeed-MM builds. It is built on every rank, and warns on rank 0, profiled or not."""
    profiler: Profiler
    if settings.profile_type == "dynamic":
        profiler = DynamicProfiler(settings.config_path or "", switches, place)
    else:
        row = generation(switches.torch_npu)
        if row.export_warning:
            Messages(row).warning("Invalid parameter export_type: None, reset it to text.")
        profiler = Recorder(
            from_static(settings.static),
            place,
            switches,
            active=settings.active,
            warmup=settings.warmup,
            skip_first=settings.static["start_step"],
        )
    return profiler if _listed(settings, place.rank) and switches.missing_rank != place.rank else Disabled()


def _listed(settings: ProfileSettings, rank: int) -> bool:
    if not settings.enable:
        return False
    if settings.ranks == [-1]:
        return True
    if not isinstance(settings.ranks, list):
        raise EngineError("TypeError", f"argument of type '{type(settings.ranks).__name__}' is not iterable")
    return rank in settings.ranks
