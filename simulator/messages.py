"""What torch_npu.profiler prints, in the format of each generation.

Source: torch_npu/profiler/analysis/prof_common_func/_constant.py (print_*_msg), torch_npu/utils/utils.py
(_should_print_warning: warnings on rank 0 only).
"""

import os
import sys
import time
from typing import Literal

from mindspeed_mm_train_profiler.simulator.generations import Generation

Kind = Literal["INFO", "WARNING", "ERROR"]


def say(line: str = "", *, end: str = "\n") -> None:
    """One line on stdout, at once: several processes share the log."""
    sys.stdout.write(line + end)
    sys.stdout.flush()


class Messages:
    """Speaks as ``profiler.py`` of one torch_npu generation."""

    def __init__(self, generation: Generation) -> None:
        self._generation = generation

    def _print(self, kind: Kind, message: str) -> None:
        if self._generation.utc_messages:
            stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())
        else:
            stamp = time.strftime("[%Y-%m-%d %H:%M:%S]")
        say(f"{stamp} [{kind}] [{os.getpid()}] profiler.py: {message}")

    def info(self, message: str) -> None:
        self._print("INFO", message)

    def warning(self, message: str) -> None:
        if os.environ.get("RANK", "0") == "0" and os.environ.get("TORCH_NPU_DISABLED_WARNING") != "1":
            self._print("WARNING", message)

    def error(self, message: str) -> None:
        self._print("ERROR", message)
