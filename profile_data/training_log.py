"""What the profiler said in the training's own log: it never stops a training, it only prints.

Texts by torch_npu ``profiler/profiler.py``, ``scheduler.py``, ``_profiler_config.py`` and
``analysis/prof_view/cann_parse/_cann_export.py``; they print on rank 0 alone, and an analysis that failed still ends
with "All profiling data parsed".
"""

import os
import re
import stat
from pathlib import Path

BYTES = 4 * 2**20
MAX_LINES = 3
SAID = re.compile(
    r"profiling data does not exist|Export CANN Profiling data failed|Failed to export CANN|Failed to get acl to npu"
    r"|Task \[\w+\] (?:run failed|has not run successfully)|Call (?:analyse|step|init|start|stop) failed"
    r"|Incorrect schedule|perhaps the scheduling cycle has not yet completed|Invalid parameter (?:active|skip_first)"
    r"|and profiler will not be enabled|no flow events in the ProfilerStep",
    re.IGNORECASE,
)


def profiler_lines(log: Path) -> list[str]:
    """The first different lines, shortened, from the log's first and last 4 MiB; none where it cannot be read."""
    try:
        handle = os.open(log, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return []
    with os.fdopen(handle, "rb") as file:
        info = os.fstat(file.fileno())
        if not stat.S_ISREG(info.st_mode):
            return []
        data = file.read(BYTES)
        if info.st_size > 2 * BYTES:
            file.seek(info.st_size - BYTES)
        data += b"\n" + file.read(BYTES)
    lines: dict[str, None] = {}
    for raw in data.decode("utf-8", "replace").splitlines():
        if len(lines) == MAX_LINES:
            break
        if found := SAID.search(raw[:4000]):
            lines.setdefault(raw[max(0, found.start() - 120) : found.end() + 120].strip())
    return list(lines)
