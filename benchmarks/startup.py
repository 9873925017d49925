"""Start to ``tools/list``: this server beside a bare ``MCPServer`` with one tool, in turn, in one run.

    python benchmarks/startup.py [--runs 9] [--bound 1.15]

Both are started as a client starts them (a child over stdio, initialise, list). The ratio is taken pair by pair, so that a
machine whose speed drifts does not decide; the median counts. Exit code 1 where it is above the bound.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BARE = """
from mcp.server import MCPServer
mcp = MCPServer("bare")
@mcp.tool()
def double(number: int) -> int:
    return 2 * number
mcp.run()
"""
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "0"},
    },
}


def once(command: list[str], cwd: str) -> float:
    """Seconds from the start of the process to its answer to ``tools/list``."""
    begin = time.perf_counter()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=cwd, text=True
    ) as process:
        assert process.stdin and process.stdout

        def send(message: dict[str, object]) -> None:
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()

        send(HELLO)
        process.stdout.readline()
        send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        send({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
        answer = json.loads(process.stdout.readline())
        seconds = time.perf_counter() - begin
        assert answer["result"]["tools"], answer
        process.stdin.close()
        process.wait(timeout=30)
    return seconds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--bound", type=float, default=1.15)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder) / "bare.py"
        bare.write_text(BARE, encoding="utf-8")
        commands = {
            "this server": [sys.executable, "-m", "mindspeed_mm_train_profiler.cli"],
            "bare MCPServer": [sys.executable, str(bare)],
        }
        for command in commands.values():
            once(command, folder)  # bytecode and file cache
        rows = [{name: once(command, folder) for name, command in commands.items()} for _ in range(options.runs)]
    for name in commands:
        times = [row[name] for row in rows]
        print(f"{name:16} median {statistics.median(times):.3f} s   min {min(times):.3f}   max {max(times):.3f}")
    ratios = sorted(row["this server"] / row["bare MCPServer"] for row in rows)
    ratio = statistics.median(ratios)
    print(
        f"ratio            median {ratio:.3f}     min {ratios[0]:.3f}   max {ratios[-1]:.3f}   (bound {options.bound})"
    )
    return 0 if ratio <= options.bound else 1


if __name__ == "__main__":
    sys.exit(main())
