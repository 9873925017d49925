#!/usr/bin/env python3
"""Time and peak memory of the operator summary of one large kernel table, beside the public ``msprof-mcp``'s own.

    python benchmarks/summary.py [--megabytes 150] [--peer VENV]

Makes one kernel_details.csv (150 MB, as wide as torch_npu writes it) and lets each side total its operators, each in a
process of its own. The peer (PyPI ``msprof-mcp``, which wants mcp<2) is installed into a virtual environment of its
own below the temporary folder, or taken from ``--peer``; where neither can be, only our side is reported. Goal: no
slower, at a fifth of the memory.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

HEAD = (
    "Step Id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),"
    "Block Dim,Mix Block Dim,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,"
    "Output Formats,Context ID,aicore_time(us),aic_total_cycles\n"
)
OURS = """
import json, sys
from pathlib import Path
from mindspeed_mm_train_profiler.profile_data.numbers import session_numbers
found = session_numbers(Path(sys.argv[1]), top=10)
print(json.dumps([[row.name, row.count, row.total_us] for row in found.operators]))
"""
# the peer's own function for this file, whatever release: named by what it does
PEER = """
import asyncio, inspect, json, sys
from pathlib import Path
import importlib, pkgutil
import msprof_mcp
names = [info.name for info in pkgutil.walk_packages(msprof_mcp.__path__, "msprof_mcp.")]
for name in names:
    try:
        module = importlib.import_module(name)
    except Exception:
        continue
    for label, thing in vars(module).items():
        if inspect.isclass(thing) and thing.__module__ == name and hasattr(thing, "analyze_kernel_details"):
            out = thing().analyze_kernel_details(sys.argv[1])
            break
        if inspect.isfunction(thing) and label == "analyze_kernel_details":
            out = thing(sys.argv[1])
            break
    else:
        continue
    break
else:
    sys.exit("no analyze_kernel_details in msprof_mcp")
out = asyncio.run(out) if inspect.isawaitable(out) else out
print(str(out)[:2000])
"""


def make(folder: Path, megabytes: int) -> Path:
    """A session whose kernel table has that size; its ASCEND_PROFILER_OUTPUT/kernel_details.csv."""
    path = folder / "host_1_20260101000000000_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
    path.parent.mkdir(parents=True)
    shapes = ("4096,4096;4096,1024", "32,3,224,224", "151936,1024;151936,1024")
    with path.open("w", encoding="utf-8") as file:
        file.write(HEAD)
        written, row = 0, 0
        while written < megabytes * 2**20:
            name = f"aclnnMatmul_MatMulV3Common_MatMulV{row % 97}"
            shape = shapes[row % 3]
            line = (
                f"{row % 3 + 10},4294967295,{row},2,{name},MatMulV3,dynamic,AI_CORE,17364088837{row:08d}.212\\t,"
                f'{row % 1009 / 7:.3f},0.5,32,0,NO,"""{shape}""",FLOAT;FLOAT,ND;ND,"""{shape}""",FLOAT,ND,N/A,3.0,1000\n'
            )
            file.write(line)
            written += len(line)
            row += 1
    return path


def measure(argv: list[str]) -> dict[str, object]:
    """Seconds, peak resident MB of the process, and the first line that it printed."""
    program = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], capture_output=True, text=True)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
        "print(done.stdout[:300] or done.stderr[-300:])\n"
        "sys.exit(done.returncode)\n"
    )
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", program, *argv], capture_output=True, text=True, timeout=1800, check=False
    )
    seconds = time.perf_counter() - begun
    peak, _, said = done.stdout.partition("\n")
    return {"code": done.returncode, "s": round(seconds, 2), "mb": round(int(peak or 0) / 1024, 1), "said": said[:200]}


def peer_python(given: str | None, folder: Path) -> Path | None:
    """An interpreter with msprof-mcp; None where it cannot be installed."""
    if given:
        return Path(given) / "bin" / "python"
    home = folder / "peer"
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    words = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "msprof-mcp", "mcp<2"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=900, check=False)
    if done.returncode:
        sys.stderr.write(f"the peer cannot be installed: {done.stderr.strip()[-300:]}\n")
        return None
    return python


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=150)
    parser.add_argument("--peer", help="virtual environment with msprof-mcp")
    asked = parser.parse_args()
    resource.getrusage(resource.RUSAGE_SELF)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = make(folder, asked.megabytes)
        result: dict[str, object] = {"megabytes": round(table.stat().st_size / 2**20, 1)}
        ours = measure([sys.executable, "-c", OURS, str(table.parent.parent)])
        result["ours"] = ours
        python = peer_python(asked.peer, folder)
        if python is not None:
            peer = measure([str(python), "-c", PEER, str(table)])
            result["msprof-mcp"] = peer
            if peer["code"] == 0:
                result["time_ratio"] = round(float(str(ours["s"])) / float(str(peer["s"])), 2)
                result["memory_ratio"] = round(float(str(ours["mb"])) / float(str(peer["mb"])), 2)
        print(json.dumps(result, indent=1))
        return int(str(ours["code"]))


if __name__ == "__main__":
    sys.exit(main())
