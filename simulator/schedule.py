"""When the profiler records: the schedule of torch_npu.profiler and what happens at each transition.

Source: torch_npu/profiler/scheduler.py and _profiler_action_controller.py. The counter starts at 0, ``step()`` adds one
and moves to the action of the new number: a capture of [S, E) opens inside the call that ends pass S (1-based) and
closes inside the one that ends pass E.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Any

from mindspeed_mm_train_profiler.simulator.messages import Messages


class Action(Enum):
    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


@dataclass
class Schedule:
    """wait is 0 and repeat 1, as MindSpeed-MM sets them. Wrong values are mended with a warning, as torch_npu does."""

    active: Any
    warmup: int
    skip_first: Any
    messages: Messages

    def __post_init__(self) -> None:
        if not isinstance(self.active, int) or self.active <= 0:
            self.messages.warning("Invalid parameter active, reset it to 1.")
            self.active = 1
        if not isinstance(self.skip_first, int) or self.skip_first < 0:
            self.messages.warning("Invalid parameter skip_first, reset it to 0.")
            self.skip_first = 0
        if self.warmup == 0:
            self.messages.warning("Profiler won't be using warmup, this can skew profiler results")

    def action(self, step: int) -> Action:
        past = step - self.skip_first
        if past < 0 or past >= self.warmup + self.active:
            return Action.NONE
        if past < self.warmup:
            return Action.WARMUP
        return Action.RECORD_AND_SAVE if past == self.warmup + self.active - 1 else Action.RECORD

    def first_captured(self) -> int:
        return int(self.skip_first) + self.warmup

    def recorded(self, skip_first_wait: bool) -> dict[str, int]:
        """What profiler_info keeps of it, in the order of its attributes."""
        keys = {
            "wait": 0,
            "active": int(self.active),
            "warmup": self.warmup,
            "repeat": 1,
            "skip_first": int(self.skip_first),
        }
        return keys | ({"skip_first_wait": 0} if skip_first_wait else {})


# what stop() says when the window is still open
STOPPED_IN = {
    Action.WARMUP: "Incorrect schedule: Stop profiler while current state is WARMUP "
    "which will result in empty parsed data.",
    Action.RECORD: "Incorrect schedule: Stop profiler while current state is RECORD "
    "which may result in incomplete parsed data.",
    Action.RECORD_AND_SAVE: "Stop profiler while current state is RECORD_AND_SAVE, "
    "perhaps the scheduling cycle has not yet completed.",
}
