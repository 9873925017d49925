"""Windows asked of a running dynamic collection: what became of each, told from the run's own folder.

A run's training process counts its own steps: step N of torch_npu's watcher is iteration ``offset`` + N of the log.
"""

from contextlib import suppress
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler import dynamic_profile
from mindspeed_mm_train_profiler.dynamic_profile import Progress
from mindspeed_mm_train_profiler.errors import CodedError, Note
from mindspeed_mm_train_profiler.runs import launch, poll, this_host
from mindspeed_mm_train_profiler.runs.folder import RunFolder

LOG_BYTES = 512 * 1024
PENDING = ("waiting", "running")


def config_dir(folder: RunFolder) -> Path | None:
    """The directory that torch_npu watches for this run; None where the run is not dynamic."""
    place = (folder.read("build") or {}).get("dynamic_config_path")
    return Path(place) if place else None


def log_path(folder: RunFolder) -> Path:
    """Where the training's lines are: the run's own log, or the file the script sends them to."""
    return folder.training_log


def steps_done(folder: RunFolder) -> tuple[int | None, float | None]:
    """(passes that this process has completed, seconds of one), from the log; None where it does not say."""
    facts = this_host.facts_of(folder)
    iteration, ms = facts.get("iteration"), facts.get("ms_per_iteration")
    offset = (folder.read("build") or {}).get("offset") or 0
    return (None if iteration is None else max(0, iteration - offset)), (None if ms is None else ms / 1000)


def refresh(folder: RunFolder) -> list[tuple[dict[str, Any], Progress | None]]:
    """The run's triggers, oldest first, each with what is known of it now; one that is over is settled.

    A window that still waits when the run has ended is over as well: the reason is ``dynamic_ignored_run_ended``.
    """
    place = config_dir(folder)
    if place is None:
        return []
    done, _ = steps_done(folder)
    ended = not launch.active(folder)
    found: list[tuple[dict[str, Any], Progress | None]] = []
    records = dynamic_profile.history(place)
    for record in records:
        if not _of(folder, record):
            if record["state"] in PENDING and not launch.active(RunFolder(folder.path.parent / record["run_id"])):
                left = dynamic_profile.status(place, record)  # an earlier launch of the same build, which has ended
                _end(left, record)
                with suppress(CodedError):
                    dynamic_profile.settle(place, record["id"], left)
            continue
        if record["state"] not in PENDING and record is not records[-1]:
            found.append((record, None))
            continue
        log = _since(log_path(folder), int(record.get("log_offset") or 0))
        progress = dynamic_profile.status(place, record, train_log=log, current_step=done)
        if record["state"] not in PENDING and not progress.started and record.get("started_at_step") is not None:
            found.append((record, None))  # its logs are gone
            continue
        if ended:
            _end(progress, record)
        if record["state"] in PENDING and progress.state != record["state"]:
            with suppress(CodedError):  # another call settles it at this moment
                dynamic_profile.settle(place, record["id"], progress)
            record = {
                **record,
                "state": progress.state,
                "started_at_step": max(progress.started.values(), default=None),
                "stopped_at_step": max(progress.stopped.values(), default=None),
            }
        found.append((record, progress))
    return found


def _end(progress: Progress, record: dict[str, Any]) -> None:
    """What a run that has ended makes of a window that is not over."""
    if progress.state == "waiting":
        progress.state = "ignored"
        progress.reasons = [Note("dynamic_ignored_run_ended", {"start": record["start_step"]})]
    elif progress.state == "running":
        progress.state = "stopped"
        cut = Note("dynamic_cut_by_exit")
        if not progress.stopped.keys() >= progress.started.keys() and cut not in progress.notes:
            progress.notes.append(cut)


def rows(folder: RunFolder) -> list[dict[str, Any]]:
    """Plain data of the run's triggers: id, state, ranks, steps, where it started and stopped."""
    return [
        {
            "trigger_id": record["id"],
            "state": record["state"],
            "start_step": record["start_step"],
            "steps": record["steps"],
            "ranks": record["ranks"],
            "started_at_step": record.get("started_at_step"),
            "stopped_at_step": record.get("stopped_at_step"),
            "reasons": list(progress.reasons) if progress else [],
            "notes": list(progress.notes) if progress else [],
        }
        for record, progress in refresh(folder)
    ]


def at_writing(folder: RunFolder) -> dict[str, Any]:
    """What a trigger remembers of the run at the moment it is written."""
    log, build = log_path(folder), folder.read("build") or {}
    try:
        size = log.stat().st_size
    except OSError:
        size = 0
    return {
        "run_id": folder.run_id,
        "log_offset": size,
        "sessions_before": [Path(path).name for path in poll.sessions(folder, build)],
    }


def sessions_of(folder: RunFolder, trigger_id: str) -> list[str]:
    """Sessions that came after this trigger was written and before the next one was."""
    place = config_dir(folder)
    records = [record for record in dynamic_profile.history(place) if _of(folder, record)] if place else []
    at = next((index for index, record in enumerate(records) if record["id"] == trigger_id), None)
    if at is None:
        return []
    seen = poll.sessions(folder, folder.read("build") or {})
    before = set(records[at].get("sessions_before") or ())
    until = records[at + 1].get("sessions_before") if at + 1 < len(records) else None
    return [path for path in seen if (name := Path(path).name) not in before and (until is None or name in until)]


def _of(folder: RunFolder, record: dict[str, Any]) -> bool:
    return record.get("run_id") in (None, folder.run_id)


def _since(path: Path, offset: int) -> str:
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(offset if offset <= size else 0, size - LOG_BYTES))
            return file.read(LOG_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
