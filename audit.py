"""One line for every action that starts, stops or removes something: who, when, what. Kept in ``<state>/audit.log``.

JSON lines, 0600, appended in one write each, so that servers side by side do not cut each other's lines. Outside text
is JSON-escaped: a run's name cannot forge a line. A host whose state folder cannot be written is no reason to refuse
the action that was asked for; the failure goes to stderr.
"""

import json
import logging
import os
import time

from mindspeed_mm_train_profiler.state import private_folder, state_dir

log = logging.getLogger("mindspeed_mm_train_profiler")


def record(action: str, **facts: object) -> None:
    """Append one line: UTC time, action, user and process, and the facts given (paths, ids, states; no secrets)."""
    line = {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "action": action,
        "uid": os.getuid(),
        "pid": os.getpid(),
        **facts,
    }
    data = json.dumps(line, ensure_ascii=True, default=str).encode("ascii") + b"\n"
    try:
        folder = private_folder(state_dir())
        handle = os.open(
            folder / "audit.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
        )
        try:
            os.write(handle, data)
        finally:
            os.close(handle)
    except OSError as error:
        log.warning("the audit line could not be written: %s", error)
