"""The command reference, from the parser itself. Rendered here, because argparse's own layout changes with Python."""

import argparse
from collections.abc import Iterator

from mindspeed_mm_train_profiler.reference.tables import table
from mindspeed_mm_train_profiler.skill.wording import Language, described, text


def subcommands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser, str]]:
    """(name, parser, one line of help) of every subcommand."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
            for name, sub in action.choices.items():
                yield name, sub, helps.get(name, "")


def _value(action: argparse.Action) -> str:
    if action.choices is not None:
        return " or ".join(str(choice) for choice in action.choices)
    if action.nargs == 0 or isinstance(action, argparse.BooleanOptionalAction):
        return ""
    metavar = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    return metavar + (" ..." if isinstance(action, argparse._AppendAction) else "")


def _rows(language: Language, parser: argparse.ArgumentParser) -> list[list[str]]:
    rows = []
    for action in parser._actions:
        if isinstance(action, argparse._HelpAction | argparse._SubParsersAction):
            continue
        names = ", ".join(action.option_strings) or action.dest
        rows.append([f"`{names}`", _value(action), described(language, action.help or "").replace("%%", "%")])
    return rows


def render(language: Language) -> str:
    """Every command with its options; the server's own last."""
    from mindspeed_mm_train_profiler.cli import PROGRAM, serve_parser
    from mindspeed_mm_train_profiler.terminal.main import build_parser

    head = [text(language, f"reference.{name}") for name in ("name", "value", "meaning")]
    parser = build_parser()
    found = list(subcommands(parser))
    lines = table([text(language, "reference.command"), text(language, "reference.meaning")],
                  [[f"`{name}`", described(language, short)] for name, _, short in found])  # fmt: skip
    for name, sub, short in found:
        options = _rows(language, serve_parser() if name == "serve" else sub)
        lines += ["", f"## {PROGRAM} {name}", "", described(language, sub.description or short).replace("%%", "%"), ""]
        lines += table(head, options) if options else []
    return "\n".join(lines).rstrip("\n")
