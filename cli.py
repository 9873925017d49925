"""The command ``mindspeed-mm-train-profiler``."""

import argparse
import sys

from mindspeed_mm_train_profiler import __version__


def main(argv: list[str] | None = None) -> int:
    """Entry point: no arguments or ``serve`` serve MCP over stdio."""
    parser = argparse.ArgumentParser(prog="mindspeed-mm-train-profiler", description=__doc__)
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    parser.add_argument("command", nargs="?", choices=["serve", "demo"], default="serve")
    arguments = parser.parse_args(argv)
    if arguments.command == "demo":
        from mindspeed_mm_train_profiler.simulator.demo import main as demo

        return int(demo())
    from mindspeed_mm_train_profiler.server import mcp

    mcp.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
