"""One rank of a simulated training: reads its configuration as the engine does, sleeps, prints, profiles.

    run.py trainer ENTRY [ARG...]        RANK, LOCAL_RANK and WORLD_SIZE come from the environment

Iteration lines: MindSpeed-MM ``training.py`` (the last rank prints) and ``fsdp/train/train_engine.py`` (rank 0 prints,
behind the logger's own head). An entry that is no MindSpeed-MM training is simply run by this Python.
"""

import os
import signal
import sys
import time
import traceback
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from mindspeed_mm_train_profiler.simulator import switches as switch_table
from mindspeed_mm_train_profiler.simulator.barrier import LAST_RANK, Barrier
from mindspeed_mm_train_profiler.simulator.devices import occupied
from mindspeed_mm_train_profiler.simulator.engines import EngineError, Job, checkout_of, find_engine, read_job
from mindspeed_mm_train_profiler.simulator.messages import say
from mindspeed_mm_train_profiler.simulator.profiler import Profiler, make_profiler
from mindspeed_mm_train_profiler.simulator.request import Place
from mindspeed_mm_train_profiler.simulator.switches import Switches


class Rank:
    """The loop of one rank."""

    def __init__(self, job: Job, switches: Switches, *, rank: int, local_rank: int, world_size: int) -> None:
        self.job, self.switches = job, switches
        self.rank, self.local_rank, self.world_size = rank, local_rank, world_size
        self.faulty = rank == switches.fault_rank
        self._barrier = Barrier(local_rank)

    def say(self, line: str) -> None:
        """FSDP2's logger puts a head before every line."""
        if self.job.engine == "fsdp2":
            head = f"[Rank {self.rank} | Local Rank {self.local_rank}] {datetime.now():%Y-%m-%d %H:%M:%S} INFO => "
            say(head + line)
        else:
            say(line)

    def run(self) -> None:
        job, switches = self.job, self.switches
        if self.rank == 0:
            say("simulated NPU host: no device and no model; every number below is made up")
            self.say(
                "Start initializing training environment!!!"
                if job.engine == "fsdp2"
                else "> initializing torch distributed ..."
            )
        time.sleep(switches.start_s)
        profiler = make_profiler(job.profile, switches, Place(self.rank, self.world_size, self.local_rank))
        if job.engine == "megatron" and self.rank == 0:
            say("training ...")
            say(f"[before the start of training step] datetime: {datetime.now():%Y-%m-%d %H:%M:%S} ")
        profiler.start()
        iteration = switches.checkpoint
        while iteration < job.train_iters:
            begun = time.monotonic()
            self._fault(iteration + 1, profiler)
            time.sleep(switches.ms / 1000)
            self._barrier.wait()
            iteration += 1
            elapsed = (time.monotonic() - begun) * 1000
            if job.engine == "fsdp2":
                profiler.step()
            self._log(iteration, elapsed)
            if job.save and job.save_interval and iteration % job.save_interval == 0:
                self._save(iteration)
            if iteration == switches.stop_at or (job.exit_interval and iteration % job.exit_interval == 0):
                break
            if job.engine == "megatron":
                profiler.step()
        profiler.stop()
        self._barrier.wait()
        if job.engine == "megatron" and self.rank == 0:
            say(f"[after training is done] datetime: {datetime.now():%Y-%m-%d %H:%M:%S} ")
        if job.save:
            self._save(iteration, last=True)

    def _fault(self, iteration: int, profiler: Profiler) -> None:
        """What the switches ask for in the pass of this iteration."""
        switches = self.switches
        if not self.faulty:
            return
        if (switches.kill_at == "window" and profiler.recording()) or switches.kill_at == str(iteration):
            time.sleep(switches.ms / 2000)
            os.kill(os.getpid(), signal.SIGKILL)
        if iteration == switches.crash_at:
            raise RuntimeError(
                f"simulated failure at iteration {iteration}: NPU out of memory. Tried to allocate 2.00 GiB "
                "(NPU 0; 60.97 GiB total capacity; 59.10 GiB already allocated)"
            )
        while iteration == switches.hang_at:
            time.sleep(1)

    def _log(self, iteration: int, elapsed: float) -> None:
        job = self.job
        last = int(os.environ.get(LAST_RANK, self.world_size - 1))
        if iteration % job.log_interval or self.rank != (0 if job.engine == "fsdp2" else last):
            return
        loss = 2.5 / (1 + 0.05 * iteration)
        line = f" [{datetime.now():%Y-%m-%d %H:%M:%S}] iteration {iteration:8d}/{job.train_iters:8d} |"
        line += f" consumed samples: {iteration * job.global_batch_size:12d} |"
        line += f" elapsed time per iteration (ms): {elapsed:.1f} | learning rate: 1.000000E-05 |"
        line += f" global batch size: {job.global_batch_size:5d} | loss: {loss:.6E} |"
        if job.engine == "megatron":
            line += " loss scale: 1.0 | grad norm: 1.250 |"
            line += " number of skipped iterations:   0 | number of nan iterations:   0 |"
        else:
            line += " grad norm: 1.250 |"
        self.say(line)

    def _save(self, iteration: int, *, last: bool = False) -> None:
        if last and self.faulty and self.switches.save_fails:
            raise RuntimeError("ACL stream synchronize failed, error code:507018")
        if self.rank == 0:
            folder = Path(str(self.job.save)) / f"iter_{iteration:07d}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "simulated.txt").write_text("no weights: written by a simulated NPU host\n", encoding="utf-8")
            self.say(f"  successfully saved checkpoint from iteration {iteration:7d} to {self.job.save}")


def _raise(error: EngineError) -> int:
    """Print what Python prints for the exception that the real trainer raises here."""
    rank = os.environ.get("RANK", "0")
    lines = ["Traceback (most recent call last):", '  File "<simulated trainer>", line 1, in <module>']
    lines.append(f"{error.kind}: {error}")
    sys.stderr.write("".join(f"[rank{rank}]: {line}\n" for line in lines))
    return 1


def main(argv: list[str]) -> int:
    """Run one rank; returns its exit code (1: the training's own exception, 2: no such entry)."""
    entry = Path(argv[0])
    if not entry.is_file():
        sys.stderr.write(
            f"{sys.executable}: can't open file '{entry.absolute()}': [Errno 2] No such file or directory\n"
        )
        return 2
    engine = find_engine(entry)
    if engine is None:
        os.execv(sys.executable, [sys.executable, *argv])
    switches = switch_table.read()
    rank = int(os.environ.get("RANK", "0"))
    local_rank = int(os.environ.get("LOCAL_RANK", rank))
    with occupied(switches.home, local_rank):
        try:
            job = read_job(engine, argv[1:], checkout_of(entry))
            world_size = int(os.environ.get("WORLD_SIZE", "1"))
            Rank(job, switches, rank=rank, local_rank=local_rank, world_size=world_size).run()
        except EngineError as error:
            return _raise(error)
        except RuntimeError:
            trace = traceback.format_exc()
            sys.stderr.write("".join(f"[rank{rank}]: {line}\n" for line in trace.splitlines()))
            return 1
        except KeyboardInterrupt:
            return 130
    with suppress(BrokenPipeError):
        sys.stdout.flush()
    return 0
