"""Ending a run: its own processes, checked by pid and start time; TERM first so that the profiler can flush."""

import time
from contextlib import suppress
from typing import Any

import psutil

from mindspeed_mm_train_profiler.runs import launcher
from mindspeed_mm_train_profiler.runs.folder import RunFolder, alive
from mindspeed_mm_train_profiler.runs.processes import describe, members

DEFAULT_GRACE_S = 15.0
TICK_S = 0.1
END_S = 6.0
"""How long what is left is killed, and the supervisor's end awaited."""


def stop(folder: RunFolder, grace_s: float = DEFAULT_GRACE_S) -> dict[str, Any]:
    """Stop a run. Repeating it is harmless; a run that has ended, or is another process by now, is left alone.

    Returns {already_ended, terminated, killed, left}: processes as {pid, name}.
    """
    return launcher.of(folder).stop(folder, grace_s)


def stop_processes(folder: RunFolder, grace_s: float) -> dict[str, Any]:
    """End the processes of a run on this host: TERM, after ``grace_s`` KILL, until none is left."""
    if folder.read("end") is not None and not members(folder):
        return {"already_ended": True, "terminated": [], "killed": [], "left": []}
    if folder.read("stop") is None:
        folder.write("stop", {"asked": time.time(), "grace_s": grace_s})
    targets = members(folder)
    terminated = describe(targets)
    for process in targets:
        _signal(process, "terminate")
    deadline = time.monotonic() + grace_s
    while time.monotonic() < deadline and (left := members(folder)):
        time.sleep(TICK_S)
    killed: list[dict[str, Any]] = []
    deadline = time.monotonic() + END_S
    while time.monotonic() < deadline:
        left = members(folder)
        if not left and (folder.read("end") is not None or not alive(folder.read("supervisor"))):
            break  # while the supervisor lives without an end, a script that was just being started may still come
        killed += [row for row in describe(left) if row not in killed]
        for process in left:
            _signal(process, "kill")
        time.sleep(TICK_S)
    _write_end(folder)
    return {"already_ended": False, "terminated": terminated, "killed": killed, "left": describe(members(folder))}


def _signal(process: psutil.Process, how: str) -> None:
    with suppress(psutil.Error):
        getattr(process, how)()  # psutil checks the start time first: a reused pid is not touched


def _write_end(folder: RunFolder) -> None:
    """The supervisor writes the end; where it is gone as well, it is written here."""
    if folder.read("end") is None and not alive(folder.read("supervisor")):
        folder.write(
            "end",
            {
                "ended": time.time(),
                "script_exit_code": None,
                "script_signal": None,
                "launcher_exit_codes": folder.launcher_codes(),
                "stopped": True,
                "error": None,
            },
        )
