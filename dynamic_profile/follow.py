"""What became of an edit of profiler_config.json: seen, accepted, started, stopped, or ignored and why.

The rules are those of torch_npu/profiler/dynamic_profile.py and _dynamic_profiler/_dynamic_profiler_monitor.py: the
monitor looks at the file's mtime in whole seconds, a worker takes what is newer than itself and than the last it took.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from mindspeed_mm_train_profiler.dynamic_profile import logs
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

    for name in (path.name + ".1", path.name):
        try:
            with path.with_name(name).open(encoding="utf-8", errors="replace") as file:
                head = [line for _, line in zip(range(20), file, strict=False)]
        except OSError:
            continue
        for line in head:
            if logs.WATCHES.search(line) or logs.ATTACHED.search(line):
                try:
                    return int(datetime.strptime(line[:19], "%Y-%m-%d %H:%M:%S").timestamp())
                except ValueError:
                    continue
    return None


def foreign_segment(config_dir: Path) -> bool:
    """Workers attached to shared memory that no rank of this directory made: nothing watches the file."""
    text = "".join(logs.worker_text(config_dir, {}).values())
    return bool(logs.ATTACHED.search(text)) and not logs.WATCHES.search(text)


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
    progress = Progress(seen=bool(logs.LOADED.search(monitor) or logs.FAILED.search(monitor)))
    not_listed = []
    for rank, text in workers.items():
        if found := logs.SET_TO.search(text):
            progress.accepted.append(rank)
            progress.will_start_at = int(found[1]) if int(found[1]) >= 0 else None
        begin = logs.STARTED.search(text, found.end() if found else 0)
        if begin:
            progress.started[rank] = int(begin[1])
            if end := logs.STOPPED.search(text, begin.end()):
                progress.stopped[rank] = int(end[1])
        if logs.NOT_LISTED.search(text):
            not_listed.append(rank)
        if logs.PARSE_OFF.search(text):
            progress.parse_off.append(rank)
    if progress.parse_off:
        progress.notes.append(Note("dynamic_parse_off", {"ranks": _plain(progress.parse_off)}))
    if logs.CUT.search(train_log):
        progress.notes.append(Note("dynamic_cut_by_exit"))
    if progress.started:
        progress.state = "stopped" if progress.stopped.keys() >= progress.started.keys() else "running"
        return progress
    progress.reasons = _ignored(config_dir, record, progress, monitor, train_log, current_step)
    if not_listed and len(not_listed) == len(progress.accepted):
        progress.reasons.append(Note("dynamic_ignored_rank_not_listed", {"ranks": _plain(not_listed)}))
    if progress.reasons:
        progress.state = "ignored"
    return progress


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
    if found := logs.TOO_LARGE.search(monitor):
        return [Note("dynamic_ignored_too_large", {"limit": found[1]})]
    if failed := logs.FAILED.search(monitor):
        return [Note("dynamic_ignored_invalid_json", {"text": failed[1][:200]})]
    file = config_dir / FILE
    try:
        data, stamp = file.read_bytes(), int(file.stat().st_mtime)
    except OSError:
        return [Note("dynamic_ignored_file_gone", {"path": str(file)})]
    if called := logs.CALL_FAILED.search(train_log):  # torch_npu catches it; the training goes on without a profile
        return [Note("dynamic_ignored_call_failed", {"call": called[1], "text": called[2][:200]})]
    if not progress.accepted:
        return _never_taken(config_dir, record, data, stamp)
    if not data.strip():
        return [Note("dynamic_ignored_empty_file")]
    start = progress.will_start_at
    if start == 0:
        return [Note("dynamic_ignored_start_zero")]
    late = [match for match in logs.LATE.finditer(train_log) if start is not None and int(match[1]) == start]
    passed = int(late[-1][2]) if late else current_step
    if start is not None and passed is not None and (late or passed > start):
        return [Note("dynamic_ignored_start_passed", {"start": start, "current": passed})]
    return []


def _never_taken(config_dir: Path, record: Mapping[str, Any], data: bytes, stamp: int) -> list[Note]:
    """Why no worker took the file, by its mtime; empty: it may only not have been looked at yet."""
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
