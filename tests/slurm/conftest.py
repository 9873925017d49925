"""A real Slurm on this machine: one controller and several virtual nodes, installed where root and apt are there."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin", "/usr/local/sbin"])
"""Daemons lie where only root looks."""
COMMANDS = ("slurmctld", "slurmd", "munged", "sbatch", "srun")
CONFIG = """ClusterName=virtual
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
AuthType=auth/munge
AuthInfo=socket={root}/munge.socket
CryptoType=crypto/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/spool/%n
SlurmctldPidFile={root}/slurmctld.pid
SlurmdPidFile={root}/slurmd-%n.pid
SlurmctldLogFile={root}/slurmctld.log
SlurmdLogFile={root}/slurmd-%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1
SlurmctldTimeout=10
SlurmdTimeout=6
KillWait=2
MinJobAge=300
JobCompType=jobcomp/none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
{nodes}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverTimeLimit=0
"""


def _install() -> str | None:
    """Why there is no Slurm here; None where there is."""
    if all(shutil.which(name, path=PATH) for name in COMMANDS):
        return None
    if os.geteuid() != 0 or shutil.which("apt-get", path=PATH) is None:
        return "slurm-wlm and munge are not installed, and root or apt is missing"
    environment = {**os.environ, "PATH": PATH, "DEBIAN_FRONTEND": "noninteractive"}
    words = ["apt-get", "install", "-y", "--no-install-recommends", "slurm-wlm", "munge"]
    try:
        for command in (["apt-get", "update"], words):
            done = subprocess.run(command, env=environment, capture_output=True, timeout=300, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"slurm-wlm cannot be installed: {error}"
    return (
        None
        if done.returncode == 0 and all(shutil.which(name, path=PATH) for name in COMMANDS)
        else "slurm-wlm cannot be installed"
    )


def _port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Cluster:
    """One controller, ``count`` nodes n1, n2, ...; ``environment`` for everything that talks to it."""

    def __init__(self, root: Path, count: int) -> None:
        self.root, self.count = root, count
        for name in ("state", "spool"):
            (root / name).mkdir()
        (root / "munge.key").write_bytes(os.urandom(1024))
        (root / "munge.key").chmod(0o400)
        host = socket.gethostname()
        nodes = "\n".join(
            f"NodeName=n{i} NodeHostname={host} NodeAddr=127.0.0.1 Port={_port()} CPUs=2 State=UNKNOWN"
            for i in range(1, count + 1)
        )
        (root / "slurm.conf").write_text(CONFIG.format(host=host, root=root, controller=_port(), nodes=nodes))
        self.environment = {**os.environ, "PATH": PATH, "SLURM_CONF": str(root / "slurm.conf")}
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.start(
            "munged",
            "munged",
            "--foreground",
            "--force",
            "--key-file",
            str(root / "munge.key"),
            "--socket",
            str(root / "munge.socket"),
            "--pid-file",
            str(root / "munged.pid"),
            "--log-file",
            str(root / "munged.log"),
            "--seed-file",
            str(root / "munge.seed"),
        )
        self.wait(lambda: (root / "munge.socket").exists(), 20)
        self.start_controller()
        for i in range(1, count + 1):
            self.start_node(i)
        self.wait(lambda: self.idle() == count, 60)

    def start(self, key: str, *words: str) -> None:
        program = shutil.which(words[0], path=PATH) or words[0]
        self.processes[key] = subprocess.Popen(
            [program, *words[1:]],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def start_controller(self) -> None:
        self.start("slurmctld", "slurmctld", "-D", "-f", str(self.root / "slurm.conf"))

    def start_node(self, number: int) -> None:
        self.start(f"n{number}", "slurmd", "-D", "-f", str(self.root / "slurm.conf"), "-N", f"n{number}")

    def kill(self, key: str) -> None:
        self.processes[key].kill()
        self.processes[key].wait(20)

    def run(self, *words: str) -> str:
        done = subprocess.run(
            words,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=30,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        return done.stdout + done.stderr

    def idle(self) -> int:
        return sum(
            int(line.split()[1])
            for line in self.run("sinfo", "-h", "-o", "%T %D").splitlines()
            if line.startswith("idle ")
        )

    @staticmethod
    def wait(until: Callable[[], bool], bound_s: float) -> None:
        deadline = time.monotonic() + bound_s
        while not until():
            assert time.monotonic() < deadline, "not in time"
            time.sleep(0.1)

    def end(self) -> None:
        for process in reversed(list(self.processes.values())):
            process.terminate()
        deadline = time.monotonic() + 3  # a daemon that waits for another one that is gone is not waited for
        for process in self.processes.values():
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.1, deadline - time.monotonic()))
                continue
            process.kill()
            process.wait(10)
        for step in self.steps():
            step.kill()

    def steps(self) -> list[psutil.Process]:
        """Step daemons of this cluster, told by their log: they outlive everything, to report to a controller."""
        found = []
        for process in psutil.process_iter(["name"]):
            with suppress(psutil.Error, OSError):
                if process.info["name"].startswith("slurmstepd"):
                    files = [str(fd.readlink()) for fd in Path(f"/proc/{process.pid}/fd").iterdir()]
                    if any(file.startswith(f"{self.root}/") for file in files):
                        found.append(process)
        return found


@pytest.fixture(scope="module")
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A cluster of two nodes, or as many as the module's NODES says."""
    if (why := _install()) is not None:
        pytest.skip(why)
    count = getattr(request.module, "NODES", 2)
    # short: sockets have short names
    with tempfile.TemporaryDirectory(prefix="slurm-") as name:
        try:
            made = Cluster(Path(name), count)
        except AssertionError:
            pytest.skip("Slurm does not start here")
        try:
            yield made
        finally:
            made.end()
