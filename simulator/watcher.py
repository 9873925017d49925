"""torch_npu's dynamic profiler on the simulated host: when an edit of profiler_config.json starts a capture.

Source: torch_npu/profiler/dynamic_profile.py and _dynamic_profiler/_dynamic_profiler_monitor.py. The file is looked at
every two seconds, after step 11 every step's length (whole seconds, at least one); an edit counts when its mtime in
whole seconds is newer than this process and than the last one that counted.
"""

import json
import os
import socket
import tempfile
import threading
import time
from datetime import datetime
from pathlib import Path

from mindspeed_mm_train_profiler.simulator import watch_config
from mindspeed_mm_train_profiler.simulator.generations import generation
from mindspeed_mm_train_profiler.simulator.messages import Messages
from mindspeed_mm_train_profiler.simulator.recorder import Recorder
from mindspeed_mm_train_profiler.simulator.request import Place
from mindspeed_mm_train_profiler.simulator.switches import Switches
from mindspeed_mm_train_profiler.simulator.watch_memory import WatchMemory

FIRST_POLL_S = 2
TIMED_STEP = 10
FILE = "profiler_config.json"


class Log:
    """``<folder>/log/[monitor_]dp_<host>_<pid>_rank_<rank>.log``."""

    def __init__(self, folder: Path, rank: int, *, monitor: bool) -> None:
        (folder / "log").mkdir(mode=0o750, parents=True, exist_ok=True)
        head = "monitor_dp" if monitor else "dp"
        self._path = folder / "log" / f"{head}_{socket.gethostname()}_{os.getpid()}_rank_{rank}.log"

    def __call__(self, level: str, message: str) -> None:
        stamp = datetime.now().strftime("%Y-%m-%d %H:%M:%S,%f")[:-3]
        with open(self._path, "a", encoding="utf-8") as file:
            file.write(f"{stamp} [{level}] [{os.getpid()}] _dynamic_profiler_utils.py: {message}\n")


class Monitor:
    """Looks at the file and puts what it finds into the shared memory.

    torch_npu forks a process for it; here it is a thread, so that a killed rank leaves nothing running.
    """

    def __init__(self, folder: Path, memory: WatchMemory, rank: int) -> None:
        self._file, self._memory = folder / FILE, memory
        self._log = Log(folder, rank, monitor=True)
        self._seen = int(self._file.stat().st_mtime)
        self._ended = threading.Event()
        self.interval = FIRST_POLL_S
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._ended.is_set():
            self._look()
            self._ended.wait(self.interval)

    def _look(self) -> None:
        try:
            stamp = int(self._file.stat().st_mtime)
        except OSError:
            self._log("ERROR", "Dynamic profiler cfg json not exists")
            return
        if stamp == self._seen:
            return
        self._seen = stamp
        try:
            text = self._file.read_text(encoding="utf-8")
            data = (json.loads(text) if text else {}) | {"is_valid": True}
            self._log("INFO", "Dynamic profiler process load json success")
        except (OSError, ValueError, TypeError) as error:
            data = {"is_valid": False}
            self._log("ERROR", f"Dynamic profiler process load json failed, {error} has occur!")
        if not self._memory.put(stamp, data):
            self._log("WARNING", "Load json failed,  because cfg bytes size over 1048576 bytes")

    def end(self) -> None:
        self._ended.set()
        self._thread.join()
        self._log("INFO", "Dynamic profiler process done")


class DynamicProfiler:
    """``init``, ``step`` of torch_npu.profiler.dynamic_profile; MindSpeed-MM never stops it."""

    def __init__(self, config_path: str, switches: Switches, place: Place) -> None:
        self._folder = Path(config_path).absolute()
        self._switches, self._place = switches, place
        self._generation = generation(switches.torch_npu)
        self._messages = Messages(self._generation)
        self._memory: WatchMemory | None = None
        self._monitor: Monitor | None = None
        self._waiting: watch_config.Watched | None = None
        self._recorder: Recorder | None = None
        self._left = 0
        self._step = 0
        self._accepted = 0
        self._timed = 0.0

    def start(self) -> None:
        """dynamic_profile.init."""
        if self._folder.is_file():
            self._messages.error(f"The path '{self._folder}' is invalid, and profiler will not be enabled.")
            return
        self._accepted = int(time.time())  # before the first line of the log, as _dynamic_profiler_monitor.py does
        self._log = Log(self._folder, self._place.rank, monitor=False)
        base = self._switches.shm or (
            Path(self._switches.home) / "shm" if self._switches.home else tempfile.gettempdir()
        )
        try:
            memory = WatchMemory(Path(base))
        except RuntimeError as error:
            self._messages.error(f"Call init failed. Exception: {error}")
            return
        rank = self._place.rank
        if memory.created:
            self._log("INFO", f"Rank {rank} shared memory is created.")
            file = self._folder / FILE
            if not file.exists():
                self._log("INFO", "Create profiler_config.json default.")
                file.write_text(json.dumps(watch_config.template(self._generation), indent=4), encoding="utf-8")
            self._monitor = Monitor(self._folder, memory, rank)
            self._log("INFO", f"Dynamic monitor process has been created by rank {rank}.")
        else:
            self._log("INFO", f"Rank {rank} shared memory is connected.")
            self._log("INFO", f"Rank {rank} no need to create process.")
        self._memory = memory

    def step(self) -> None:
        if self._memory is None:
            self._messages.error(
                "Call step failed. Exception: 'NoneType' object has no attribute 'shm_to_prof_conf_context'"
            )
            return
        self._step += 1
        self._waiting = self._arrived() or self._waiting
        self._time_steps()
        if self._recorder is not None:
            self._recorder.step()
            self._left -= 1
            if self._left == 0:
                self._recorder.stop()
                self._recorder = None
                self._log("INFO", f"Stop Dynamic Profiler at {self._step} step.")
        elif self._waiting is not None:
            self._consider(self._waiting)

    def _arrived(self) -> watch_config.Watched | None:
        """A configuration newer than the last one that counted."""
        assert self._memory is not None
        stamp = self._memory.stamp()
        if stamp <= self._accepted:
            return None
        self._accepted = stamp
        data = self._memory.data()
        if not data.get("is_valid"):
            self._log("INFO", "Start step will be set to 0.")  # it is parsed as an empty one before it is dropped
            return None
        return watch_config.read(data, self._generation, self._place.rank, self._log)

    def _time_steps(self) -> None:
        """After step 11 the file is looked at once a step."""
        if self._step == TIMED_STEP:
            self._timed = time.time()
        elif self._step == TIMED_STEP + 1:
            interval = max(1, int(time.time() - self._timed))
            interval = min(interval, self._generation.watch_poll_limit or interval)
            if self._monitor is not None:
                self._monitor.interval = interval
            self._log("INFO", f"Dynamic profiling monitor process poll interval time change to {interval}s")

    def _consider(self, waiting: watch_config.Watched) -> None:
        late = self._step > waiting.start_step and not waiting.at_once
        if late and self._generation.watch_late != "silent":
            self._messages.warning(
                f"Dynamic Profiler config is not effective. The start_step={waiting.start_step}, "
                f"current_step={self._step}"
            )
            if self._generation.watch_late == "drop":
                self._waiting = None
        elif self._step == waiting.start_step or waiting.at_once:
            self._waiting = None
            self._left = waiting.length
            self._recorder = Recorder(
                waiting.request,
                self._place,
                self._switches,
                active=waiting.active,
                warmup=waiting.warmup,
                skip_first=0,
                offset=self._step,
            )
            self._recorder.start()
            self._log("INFO", f"Start Dynamic Profiler at {self._step} step.")

    def stop(self) -> None:
        """MindSpeed-MM's stop does nothing; this is what torch_npu does when the process exits."""
        if self._recorder is not None:
            self._recorder.stop()
            self._recorder = None
            self._messages.warning("Profiler stop when process exit, check cfg json active whether over all step!")
        if self._monitor is not None:
            self._monitor.end()
            if self._memory is not None:
                self._memory.remove()
                self._log("INFO", f"Rank {self._place.rank} unlink shm")

    def recording(self) -> bool:
        return self._recorder is not None and self._recorder.recording()
