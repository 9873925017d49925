"""The tools' texts as a terminal speaks: a tool is a command there, the next step a line that can be pasted."""

import re
import shlex
from collections.abc import Mapping
from typing import Any

from mindspeed_mm_train_profiler.skill import wording
from mindspeed_mm_train_profiler.terminal import arguments
from mindspeed_mm_train_profiler.terminal.commands import COMMANDS, specs
from mindspeed_mm_train_profiler.tools.common import Result

PROGRAM = "mindspeed-mm-train-profiler"
NAMES = {command.tool: command.name for command in COMMANDS} | {"choose_options": "collect"}
CODE = r"(?=[a-z]+_[a-z_]+\b)"
OPTIONS = (
    (re.compile(rf"\backnowledge {CODE}"), "give --acknowledge "),
    (re.compile(rf"确认 {CODE}"), "用 --acknowledge "),
    (re.compile(rf"\b(?:pass )?override (?:传入 )?{CODE}"), "--override "),
)
"""What a tool takes as ``acknowledge`` and ``override`` are options here."""
TOOL = re.compile(r"(?<![\w./-])(?:" + "|".join(map(re.escape, NAMES)) + r")(?![\w.-]*[/=])\b")


def as_commands(text: str) -> str:
    """Names of tools in a text become names of commands, what is to be acknowledged an option."""
    text = TOOL.sub(lambda found: f"`{PROGRAM} {NAMES[found[0]]}`", text)
    for pattern, option in OPTIONS:
        text = pattern.sub(option, text)
    return text


def command_line(tool: str, given: Mapping[str, Any]) -> str:
    """The command that calls ``tool`` with these arguments."""
    words = [PROGRAM, NAMES.get(tool, tool)]
    if tool == "choose_options":  # its command asks, and takes no answers
        words += [str(given[name]) for name in ("script",) if given.get(name)]
        words += ["--workdir", str(given["workdir"])] if given.get("workdir") else []
        words += [f"--script-args={item}" for item in given.get("script_args") or ()]
        return shlex.join(words)
    spec = specs().get(tool)
    for argument in arguments.arguments_of(spec.function) if spec else ():
        value = (
            given.get(argument.name) if argument.group is None else (given.get(argument.group) or {}).get(argument.name)
        )
        flag = "--" + argument.name.replace("_", "-")
        if value is None:
            continue
        if argument.required:
            words.insert(2, str(value))
        elif isinstance(value, bool):
            words.append(flag if value else f"--no-{flag[2:]}")
        elif isinstance(value, list) and all(isinstance(item, int) for item in value):
            words += [flag, ",".join(map(str, value))]
        elif isinstance(value, list):
            words += [f"{flag}={item}" for item in value]
        elif isinstance(value, dict):
            words += [f"{flag}={name}={item}" for name, item in value.items()]
        else:
            words += [flag, str(value)]
    return shlex.join(words)


def rendered(result: Result, language: wording.Language) -> str:
    """A result's text with its next step as a command line."""
    step = result.next_step
    shown = result.model_copy(update={"next_step": None})
    text = as_commands(shown.render(language))
    if step is None:
        return text
    line = wording.text(
        language, "common.next", tool=command_line(step.tool, step.arguments), why=as_commands(step.why)
    )
    return f"{text}\n{line}"
