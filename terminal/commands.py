"""Which command is which tool, and how a command ends.

Exit codes: 0 done and good; 1 done, and the answer is not good (a verdict other than complete, a failed run, not ready,
not a MindSpeed-MM training script); 2 wrong usage; 3 an expected failure, told with its code; 4 not confirmed;
130 interrupted.
"""

import argparse
import inspect
import json
import sys
from dataclasses import dataclass
from typing import Any

from mindspeed_mm_train_profiler.errors import CodedError, OutputLost
from mindspeed_mm_train_profiler.skill import wording
from mindspeed_mm_train_profiler.terminal import arguments as command_arguments
from mindspeed_mm_train_profiler.tools.common import (
    Result,
    ToolSpec,
    error_info,
    error_text,
    printable,
    resolve_language,
    visible,
)

GOOD, NOT_GOOD, USAGE, FAILED, NOT_CONFIRMED, INTERRUPTED = 0, 1, 2, 3, 4, 130


@dataclass(frozen=True, slots=True)
class Command:
    """``good``: field of the result and its good values; any other value ends with exit code 1."""

    name: str
    tool: str
    good: tuple[str, frozenset[object]] | None = None


COMMANDS: tuple[Command, ...] = (
    Command("detect", "detect_engine", ("engine", frozenset({"megatron", "fsdp2"}))),
    Command("env", "check_env", ("ready", frozenset({True}))),
    Command("build", "build_config", ("status", frozenset({"built"}))),
    Command("launch", "launch_training"),
    Command("status", "poll_status", ("state", frozenset({"starting", "running", "succeeded"}))),
    Command("verify", "verify_output", ("verdict", frozenset({"complete"}))),
    Command("parse", "parse_offline"),
    Command("summarize", "summarize_profile"),
    Command("compare", "compare_profiles"),
    Command("trigger", "trigger_dynamic", ("status", frozenset({"stopped", "running", "waiting"}))),
    Command("stop", "stop_training"),
    Command("runs", "list_runs"),
    Command("discard", "discard_copies"),
)


def specs() -> dict[str, ToolSpec]:
    from mindspeed_mm_train_profiler.tools import ALL

    return {spec.name: spec for spec in ALL}


def add_commands(subparsers: Any) -> None:
    """One subcommand a tool; its options come from the tool's signature."""
    offered = specs()
    for command in COMMANDS:
        spec = offered.get(command.tool)
        if spec is None:
            continue
        parser = subparsers.add_parser(command.name, help=spec.title, description=spec.description.replace("%", "%%"))
        command_arguments.add_to(parser, spec.function)
        parser.add_argument("--language", choices=["zh", "en"], default=None)
        parser.add_argument("--json", action="store_true", help="print the tool's structured result, nothing else")
        parser.set_defaults(run_command=command)


def call(function: Any, values: dict[str, Any]) -> Result:
    """Call a tool's function, sync or async."""
    if inspect.iscoroutinefunction(function):
        import anyio

        result: Result = anyio.run(lambda: function(**values))
        return result
    plain: Result = function(**values)
    return plain


def say(text: str) -> None:
    try:
        sys.stdout.write(printable(text) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputLost(error.strerror or str(error)) from None


def say_json(value: object) -> None:
    """JSON on stdout; escaped as JSON escapes where stdout's encoding cannot hold every character."""
    unicode = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "") == "utf8"
    say(json.dumps(value, ensure_ascii=not unicode, indent=2))


def tell_failure(language: wording.Language, error: CodedError, as_json: bool) -> int:
    """An expected failure: the tool's structured error on stdout for ``--json``, words on stderr otherwise."""
    info = error_info(language, error)
    if as_json:
        say_json({"error": info.model_dump()})
    else:
        from mindspeed_mm_train_profiler.terminal.speech import as_commands

        sys.stderr.write(as_commands(visible(error_text(language, info))) + "\n")
    return FAILED


def ending(command: Command, result: Result) -> int:
    """Exit code for a result."""
    if command.good is None:
        return GOOD
    field, good = command.good
    value = getattr(result, field)
    if command.tool == "build_config" and value != "built":
        return NOT_CONFIRMED
    return GOOD if value in good else NOT_GOOD


def run(parsed: argparse.Namespace) -> int:
    """Run one command."""
    command: Command = parsed.run_command
    language = resolve_language(parsed.language)
    function = specs()[command.tool].function
    try:
        values = command_arguments.values(function, vars(parsed))
        if "language" in inspect.signature(function).parameters:
            values["language"] = language
        result = call(function, values)
    except CodedError as error:
        return tell_failure(language, error, parsed.json)
    if parsed.json:
        say_json(result.model_dump(mode="json"))
    else:
        from mindspeed_mm_train_profiler.terminal.speech import rendered

        say(visible(rendered(result, language)))
    return ending(command, result)
