"""Ranks of one node go through their iterations together, as collectives make them: a rank that parses, hangs or has
died holds the others at their next one.

A file of one counter for each rank, mapped by all; each writes its own only.
"""

import mmap
import os
import struct
import tempfile
import time

VARIABLE = "SIMULATED_NPU_BARRIER"  # set by the launcher, not by people
LAST_RANK = "SIMULATED_NPU_LAST_RANK"  # likewise: who prints the iteration lines where ranks were left out
COUNTER = struct.Struct("<q")


def make_barrier(ranks: int) -> str:
    """A fresh barrier for ``ranks`` processes: its path."""
    home = os.environ.get("SIMULATED_NPU_HOME")  # goes with the host where a killed launcher leaves it behind
    handle, path = tempfile.mkstemp(prefix="simulated-npu-barrier-", dir=home or None)
    with os.fdopen(handle, "wb") as file:
        file.write(bytes(COUNTER.size * ranks))
    return path


class Barrier:
    """One rank's side. Without a barrier in the environment nobody waits."""

    def __init__(self, local_rank: int) -> None:
        path = os.environ.get(VARIABLE)
        self._own, self._map = local_rank * COUNTER.size, None
        if path:
            with open(path, "r+b") as file:
                self._map = mmap.mmap(file.fileno(), 0)

    def wait(self) -> None:
        """Until every rank has come as far as this one."""
        shared = self._map
        if shared is None:
            return
        (count,) = COUNTER.unpack_from(shared, self._own)
        COUNTER.pack_into(shared, self._own, count + 1)
        while min(value for (value,) in COUNTER.iter_unpack(shared[:])) <= count:
            time.sleep(0.002)
