"""A run's folder: the one place that knows which file of a run is which.

run.json         made by the launch: id, config, key, environment names, times
build.json       the build's manifest as it was at the launch
supervisor.json  the supervisor's pid and start time, boot id
script.json      the script's pid, start time, process group
launcher-*.json  one for each launcher call, from the recorder: pid, times, exit code
status.json      what the supervisor read in the log so far
stop.json        somebody asked for the end
end.json         the end: exit code of the script, signal, time, reason
output.log       what the script printed
"""

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.runs import shapes
from mindspeed_mm_train_profiler.state import read_json, state_dir, write_json

RUN_ID = re.compile(r"^(?:run|parse)-[0-9a-z-]{10,60}$")
RECORD_VARIABLE = "MM_PROFILER_RECORD"
RUN_VARIABLE = "MM_PROFILER_RUN_ID"
MAX_LAUNCHERS = 64
"""Launcher calls that are looked at, the newest: a script may try again without end."""


def boot_id() -> str:
    """This boot of the machine; pids of another boot mean nothing."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return str(psutil.boot_time())


def alive(record: dict[str, Any] | None) -> bool:
    """Whether the very process of a record (pid, start time, boot) still runs; a zombie does not."""
    if not record or record.get("boot_id") != boot_id():
        return False
    try:
        process = psutil.Process(int(record["pid"]))
        ticks = record.get("ticks")
        if ticks is not None:  # counted from the boot: a clock that is set changes nothing
            same = start_ticks(process.pid) == int(ticks)
        else:
            same = abs(process.create_time() - float(record["started"])) < 2.0
        return same and process.status() != psutil.STATUS_ZOMBIE
    except (psutil.Error, KeyError, TypeError, ValueError):
        return False


def identity(pid: int) -> dict[str, Any]:
    """pid, start time and boot of a process, to know it again."""
    try:
        started = psutil.Process(pid).create_time()
    except psutil.Error:
        started = time.time()
    return {"pid": pid, "started": started, "ticks": start_ticks(pid), "boot_id": boot_id()}


def start_ticks(pid: int) -> int | None:
    """When a process started, in clock ticks since the boot (field 22 of /proc/PID/stat); None where it is not told."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return int(text.rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return None


class RunFolder:
    """Paths and records of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def run_id(self) -> str:
        return self.path.name

    @property
    def log(self) -> Path:
        return self.path / "output.log"

    @property
    def other_log(self) -> tuple[Path, int] | None:
        """The file that the script itself sends lines to, and how much of it was there before this run."""
        run = self.read("run") or {}
        return (Path(run["log_file"]), run.get("log_size") or 0) if run.get("log_file") else None

    @property
    def training_log(self) -> Path:
        """Where the training's lines are: the run's own log, or the file the script sends them to.

        ``tee`` writes both, and the own log, which has the script's other lines as well, is then never the smaller one.
        """
        if self.other_log is None:
            return self.log
        other, before = self.other_log
        try:
            size = other.stat().st_size
        except OSError:
            return self.log
        try:
            own = self.log.stat().st_size
        except OSError:
            own = 0
        return other if size - (before if size >= before else 0) > own else self.log

    def file(self, name: str) -> Path:
        return self.path / f"{name}.json"

    def read(self, name: str) -> dict[str, Any] | None:
        return shapes.shaped(name, read_json(self.file(name)))

    def write(self, name: str, value: dict[str, Any]) -> None:
        write_json(self.file(name), value)

    def launchers(self) -> list[dict[str, Any]]:
        """Records of launcher calls, in the order of their start."""
        paths = sorted(self.path.glob("launcher-*.json"), key=lambda path: path.stem.rpartition("-")[2])
        found = [self.read(path.stem) for path in paths[-MAX_LAUNCHERS:]]
        return sorted((r for r in found if r), key=lambda r: float(r.get("started", 0)))

    @property
    def mark(self) -> str:
        """What the environment of this run's processes carries: the run's id, on a node of many with its number."""
        environment = (self.read("run") or {}).get("environment") or {}
        return str(environment.get(RUN_VARIABLE) or self.run_id)

    def last_round(self) -> list[dict[str, Any]]:
        """The last round of launcher calls: of calls that were over before the last one began, as where a script tries
        again, only the last one counts; of those that ran at once, all. A recorder that was killed tells no end: that
        it was over is told by the one that began later and did not find it."""
        records = self.launchers()
        killed = {pid for r in records for pid in r.get("over") or ()}

        def over(record: dict[str, Any]) -> bool:
            if record.get("ended") is None:
                return record.get("pid") in killed
            return _over_before(record, records[-1])

        return [record for record in records if record is records[-1] or not over(record)]

    def launcher_codes(self) -> list[int]:
        """Exit codes of the last round."""
        return [int(r["exit_code"]) for r in self.last_round() if r.get("exit_code") is not None]


def _over_before(call: dict[str, Any], last: dict[str, Any]) -> bool:
    """Whether a call that ended was over before the last one was forked. In one tick (10 ms) the clock decides."""
    died, born = call.get("died"), last.get("born")
    if isinstance(died, int) and isinstance(born, int) and died != born:
        return died < born
    return float(call["ended"]) < float(last.get("started") or 0)


def runs_dir() -> Path:
    return state_dir() / "runs"


def find(run_id: str) -> RunFolder:
    """The folder of a run. Error: ``run_unknown``."""
    if RUN_ID.match(run_id):
        path = runs_dir() / run_id
        if path.is_dir() and not path.is_symlink():
            return RunFolder(path)
    raise CodedError("run_unknown", found=run_id)


def all_runs() -> Iterator[RunFolder]:
    """All run folders, newest first; one that cannot be read is passed over by whoever reads it."""
    try:
        names = sorted(
            (entry.name for entry in os.scandir(runs_dir()) if entry.is_dir(follow_symlinks=False)), reverse=True
        )
    except OSError:
        return
    for name in names:
        if RUN_ID.match(name):
            yield RunFolder(runs_dir() / name)
