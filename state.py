"""Where the product keeps its own records, and how it writes them.

    <state>/builds/<config_id>/     manifest of the copies that a build made
    <state>/runs/<run_id>/          one training run: manifest, exit codes, log

``<state>`` is ``$MINDSPEED_MM_TRAIN_PROFILER_STATE``, else ``$XDG_STATE_HOME/mindspeed-mm-train-profiler``, else
``~/.local/state/mindspeed-mm-train-profiler``. Folders are 0700, files 0600, whatever the umask says: a run's log and
environment are nobody else's business on a shared host.
"""

import json
import os
import secrets
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

STATE_VARIABLE = "MINDSPEED_MM_TRAIN_PROFILER_STATE"
FOLDER = "mindspeed-mm-train-profiler"


def state_dir() -> Path:
    """The state folder, absolute; not created here."""
    if given := os.environ.get(STATE_VARIABLE):
        return Path(given).expanduser().absolute()
    base = os.environ.get("XDG_STATE_HOME")
    root = Path(base) if base and Path(base).is_absolute() else Path.home() / ".local" / "state"
    return root / FOLDER


def private_folder(path: Path) -> Path:
    """Create ``path`` (and what is missing above it inside the state folder) as 0700."""
    for folder in reversed([path, *path.parents]):
        if not folder.exists():
            with suppress(FileExistsError):
                folder.mkdir(mode=0o700)
    path.chmod(0o700)
    return path


def new_id(prefix: str) -> str:
    """A short id that sorts by time: ``run-20261201-101500-3f9a``."""
    return f"{prefix}-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"


def write_atomic(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Replace ``path`` by ``data`` in one step: readers, and a crash, find the old content or the new one."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a JSON object atomically, readable by people."""
    write_atomic(path, json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8") + b"\n")


def read_json(path: Path) -> dict[str, Any] | None:
    """The JSON object at ``path``; None where it is absent, unreadable or no object."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
