"""One rank's log since a trigger was written: what of it belongs to this trigger, and what to somebody else's edit.

torch_npu keeps one configuration: one that is taken later replaces one that waits, unless it is not for this rank
(dynamic_profile.py, step: ``cfg_ctx``). The lines name a start step only, so a window is told by its start step.
"""

import re
from dataclasses import dataclass

from mindspeed_mm_train_profiler.dynamic_profile import logs

EVENT = re.compile(
    "|".join(
        f"(?P<{name}>{pattern.pattern})"
        for name, pattern in (
            ("set_to", logs.SET_TO),
            ("started", logs.STARTED),
            ("stopped", logs.STOPPED),
            ("not_listed", logs.NOT_LISTED),
        )
    )
)
NUMBER = re.compile(r"-?\d+")


@dataclass(slots=True)
class RankEvents:
    """Steps are the watcher's own; ``replaced_by``: the start step of the edit that took this one's place."""

    will_start_at: int | None = None  # as torch_npu read it; -1: the next step
    started: int | None = None
    stopped: int | None = None
    not_listed: bool = False
    replaced_by: int | None = None

    @property
    def accepted(self) -> bool:
        return self.will_start_at is not None


def read(text: str, start_step: int | None, *, unreadable: bool = False) -> RankEvents:
    """``start_step``: the trigger's own; None: whatever is taken first (somebody's own edit is followed).

    ``unreadable``: the watcher failed to read a file meanwhile. That is told as start step 0, and replaces nothing.
    """
    events = RankEvents()
    before: int | None = None  # what stood before the newest foreign edit, which may turn out not to count
    for found in EVENT.finditer(text):
        number = NUMBER.search(found[0])
        value = int(number[0]) if number else 0
        if found["set_to"]:
            if not events.accepted and _same(value, start_step):
                events.will_start_at = value
            elif events.accepted and events.started is None and not (unreadable and value == 0):
                before, events.replaced_by = events.replaced_by, value
        elif found["not_listed"]:
            if events.replaced_by is not None:
                events.replaced_by = before
            elif events.accepted:
                events.not_listed = True
        elif found["started"]:
            if events.accepted and events.started is None:
                if events.replaced_by is not None:
                    return events
                events.started = value
        elif events.started is not None and events.stopped is None:
            events.stopped = value
    return events


def _same(value: int, start_step: int | None) -> bool:
    """A start step that this torch_npu does not know (-1) is read as 0."""
    return start_step is None or value == start_step or (start_step < 0 and value == 0)
