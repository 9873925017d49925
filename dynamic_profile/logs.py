"""Lines of torch_npu's dynamic logs, read from where a trigger began.

``<dir>/log/dp_<host>_<pid>_rank_<rank>.log`` is a worker's, ``monitor_dp_...`` the watcher's; 200 KB and one backup
(_dynamic_profiler_utils.py). Texts are the same from 6.0.0 to 26.1.0 where not said otherwise.
"""

import re
from collections.abc import Mapping
from pathlib import Path

READ_LIMIT = 512 * 1024  # bytes of one file at one look
NAME = re.compile(r"dp_(?P<host>.+)_(?P<pid>\d+)_rank_(?P<rank>-?\d+)\.log$")
SET_TO = re.compile(r"Start step will be set to (-?\d+)\.")
STARTED = re.compile(r"Start Dynamic Profiler at (\d+) step")
STOPPED = re.compile(r"Stop Dynamic Profiler at (\d+) step")
NOT_LISTED = re.compile(r"not in valid rank_list")
PARSE_OFF = re.compile(r"profiler data analyse will be closed")
LOADED = re.compile(r"load json success")
TOO_LARGE = re.compile(r"cfg bytes size over (\d+) bytes")
FAILED = re.compile(r"load json failed, *([^\n]*?)(?: has occur!?)?(?:\n|$)")  # the error may have lines of its own
WATCHES = re.compile(r"[Mm]onitor process has been created by rank")
ATTACHED = re.compile(r"no need to create process")
CREATED = re.compile(r"shared memory is created")  # its maker's log, before the watcher is made
INTERVAL = re.compile(r"interval time change to (\d+)s")  # 6.0.0 has other words before it
LATE = re.compile(r"config is not effective\. The start_step=(-?\d+), current_step=(\d+)")
CALL_FAILED = re.compile(r"Call (step|init|start) failed\. Exception: ([^\n]*)")
CUT = re.compile(r"Profiler stop when process exit")


def log_files(config_dir: Path, *, monitor: bool) -> list[Path]:
    """Of every rank of every host the newest log: a directory may have seen an earlier launch, whose logs stay."""
    newest: dict[object, tuple[int, Path]] = {}
    for path in (config_dir / "log").glob("monitor_dp_*.log" if monitor else "dp_*.log"):
        found = NAME.search(path.name)
        try:
            written = path.stat().st_mtime_ns
        except OSError:
            continue
        # processes without RANK all write -1
        key: object = (found["host"], found["rank"]) if found and int(found["rank"]) >= 0 else path.name
        if key not in newest or written > newest[key][0]:
            newest[key] = (written, path)
    return sorted(path for _, path in newest.values())


def rank_of(path: Path) -> int:
    found = NAME.search(path.name)
    return int(found["rank"]) if found else -1


def host_of(path: Path) -> str:
    found = NAME.search(path.name)
    return found["host"] if found else ""


def interval(config_dir: Path) -> int | None:
    """Seconds between two looks of the watcher, as the workers' logs say; None before step 11."""
    texts = (read_from(path, 0) for path in log_files(config_dir, monitor=False))
    return max((int(found[-1]) for text in texts if (found := INTERVAL.findall(text))), default=None)


def sizes(config_dir: Path) -> dict[str, int]:
    """Bytes of every log now, by file name: where a later look begins."""
    files = [*log_files(config_dir, monitor=True), *log_files(config_dir, monitor=False)]
    return {path.name: path.stat().st_size for path in files}


def read_from(path: Path, offset: int) -> str:
    """Text after ``offset`` bytes; where the file was rotated since, the rest of its backup comes first."""
    try:
        size = path.stat().st_size
        before = ""
        if size < offset:
            backup = path.with_name(path.name + ".1")
            before = read_from(backup, offset) if backup.exists() and backup.stat().st_size >= offset else ""
            offset = 0
        with path.open("rb") as file:
            file.seek(max(offset, size - READ_LIMIT))
            return before + file.read(READ_LIMIT).decode("utf-8", errors="replace")
    except OSError:
        return ""


def _since(config_dir: Path, since: Mapping[str, int], *, monitor: bool) -> list[Path]:
    """The logs that were there when ``since`` was taken: those of the same processes. All, where there was none."""
    named = [name for name in since if name.startswith("monitor_") == monitor]
    return [config_dir / "log" / name for name in named] or log_files(config_dir, monitor=monitor)


def worker_text(config_dir: Path, since: Mapping[str, int]) -> dict[int, str]:
    """New lines by rank."""
    texts: dict[int, str] = {}
    for path in _since(config_dir, since, monitor=False):
        texts[rank_of(path)] = texts.get(rank_of(path), "") + read_from(path, since.get(path.name, 0))
    return texts


def monitor_text(config_dir: Path, since: Mapping[str, int]) -> str:
    files = _since(config_dir, since, monitor=True)
    return "".join(read_from(path, since.get(path.name, 0)) for path in files)
