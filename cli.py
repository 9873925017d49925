"""The command ``mindspeed-mm-train-profiler``: without arguments, or with ``serve``, MCP over stdio; else a command.

Only what a start needs is imported at the top: every chat starts one of these.
"""

import argparse
import os
import sys
from pathlib import Path

from mindspeed_mm_train_profiler import settings

PROGRAM = "mindspeed-mm-train-profiler"


def _serve_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"{PROGRAM} serve", description="Serve MCP.")
    parser.add_argument(
        "--language", choices=["zh", "en"], help="language of results [MINDSPEED_MM_TRAIN_PROFILER_LANGUAGE]"
    )
    parser.add_argument(
        "--read-only", action="store_true", help="no build, launch or stop [MINDSPEED_MM_TRAIN_PROFILER_READ_ONLY]"
    )
    parser.add_argument(
        "--allow-dir",
        action="append",
        metavar="DIR",
        help="directory that paths may lie in, repeatable [MINDSPEED_MM_TRAIN_PROFILER_ALLOW_DIR]",
    )
    parser.add_argument(
        "--max-nproc",
        type=int,
        metavar="N",
        help="most ranks on this host a launch may start [MINDSPEED_MM_TRAIN_PROFILER_MAX_NPROC]",
    )
    parser.add_argument(
        "--log-level",
        choices=["DEBUG", "INFO", "WARNING", "ERROR"],
        help="what goes to stderr [MINDSPEED_MM_TRAIN_PROFILER_LOG_LEVEL]",
    )
    return parser


def serve(argv: list[str]) -> int:
    """Serve over stdio until the client closes its end."""
    given = _serve_parser().parse_args(argv)
    changes: dict[str, object] = {}
    if given.language:
        changes["language"] = given.language
    if given.read_only:
        changes["read_only"] = True
    if given.allow_dir:
        changes["allow_dirs"] = tuple(Path(folder).expanduser().resolve() for folder in given.allow_dir)
    if given.max_nproc is not None:
        if given.max_nproc < 1:
            _serve_parser().error("--max-nproc: at least 1")
        changes["max_nproc"] = given.max_nproc
    if given.log_level:
        changes["log_level"] = given.log_level
    settings.change(**changes)
    from mindspeed_mm_train_profiler.server import build_server

    build_server().run()
    return 0


def main(argv: list[str] | None = None) -> int:
    """Entry point."""
    words = sys.argv[1:] if argv is None else argv
    try:
        if not words or words[0] == "serve":
            return serve(words[1:])
        from mindspeed_mm_train_profiler.terminal.main import run

        return run(words)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # `... | head`: the reader has gone, there is nobody to tell
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        return 141


if __name__ == "__main__":
    sys.exit(main())
