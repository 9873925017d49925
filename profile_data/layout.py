"""Finds profiler sessions under a folder, at any depth, and looks into none of them twice.

A session is a folder named ``*_ascend_pt`` or one that holds what a session holds (``FRAMEWORK``, ``PROF_*``,
``profiler_info*.json``, ``ASCEND_PROFILER_OUTPUT``), so renamed sessions are found. A bare ``PROF_*`` folder counts
as a session whose only content is itself; so does a folder of results that somebody copied away from its session
under another name. Names by torch_npu ``profiler/_profiler_path_creator.py``.
"""

import os
import re
import stat
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

OUTPUT = "ASCEND_PROFILER_OUTPUT"
FRAMEWORK = "FRAMEWORK"
SESSION_NAME = re.compile(r"^(?P<worker>.+)_(?P<pid>\d+)_(?P<stamp>\d{14,17})_ascend_pt$")
PROF_NAME = re.compile(r"^PROF_\d+_\d+_[0-9a-zA-Z]+$")
INFO_NAME = re.compile(r"^profiler_info(?:_(?P<rank>\d+))?\.json$")
DB_NAME = re.compile(r"^ascend_(?:pytorch|mindspore)_profiler(?:_(?P<rank>\d+))?\.db$")
TELLING = frozenset({"trace_view.json", "kernel_details.csv", "step_trace_time.csv", "operator_details.csv"})
"""Results that nothing else has a file of the name of; the databases are told by their own name."""
DEVICE_NAME = re.compile(r"^device_(?P<id>\d+)$")
MAX_FOLDERS = 50_000
SESSION_ENDS = ("_ascend_pt", "_ascend_ms")
"""torch_npu's sessions, and MindSpore's, which are laid out alike."""


@dataclass(slots=True)
class Found:
    """``cut`` says that the search ended at its bound; ``unreadable`` lists folders that could not be opened."""

    sessions: list[Path] = field(default_factory=list)
    cut: bool = False
    unreadable: list[Path] = field(default_factory=list)


def entries(folder: Path) -> list[os.DirEntry[str]]:
    """The folder's entries sorted by name; OSError where it cannot be read."""
    with os.scandir(folder) as scan:
        return sorted(scan, key=lambda entry: entry.name)


def results_folder(session: Path) -> Path:
    """Where the session's results lie or will lie: below it; beside its record where somebody gathered them there."""
    below = session / OUTPUT
    try:
        return below if below.is_dir() or not any(map(_is_result, entries(session))) else session
    except OSError:
        return below


def is_results(folder: Path) -> bool:
    """Whether the folder holds results only: neither a session's record nor its raw data."""
    try:
        inside = entries(folder)
    except OSError:
        return False
    return any(map(_is_result, inside)) and not any(map(_is_of_session, inside))


def _is_of_session(entry: os.DirEntry[str]) -> bool:
    """What only a session holds."""
    if entry.name in (FRAMEWORK, OUTPUT) or PROF_NAME.match(entry.name):
        return is_folder(entry)
    return INFO_NAME.match(entry.name) is not None


def _is_result(entry: os.DirEntry[str]) -> bool:
    return entry.name in TELLING or DB_NAME.match(entry.name) is not None


def is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def unreadable(folder: Path) -> str | None:
    """The folder and why it cannot be read; None where it can, or is not there."""
    try:
        entries(folder)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return f"{folder}: {error.strerror}"
    return None


def _holds_session(folder: Path, inside: list[os.DirEntry[str]]) -> bool:
    if folder.name.endswith(SESSION_ENDS) and not any(entry.name.endswith(SESSION_ENDS) for entry in inside):
        return True
    return any(map(_is_of_session, inside))


def find_sessions(root: Path, *, limit: int = MAX_FOLDERS) -> Found:
    """Sessions at or below ``root``, sorted. Links are looked at where they lead to a session, not walked."""
    found = Found()
    if PROF_NAME.match(root.name):
        return Found([root])
    queue: deque[Path] = deque([root])
    linked: list[Path] = []
    results: list[Path] = []
    seen = 0
    while queue:
        folder = queue.popleft()
        seen += 1
        if seen > limit:
            found.cut = True
            break
        try:
            inside = entries(folder)
        except OSError:
            found.unreadable.append(folder)
            continue
        if _holds_session(folder, inside):
            found.sessions += _alone(folder, inside) or [folder]
            continue
        if any(map(_is_result, inside)):
            results.append(folder)
        for entry in inside:
            if is_folder(entry) and (not entry.is_symlink() or entry.name.endswith(SESSION_ENDS)):
                queue.append(folder / entry.name)
                if entry.is_symlink():
                    linked.append(folder / entry.name)
    # a stray table beside sessions makes no session of the folder that holds them
    above = {parent for session in found.sessions for parent in session.parents}
    found.sessions += [folder for folder in results if folder not in above]
    if linked:
        _drop_aliases(found, linked)
    found.sessions.sort()
    return found


def _alone(folder: Path, inside: list[os.DirEntry[str]]) -> list[Path]:
    """The ``PROF_*`` folders that were gathered in a folder of their own: each one is its own session."""
    profs = [folder / entry.name for entry in inside if PROF_NAME.match(entry.name) and is_folder(entry)]
    others = any(entry.name in (FRAMEWORK, OUTPUT) or INFO_NAME.match(entry.name) for entry in inside)
    return [] if len(profs) < 2 or others or folder.name.endswith(SESSION_ENDS) else profs


def _drop_aliases(found: Found, linked: list[Path]) -> None:
    """A link to a session that is found by itself (``latest_ascend_pt``) is no second session."""
    links = set(linked)
    seen = {os.path.realpath(session) for session in found.sessions if session not in links}
    for session in sorted(links.intersection(found.sessions)):
        real = os.path.realpath(session)
        if real in seen:
            found.sessions.remove(session)
        seen.add(real)


def prof_folders(session: Path) -> list[Path]:
    """The session's ``PROF_*`` folders; the session itself where it is one."""
    if PROF_NAME.match(session.name):
        return [session]
    try:
        return [session / entry.name for entry in entries(session) if PROF_NAME.match(entry.name) and is_folder(entry)]
    except OSError:
        return []


def walk_files(folder: Path, *, limit: int = 200_000) -> Iterator[tuple[Path, int]]:
    """(file, bytes) below ``folder``, at most ``limit``; linked folders and what cannot be read are left out."""
    stack, count = [folder], 0
    while stack:
        here = stack.pop()
        try:
            inside = entries(here)
        except OSError:
            continue
        for entry in inside:
            try:
                if entry.is_dir(follow_symlinks=False):
                    stack.append(here / entry.name)
                    continue
                info = entry.stat()  # a file moved elsewhere behind a link has its own size
                if stat.S_ISDIR(info.st_mode):
                    continue
                size = info.st_size
            except OSError:
                continue
            count += 1
            if count > limit:
                return
            yield here / entry.name, size
