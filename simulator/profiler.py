"""The profiler of one simulated rank: MindSpeed-MM's Profiler over torch_npu's, with the work made up.

``start``, ``step`` and ``stop`` as ``mindspeed_mm/tools/profiler.py`` and ``fsdp/tools/profiler.py`` have them.
"""

import os
import time
from typing import Protocol

from mindspeed_mm_train_profiler.simulator.engines import EngineError, ProfileSettings
from mindspeed_mm_train_profiler.simulator.generations import generation
from mindspeed_mm_train_profiler.simulator.messages import Messages
from mindspeed_mm_train_profiler.simulator.parsing import analyse_session, exports_of
from mindspeed_mm_train_profiler.simulator.schedule import STOPPED_IN, Action, Schedule
from mindspeed_mm_train_profiler.simulator.session import Session
from mindspeed_mm_train_profiler.simulator.switches import Switches
from mindspeed_mm_train_profiler.simulator.workload import Step, make_step


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


class StaticProfiler:
    """Records the window of the schedule."""

    def __init__(
        self, settings: ProfileSettings, switches: Switches, *, rank: int, world_size: int, device: int
    ) -> None:
        self._generation = generation(switches.torch_npu)
        self._messages = Messages(self._generation)
        self._static, self._switches = settings.static, switches
        self._rank, self._world_size, self._device = rank, world_size, device
        if self._static["level"] == "level0":
            self._messages.warning(
                "Please use level1 or level2 if you want to collect aic metrics, reset aic metrics to None!"
            )
        if self._generation.export_warning:
            self._messages.warning("Invalid parameter export_type: None, reset it to text.")
        self._schedule = Schedule(settings.active, settings.warmup, self._static["start_step"], messages=self._messages)
        self._number = 0
        self._action = self._schedule.action(0)
        self._session: Session | None = None
        self._begun = 0
        self._passes: list[tuple[int, int, int]] = []
        self._stopped = False
        for variable in ("PROFILING_MODE", "PROFILER_SAMPLECONFIG"):
            if variable in os.environ:  # torch_npu: every call becomes a no-op
                self._messages.warning(
                    f"Environment variable '{variable}' is set. torch_npu profiler api is not effective. "
                    f"Please execute 'unset {variable}'."
                )
                self._stopped = True

    def recording(self) -> bool:
        return self._session is not None and self._action in (Action.RECORD, Action.RECORD_AND_SAVE)

    def start(self) -> None:
        if not self._stopped:
            self._move(Action.NONE, self._action)
            self._begun = time.time_ns()

    def step(self) -> None:
        if self._stopped:
            return
        self._mark()
        before = self._action
        self._number += 1
        self._action = self._schedule.action(self._number)
        self._move(before, self._action)
        self._begun = time.time_ns()

    def stop(self) -> None:
        if self._stopped:
            return
        self._stopped = True
        self._mark()
        if self._action in STOPPED_IN:
            self._messages.warning(STOPPED_IN[self._action])
            self._close()

    def _mark(self) -> None:
        """The pass that ends now was captured where the window is open. stop() ends one too, with work in it or not."""
        if self.recording():
            self._passes.append((self._number, self._begun, time.time_ns()))

    def _move(self, before: Action, after: Action) -> None:
        if before is Action.NONE and after is not Action.NONE:
            self._session = Session(
                self._static, self._generation, rank=self._rank, world_size=self._world_size, device=self._device
            )
            self._session.schedule(self._schedule.recorded(self._generation.skip_first_wait))
        if after in (Action.RECORD, Action.RECORD_AND_SAVE) and before in (Action.NONE, Action.WARMUP):
            assert self._session is not None
            self._session.start(device_data=not self._switches.no_device_data)
        if before is Action.RECORD_AND_SAVE and after is Action.NONE:
            self._close()

    def _close(self) -> None:
        session, self._session = self._session, None
        if session is None:
            return
        busy = self._switches.ms * 500_000  # ns: a pass that took less than half an iteration held no work
        steps = [
            (
                make_step(number, begin, end, rank=self._rank, world_size=self._world_size)
                if end - begin >= busy
                else Step(number, begin, end, [], [])
            ).as_record()
            for number, begin, end in self._passes
        ]
        session.stop(steps, device_data=not self._switches.no_device_data)
        if self._static["analyse_flag"]:
            analyse_session(
                session.path,
                self._generation,
                exports=exports_of(self._generation, db=self._switches.db),
                fails=self._switches.parse_fails,
                seconds=self._switches.parse_s,
            )


def make_profiler(
    settings: ProfileSettings, switches: Switches, *, rank: int, world_size: int, device: int
) -> Profiler:
    """The profiler that MindSpeed-MM builds. It is built on every rank, and warns on rank 0, profiled or not."""
    if settings.profile_type == "dynamic":
        from mindspeed_mm_train_profiler.simulator.watcher import DynamicProfiler

        dynamic = DynamicProfiler(settings, switches, rank=rank, world_size=world_size, device=device)
        return dynamic if _listed(settings, rank) and switches.missing_rank != rank else Disabled()
    profiler = StaticProfiler(settings, switches, rank=rank, world_size=world_size, device=device)
    return profiler if _listed(settings, rank) and switches.missing_rank != rank else Disabled()


def _listed(settings: ProfileSettings, rank: int) -> bool:
    if not settings.enable:
        return False
    if settings.ranks == [-1]:
        return True
    if not isinstance(settings.ranks, list):
        raise EngineError("TypeError", f"argument of type '{type(settings.ranks).__name__}' is not iterable")
    return rank in settings.ranks
