"""Asking a command of the host: its own session, a time limit that holds, and nothing of it left behind.

A wrapper that waits for a hanging grandchild keeps pipes open after it was killed; so the output goes to unnamed files,
and what is ended is the child's whole group, while the child is not reaped yet and its number is nobody else's.
"""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

TICK_S = 0.02
MAX_OUTPUT = 512 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """``code`` None: it did not end in time (or was no longer wanted). Of more than 512 KB each, beginning and end."""

    out: bytes
    err: bytes
    code: int | None


def ask(
    argv: Sequence[str],
    environment: Mapping[str, str] | None = None,
    *,
    timeout_s: float,
    cwd: Path | None = None,
    unwanted: Callable[[], bool] = lambda: False,
) -> Answer:
    """Run ``argv`` and wait for it, at most ``timeout_s``, or until ``unwanted``. Error: OSError (cannot start)."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env=None if environment is None else dict(environment),
            cwd=cwd,
            start_new_session=True,
        )
        code = _wait(process, timeout_s, unwanted)
        return Answer(_ends(out), _ends(err), code)


def _ends(file: IO[bytes]) -> bytes:
    """What was written; of very much, its beginning and its end."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if size <= MAX_OUTPUT:
        return file.read()
    head = file.read(MAX_OUTPUT // 2)
    file.seek(size - MAX_OUTPUT // 2)
    return head + b"\n" + file.read(MAX_OUTPUT // 2)


def _wait(process: "subprocess.Popen[bytes]", timeout_s: float, unwanted: Callable[[], bool]) -> int | None:
    deadline = time.monotonic() + timeout_s
    try:
        while (left := deadline - time.monotonic()) > 0 and not unwanted():
            try:
                return process.wait(min(left, max(TICK_S, timeout_s / 50)))
            except subprocess.TimeoutExpired:
                continue
        return None
    finally:
        if process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
