#!/usr/bin/env python3
"""One poll of a run with a 1 GB log beside one with a 1 MB log, in the same process. Goal: at most 1.2 times.

python benchmarks/poll.py [--megabytes 1024]
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path


def folder(base: Path, name: str, megabytes: int) -> object:
    """A run without a supervisor (the case that reads most) and a log of that size."""
    from mindspeed_mm_train_profiler.runs.folder import RunFolder

    path = base / name
    path.mkdir()
    line = " iteration {:8d}/ 9999999 | consumed samples: 8 | elapsed time per iteration (ms): 71.5 | loss: 1.0E+00 |\n"
    block = "".join(line.format(number) for number in range(2**20 // len(line.format(1)))).encode()
    run = RunFolder(path)
    with run.log.open("wb") as file:
        for _ in range(megabytes):
            file.write(block)
    run.write("run", {"created": time.time() - 100, "config_id": "x"})
    run.write("build", {"save_path": str(base / "none"), "window": None, "options": {}})
    return run


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=1024)
    asked = parser.parse_args()
    from mindspeed_mm_train_profiler.runs import poll

    with tempfile.TemporaryDirectory() as name:
        os.environ["MINDSPEED_MM_TRAIN_PROFILER_STATE"] = name
        small = folder(Path(name), "run-20260101-000000-aaaaaa", 1)
        large = folder(Path(name), "run-20260101-000000-bbbbbb", asked.megabytes)
        times: dict[str, list[float]] = {"small": [], "large": []}
        for _ in range(60):  # in turns: whatever else the machine does meets both
            for key, run in (("small", small), ("large", large)):
                begun = time.perf_counter()
                poll.poll(run)  # type: ignore[arg-type]
                times[key].append(time.perf_counter() - begun)
        medians = {key: statistics.median(values) * 1000 for key, values in times.items()}
        ratio = medians["large"] / medians["small"]
        print(
            json.dumps({**{f"{k}_ms": round(v, 2) for k, v in medians.items()}, "ratio": round(ratio, 2), "bound": 1.2})
        )
        return int(ratio > 1.2)


if __name__ == "__main__":
    sys.exit(main())
