"""What runs inside the allocation: the batch part on the first node, and one task on every node.

    python -m mindspeed_mm_train_profiler.runs.slurm_job batch FOLDER     (the job; decides address and port)
    python -m mindspeed_mm_train_profiler.runs.slurm_job node FOLDER      (a task; runs the copy, writes its record)

Processes stay in the task's own process group, so that Slurm ends them all, whatever tracks them.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.npu_host import cann
from mindspeed_mm_train_profiler.runs import preflight, recorder, slurm
from mindspeed_mm_train_profiler.runs.folder import RECORD_VARIABLE, RUN_VARIABLE, RunFolder, alive, identity
from mindspeed_mm_train_profiler.runs.supervisor import Supervisor
from mindspeed_mm_train_profiler.state import private_folder

NOT_SHARED = 96
"""Exit code of a task that does not see the run's folder."""
NOT_READY = 97
"""Exit code of a task whose node refuses the launch: its record says why."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("0.0.0.0", 0))
        return int(probe.getsockname()[1])


def addresses() -> list[tuple[str, str]]:
    """(name, address) of the allocation's nodes, in the order of their node ids; the name where no address is told."""
    nodelist = os.environ["SLURM_JOB_NODELIST"]
    listed = slurm.call(["scontrol", "show", "hostnames", nodelist]).stdout.split()
    try:
        told = slurm.call(["scontrol", "show", "node", "-o", nodelist]).stdout
    except CodedError:
        told = ""  # a busy controller is no reason to give the job up
    known: dict[str, str] = {}
    for line in told.splitlines():
        fields = dict(part.partition("=")[::2] for part in line.split() if "=" in part)
        known[fields.get("NodeName", "")] = fields.get("NodeAddr", "")
    return [(name, known.get(name) or name) for name in listed]


def place_of(folder: RunFolder) -> int:
    """This node's number: where its name stands in the allocation (rank 0's address is the first one's), whatever order
    a distribution gave srun's tasks."""
    names = (folder.read("job") or {}).get("nodes") or []
    name = os.environ.get("SLURMD_NODENAME")
    if name in names:
        return int(names.index(name))
    return int(os.environ.get("SLURM_NODEID") or os.environ.get("SLURM_PROCID") or 0)


def batch(folder: RunFolder) -> int:
    """Start one task on every node; the exit code is srun's. A second start of the same job starts nothing."""
    if (earlier := folder.read("job")) is not None:
        return _wait_for(folder, earlier)
    nodes = addresses()
    if not nodes:
        sys.stderr.write(f"scontrol names no hosts of {os.environ['SLURM_JOB_NODELIST']}\n")
        return 1
    port = (folder.read("run") or {}).get("master_port") or free_port()
    job = {
        "job_id": os.environ.get("SLURM_JOB_ID"),
        "nodes": [name for name, _ in nodes],
        "master_addr": nodes[0][1],
        "master_port": port,
        **identity(os.getpid()),
    }
    folder.write("job", job)
    hostfile = folder.path / "hostfile"
    hostfile.write_text("".join(f"{address}\n" for _, address in nodes), encoding="utf-8")
    environment = {
        **os.environ,
        "MM_PROFILER_NNODES": str(len(nodes)),
        "MM_PROFILER_MASTER_ADDR": nodes[0][1],
        "MM_PROFILER_MASTER_PORT": str(port),
        "MM_PROFILER_HOSTFILE": str(hostfile),
    }
    words = ["srun", f"--ntasks={len(nodes)}", "--ntasks-per-node=1", "--kill-on-bad-exit=1", "--label"]
    words.append("--export=ALL")  # sbatch's --export=NONE would keep the node settings from the tasks as well
    if cpus := os.environ.get("SLURM_CPUS_PER_TASK"):
        words.append(f"--cpus-per-task={cpus}")  # srun does not take it from the job since 22.05
    module = ["-m", "mindspeed_mm_train_profiler.runs.slurm_job", "node", str(folder.path)]
    code = subprocess.call([*words, sys.executable, *module], env=environment, stdin=subprocess.DEVNULL)
    folder.write("job", {**job, "ended": time.time(), "exit_code": code})
    return code


def _wait_for(folder: RunFolder, earlier: dict[str, Any]) -> int:
    """A controller that lost its records starts a job again: the first start's end is this one's, too."""
    sys.stderr.write("this job was started before; nothing is started twice\n")
    while alive(earlier) and (folder.read("job") or {}).get("ended") is None:
        time.sleep(1.0)
    told = (folder.read("job") or {}).get("exit_code")
    ends = [end for own in slurm.node_folders(folder) if (end := own.read("end")) is not None]
    if told is not None:
        return int(told)
    codes = [exit_code(end) for end in ends]
    complete = len(codes) >= int((folder.read("run") or {}).get("nodes") or 1)
    return next((code for code in codes if code), 0) if complete else 1


def node(folder: RunFolder) -> int:
    """Run the copy on this node under a supervisor in the foreground; the launcher's exit code."""
    run, build = folder.read("run"), folder.read("build") or {}
    number = place_of(folder)
    if run is None:
        sys.stderr.write(f"node {number} ({socket.gethostname()}) does not see {folder.path}: no shared file system\n")
        return NOT_SHARED
    for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)  # the training gets it as well, and this waits for its end
    own = slurm.node_folder(folder, number)
    private_folder(own.path)
    host = cann.find(build.get("cann_set_env") or (), dict(os.environ))
    environment = {
        **host.environment,
        **dict(build.get("env") or {}),
        "MM_PROFILER_NODE_RANK": str(number),
        RECORD_VARIABLE: str(recorder.install(own.path)),
        RUN_VARIABLE: f"{folder.run_id}.{number}",
    }
    own.write("build", {"save_path": build.get("save_path"), "master_port": None})
    own.write("run", {**run, "environment": environment, "host": socket.gethostname(), "node": number})
    own.write("supervisor", identity(os.getpid()))
    os.umask(0o022)
    supervisor = Supervisor(own, new_session=False)
    supervisor.note_facts("start")
    allowed = set(run.get("allowed") or ())
    for finding in preflight.look_node(build, environment, number):
        if finding.refuses and finding.note.code not in allowed:
            words = "; ".join(f"{name}: {value}" for name, value in finding.note.params.items())
            supervisor.finish(None, "not started", {"code": finding.note.code, "evidence": words[:400]})
            return NOT_READY
    try:
        process = supervisor.start()
    except OSError as error:
        supervisor.finish(None, str(error))
        return 1
    own.write("script", {**identity(process.pid), "pgid": os.getpgrp()})
    code = supervisor.follow(process)
    supervisor.linger()
    supervisor.finish(code)
    return exit_code(own.read("end") or {})


def exit_code(end: dict[str, Any]) -> int:
    """The launcher's, also where the script hides it; a signal as 128 + n."""
    if end.get("refused"):
        return NOT_READY
    codes = [int(code) for code in end.get("launcher_exit_codes") or []]
    if wrong := [code for code in codes if code]:
        return wrong[0]
    if end.get("script_signal"):
        return 128 + int(end["script_signal"])
    return int(end.get("script_exit_code") or 0)


def main(argv: list[str] | None = None) -> int:
    part, place = sys.argv[1:3] if argv is None else argv
    return {"batch": batch, "node": node}[part](RunFolder(Path(place)))


if __name__ == "__main__":
    sys.exit(main())
