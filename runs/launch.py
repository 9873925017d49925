"""Starting a run: one per configuration at a time, whoever asks and however often."""

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager

from mindspeed_mm_train_profiler.runs import launcher
from mindspeed_mm_train_profiler.runs.folder import RunFolder, all_runs
from mindspeed_mm_train_profiler.state import private_folder, state_dir


@contextmanager
def launch_lock(config_id: str) -> Iterator[None]:
    """Held while it is decided whether a configuration runs; the kernel drops it with the process that held it."""
    folder = private_folder(state_dir() / "locks")
    name = hashlib.sha256(config_id.encode()).hexdigest()[:24]
    handle = os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def active(folder: RunFolder) -> bool:
    """Whether a run has not ended, as its launcher sees it."""
    return launcher.of(folder).active(folder)


def existing(config_id: str, key: str | None) -> RunFolder | None:
    """The run that a repeated request means: the same key's, whatever became of it, or the one that still trains."""
    for folder in all_runs():
        run = folder.read("run")
        if not run or run.get("config_id") != config_id:
            continue
        if key is not None and run.get("idempotency_key") == key:
            return folder
        own = launcher.of(folder)
        if own.active(folder) or own.orphaned(folder):
            return folder
    return None
