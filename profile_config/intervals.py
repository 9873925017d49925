"""Saving and evaluating inside the window: pointed out, and moved out of it in the copy where that is asked for.

A step that saves a checkpoint or validates looks slow in the profile. Megatron: ``training.py`` does both after the
step, when ``iteration % interval == 0``; FSDP2: ``fsdp/train/train_engine.py``, whose window begins with the saving
and validation of the pass before it.
"""

from dataclasses import dataclass

from mindspeed_mm_train_profiler.errors import Note
from mindspeed_mm_train_profiler.launch_script.plan import LaunchPlan, Word
from mindspeed_mm_train_profiler.options import ProfileOptions
from mindspeed_mm_train_profiler.profile_config.schedule import Arguments, Window, inside

ASKED = "move_intervals"


@dataclass(frozen=True, slots=True)
class Move:
    """One interval to change: in a configuration (``key``) or in the script (``word``)."""

    name: str
    before: int
    after: int
    key: tuple[str, ...] = ()
    word: Word | None = None


def crossing(plan: LaunchPlan, seen: Window, arguments: Arguments) -> list[tuple[str, int, list[int]]]:
    """(name, interval, captured iterations at which it happens)."""
    shift = 1 if plan.engine == "fsdp2" else 0
    shifted = Window(seen.steps, [i - shift for i in seen.iterations], seen.offset, seen.warmup, seen.needed)
    names = (("save_interval", plan.save is not None), ("val_interval" if shift else "eval_interval", True))
    found = []
    for name, used in names:
        value = arguments.integer(name)
        hits = inside(value, shifted) if used else []
        if value is not None and hits:
            found.append((name, value, hits))
    return found


def moves(
    plan: LaunchPlan, options: ProfileOptions, seen: Window, arguments: Arguments, notes: list[Note]
) -> list[Move]:
    """What to change where the user asked for it; else a remark for each."""
    found = []
    for name, value, hits in crossing(plan, seen, arguments):
        key, word = arguments.keys.get(name, ()), arguments.words.get(name)
        if ASKED not in options.acknowledge or not (key or word):
            notes.append(Note("interval_in_window", {"name": name, "value": value, "iterations": hits}))
            continue
        after = options.train_iters  # a save at the very end happens anyway
        while inside(after, seen) or after == (seen.last or 0) - 1:
            after += 1
        notes.append(Note("interval_moved", {"name": name, "before": value, "after": after}))
        found.append(Move(name, value, after, key, word))
    return found
