"""The terminal command's parser and dispatch. Commands that are tools come from a table; these are the others."""

import argparse

from mindspeed_mm_train_profiler import __version__
from mindspeed_mm_train_profiler.terminal import commands

PROGRAM = "mindspeed-mm-train-profiler"


def build_parser() -> argparse.ArgumentParser:
    """The whole command line, as help, completion and reference see it."""
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Collects performance profiles of MindSpeed-MM training on Ascend NPU hosts. "
        "Without a command it serves MCP over stdio.",
        epilog="Exit codes: 0 good; 1 the answer is not good; 2 usage; 3 an expected failure, told with its code; "
        "4 not confirmed; 130 interrupted.",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    subparsers.add_parser("serve", help="serve MCP over stdio (the default)", add_help=False)
    demo = subparsers.add_parser("demo", help="run the whole job on a simulated NPU host")
    demo.add_argument("rest", nargs=argparse.REMAINDER)
    commands.add_commands(subparsers)
    return parser


def run(words: list[str]) -> int:
    """Parse and run; returns the exit code."""
    if words[0] == "demo":  # has options of its own
        from mindspeed_mm_train_profiler.simulator.demo import main as demo

        return int(demo(words[1:]))
    return commands.run(build_parser().parse_args(words))
