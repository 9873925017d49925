"""Completion scripts, made from the parser itself; shtab writes them, and this tells it what it cannot know."""

import argparse

import shtab

FILES = frozenset({"script", "python", "token_file", "path", "before", "after"})
FOLDERS = frozenset({"workdir", "save_path", "dynamic_config_path", "allow_dir", "folder"})
"""Arguments by the last part of their name; ``path``, ``before`` and ``after`` may be typed through files, too."""
ZSH_EVAL = "[[ $zsh_eval_context[-1] == eval ]]"
ZSH_NOT_AUTOLOADED = "[[ $zsh_eval_context[-1] != loadautofunc ]]"
"""shtab's script registers itself under ``eval`` alone; ``source <(...)`` must do the same."""


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """The completion script of ``parser`` for a shell."""
    _tell(parser)
    made: str = shtab.complete(parser, shell)
    return made.replace(ZSH_EVAL, ZSH_NOT_AUTOLOADED) if shell == "zsh" else made


def _tell(parser: argparse.ArgumentParser) -> None:
    for action in parser._actions:
        name = action.dest.rpartition(".")[2]
        if name in FILES or name in FOLDERS:
            action.complete = shtab.FILE if name in FILES else shtab.DIRECTORY  # type: ignore[attr-defined]
        if action.help is None:  # shtab would show the inner name ("options.level") or the metavar
            action.help = name.replace("_", " ")
        if isinstance(action, argparse._SubParsersAction):
            for choice in action._choices_actions:  # a menu wants the short line, not the paragraph
                action.choices[choice.dest].description = choice.help
            for sub in action.choices.values():
                _tell(sub)
