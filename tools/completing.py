"""Completion: languages, question ids, script paths inside the allowed directories, ids of runs."""

import itertools
import os
from pathlib import Path

from mindspeed_mm_train_profiler import settings
from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.skill.questions import BY_ID
from mindspeed_mm_train_profiler.skill.wording import LANGUAGES
from mindspeed_mm_train_profiler.tools.common import argument_path, printable

MAX_VALUES = 100
"""The protocol's own limit."""
MAX_ENTRIES = 5000
"""Entries of one folder that are looked at."""


def scripts(typed: str) -> list[str]:
    """Folders (with a closing slash) and .sh files that go on from what was typed, as it was typed."""
    allowed = settings.current().allow_dirs
    if not typed and allowed:
        return [f"{folder}{os.sep}" for folder in allowed]
    head, _, tail = typed.rpartition(os.sep)
    shown = head + os.sep if os.sep in typed else ""
    try:
        folder = argument_path(shown or ".")
        with os.scandir(folder) as entries:
            found = []
            for entry in itertools.islice(entries, MAX_ENTRIES):
                if not entry.name.startswith(tail) or (entry.name.startswith(".") and not tail.startswith(".")):
                    continue
                if allowed and entry.is_symlink() and not _inside(Path(entry.path)):
                    continue
                if entry.is_dir():
                    found.append(shown + entry.name + os.sep)
                elif entry.name.endswith(".sh"):
                    found.append(shown + entry.name)
    except (OSError, CodedError, RuntimeError, ValueError):
        return _towards(typed, allowed)
    return [str(printable(value)) for value in sorted(found)]


def _inside(path: Path) -> bool:
    try:
        argument_path(path)
    except (CodedError, OSError, RuntimeError):
        return False
    return True


def _towards(typed: str, allowed: tuple[Path, ...]) -> list[str]:
    """Allowed directories that what was typed may still lead to."""
    return [f"{folder}{os.sep}" for folder in allowed if str(folder).startswith(typed)]


def runs(typed: str) -> list[str]:
    """Ids of runs, newest first."""
    from mindspeed_mm_train_profiler.runs import folder as folders

    return [folder.run_id for folder in folders.all_runs() if folder.run_id.startswith(typed)]


def values(argument: str, typed: str) -> list[str]:
    """What an argument of a prompt or resource can go on with, by the argument's name; not cut yet."""
    if argument == "language":
        return [name for name in LANGUAGES if name.startswith(typed)]
    if argument == "id":
        return [name for name in BY_ID if name.startswith(typed)]
    if argument == "script":
        return scripts(typed)
    if argument == "run_id":
        return runs(typed)
    return []
