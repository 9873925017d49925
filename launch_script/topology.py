"""Ranks and nodes of a launcher call, and whose framework it starts."""

from itertools import pairwise

from mindspeed_mm_train_profiler.launch_script.plan import LauncherCall, Word

LOSES = {"nproc_per_node", "nnodes", "node_rank", "master_addr", "master_port", "local_worker_num", "worker_num"}
"""Options without which a launch is another one, so that a lost value is told."""


def says_mindspore(call: LauncherCall) -> bool:
    """Whether its arguments ask for the other framework."""
    texts = [word.text for word in call.entry_args]
    return any(a == "--ai-framework" and b == "mindspore" for a, b in pairwise(texts))


def integer(word: Word | None) -> int | None:
    """A word that is a count; None where it is not known, or none."""
    if word is None or not word.known or not word.text.strip().isdecimal():
        return None
    return int(word.text)


def topology(call: LauncherCall) -> tuple[int | None, int | None, int | None, int | None]:
    """(nproc_per_node, nnodes, node_rank, world_size) of a launcher call."""
    o = call.options
    if call.launcher == "msrun":
        local, world = integer(o.get("local_worker_num")), integer(o.get("worker_num"))
        nodes = world // local if local and world and world % local == 0 else None
        return (
            local,
            nodes,
            integer(o.get("node_rank")) if "node_rank" in o else 0 if nodes == 1 else None,
            world or None,
        )
    if call.launcher == "python":
        return 1, 1, 0, 1
    nproc = integer(o.get("nproc_per_node") or o.get("num_processes") or o.get("num_gpus"))
    known_nodes = "nnodes" in o or "num_nodes" in o or "num_machines" in o
    nodes = integer(o.get("nnodes") or o.get("num_nodes") or o.get("num_machines")) if known_nodes else 1
    nodes = nodes or None
    if nproc is None and "nproc_per_node" not in o and call.launcher in {"torchrun", "python -m torch.distributed.run"}:
        nproc = 1
    rank = integer(o.get("node_rank") or o.get("machine_rank"))
    if rank is None and "node_rank" not in o and "machine_rank" not in o:
        rank = 0 if nodes == 1 else None
    return nproc, nodes, rank, nproc * nodes if nproc and nodes else None
