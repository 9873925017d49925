"""The piece of shared memory between the one process that watches the file and the ranks that act on it.

Source: torch_npu/profiler/_dynamic_profiler/_dynamic_profiler_monitor_shm.py. Its name has the hour in it and nothing
of the job: whoever comes first in an hour creates it and watches, all others attach, also to what a dead job left.
"""

import json
import mmap
import os
import struct
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

SIZE = 1024 * 1024
STAMP = struct.Struct("<I")
STALE_S = 900


class WatchMemory:
    """``created``: this process made it, and therefore watches. RuntimeError where an old one is in the way."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"DynamicProfileNpuShm{time.strftime('%Y%m%d%H')}"
        started = Path(f"/proc/{os.getpid()}").stat().st_ctime
        if self.path.exists() and started - self.path.stat().st_ctime > STALE_S:
            raise RuntimeError(
                "There may exist shared memory before this task. If you kill the last task, dynamic profiler will not "
                f"be valid. Please remove: {self.path}, and retry."
            )
        try:
            handle = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
            self.created = True
            os.ftruncate(handle, SIZE)
        except FileExistsError:
            handle = os.open(self.path, os.O_RDWR)
            self.created = False
            while os.fstat(handle).st_size < SIZE:
                time.sleep(0.002)
        self._map = mmap.mmap(handle, SIZE)
        os.close(handle)

    def put(self, stamp: int, data: dict[str, Any]) -> bool:
        """Write a configuration; False where it is too large."""
        content = STAMP.pack(stamp) + json.dumps(data).encode("utf-8")
        if len(content) > SIZE:
            return False
        self._map[STAMP.size : SIZE] = content[STAMP.size :].ljust(SIZE - STAMP.size)
        self._map[: STAMP.size] = content[: STAMP.size]
        return True

    def stamp(self) -> int:
        """mtime (whole seconds) of the configuration that lies here; 0: none was written."""
        return int(STAMP.unpack(self._map[: STAMP.size])[0])

    def data(self) -> dict[str, Any]:
        value = json.loads(self._map[STAMP.size :].rstrip().decode("utf-8"))
        return value if isinstance(value, dict) else {}

    def remove(self) -> None:
        self._map.close()
        with suppress(OSError):
            self.path.unlink()
