"""Which processes belong to a run: by ancestry, and by the variable that the run's environment carries."""

from pathlib import Path
from typing import Any

import psutil

from mindspeed_mm_train_profiler.runs.folder import RUN_VARIABLE, RunFolder, alive


def group_members(pgid: int | None) -> list[psutil.Process]:
    """Living processes of a process group."""
    if not pgid:
        return []
    found = []
    for process in psutil.process_iter():
        try:
            if _pgid(process.pid) == pgid and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def _pgid(pid: int) -> int | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return int(text.rpartition(")")[2].split()[2])
    except (OSError, ValueError, IndexError):
        return None


def _marked(pid: int, mark: str) -> bool:
    """The process carries this run's id in its environment: it descends from the script, however it was detached."""
    try:
        data = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False
    return f"{RUN_VARIABLE}={mark}".encode() in data.split(b"\0")


def members(folder: RunFolder) -> list[psutil.Process]:
    """Every living process of a run, and nothing else: the script (pid and start time), its descendants, what it left
    to its supervisor, and detached children that carry the run's id. Never this process, never the supervisor."""
    script = folder.read("script")
    supervisor = folder.read("supervisor") or {}
    mark = folder.mark
    own = {psutil.Process().pid, int(supervisor.get("pid", -1))}
    found: dict[int, psutil.Process] = {}

    def add(process: psutil.Process) -> None:
        if process.pid not in own:
            found[process.pid] = process

    for record, itself in ((script, True), (supervisor, False)):
        if record and alive(record):
            try:
                root = psutil.Process(int(record["pid"]))
                for process in ([root] if itself else []) + root.children(recursive=True):
                    add(process)
            except psutil.Error:
                continue
    for process in psutil.process_iter():
        if process.pid in own or process.pid in found:
            continue
        if _marked(process.pid, mark):
            add(process)
    return [process for process in found.values() if _living(process)]


def _living(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running()) and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def describe(processes: list[psutil.Process]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for process in processes[:64]:
        try:
            rows.append({"pid": process.pid, "name": process.name()})
        except psutil.Error:
            continue
    return rows
