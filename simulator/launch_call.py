"""A launcher's call: its options, the entry and the entry's words, and what each rank finds in its environment.

torchrun: torch/distributed/run.py; msrun: mindspore/parallel/cluster/run.py and its worker environment.
"""

import os
import sys
from dataclasses import dataclass
from typing import NoReturn

from mindspeed_mm_train_profiler.simulator import switches as switch_table

FLAGS = {"standalone", "no_python", "m", "module", "run_path", "help", "h"}


@dataclass
class Launch:
    """A parsed launcher call."""

    tool: str
    options: dict[str, str]
    entry: str
    args: list[str]
    nproc: int = 1
    nnodes: int = 1
    node_rank: int = 0

    @property
    def world_size(self) -> int:
        return self.nproc * self.nnodes


def parse(tool: str, argv: list[str]) -> Launch:
    """Options before the entry: ``--key value`` or ``--key=value``, ``-`` as ``_``. SystemExit(2) without an entry."""
    options: dict[str, str] = {}
    index = 0
    while index < len(argv) and argv[index].startswith("-"):
        key, equals, value = argv[index].partition("=")
        name = key.lstrip("-").replace("-", "_")
        index += 1
        if not equals and name not in FLAGS:
            if index >= len(argv) or argv[index].startswith("--"):  # an unset variable in the script
                _usage(tool, f"argument --{name}: expected one argument")
            value = argv[index]
            index += 1
        options[name] = value
    if index >= len(argv):
        _usage(tool, "the following arguments are required: training_script, training_script_args")
    launch = Launch(tool, options, argv[index], argv[index + 1 :])
    try:
        if tool == "msrun":
            total = int(options.get("worker_num") or 8)
            launch.nproc = int(options.get("local_worker_num") or total)
            launch.nnodes = max(total // launch.nproc, 1)
        else:
            given = options.get("nproc_per_node", "1")
            devices = switch_table.read().devices
            launch.nproc = devices if given in ("auto", "npu", "gpu") else int(given)
            launch.nnodes = int(options.get("nnodes", "1").split(":")[-1])
        launch.node_rank = int(options.get("node_rank") or 0)
    except ValueError as error:
        _usage(tool, str(error))
    return launch


def _usage(tool: str, problem: str) -> NoReturn:
    """End as argparse does."""
    sys.stderr.write(f"usage: {tool} [-h] [options] training_script ...\n{tool}: error: {problem}\n")
    raise SystemExit(2)


def rank_environment(launch: Launch, local: int) -> dict[str, str]:
    """What a rank finds in its environment (elastic agent; msrun's worker environment)."""
    options = launch.options
    rank = launch.node_rank * launch.nproc + local
    address = options.get("master_addr", "localhost")
    environment = dict(os.environ) | {
        "RANK": str(rank),
        "LOCAL_RANK": str(local),
        "WORLD_SIZE": str(launch.world_size),
        "LOCAL_WORLD_SIZE": str(launch.nproc),
        "GROUP_RANK": str(launch.node_rank),
        "MASTER_ADDR": address,
        "MASTER_PORT": options.get("master_port", "29500" if launch.tool == "torchrun" else "8118"),
        "PYTHONUNBUFFERED": "1",
    }
    if launch.tool == "msrun":
        environment |= {"RANK_ID": str(rank), "RANK_SIZE": str(launch.world_size), "DEVICE_ID": str(local)}
        environment |= {"MS_ROLE": "MS_WORKER", "MS_WORKER_NUM": str(launch.world_size), "MS_NODE_ID": str(rank)}
    else:
        environment |= {"TORCHELASTIC_RUN_ID": options.get("rdzv_id", "none"), "TORCHELASTIC_RESTART_COUNT": "0"}
        environment.setdefault("OMP_NUM_THREADS", "1")
    return environment
