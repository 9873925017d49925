"""``mindspeed-mm-train-profiler demo``: the whole job on a simulated host, through a real MCP client over stdio.

A host and a checkout are made in a temporary folder, the server is started as a client starts it, and each step is
printed as a user would see it. Exit code 0 when every verdict is "complete" (with ``--failures``: when no failure is
told as complete), 1 otherwise.
"""

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import TextContent

from mindspeed_mm_train_profiler.simulator import switches
from mindspeed_mm_train_profiler.simulator.demo_options import CHAINS, demo_parser
from mindspeed_mm_train_profiler.simulator.host import SimulatedHost, make_host
from mindspeed_mm_train_profiler.simulator.messages import say
from mindspeed_mm_train_profiler.simulator.sample import Checkout, make_checkout
from mindspeed_mm_train_profiler.skill.helping import translate
from mindspeed_mm_train_profiler.skill.wording import Language, text
from mindspeed_mm_train_profiler.state import STATE_VARIABLE

FAULTS: dict[str, dict[str, object]] = {
    "kill": {"kill_at": "window"},
    "parse": {"parse_fails": True},
    "device": {"no_device_data": True},
}
OPTIONS = {"start_step": 5, "end_step": 7, "train_iters": 20, "ranks": [0, 1]}
NPROC = 2
ACTIVATE = "activate.sh"
TRIED = "examples/vlm/pretrain_vlm.sh"  # of the sample checkout
RUN_LIMIT_S = 120
ENDED = {"succeeded", "failed", "stopped", "lost"}


class ToolFailed(Exception):
    """A tool answered with an error; its text has been printed."""


@dataclass
class Outcome:
    """What the end of one job is told from."""

    name: str
    verdict: str
    built: dict[str, Any]
    launched: dict[str, Any]
    verified: dict[str, Any]
    summary: dict[str, Any]


class Demo:
    """One client and what it prints."""

    def __init__(self, client: Client, language: Language) -> None:
        self._client, self._language = client, language
        self._number = 0

    async def call(self, tool: str, *, quiet: bool = False, **arguments: Any) -> dict[str, Any]:
        """Call a tool, print the call and its text block; returns the structured content."""
        result = await self._client.call_tool(tool, arguments, read_timeout_seconds=60)
        if not quiet or result.is_error:
            self._number += 1
            say(f"\n[{self._number}] {tool} {json.dumps(arguments, ensure_ascii=False)}")
            for block in result.content:
                if isinstance(block, TextContent):
                    self.show(block.text)
        if result.is_error:
            raise ToolFailed(tool)
        return dict(result.structured_content or {})

    def show(self, block: str) -> None:
        for line in block.splitlines():
            say(f"    {line}".rstrip())

    async def job(self, name: str, script: Path, save: Path) -> Outcome:
        """From a script to numbers, in the order the skill prescribes."""
        given = str(script)
        offered = {tool.name for tool in (await self._client.list_tools()).tools}
        await self.call("detect_engine", script=given)
        await self.call("check_env", script=given)
        options: dict[str, Any] = OPTIONS | {"save_path": str(save)}
        if "choose_options" in offered:  # not one of the six that every client needs
            chosen = await self.call("choose_options", script=given, answers=options)
            options = {key: value for key, value in (chosen.get("options") or options).items() if value is not None}
        options["acknowledge"] = sorted({*options.get("acknowledge", []), "all_ranks", "checkpoint_overwrite"})
        await self.call("build_config", script=given, options=options)
        self.show(text(self._language, "demo.user_confirms"))
        built = await self.call("build_config", script=given, options=options, confirmed=True)
        launched = await self.call("launch_training", config_id=built["config_id"])
        await self.follow(launched["run_id"])
        verified = await self.call("verify_output", run_id=launched["run_id"])
        summary: dict[str, Any] = {}
        if verified["verdict"] == "complete" and "summarize_profile" in offered:
            summary = await self.call("summarize_profile", run_id=launched["run_id"], top=3)
        return Outcome(name, verified["verdict"], built, launched, verified, summary)

    async def follow(self, run_id: str) -> None:
        """Poll until the run has ended; one line for each answer, the last one in full."""
        deadline = time.monotonic() + RUN_LIMIT_S
        while time.monotonic() < deadline:
            status = await self.call("poll_status", quiet=True, run_id=run_id, wait_s=2, log_lines=0)
            line = [status.get(key) for key in ("state", "phase", "iteration", "train_iters")]
            self.show("poll_status: " + " ".join("-" if item is None else str(item) for item in line))
            if status["state"] in ENDED:
                break
        await self.call("poll_status", run_id=run_id, log_lines=5)


def tell(outcome: Outcome, language: Language) -> None:
    """The end of one job: verdict, numbers, where everything lies."""

    def line(key: str, **values: object) -> None:
        say("    " + text(language, f"demo.{key}", **values))

    def number(value: float | None) -> str:
        return text(language, "demo.unknown") if value is None else f"{value:.1f}"

    what = text(language, f"demo.chain_{outcome.name}") if outcome.name in CHAINS else outcome.name
    say("\n" + text(language, "demo.verdict", chain=what, verdict=outcome.verdict))
    for step in outcome.summary.get("steps", []):
        line(
            "step",
            rank=step["rank"],
            step=step["step"],
            compute=number(step["compute_us"]),
            communication=number(step["communication_not_overlapped_us"]),
            free=number(step["free_us"]),
        )
    for item in outcome.summary.get("top_operators", [])[:3]:
        line("operator", rank=item["rank"], name=item["type"], count=item["count"], total=number(item["total_us"]))
    line("where_sessions", path=outcome.built["save_path"])
    line("where_run", path=outcome.launched["run_dir"])
    for copy in outcome.built["copies"]:
        line("where_copy", role=copy["role"], path=copy["copy"])
    for report in (outcome.summary.get("report") or {}).values():
        if report:
            line("where_report", path=report)
    line("command", command=outcome.built["command"])


def activate(host: SimulatedHost, folder: Path) -> None:
    """A file to source: afterwards this shell is on the simulated host, and the commands find the demo's runs."""
    changed = host.environment({"PATH": "$PATH", "PYTHONPATH": "${PYTHONPATH-}"}, ms=60, devices=NPROC)
    changed[STATE_VARIABLE] = str(folder / "state")
    changed["PATH"] = f"{Path(sys.executable).parent}:{changed['PATH']}"
    lines = ["# a simulated NPU host: no device is used"]
    for name, value in changed.items():
        # the shell's own PATH and PYTHONPATH stay at the end of theirs
        known, dollar, own = value.partition("$")
        lines.append(f"export {name}={shlex.quote(known)}" + (f'"{dollar}{own}"' if dollar else ""))
    (folder / ACTIVATE).write_text("\n".join(lines) + "\n", encoding="utf-8")


def heading(words: str) -> None:
    say(f"\n{'=' * 100}\n{words}\n{'=' * 100}")


async def _session(
    name: str, checkout: Checkout, environment: Mapping[str, str], folder: Path, language: Language, errors: TextIO
) -> Outcome | None:
    """One job with a server of its own; None where a tool failed."""
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "mindspeed_mm_train_profiler.cli", "serve", "--language", language],
        env=dict(environment),
        cwd=folder,
    )
    script = checkout.scripts[name if name in CHAINS else "tools_json"]
    async with Client(stdio_client(parameters, errlog=errors)) as client:
        try:
            return await Demo(client, language).job(name, script, folder / "collected" / name)
        except ToolFailed as failed:
            say("\n" + text(language, "demo.tool_failed", tool=failed))
            return None


def _in_terminal(script: Path, environment: Mapping[str, str], folder: Path, language: Language) -> bool:
    """The same job by the terminal command, without a client: every default, the table confirmed by ``--yes``."""
    words = ["collect", str(script), "--yes", "--language", language, "--acknowledge", "checkpoint_overwrite"]
    say(f"$ mindspeed-mm-train-profiler {shlex.join(words)}\n")
    done = subprocess.run(
        [sys.executable, "-m", "mindspeed_mm_train_profiler.cli", *words],
        env=dict(environment) | {switches.PREFIX + "MS": "20"},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=RUN_LIMIT_S,
    )
    for line in done.stdout.splitlines():
        say(f"    {line}".rstrip())
    return done.returncode == 0


async def _run(given: argparse.Namespace, folder: Path, errors: TextIO) -> bool:
    """All chains, or all failures; True where each ended as it should."""
    language: Language = given.language
    host: SimulatedHost = make_host(folder / "host")
    activate(host, folder)
    checkout = make_checkout(folder / "MindSpeed-MM", set_env=host.set_env, nproc=NPROC)
    base = os.environ | {STATE_VARIABLE: str(folder / "state")}
    started = time.monotonic()
    names = list(FAULTS) if given.failures else given.chain or list(CHAINS)
    kind = "fault" if given.failures else "chain"
    outcomes: list[Outcome | None] = []
    for number, name in enumerate(names, 1):
        heading(
            text(language, f"demo.{kind}", number=number, count=len(names), what=text(language, f"demo.{kind}_{name}"))
        )
        environment = host.environment(base, ms=60, devices=NPROC, **FAULTS.get(name, {}))
        outcomes.append(await _session(name, checkout, environment, folder, language, errors))
    collected = True
    if not given.failures:
        heading(text(language, "demo.terminal"))
        script = checkout.scripts[names[-1]]
        collected = await anyio.to_thread.run_sync(_in_terminal, script, environment, folder, language)
    heading(text(language, "demo.results"))
    for outcome in outcomes:
        if outcome is not None:
            tell(outcome, language)
    if given.failures:
        bad = sum(outcome is None or outcome.verdict == "complete" for outcome in outcomes)
        say("\n" + text(language, "demo.faults_hidden" if bad else "demo.faults_told", bad=bad, count=len(names)))
    else:
        bad = sum(outcome is None or outcome.verdict != "complete" for outcome in outcomes)
        seconds = round(time.monotonic() - started)
        key = "demo.not_complete" if bad else "demo.all_complete"
        say("\n" + text(language, key, bad=bad, count=len(names), seconds=seconds))
        if not collected:
            say(text(language, "demo.terminal_failed"))
    return bad == 0 and collected


def main(argv: list[str]) -> int:
    """Entry point of the command; returns its exit code."""
    given = translate(demo_parser(), argv).parse_args(argv)
    language: Language = given.language
    if given.switches:
        for name, (default, what) in switches.TABLE.items():
            say(f"{switches.PREFIX + name:<30} {what} [{default}]")
        return 0
    if given.folder:
        folder = given.folder.absolute()
        try:
            folder.mkdir(parents=True)
        except OSError as error:
            sys.stderr.write(text(language, "demo.folder_refused", folder=folder, why=error.strerror or error) + "\n")
            return 2
    else:
        folder = Path(tempfile.mkdtemp(prefix="simulated-npu-demo-"))
    keep = given.keep or bool(given.folder)
    heading(text(language, "demo.title"))
    say(text(language, "demo.what"))
    say(text(language, "demo.folder", folder=folder))
    try:
        with open(folder / "server.stderr", "w", encoding="utf-8") as errors:
            good = anyio.run(_run, given, folder, errors)
        say(text(language, "demo.kept", folder=folder) if keep else text(language, "demo.removed"))
        if keep:
            script = folder / "MindSpeed-MM" / TRIED
            say(
                text(
                    language, "demo.activate", file=shlex.quote(str(folder / ACTIVATE)), script=shlex.quote(str(script))
                )
            )
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    return 0 if good else 1
