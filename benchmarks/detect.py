"""Reading a launch script beside ``bash -n`` on the same file, in turn, in one run.

    python benchmarks/detect.py [FOLDER] [--rounds 3] [--bound 3.0]

FOLDER: a tree with launch scripts (default: ``MINDSPEED_MM_ROOT``, else the sample checkout). Reading is timed in this
process, with the parser loaded, as the server has it; ``bash -n`` as the process it is. Prints the median per script of
each and the median of the ratios; exit code 1 where it is above the bound.
"""

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.launch_script import read_launch


def seconds_reading(script: Path) -> float:
    begin = time.perf_counter()
    with contextlib.suppress(CodedError):
        read_launch(script)
    return time.perf_counter() - begin


def seconds_bash(script: Path) -> float:
    begin = time.perf_counter()
    subprocess.run(["bash", "-n", str(script)], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return time.perf_counter() - begin


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", default=os.environ.get("MINDSPEED_MM_ROOT"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bound", type=float, default=3.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.folder or temporary)
        if not options.folder:
            from mindspeed_mm_train_profiler.simulator.sample import make_checkout

            folder = make_checkout(folder / "MindSpeed-MM").root
        scripts = sorted(folder.rglob("*.sh"))
        seconds_reading(scripts[0])
        rows = []
        for script in scripts:
            ours = [seconds_reading(script) for _ in range(options.rounds)]
            theirs = [seconds_bash(script) for _ in range(options.rounds)]
            rows.append((min(ours), min(theirs)))
    ours, theirs = statistics.median(row[0] for row in rows), statistics.median(row[1] for row in rows)
    ratio = statistics.median(row[0] / row[1] for row in rows)
    print(f"{len(rows)} scripts: reading median {ours * 1e3:.2f} ms, bash -n median {theirs * 1e3:.2f} ms")
    print(f"ratio median {ratio:.2f} (bound {options.bound})")
    return 0 if ratio <= options.bound else 1


if __name__ == "__main__":
    sys.exit(main())
