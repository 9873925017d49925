"""torch_npu.profiler.profile on the simulated host: the schedule at work, a session written, parsed when it closes."""

import os
import time
from dataclasses import replace
from typing import Any

from mindspeed_mm_train_profiler.simulator.generations import generation
from mindspeed_mm_train_profiler.simulator.messages import Messages
from mindspeed_mm_train_profiler.simulator.parsing import analyse_session, exports_of
from mindspeed_mm_train_profiler.simulator.request import Place, Request, settle_metrics
from mindspeed_mm_train_profiler.simulator.schedule import STOPPED_IN, Action, Schedule
from mindspeed_mm_train_profiler.simulator.session import Session
from mindspeed_mm_train_profiler.simulator.switches import Switches
from mindspeed_mm_train_profiler.simulator.workload import Step, make_step


class Recorder:
    """torch_npu.profiler.profile: records the window of its schedule. ``offset``: added to the numbers of its steps."""

    def __init__(
        self,
        request: Request,
        place: Place,
        switches: Switches,
        *,
        active: Any,
        warmup: int,
        skip_first: Any,
        offset: int = 0,
    ) -> None:
        self._generation = generation(switches.torch_npu)
        self._messages = Messages(self._generation)
        metrics = settle_metrics(request.level, request.metrics, self._generation, self._messages)
        self._request = replace(request, metrics=metrics)
        self._place, self._switches, self._offset = place, switches, offset
        self._schedule = Schedule(active, warmup, skip_first, messages=self._messages)
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
            self._passes.append((self._number + self._offset, self._begun, time.time_ns()))

    def _move(self, before: Action, after: Action) -> None:
        if before is Action.NONE and after is not Action.NONE:
            self._session = Session(self._request, self._generation, self._place)
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
                make_step(number, begin, end, rank=self._place.rank, world_size=self._place.world_size)
                if end - begin >= busy
                else Step(number, begin, end, [], [])
            ).as_record()
            for number, begin, end in self._passes
        ]
        session.stop(steps, device_data=not self._switches.no_device_data)
        if self._request.parse:
            analyse_session(
                session.path,
                self._generation,
                exports=exports_of(self._generation, db=self._switches.db),
                fails=self._switches.parse_fails,
                seconds=self._switches.parse_s,
            )
