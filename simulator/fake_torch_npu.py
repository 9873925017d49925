"""What probes ask of ``torch`` and ``torch_npu`` on the simulated host, and the offline parser's entry point.

``make_host`` writes a site folder whose ``torch`` and ``torch_npu`` take their answers from here.
"""

import os
import sys
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.simulator import switches as switch_table
from mindspeed_mm_train_profiler.simulator.generations import generation
from mindspeed_mm_train_profiler.simulator.parsing import analyse as parse
from mindspeed_mm_train_profiler.simulator.parsing import exports_of

DEVICE_NAME = "Ascend910B3 (simulated)"


def version() -> str:
    """The version of torch and of torch_npu; the local part says what they are."""
    return f"{generation(switch_table.read().torch_npu).package}+simulated"


def device_count() -> int:
    return switch_table.read().devices


def is_available() -> bool:
    return device_count() > 0


def get_device_name(device: Any = 0) -> str:
    return DEVICE_NAME


def analyse(profiler_path: str, max_process_number: int | None = None, export_type: Any = None) -> None:
    """``torch_npu.profiler.profiler.analyse``: never raises, returns silently where there is nothing to parse."""
    switches = switch_table.read()
    path = Path(os.path.realpath(profiler_path))
    if not path.is_dir():
        sys.stdout.write(f"[ERROR] [{os.getpid()}] profiler.py: Call analyse failed. Exception: no such path: {path}\n")
        return
    row = generation(switches.torch_npu)
    asked = [export_type] if isinstance(export_type, str) else export_type or ["text"]
    exports = exports_of(row, db=switches.db) if "text" in asked else frozenset()
    exports |= {"db"} if "db" in asked else frozenset()
    parse(path, row, exports=exports, fails=switches.offline_fails, seconds=switches.parse_s)
