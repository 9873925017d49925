"""The switches of the simulated host: environment variables, read where they act. One table, documented here.

Iterations are the training log's 1-based numbers. A fault happens on SIMULATED_NPU_FAULT_RANK only.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

PREFIX = "SIMULATED_NPU_"

# variable (without SIMULATED_NPU_) -> default, what it does
TABLE: dict[str, tuple[str, str]] = {
    "HOME": ("", "folder of the host (made by make_host): who runs on which device; empty: nothing is recorded"),
    "PYTHON": ("python3", "interpreter of the simulated commands and ranks"),
    "MS": ("50", "milliseconds an iteration takes"),
    "START_S": ("0", "seconds a rank needs before its first iteration"),
    "DEVICES": ("8", "devices of the host; 0: none is available"),
    "TORCH_NPU": ("26.0.0", "generation of torch_npu: 6.0.0, 7.0.0, 7.1.0, 7.2.0, 7.3.0, 26.0.0, 26.1.0"),
    "MAX_RANKS": ("", "start no more ranks than this (WORLD_SIZE stays what the launch asked for)"),
    "CHECKPOINT": ("0", "iteration a checkpoint was saved at: the log goes on from there, the profiler from 0"),
    "FAULT_RANK": ("0", "rank on which the faults below happen"),
    "CRASH_AT": ("", "iteration that ends in a Python exception (exit code 1)"),
    "KILL_AT": ("", 'iteration in which the rank is killed with SIGKILL; "window": the first captured one'),
    "HANG_AT": ("", "iteration that never ends"),
    "STOP_AT": ("", "iteration after which training ends early, exit code 0 (all ranks)"),
    "MISSING_RANK": ("", "rank that writes no profile"),
    "NO_DEVICE_DATA": ("", "1: the device records nothing (host data only, no message)"),
    "PARSE_FAILS": ("", "1: online parsing fails as it does without msprof on PATH"),
    "OFFLINE_FAILS": ("", "1: offline parsing fails in the same way"),
    "PARSE_S": ("0", "seconds that parsing takes"),
    "DB": ("", "1: CANN exports the db files as well (torch_npu 7.2.0 and later write them then)"),
    "SAVE_FAILS": ("", "1: saving the checkpoint after the last iteration fails"),
    "SHM": ("", "folder of the dynamic watcher's shared memory, on a real host /dev/shm; default: shm in HOME"),
    "SMI": ("", "what npu-smi does: 8005 | empty | hang | busy (a foreign process on device 0) | exit:N"),
}


@dataclass(frozen=True, slots=True)
class Switches:
    """Their values in one process. None: not given."""

    home: str | None
    python: str
    ms: float
    start_s: float
    devices: int
    torch_npu: str
    max_ranks: int | None
    checkpoint: int
    fault_rank: int
    crash_at: int | None
    kill_at: str | None
    hang_at: int | None
    stop_at: int | None
    missing_rank: int | None
    no_device_data: bool
    parse_fails: bool
    offline_fails: bool
    parse_s: float
    db: bool
    save_fails: bool
    shm: str | None
    smi: str | None


def read(environment: Mapping[str, str] | None = None) -> Switches:
    """The switches from the environment; SystemExit with the variable's name where a value cannot be read."""
    source = os.environ if environment is None else environment
    values: dict[str, Any] = {}
    for field in fields(Switches):
        name = field.name.upper()
        raw = source.get(PREFIX + name, "") or TABLE[name][0]
        kind = str(field.type)
        try:
            if "bool" in kind:
                values[field.name] = raw not in ("", "0")
            elif "int" in kind:
                values[field.name] = int(raw) if raw else None
            elif "float" in kind:
                values[field.name] = float(raw)
            else:
                values[field.name] = raw or None
        except ValueError:
            raise SystemExit(f"simulated NPU host: {PREFIX}{name}={raw!r} is not a number") from None
    return Switches(**values)
