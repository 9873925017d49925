"""The terminal command's parser and dispatch. Commands that are tools come from a table; these are the others."""

import argparse

from mindspeed_mm_train_profiler import __version__
from mindspeed_mm_train_profiler.cli import serve_parser
from mindspeed_mm_train_profiler.skill.helping import translate
from mindspeed_mm_train_profiler.skill.wording import text
from mindspeed_mm_train_profiler.terminal import collect, commands
from mindspeed_mm_train_profiler.tools.common import resolve_language

PROGRAM = "mindspeed-mm-train-profiler"


def run_doctor(parsed: argparse.Namespace) -> int:
    """All checks of the installation; 1 where one failed."""
    from mindspeed_mm_train_profiler.terminal import doctor

    language = resolve_language(parsed.language)
    checks = doctor.examine()
    bad = sum(check.ok is False for check in checks)
    if parsed.json:
        rows = [dict(row, fix=row["fix"] and text(language, str(row["fix"]))) for row in doctor.as_rows(checks)]
        commands.say_json({"ok": bad == 0, "checks": rows})
        return commands.NOT_GOOD if bad else commands.GOOD
    words = {True: "doctor.good", False: "doctor.bad", None: "doctor.unsure"}
    for check in checks:
        found = text(language, check.said, **dict(check.params)) if check.said else check.found
        commands.say(f"[{text(language, words[check.ok])}] {check.name}: {found}")
        if check.fix:
            commands.say(f"    {text(language, check.fix)}")
    key = "doctor.unsound" if bad else "doctor.sound"
    commands.say(text(language, key, count=bad, all=len(checks)))
    return commands.NOT_GOOD if bad else commands.GOOD


def run_completion(parsed: argparse.Namespace) -> int:
    """A completion script made from the parser itself."""
    from mindspeed_mm_train_profiler.terminal import completion

    commands.say(completion.script(build_parser(), parsed.shell))
    return commands.GOOD


def build_parser() -> argparse.ArgumentParser:
    """The whole command line, as help, completion and reference see it."""
    from mindspeed_mm_train_profiler.simulator.demo_options import demo_parser

    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Collects performance profiles of MindSpeed-MM training on Ascend NPU hosts. "
        "Without a command it serves MCP over stdio.",
        epilog="Exit codes: 0 good; 1 the answer is not good; 2 usage; 3 an expected failure, told with its code; "
        "4 not confirmed; 130 interrupted.",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, what, made in (
        ("serve", "serve MCP over stdio (the default) or HTTP", serve_parser),
        ("demo", "run the whole job on a simulated NPU host", demo_parser),
    ):
        own = made()
        subparsers.add_parser(name, help=what, description=own.description, parents=[own], add_help=False)
    doctor = subparsers.add_parser("doctor", help="check this installation")
    doctor.add_argument("--language", choices=["zh", "en"], default=None)
    doctor.add_argument("--json", action="store_true", help="print the checks as JSON, nothing else")
    doctor.set_defaults(run_other=run_doctor)
    completion = subparsers.add_parser("completion", help="print a completion script for a shell")
    completion.add_argument("shell", choices=["bash", "zsh", "tcsh", "fish"])
    completion.set_defaults(run_other=run_completion)
    collect.add_parser(subparsers)
    commands.add_commands(subparsers)
    return parser


def _subparser(parser: argparse.ArgumentParser, words: list[str]) -> argparse.ArgumentParser:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found = next((action.choices[word] for word in words if word in action.choices), None)
            return found if isinstance(found, argparse.ArgumentParser) else parser
    return parser


def run(words: list[str]) -> int:
    """Parse and run; returns the exit code."""
    if words[0] == "demo":  # has options of its own
        from mindspeed_mm_train_profiler.simulator.demo import main as demo

        return int(demo(words[1:]))
    parser = translate(build_parser(), words)
    parsed, left = parser.parse_known_args(words)
    if left:  # told with the usage of the command that it was given to
        _subparser(parser, words).error(f"unrecognized arguments: {' '.join(left)}")
    if hasattr(parsed, "run_other"):
        return int(parsed.run_other(parsed))
    return commands.run(parsed)
