"""What became of an edit of profiler_config.json: seen, accepted, started, stopped, or ignored and why.

The rules are those of torch_npu/profiler/dynamic_profile.py and _dynamic_profiler/_dynamic_profiler_monitor.py: the
monitor looks at the file's mtime in whole seconds, a worker takes what is newer than itself and than the last it took.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from mindspeed_mm_train_profiler.dynamic_profile import events, logs
from mindspeed_mm_train_profiler.errors import Note

FILE = "profiler_config.json"
State = Literal["stopped", "running", "waiting", "ignored"]


@dataclass(slots=True)
class Progress:
    """Steps by rank; ``reasons`` say why it is ignored, ``notes`` what else there is to tell."""

    state: State = "waiting"
    seen: bool = False
    accepted: list[int] = field(default_factory=list)
    will_start_at: int | None = None
    started: dict[int, int] = field(default_factory=dict)
    stopped: dict[int, int] = field(default_factory=dict)
    parse_off: list[int] = field(default_factory=list)
    reasons: list[Note] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)


def worker_born(config_dir: Path) -> int | None:
    """Whole second in which the youngest worker said that it watches; None where none has a log."""
    # every worker must have said it: an edit before the watcher's first look is taken for the file as it was
    births = [_first_time(path) for path in logs.log_files(config_dir, monitor=False)]
    known = [stamp for stamp in births if stamp is not None]
    return max(known) if known and len(known) == len(births) else None


def _first_time(path: Path) -> int | None:
    from datetime import datetime

    backup = path.with_name(path.name + ".1")
    for name in (backup, path):
        try:
            with name.open(encoding="utf-8", errors="replace") as file:
                head = [line for _, line in zip(range(20), file, strict=False)]
        except OSError:
            continue
        for line in head:
            # a log that was rotated twice has lost its beginning: its oldest line is later than that
            if name == backup or logs.WATCHES.search(line) or logs.ATTACHED.search(line):
                try:
                    return int(datetime.strptime(line[:19], "%Y-%m-%d %H:%M:%S").timestamp())
                except ValueError:
                    continue
    return None


def foreign_hosts(config_dir: Path) -> tuple[list[str], bool]:
    """Hosts whose workers attached to shared memory that none of them made, and whether these are all hosts."""
    texts: dict[str, str] = {}
    for path in logs.log_files(config_dir, monitor=False):
        texts[logs.host_of(path)] = texts.get(logs.host_of(path), "") + logs.read_from(path, 0)
    made = [host for host, text in texts.items() if logs.WATCHES.search(text) or logs.CREATED.search(text)]
    foreign = [host for host, text in texts.items() if host not in made and logs.ATTACHED.search(text)]
    return foreign, bool(foreign) and len(foreign) == len(texts)


def foreign_segment(config_dir: Path) -> bool:
    """Workers attached to shared memory that no rank of this directory made: nothing watches the file."""
    return foreign_hosts(config_dir)[1]


def hand_window(config_dir: Path, records: list[dict[str, Any]], current_step: int | None) -> int | None:
    """The start step of a window that somebody else wrote and that has yet to come; None: there is none."""
    file = config_dir / FILE
    try:
        data, stamp = file.read_bytes()[: 2**20], file.stat().st_mtime
        start = json.loads(data).get("start_step")
    except (OSError, ValueError, AttributeError):
        return None
    counted = [worker_born(config_dir) or 0, *(record["mtime"] or 0 for record in records)]
    if not isinstance(start, int) or int(stamp) <= max(counted):
        return None
    if any(data == record["text"].encode() for record in records):
        return None
    if start == -1:  # taken with the next step after the watcher's next look
        return start if time.time() - stamp < 2 * (logs.interval(config_dir) or 2) else None
    return start if current_step is not None and start > current_step else None


def status(
    config_dir: Path,
    record: Mapping[str, Any],
    *,
    train_log: str = "",
    current_step: int | None = None,
) -> Progress:
    """Follow one trigger. ``record``: mtime (s), offsets (bytes by log), start_step, ranks (or null).

    ``train_log``: the training log since the trigger; ``current_step``: passes completed, where known.
    """
    offsets: Mapping[str, int] = record.get("offsets", {})
    monitor = logs.monitor_text(config_dir, offsets)
    workers = logs.worker_text(config_dir, offsets)
    unreadable = bool(logs.FAILED.search(monitor))
    progress = Progress(seen=unreadable or bool(logs.LOADED.search(monitor)))
    told = {rank: events.read(text, record.get("start_step"), unreadable=unreadable) for rank, text in workers.items()}
    for rank, own in told.items():
        if own.accepted:
            progress.accepted.append(rank)
            progress.will_start_at = own.will_start_at if (own.will_start_at or 0) >= 0 else None
        if own.started is not None:
            progress.started[rank] = own.started
        if own.stopped is not None:
            progress.stopped[rank] = own.stopped
        if own.accepted and logs.PARSE_OFF.search(workers[rank]):
            progress.parse_off.append(rank)
    if progress.parse_off:
        progress.notes.append(Note("dynamic_parse_off", {"ranks": _plain(progress.parse_off)}))
    if logs.CUT.search(train_log):
        progress.notes.append(Note("dynamic_cut_by_exit"))
    hosts, everywhere = foreign_hosts(config_dir)
    if hosts and not everywhere:
        progress.notes.append(Note("dynamic_host_foreign", {"hosts": ", ".join(sorted(hosts))}))
    if progress.started:
        progress.state = _started(progress, record, told, current_step)
        return progress
    progress.reasons = _ignored(config_dir, record, progress, monitor, train_log, current_step)
    not_listed = [rank for rank, own in told.items() if own.not_listed]
    if not_listed and len(not_listed) == len(progress.accepted):
        progress.reasons.append(Note("dynamic_ignored_rank_not_listed", {"ranks": _plain(not_listed)}))
    replaced = {rank: own.replaced_by for rank, own in told.items() if own.replaced_by is not None}
    if "start_step" in record and replaced and len(replaced) == len(progress.accepted) - len(not_listed):
        progress.reasons = [Note("dynamic_ignored_replaced", {"start": next(iter(replaced.values()))})]
    if progress.reasons:
        progress.state = "ignored"
    return progress


def _started(
    progress: Progress, record: Mapping[str, Any], told: Mapping[int, events.RankEvents], current_step: int | None
) -> State:
    """Over when every rank that was meant has stopped; one that has not begun in time is told and not waited for."""
    if not progress.stopped.keys() >= progress.started.keys():
        return "running"
    asked = record.get("ranks")
    lacking = [rank for rank in told if rank not in progress.started and (asked is None or rank in asked)]
    if not lacking:
        return "stopped"
    if current_step is not None and current_step <= max(progress.stopped.values()) + 1:
        return "running"
    progress.notes.append(Note("dynamic_rank_not_started", {"ranks": _plain(lacking)}))
    return "stopped"


def _plain(ranks: list[int]) -> str:
    return ", ".join(map(str, sorted(ranks)))


def _ignored(
    config_dir: Path,
    record: Mapping[str, Any],
    progress: Progress,
    monitor: str,
    train_log: str,
    current_step: int | None,
) -> list[Note]:
    if foreign_segment(config_dir):
        return [Note("dynamic_ignored_foreign_segment")]
    own_edit = "start_step" not in record
    born, mtime = worker_born(config_dir), record.get("mtime")
    if not own_edit and born is not None and mtime is not None and born >= mtime:  # the workers began anew since
        return [Note("dynamic_ignored_before_launch", {"mtime": mtime, "born": born})]
    if called := logs.CALL_FAILED.search(train_log):  # torch_npu catches it; the training goes on without a profile
        return [Note("dynamic_ignored_call_failed", {"call": called[1], "text": called[2][:200]})]
    data = b""
    if own_edit or not progress.accepted:  # what was taken stands, whatever becomes of the file afterwards
        if found := logs.TOO_LARGE.search(monitor):
            return [Note("dynamic_ignored_too_large", {"limit": found[1]})]
        if failed := logs.FAILED.search(monitor):
            return [Note("dynamic_ignored_invalid_json", {"text": failed[1][:200]})]
        file = config_dir / FILE
        try:
            data, stamp = file.read_bytes(), int(file.stat().st_mtime)
        except OSError:
            return [Note("dynamic_ignored_file_gone", {"path": str(file)})]
        if not progress.accepted:
            return _never_taken(config_dir, record, data, stamp, len(logs.LOADED.findall(monitor)))
    if own_edit and not data.strip():
        return [Note("dynamic_ignored_empty_file")]
    start = progress.will_start_at
    if start == 0:
        return [Note("dynamic_ignored_start_zero")]
    late = [match for match in logs.LATE.finditer(train_log) if start is not None and int(match[1]) == start]
    passed = int(late[-1][2]) if late else current_step
    if start is not None and passed is not None and (late or passed > start):
        return [Note("dynamic_ignored_start_passed", {"start": start, "current": passed})]
    return []


def _never_taken(config_dir: Path, record: Mapping[str, Any], data: bytes, stamp: int, loads: int) -> list[Note]:
    """Why no worker took the file, by its mtime; empty: it may only not have been looked at yet."""
    if "start_step" in record:
        ours = data.decode("utf-8", "replace") == record["text"]
        # the watcher looked once: it may have been at ours, which a worker takes with its next step
        if not ours and stamp >= (record["mtime"] or 0) and loads != 1:
            return [Note("dynamic_ignored_replaced", {"start": _start_of(data)})]
        return []
    born = worker_born(config_dir)
    last = record.get("previous_mtime")
    written = record.get("text")
    if last is not None and stamp == last and written is not None and data.decode("utf-8", "replace") != written:
        return [Note("dynamic_ignored_same_second", {"mtime": stamp})]
    if last is not None and stamp < last:
        return [Note("dynamic_ignored_older", {"mtime": stamp, "last": last})]
    if born is not None and stamp <= born:
        return [Note("dynamic_ignored_before_launch", {"mtime": stamp, "born": born})]
    return []


def _start_of(data: bytes) -> str:
    try:
        return str(json.loads(data).get("start_step", 0))
    except (ValueError, AttributeError):
        return "?"


def hand_edit(previous: Mapping[str, Any] | None, offsets: Mapping[str, int]) -> dict[str, Any]:
    """A record for an edit that somebody else made: what ``status`` needs to explain it."""
    last = previous or {}
    return {"offsets": dict(offsets), "previous_mtime": last.get("mtime"), "text": last.get("text")}


def sessions_expected(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Plain data for the verdict: one row per trigger that ran, with its ranks and step labels."""
    rows = []
    for record in records:
        config = json.loads(record["text"])
        first = record.get("started_at_step")
        steps = list(range(first, first + config["active"])) if first is not None else None
        rows.append({"trigger_id": record["id"], "ranks": record["ranks"], "steps": steps})
    return rows
