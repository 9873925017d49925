"""The largest real YAML edited and proven, beside the time that parsing it alone takes.

usage: MINDSPEED_MM_ROOT=... python benchmarks/build.py      (limit: 100 ms)
"""

import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.profile_config import yaml_edit
from mindspeed_mm_train_profiler.profile_config.edits import apply
from mindspeed_mm_train_profiler.profile_config.proof import load, prove_config

LIMIT_MS = 100
WANTED: dict[str, Any] = {
    "tools": {"profile": {"enable": True, "ranks": [0], "static_param": {"start_step": 10, "end_step": 12}}},
    "training": {"train_iters": 20},
}


def median_ms(call: Callable[[], object], rounds: int = 15) -> float:
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        call()
        times.append((time.perf_counter() - begin) * 1000)
    return statistics.median(times)


def main() -> int:
    root = os.environ.get("MINDSPEED_MM_ROOT")
    if not root:
        print("MINDSPEED_MM_ROOT is not set")
        return 2
    path = max(Path(root).rglob("*.yaml"), key=lambda p: p.stat().st_size)
    data = path.read_bytes()
    text = data.decode("utf-8")

    def build() -> None:
        loaded = load(path, data)
        prove_config(path, loaded, apply(data, yaml_edit.set_keys(text, loaded, WANTED)), WANTED)

    parse, whole = median_ms(lambda: load(path, data)), median_ms(build)
    print(
        f"{path.name}: {len(data)} bytes; parse only {parse:.1f} ms, edit and proof {whole:.1f} ms (limit {LIMIT_MS})"
    )
    return 0 if whole <= LIMIT_MS else 1


if __name__ == "__main__":
    sys.exit(main())
