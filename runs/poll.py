"""What a run is doing, from its folder alone: state, phase, iteration, window, sessions, diagnosis."""

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.runs import launcher, redact
from mindspeed_mm_train_profiler.runs.folder import RunFolder
from mindspeed_mm_train_profiler.runs.logscan import tail

MAX_LOG_CHARS = 12_000
MAX_LINE_CHARS = 600
ACTIVE = {"starting", "running"}


def sessions(folder: RunFolder, build: dict[str, Any]) -> list[str]:
    """Profiler session directories of this run, as they appear under its save path."""
    run = folder.read("run") or {}
    began = float(run.get("created", 0))
    found = []
    for key in ("save_path",):
        place = build.get(key)
        if not place:
            continue
        try:
            names = sorted(path for path in Path(place).glob("*_ascend_pt"))[:1024]
        except OSError:
            continue
        for path in names:
            try:
                if path.is_dir() and path.stat().st_ctime >= began - 2:
                    found.append(str(path))
            except OSError:
                continue
    return found


def phase_of(state: str, facts: dict[str, Any], folder: RunFolder, window: dict[str, Any] | None, seen: int) -> str:
    if state not in ACTIVE:
        return "done"
    iteration, last = facts.get("iteration"), facts.get("train_iters")
    if facts.get("parsing", 0) > facts.get("parsed", 0):
        return "parsing"
    if iteration is None:
        return "initialising" if folder.launchers() else "launching"
    if last is not None and iteration >= last:
        return "finishing"
    if window and window["first_iteration"] - 1 <= iteration < window["last_iteration"]:
        return "profiling"
    return "training"


def window_of(build: dict[str, Any], facts: dict[str, Any]) -> dict[str, Any] | None:
    window = build.get("window")
    if not window:
        return None
    iteration = facts.get("iteration")
    reached = None if iteration is None else iteration >= window["first_iteration"] - 1
    return {
        "first_iteration": window["first_iteration"],
        "last_iteration": window["last_iteration"],
        "reached": reached,
    }


def log_lines(folder: RunFolder, cursor: int | None, count: int) -> tuple[list[str], int, int]:
    """New lines of the log, secrets hidden, bounded in number and size: (lines, cursor, bytes left out)."""
    return tail_of(folder.training_log, cursor, count, secrets_of(folder))


def secrets_of(folder: RunFolder) -> list[str]:
    """Values that the run's environment holds under secret names: a log may repeat them without the name."""
    environment = (folder.read("run") or {}).get("environment")
    return redact.values(environment) if isinstance(environment, dict) else []


def tail_of(path: Path, cursor: int | None, count: int, known: Iterable[str] = ()) -> tuple[list[str], int, int]:
    """New lines of one log file, secrets hidden, bounded: (lines, cursor, bytes left out)."""
    lines, position, left = tail(path, cursor, count)
    lines = [line[:MAX_LINE_CHARS] for line in redact.lines(lines, known)]
    while lines and sum(len(line) for line in lines) > MAX_LOG_CHARS:
        left += len(lines.pop(0))
    return lines, position, left


PLACES = 1 << 40
"""A cursor of a run with several logs: which log it counts in, and the byte there; below 2**53, JSON's limit."""


def tail_in(
    path: Path, place: int, cursor: int | None, count: int, known: Iterable[str] = ()
) -> tuple[list[str], int, int]:
    """As ``tail_of``, for the log numbered ``place`` of several: a cursor from another one begins anew."""
    own = cursor % PLACES if cursor is not None and cursor // PLACES == place else None
    lines, position, left = tail_of(path, own, count, known)
    return lines, place * PLACES + position, left


def check_node(node: int | None, count: int) -> None:
    """Error: ``node_unknown``, for a node (or a task of an array) that the run does not have."""
    if node is not None and node >= count:
        raise CodedError("node_unknown", found=node, expected=f"0..{count - 1}")


def poll(folder: RunFolder, cursor: int | None = None, lines: int = 40, node: int | None = None) -> dict[str, Any]:
    """One look at a run, whatever started it."""
    return launcher.of(folder).poll(folder, cursor, lines, node)


def state_of(folder: RunFolder) -> tuple[str, int | None, int | None]:
    """(state, exit code of the launcher or script, signal)."""
    return launcher.of(folder).state(folder)


def iso(moment: Any) -> str | None:
    if moment is None:
        return None
    return datetime.fromtimestamp(float(moment)).astimezone().isoformat(timespec="seconds")


def changed(before: dict[str, Any], now: dict[str, Any]) -> bool:
    """Whether a waiting caller should be told: another state, phase or session, or the run has ended."""
    keys = ("state", "phase", "sessions_seen")
    return now["state"] not in ACTIVE or any(before[key] != now[key] for key in keys)
