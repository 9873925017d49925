"""Completion as a shell does it, by the lines that the documents give."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mindspeed_mm_train_profiler.terminal import completion
from mindspeed_mm_train_profiler.terminal.main import build_parser

PROGRAM = "mindspeed-mm-train-profiler"


def shell(name: str, program: str, folder: Path) -> list[str]:
    """Lines that a shell prints for ``program``, in ``folder``, with a command of our name."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"no {name} here")
    (folder / "a script.sh").touch()
    (folder / "bin").mkdir()
    command = folder / "bin" / PROGRAM
    command.write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -m mindspeed_mm_train_profiler.cli "$@"\n', encoding="utf-8"
    )
    command.chmod(0o755)
    flags = {"zsh": ["-f"], "bash": ["--norc"], "fish": ["--no-config"]}[name]
    done = subprocess.run(
        [found, *flags, "-c", program], cwd=folder, capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "HOME": str(folder)},
    )  # fmt: skip
    assert not done.stderr, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["coll"], ["collect"]),
        (["collect", "a"], ["a script.sh"]),
        (["env", "--script", "a"], ["a script.sh"]),
        (["detect", "x.sh", "--workdir", "b"], ["bin"]),
        (["serve", "--transport", "h"], ["http"]),
    ],
)
def test_bash_completes_commands_values_and_files(words: list[str], expected: list[str], tmp_path: Path) -> None:
    typed = " ".join(f"'{word}'" for word in [PROGRAM, *words])
    program = (
        f"source <({PROGRAM} completion bash); COMP_WORDS=({typed}); COMP_CWORD={len(words)}; "
        "_shtab_mindspeed_mm_train_profiler; printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    assert shell("bash", program, tmp_path) == expected


def test_zsh_registers_it_when_sourced(tmp_path: Path) -> None:
    program = (
        f'autoload -U compinit; compinit -u -d "$PWD/dump"; source <({PROGRAM} completion zsh); '
        f"print -r -- $_comps[{PROGRAM}]"
    )
    assert shell("zsh", program, tmp_path) == ["_shtab_mindspeed_mm_train_profiler"]


def test_zsh_registers_it_unless_it_is_autoloaded() -> None:
    script = completion.script(build_parser(), "zsh")
    assert "!= loadautofunc ]]" in script and "== eval ]]" not in script


def test_fish_completes_commands_and_files(tmp_path: Path) -> None:
    program = f"{PROGRAM} completion fish | source; complete -C '{PROGRAM} coll'; complete -C '{PROGRAM} collect a'"
    printed = [line.partition("\t")[0] for line in shell("fish", program, tmp_path)]
    assert printed == ["collect", "a script.sh"] or printed == ["collect", "a\\ script.sh"]


def test_no_inner_name_is_a_description() -> None:
    script = completion.script(build_parser(), "fish")
    assert "-d options." not in script and "-d TRAIN_ITERS" not in script and "-d 'train iters'" in script
