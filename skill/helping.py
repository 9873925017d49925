"""Option help in the user's language: parsers speak the code's language, and are translated where they are shown."""

import argparse
from collections.abc import Sequence

from mindspeed_mm_train_profiler import settings
from mindspeed_mm_train_profiler.skill import wording


def spoken(words: Sequence[str]) -> wording.Language:
    """The language that a command line asks for: ``--language zh``, ``--language=zh``, else the settings' one."""
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name == "--language":
            value = value if equals else next(iter(words[index + 1 : index + 2]), "")
            return "zh" if value == "zh" else "en"
    return settings.current().language


def translate(parser: argparse.ArgumentParser, words: Sequence[str]) -> argparse.ArgumentParser:
    """The parser itself, its help in the language of ``words`` where they ask for help at all."""
    if spoken(words) == "zh" and not {"-h", "--help"}.isdisjoint(words):
        _walk(parser)
    return parser


def _walk(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _said(parser.description), _said(parser.epilog)
    for group in parser._action_groups:
        title = f"help.{(group.title or '').replace(' ', '_')}"
        group.title = wording.catalogue("zh").get(title, group.title)
    for action in parser._actions:
        if action.help != argparse.SUPPRESS:
            action.help = _said(action.help)
        if isinstance(action, argparse._SubParsersAction):
            for choice in action._choices_actions:
                choice.help = _said(choice.help)
            for sub in {id(one): one for one in action.choices.values()}.values():
                _walk(sub)


def _said(text: str | None) -> str | None:
    return None if text is None else wording.described("zh", text)
