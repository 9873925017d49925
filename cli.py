"""The command ``mindspeed-mm-train-profiler``: without arguments, or with ``serve``, MCP over stdio; else a command.

Only what a start needs is imported at the top: every chat starts one of these.
"""

import argparse
import contextlib
import gc
import io
import os
import sys
from pathlib import Path

from mindspeed_mm_train_profiler import settings
from mindspeed_mm_train_profiler.errors import OutputLost

PROGRAM = "mindspeed-mm-train-profiler"


def _tell_lost(lost: OutputLost) -> int:
    from mindspeed_mm_train_profiler.skill.helping import spoken
    from mindspeed_mm_train_profiler.skill.wording import text

    with contextlib.suppress(OSError):
        sys.stderr.write(text(spoken(sys.argv[1:]), "output.lost", why=lost) + "\n")
        sys.stderr.flush()
    return 3


def serve_parser() -> argparse.ArgumentParser:
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
        help="directory that paths may lie in, repeatable; default: the working directory and home; / for everywhere "
        "[MINDSPEED_MM_TRAIN_PROFILER_ALLOW_DIR]",
    )
    parser.add_argument(
        "--max-nproc",
        type=int,
        metavar="N",
        help="most ranks on this host a launch may start [MINDSPEED_MM_TRAIN_PROFILER_MAX_NPROC]",
    )
    parser.add_argument(
        "--log-level",
        choices=list(settings.LOG_LEVELS),
        help="what goes to stderr [MINDSPEED_MM_TRAIN_PROFILER_LOG_LEVEL]",
    )
    parser.add_argument("--transport", choices=["stdio", "http"], default="stdio", help="http: Streamable HTTP at /mcp")
    parser.add_argument("--host", default="127.0.0.1", help="address for http; another than loopback needs a token")
    parser.add_argument("--port", type=int, default=8765, help="port for http")
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        help="file (mode 0600) with the bearer token [MINDSPEED_MM_TRAIN_PROFILER_TOKEN]",
    )
    parser.add_argument(
        "--allowed-host", action="append", default=[], metavar="NAME", help="further Host name for http, repeatable"
    )
    parser.add_argument(
        "--allowed-origin",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="http: further page that may call, as http://HOST:PORT, repeatable; default: this server's own address",
    )
    return parser


def _serve_http(given: argparse.Namespace) -> int:
    """Serve over HTTP; a setting that is not safe is refused with its code."""
    from mindspeed_mm_train_profiler import http_server
    from mindspeed_mm_train_profiler.errors import CodedError
    from mindspeed_mm_train_profiler.server import build_server
    from mindspeed_mm_train_profiler.tools.common import error_info, error_text

    language = settings.current().language
    for origin in given.allowed_origin:
        if http_server.origin_of(origin) is None:
            serve_parser().error(f"--allowed-origin {origin}: http://HOST:PORT or https://HOST:PORT")
    try:
        options = http_server.HttpOptions(
            given.host,
            given.port,
            http_server.read_token(given.token_file),
            tuple(given.allowed_host),
            tuple(given.allowed_origin),
        )
        http_server.serve(build_server(), options, settings.current().log_level)
    except CodedError as error:
        sys.stderr.write(error_text(language, error_info(language, error)) + "\n")
        return 3
    return 0


def _translated(parser: argparse.ArgumentParser, words: list[str]) -> argparse.ArgumentParser:
    if {"-h", "--help"}.isdisjoint(words):  # a start that serves loads no words
        return parser
    from mindspeed_mm_train_profiler.skill.helping import translate

    return translate(parser, words)


def serve(argv: list[str]) -> int:
    """Serve until the client closes its end (stdio) or until interrupted (http)."""
    given = _translated(serve_parser(), argv).parse_args(argv)
    if not 0 <= given.port <= 65535:
        serve_parser().error("--port: 0 to 65535")
    if wrong := settings.current().wrong:
        serve_parser().error(f"not a value of this variable: {', '.join(wrong)}")
    changes: dict[str, object] = {}
    if given.language:
        changes["language"] = given.language
    if given.read_only:
        changes["read_only"] = True
    if given.allow_dir:
        folders = []
        for folder in given.allow_dir:
            try:
                folders.append(Path(folder).expanduser().resolve())
            except (OSError, RuntimeError) as error:  # ~ of a user who is not there
                serve_parser().error(f"--allow-dir {folder}: {error}")
            if not folders[-1].is_dir():
                sys.stderr.write(f"warning: --allow-dir {folder}: no such directory\n")
        changes["allow_dirs"] = tuple(folders)
    elif settings.current().allow_dirs:
        for folder in settings.current().allow_dirs:
            if not folder.is_dir():
                sys.stderr.write(f"warning: {settings.PREFIX}ALLOW_DIR: {folder}: no such directory\n")
    else:
        # none at all (no home, started in /): nowhere, and not everywhere
        changes["allow_dirs"] = settings.default_dirs() or (Path(os.devnull),)
    if given.max_nproc is not None:
        if given.max_nproc < 1:
            serve_parser().error("--max-nproc: at least 1")
        changes["max_nproc"] = given.max_nproc
    if given.log_level:
        changes["log_level"] = given.log_level
    settings.change(**changes)
    if given.transport == "http":
        return _serve_http(given)
    # Nothing that a start makes is garbage: the collector would only look through it again and again.
    gc.disable()
    from mindspeed_mm_train_profiler.server import build_server

    server = build_server()
    gc.freeze()
    gc.enable()
    server.run()
    return 0


def _open_streams() -> None:
    """Whoever starts this with a standard stream closed (``<&-``) has an empty one: nothing is read, nothing kept.

    The lowest free descriptor is the stream's own again, so that no file takes its place, here or in a child."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)


def main(argv: list[str] | None = None) -> int:
    """Entry point."""
    words = sys.argv[1:] if argv is None else argv
    _open_streams()
    for stream in (sys.stdout, sys.stderr):  # a terminal of another encoding (GBK, ASCII) is no reason to break off
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        if not words or words[0] == "serve":
            return serve(words[1:])
        if words[0].startswith("--") and words[0] not in ("--help", "--version"):  # options of the default command
            return serve(words)
        from mindspeed_mm_train_profiler.terminal.main import run

        return run(words)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # `... | head`: the reader has gone, there is nobody to tell
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        return 141
    except OutputLost as lost:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        return _tell_lost(lost)


if __name__ == "__main__":
    sys.exit(main())
