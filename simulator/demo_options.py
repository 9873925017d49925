"""The options of ``demo``, apart from the demo itself: help and completion need them, and not an MCP client."""

import argparse
from pathlib import Path

from mindspeed_mm_train_profiler import settings

CHAINS = ("tools_json", "yaml", "fsdp2")


def demo_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mindspeed-mm-train-profiler demo", description="Run the whole job on a simulated NPU host."
    )
    parser.add_argument(
        "--language", choices=["en", "zh"], default=settings.current().language, help="language of everything printed"
    )
    parser.add_argument("--keep", action="store_true", help="keep the folder the demo worked in")
    parser.add_argument("--chain", action="append", choices=CHAINS, help="only this chain; repeatable")
    parser.add_argument("--failures", action="store_true", help="show what the tools say when things go wrong")
    parser.add_argument("--switches", action="store_true", help="list the switches of the simulated host, and end")
    parser.add_argument("--folder", type=Path, help="work in this new folder instead of a temporary one (kept)")
    return parser
