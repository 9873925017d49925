"""The supervisor of one run: a process of its own session that outlives server, client and terminal.

    python -m mindspeed_mm_train_profiler.runs.supervisor FOLDER

Forks twice and tells its own pid; starts the script with stdin closed and output in the run's log; reads the log as it
grows; writes each record atomically and flushed. It changes nothing of the user's.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.runs.folder import RECORD_VARIABLE, RunFolder, identity
from mindspeed_mm_train_profiler.runs.logscan import Scan, merged

TICK_S = 0.3
SETTLE_S = 3.0
MAX_SESSIONS = 256


def _daemonize() -> None:
    """Leave the caller: a new session, no controlling terminal, adopted by init (nobody has to reap it)."""
    if os.fork():
        os._exit(0)
    os.setsid()
    if os.fork():
        os._exit(0)
    for name in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
        signal.signal(name, signal.SIG_IGN)


PR_SET_CHILD_SUBREAPER = 36
"""linux/prctl.h"""


def _adopt_orphans() -> None:
    """What the script leaves behind falls to this process and not to init: it stays the run's by ancestry, even with an
    environment that does not carry the run's id (``env -i``)."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _reap_orphans(script: int) -> None:
    """Adopted children that have ended; the script's own end is its waiter's."""
    with suppress(OSError):
        while (ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) and ended.si_pid != script:
            os.waitpid(ended.si_pid, os.WNOHANG)


class Supervisor:
    """Runs the script of one folder to its end."""

    def __init__(self, folder: RunFolder, *, new_session: bool = True) -> None:
        self.folder = folder
        self.new_session = new_session
        self.run = folder.read("run") or {}
        self.scan = Scan()
        self.other = Scan()
        """Of the file the script itself writes to: all of the training's lines may go there, or (`tee`) into both."""
        if folder.other_log is not None:
            self.other.offsets[str(folder.other_log[0])] = folder.other_log[1]
        self.last: dict[str, Any] = {}
        self.events: dict[str, float] = {}

    def start(self) -> "subprocess.Popen[bytes]":
        handle = os.open(self.folder.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            return subprocess.Popen(
                self.run["argv"],
                cwd=self.run["workdir"],
                env=self.run["environment"],
                stdin=subprocess.DEVNULL,
                stdout=handle,
                stderr=subprocess.STDOUT,
                start_new_session=self.new_session,
                preexec_fn=_default_signals,
            )
        finally:
            os.close(handle)

    def look(self) -> None:
        """Read what is new in the logs; write the status down where it changed."""
        self.scan.read(self.folder.log)
        if self.folder.other_log is not None:
            self.other.read(self.folder.other_log[0])
        self._tell()

    def _tell(self) -> None:
        facts = merged(self.scan, self.other)
        if facts != self.last and (facts["lines"] or self.last):
            self.last = facts
            self.folder.write("status", {**facts, "at": time.time()})

    def follow(self, process: "subprocess.Popen[bytes]") -> int:
        while True:
            with suppress(Exception):  # reading the log must never lose the run
                self.look()
            _reap_orphans(process.pid)
            try:
                return process.wait(timeout=TICK_S)
            except subprocess.TimeoutExpired:
                continue

    def linger(self) -> None:
        """A script may end before a launcher it put in the background: the run lasts as long as the launcher."""
        from mindspeed_mm_train_profiler.runs.processes import members

        settled = time.monotonic() + SETTLE_S
        while not self.folder.launchers() and members(self.folder) and time.monotonic() < settled:
            time.sleep(TICK_S / 3)  # a recorder that was put in the background may not have written yet
        while self.folder.read("stop") is None:
            waiting = any(record.get("exit_code") is None for record in self.folder.last_round())
            # by the run's id, not by the group: `setsid torchrun ... &` has left it; and not by the recorder, which
            # may have been killed before its launcher
            if not waiting or not members(self.folder):
                break
            with suppress(Exception):
                self.look()
            _reap_orphans(-1)
            time.sleep(TICK_S)

    def note_facts(self, moment: str) -> None:
        """What the kernel counts now, to tell causes apart afterwards; never in the way of the run."""
        with suppress(Exception):
            from mindspeed_mm_train_profiler.npu_host import facts

            build = self.folder.read("build") or {}
            now = facts.snapshot(build.get("save_path"), build.get("master_port"))
            self.folder.write("facts", {**(self.folder.read("facts") or {}), moment: now})

    def records_launcher(self) -> bool:
        """Whether the script that ran asks for the recorder, so that no record means that no launcher was reached."""
        try:
            return any(RECORD_VARIABLE.encode() in Path(word).read_bytes() for word in self.run["argv"][1:2])
        except (OSError, KeyError, ValueError):
            return False

    def refused(self) -> dict[str, Any] | None:
        """What npu-smi, too slow for the launch, says against it now: {code, evidence}; None where nothing does."""
        if not self.run.get("check_npus"):
            return None
        from mindspeed_mm_train_profiler.npu_host import smi
        from mindspeed_mm_train_profiler.runs import preflight

        environment = dict(self.run["environment"])
        report = smi.query(environment, unwanted=lambda: self.folder.read("stop") is not None)
        for finding in preflight.look_npus(self.folder.read("build") or {}, environment, report):
            if finding.refuses and finding.note.code not in set(self.run.get("allowed") or ()):
                words = "; ".join(f"{name}: {value}" for name, value in finding.note.params.items())
                return {"code": finding.note.code, "evidence": words[:400]}
        return None

    def finish(self, code: int | None, error: str | None = None, refused: dict[str, Any] | None = None) -> None:
        with suppress(Exception):
            self.look()
            self.scan.flush()
            self.other.flush()
            self._tell()
        self.note_facts("end")
        launchers = self.folder.launchers()
        self.folder.write(
            "end",
            {
                "ended": time.time(),
                "script_exit_code": code if code is None or code >= 0 else None,
                "script_signal": -code if code is not None and code < 0 else None,
                "launcher_exit_codes": self.folder.launcher_codes(),
                "all_exit_codes": [record.get("exit_code") for record in launchers],
                "launcher_missed": not launchers and self.records_launcher(),
                "stopped": self.folder.read("stop") is not None,
                "error": error,
                "refused": refused,
            },
        )


def _default_signals() -> None:
    for name in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
        signal.signal(name, signal.SIG_DFL)


def main(argv: list[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else argv
    folder = RunFolder(Path(words[0]))
    _daemonize()
    _adopt_orphans()
    os.umask(0o022)  # the training's own files; our records have their modes given
    folder.write("supervisor", identity(os.getpid()))
    supervisor = Supervisor(folder)
    if folder.read("stop") is not None:
        supervisor.finish(None, "stopped before the start")
        return 0
    supervisor.note_facts("start")
    refused = supervisor.refused()
    if refused is not None or folder.read("stop") is not None:
        supervisor.finish(None, "not started", refused)
        return 1
    try:
        process = supervisor.start()
    except OSError as error:
        supervisor.finish(None, str(error))
        return 1
    folder.write("script", {**identity(process.pid), "pgid": process.pid})
    code = supervisor.follow(process)
    supervisor.linger()
    supervisor.finish(code)
    return 0


if __name__ == "__main__":
    sys.exit(main())
