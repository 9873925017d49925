"""Ask a running training for a window: one file, written once, in a second that torch_npu will count.

The record of a configuration directory lies in ``<state>/dynamic/<hash>/``: ``lock`` and ``triggers.json``. A window
that is not over is followed or refused, never replaced: torch_npu keeps one configuration only.
"""

import fcntl
import hashlib
import json
import math
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from mindspeed_mm_train_profiler import state
from mindspeed_mm_train_profiler.dynamic_profile import follow, logs
from mindspeed_mm_train_profiler.dynamic_profile.generations import Generation
from mindspeed_mm_train_profiler.dynamic_profile.schema import SIZE_LIMIT, make_config, validate
from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.options import ProfileOptions

FIRST_POLL_S = 2
TIMED_STEP = 11  # from here on the watcher looks once a step
AHEAD_S = 3  # an mtime may lie this far in the future
SPARE_STEPS = 3


def record_folder(config_dir: Path) -> Path:
    key = hashlib.sha256(str(config_dir.resolve()).encode()).hexdigest()[:16]
    return state.state_dir() / "dynamic" / key


def history(config_dir: Path) -> list[dict[str, Any]]:
    """Triggers of this directory, oldest first. ``state``: waiting, running, stopped, ignored."""
    found = state.read_json(record_folder(config_dir) / "triggers.json")
    return list(found["triggers"]) if found else []


@contextmanager
def _locked(config_dir: Path) -> Iterator[Path]:
    folder = state.private_folder(record_folder(config_dir))
    with (folder / "lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CodedError("dynamic_busy", found=config_dir) from None
        yield folder


def margin(step_s: float, current_step: int, generation: Generation, interval_s: int | None = None) -> int:
    """Steps until an edit is surely read: two looks of the watcher, the mtime's second, and spare steps.

    ``interval_s``: between two looks, as the logs say: it is the length of step 11, which may have been a slow one.
    """
    poll = FIRST_POLL_S if current_step < TIMED_STEP else max(1, interval_s or int(step_s))
    poll = min(poll, generation.poll_limit_s or poll)
    return math.ceil((2 * max(poll, FIRST_POLL_S) + AHEAD_S) / max(step_s, 1e-3)) + SPARE_STEPS


def trigger(
    config_dir: Path,
    options: ProfileOptions,
    generation: Generation,
    *,
    start: int | Literal["now"],
    steps: int,
    save_path: str,
    ranks: Sequence[int] | None,
    current_step: int | None,
    step_s: float | None,
    train_log: str = "",
    last_step: int | None = None,
    extra: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Write the window, or return the record of the same window where it is not over yet.

    ``current_step``: passes completed since the process began; ``step_s``: seconds of a step; both from the log.
    ``extra``: kept in the record as it is.
    Errors: ``dynamic_watcher_absent``, ``dynamic_segment_foreign``, ``dynamic_running``, ``dynamic_step_unknown``,
    ``dynamic_start_too_near``, ``dynamic_past_end``, ``dynamic_clock_ahead``, ``dynamic_config_invalid``,
    ``dynamic_busy``, ``dynamic_hand_window``.
    """
    key = hashlib.sha256(repr((start, steps, save_path, ranks, options.model_dump_json())).encode()).hexdigest()
    with _locked(config_dir) as folder:
        records = history(config_dir)
        if records and records[-1]["state"] in ("waiting", "running"):
            if records[-1]["key"] == key:
                return records[-1]
            raise CodedError("dynamic_running", found=records[-1]["id"], state=records[-1]["state"])
        if follow.foreign_segment(config_dir):
            raise CodedError("dynamic_segment_foreign", found=config_dir)
        born = follow.worker_born(config_dir)
        if born is None:
            raise CodedError("dynamic_watcher_absent", found=config_dir)
        if (theirs := follow.hand_window(config_dir, records, current_step)) is not None:
            raise CodedError("dynamic_hand_window", found=config_dir / follow.FILE, start=theirs)
        several = ranks is None or len(ranks) > 1
        interval_s = logs.interval(config_dir)
        first = _start_step(start, generation, current_step, step_s, interval_s, several=several)
        if start == "now" and generation.instant and last_step is not None and first + steps > last_step:
            first = -1  # too near to the end for one step that all ranks agree on
        if last_step is not None and (first if first > 0 else (current_step or 0) + 1) + steps > last_step:
            raise CodedError("dynamic_past_end", found=f"{first}+{steps}", expected=f"<= {last_step}")
        config = make_config(options, generation, start_step=first, steps=steps, save_path=save_path, ranks=ranks)
        text = json.dumps(config, indent=4)
        wrong = [str(note.params["key"]) for note in validate(config, generation)]
        if wrong or len(text.encode()) > SIZE_LIMIT:
            raise CodedError("dynamic_config_invalid", found=", ".join(wrong) or f"{len(text)} bytes")
        record: dict[str, Any] = {
            "id": state.new_id("trigger"),
            "key": key,
            "state": "waiting",
            "start_step": first,
            "steps": steps,
            "ranks": list(ranks) if ranks is not None else None,
            "generation": generation.name,
            "offsets": logs.sizes(config_dir),
            "text": text,
            "mtime": None,
            **(extra or {}),
        }
        # the record first: a crash between the two leaves a window that is told as not seen, not one unknown
        record["mtime"] = _next_second(config_dir / follow.FILE, born, records)
        state.write_json(folder / "triggers.json", {"triggers": [*records, record]})
        _replace(config_dir / follow.FILE, text, record["mtime"])
        return record


def settle(config_dir: Path, trigger_id: str, progress: follow.Progress) -> None:
    """Keep what became of a trigger, so that the next one may follow."""
    with _locked(config_dir) as folder:
        records = history(config_dir)
        for record in records:
            if record["id"] == trigger_id:
                record["state"] = progress.state
                record["started_at_step"] = max(progress.started.values(), default=None)
                record["stopped_at_step"] = max(progress.stopped.values(), default=None)
        state.write_json(folder / "triggers.json", {"triggers": records})


def _start_step(
    start: int | Literal["now"],
    generation: Generation,
    current_step: int | None,
    step_s: float | None,
    interval_s: int | None,
    *,
    several: bool,
) -> int:
    """``several`` ranks: each takes "the next step" at its own moment, so a step that all can reach is better."""
    known = current_step is not None and step_s is not None
    if start == "now" and generation.instant and not (several and known):
        return -1
    if current_step is None or step_s is None:
        raise CodedError("dynamic_step_unknown", generation=generation.name)
    nearest = current_step + margin(step_s, current_step, generation, interval_s)
    if start == "now":
        return nearest
    if int(start) < nearest:
        raise CodedError("dynamic_start_too_near", found=start, expected=f">= {nearest}", current=current_step)
    return int(start)


def _next_second(file: Path, born: int, records: list[dict[str, Any]]) -> int:
    """The mtime to give: now, or the first second after everything that was accepted before."""
    before = [born, *(record["mtime"] for record in records)]
    if file.exists():
        before.append(int(file.stat().st_mtime))
    now = int(time.time())
    stamp = max(now, max(before) + 1)
    if stamp > now + AHEAD_S:
        raise CodedError("dynamic_clock_ahead", found=max(before), expected=f"<= {now}")
    return int(stamp)


def _replace(file: Path, text: str, stamp: int) -> None:
    """Complete content and its mtime become visible in one step."""
    mode = file.stat().st_mode & 0o777 if file.exists() else 0o640
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fchmod(out.fileno(), mode)
            os.fsync(out.fileno())
        os.utime(temporary, (stamp, stamp))
        temporary.replace(file)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
