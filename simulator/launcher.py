"""torchrun and msrun of the simulated host: real processes, one for each rank, and the launchers' own words at the end.

    run.py launcher torchrun [OPTION...] ENTRY [ARG...]
    run.py launcher msrun    [OPTION...] ENTRY [ARG...]

torchrun: torch/distributed/run.py and elastic/multiprocessing/errors (ChildFailedError); exit code 1 when a rank fails.
msrun: mindspore/parallel/cluster/process_entity/_api.py: worker logs in --log_dir, shown on the terminal with
``--join=True``; without it msrun starts the workers and leaves.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import FrameType

from mindspeed_mm_train_profiler.simulator import switches as switch_table
from mindspeed_mm_train_profiler.simulator.barrier import LAST_RANK, VARIABLE, make_barrier
from mindspeed_mm_train_profiler.simulator.launch_call import Launch, parse, rank_environment
from mindspeed_mm_train_profiler.simulator.messages import say

GRACE_S = 5.0


class Stopped(Exception):
    """The launcher itself was told to end."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(number)


@dataclass
class Ranks:
    """The processes of one launch on this node."""

    launch: Launch
    processes: list["subprocess.Popen[bytes]"] = field(default_factory=list)
    barrier: str = ""

    def start(self, log_dir: Path | None) -> None:
        launch = self.launch
        limit = switch_table.read().max_ranks
        run = Path(__file__).with_name("run.py")
        count = min(launch.nproc, limit) if limit else launch.nproc
        self.barrier = make_barrier(count)
        for local in range(count):
            command = [sys.executable, str(run), "trainer", launch.entry, *launch.args]
            environment = rank_environment(launch, local) | {VARIABLE: self.barrier}
            if count < launch.nproc:  # the rank that would print is not there: the last one that is does
                environment[LAST_RANK] = str(launch.node_rank * launch.nproc + count - 1)
            if log_dir is None:
                self.processes.append(subprocess.Popen(command, env=environment))
                continue
            with open(log_dir / f"worker_{environment['RANK']}.log", "wb") as log:
                self.processes.append(subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT))

    def wait(self) -> int | None:
        """Until all have ended well, or one has failed: its local rank, else None."""
        while True:
            codes = [process.poll() for process in self.processes]
            for local, code in enumerate(codes):
                if code not in (None, 0):
                    return local
            if all(code == 0 for code in codes):
                return None
            time.sleep(0.03)

    def end(self, number: int = signal.SIGTERM) -> list[int]:
        """End what still runs: the signal, then SIGKILL after a grace. Returns the pids that were signalled."""
        living = [process for process in self.processes if process.poll() is None]
        for process in living:
            process.send_signal(number)
        deadline = time.monotonic() + GRACE_S
        for process in living:
            try:
                process.wait(max(deadline - time.monotonic(), 0.05))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        return [process.pid for process in living]


def _warn(level: str, text: str) -> None:
    """A line as torch's logging writes it on stderr."""
    stamp = datetime.now().strftime("%m%d %H:%M:%S.%f")
    sys.stderr.write(f"{level}{stamp} {os.getpid()} torch/distributed/elastic/multiprocessing/api.py] {text}\n")
    sys.stderr.flush()


def _summary(launch: Launch, ranks: Ranks, local: int) -> str:
    """The text of ChildFailedError: one root cause, the others were ended by the agent."""
    process = ranks.processes[local]
    code = process.returncode
    if code < 0:
        name = signal.Signals(-code).name
        trace = f"Signal {-code} ({name}) received by PID {process.pid}"
    else:
        trace = "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html"
    border, thin = "=" * 60, "-" * 60
    rank = launch.node_rank * launch.nproc + local
    return "\n".join(
        [
            border,
            f"{launch.entry} FAILED",
            thin,
            "Failures:",
            "  <NO_OTHER_FAILURES>",
            thin,
            "Root Cause (first observed failure):",
            "[0]:",
            f"  time      : {datetime.now():%Y-%m-%d_%H:%M:%S}",
            f"  host      : {socket.gethostname()}",
            f"  rank      : {rank} (local_rank: {local})",
            f"  exitcode  : {code} (pid: {process.pid})",
            "  error_file: <N/A>",
            f"  traceback : {trace}",
            border,
        ]
    )


def torchrun(launch: Launch, ranks: Ranks) -> int:
    say(f"simulated NPU host: torchrun starts {launch.nproc} rank(s) of {launch.world_size}; no device is used")
    if launch.nproc > 1 and "OMP_NUM_THREADS" not in os.environ:
        _warn("W", "*****************************************")
        _warn("W", "Setting OMP_NUM_THREADS environment variable for each process to be 1 in default.")
        _warn("W", "*****************************************")
    try:
        ranks.start(None)
        failed = ranks.wait()
    except Stopped as stop:
        name = signal.Signals(stop.number).name
        _warn("W", f"Received Signals.{name} death signal, shutting down workers")
        for pid in ranks.end(stop.number):
            _warn("W", f"Sending process {pid} closing signal {name}")
        sys.stderr.write(
            "torch.distributed.elastic.multiprocessing.api.SignalException: "
            f"Process {os.getpid()} got signal: {stop.number}\n"
        )
        return 1
    if failed is None:
        return 0
    process = ranks.processes[failed]
    for pid in ranks.end():
        _warn("W", f"Sending process {pid} closing signal SIGTERM")
    _warn(
        "E",
        f"failed (exitcode: {process.returncode}) local_rank: {failed} (pid: {process.pid}) "
        f"of binary: {sys.executable}",
    )
    sys.stderr.write("Traceback (most recent call last):\n")
    sys.stderr.write('  File "<simulated torchrun>", line 1, in <module>\n')
    sys.stderr.write("torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n")
    sys.stderr.write(_summary(launch, ranks, failed) + "\n")
    return 1


def msrun(launch: Launch, ranks: Ranks) -> int:
    log_dir = Path(launch.options.get("log_dir") or ".")
    log_dir.mkdir(parents=True, exist_ok=True)
    (log_dir / "scheduler.log").write_text("scheduler of a simulated NPU host\n", encoding="utf-8")
    ranks.start(log_dir)
    say(f"simulated NPU host: msrun starts {launch.nproc} worker(s); logs in {log_dir}; no device is used")
    if launch.options.get("join", "False").lower() != "true":
        return 0
    try:
        tails = [subprocess.Popen(_tail(log), stdin=subprocess.DEVNULL) for log in _logs(launch, ranks, log_dir)]
        failed = ranks.wait()
    except Stopped as stop:
        ranks.end(stop.number)
        return 1
    if failed is not None:
        ranks.end(signal.SIGKILL)
    for tail in tails:  # they end by themselves once their worker has ended and the rest is shown
        try:
            tail.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            tail.kill()
    if failed is None:
        return 0
    pid = ranks.processes[failed].pid
    sys.stderr.write(f"[ERROR] ME({os.getpid()}): Worker process {pid} exit with exception.\n")
    sys.stderr.write(f"[WARNING] ME({os.getpid()}): There's worker exits with exception, kill all other workers.\n")
    sys.stderr.write(f"[WARNING] ME({os.getpid()}): Analyzing exception log...\n")
    sys.stderr.write(
        f"RuntimeError: Distributed job exited with exception. Please check logs in directory: {log_dir}.\n"
    )
    return 1


def _logs(launch: Launch, ranks: Ranks, log_dir: Path) -> list[tuple[Path, int]]:
    first = launch.node_rank * launch.nproc
    return [(log_dir / f"worker_{first + index}.log", item.pid) for index, item in enumerate(ranks.processes)]


def _tail(log: tuple[Path, int]) -> list[str]:
    """GNU tail shows a worker's log on the terminal until the worker has ended."""
    return [shutil.which("tail") or "tail", "-n", "+1", "-s", "0.1", "-f", f"--pid={log[1]}", str(log[0])]


def _stop(number: int, _frame: FrameType | None) -> None:
    raise Stopped(number)


def main(argv: list[str]) -> int:
    """argv: the tool's name, then its own words."""
    launch = parse(argv[0], argv[1:])
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _stop)
    ranks = Ranks(launch)
    try:
        return msrun(launch, ranks) if launch.tool == "msrun" else torchrun(launch, ranks)
    except Stopped:
        return 1
    finally:
        if ranks.barrier and all(process.poll() is not None for process in ranks.processes):
            Path(ranks.barrier).unlink(missing_ok=True)
