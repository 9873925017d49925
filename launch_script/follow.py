"""Other files and programs a script leads to: sourced files, called scripts, programs in quotes."""

import os
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.errors import CodedError, Note
from mindspeed_mm_train_profiler.launch_script import syntax
from mindspeed_mm_train_profiler.launch_script.assignments import from_word
from mindspeed_mm_train_profiler.launch_script.expansion import line_of
from mindspeed_mm_train_profiler.launch_script.plan import SourceFile, Word
from mindspeed_mm_train_profiler.launch_script.state import MAX_DEPTH, Shell

Status = bool | None
SHELLS = {"bash", "sh", "dash", "zsh"}
ENVIRONMENT_FILES = {"set_env.sh", "setenv.bash", "set_env.bash"}
"""CANN's own: they set the environment of the host and are looked at by check_env."""
PROFILE_FILES = {".bashrc", ".bash_profile", ".profile", "profile", "activate", "conda.sh", "bashrc"}
"""They change PATH and prompt; what they hold is the user's machine, not the launch."""


def lexical(path: Path) -> str:
    """A path with ``.`` and ``..`` taken out as ``cd`` does."""
    return os.path.normpath(path)


def absolute(shell: Shell, text: str) -> Path | None:
    path = Path(text)
    if path.is_absolute():
        return path
    return shell.cwd / path if shell.cwd else None


def _load(shell: Shell, path: Path, at: Word) -> syntax.Source | None:
    """The parsed file, read once; None where it cannot be read."""
    record = shell.record
    if path not in record.sources:
        try:
            data = syntax.read_script(path)
        except CodedError:
            return None
        source = syntax.parse(path, data)
        record.sources[path] = source
        record.files[path] = SourceFile(path, data, None if shell.source.quoted else at.span)
        record.notes.extend(source.notes)
    return record.sources[path]


def source_file(shell: Shell, node: Any, words: list[Word]) -> Status:
    """``source file``: evaluated in this shell."""
    from mindspeed_mm_train_profiler.launch_script.statements import run

    if len(words) < 2:
        return None
    if not words[1].known:
        shell.record.notes.append(Note("source_not_known", {"text": words[1].text, "line": line_of(node)}))
        if Path(words[1].text).name not in ENVIRONMENT_FILES | PROFILE_FILES:
            shell.record.any_set = True
        return None
    path = absolute(shell, words[1].text)
    if path is None:
        return None
    path = Path(lexical(path))
    if path.name in ENVIRONMENT_FILES:
        if path not in shell.record.set_env:
            shell.record.set_env.append(path)
        return True if path.exists() else None
    if path.name in PROFILE_FILES:
        if path.name == "activate" and path.parent.name == "bin":
            shell.record.python = str(path.parent / "python")
        return None
    if path in shell.record.generated:
        shell.record.notes.append(Note("source_generated", {"path": path, "line": line_of(node)}))
        shell.record.any_set = True
        return None
    source = _load(shell, path, words[1])
    if source is None:
        shell.record.missing_sources.append((path, line_of(node)))
        return False
    if shell.depth >= MAX_DEPTH:
        shell.record.notes.append(Note("nested_too_deeply", {"line": line_of(node)}))
        return None
    saved = shell.source, shell.arguments, shell.depth
    shell.source, shell.depth = source, shell.depth + 1
    if len(words) > 2:
        shell.arguments = tuple(from_word(word) for word in words[2:])
    status: Status = run(shell, source.tree.root_node)
    shell.source, shell.arguments, shell.depth = saved
    shell.returned = False
    return status


def is_shell(words: list[Word]) -> bool:
    return Path(words[0].text).name in SHELLS


def is_script(shell: Shell, words: list[Word]) -> bool:
    """``./other.sh args``."""
    text = words[0].text
    return text.endswith(".sh") and "/" in text


def run_shell(shell: Shell, node: Any, words: list[Word], wrappers: tuple[str, ...]) -> Status:
    """``bash -c "..."`` or ``bash script args``."""
    rest = words[1:]
    while rest and rest[0].text.startswith("-") and rest[0].text != "--":
        option = rest[0].text
        if "c" in option[1:] and not option.startswith("--"):
            if len(rest) > 1:
                inner = shell.fork(
                    depth=shell.depth + 1, arguments=tuple(from_word(word) for word in rest[3:]), locals=[]
                )
                return run_text(inner, node, rest[1].text, at=rest[1])
            return None
        rest = rest[2:] if option in {"-o", "-O", "--rcfile", "--init-file"} else rest[1:]
    if rest and rest[0].text == "--":
        rest = rest[1:]
    return run_script(shell, node, rest, wrappers) if rest else None


def run_script(shell: Shell, node: Any, words: list[Word], wrappers: tuple[str, ...]) -> Status:
    """Another script in a shell of its own: it sees exported variables alone."""
    from mindspeed_mm_train_profiler.launch_script.statements import run

    if not words[0].known or shell.depth >= MAX_DEPTH:
        shell.record.notes.append(Note("source_not_known", {"text": words[0].text, "line": line_of(node)}))
        return None
    path = absolute(shell, words[0].text)
    if path is None:
        return None
    path = Path(lexical(path))
    source = _load(shell, path, words[0])
    if source is None:
        shell.record.missing_sources.append((path, line_of(node)))
        return None
    inner = shell.fork(
        source=source,
        variables={name: var for name, var in shell.variables.items() if var.exported},
        functions={},
        arguments=tuple(from_word(word) for word in words[1:]),
        zero=str(path),
        depth=shell.depth + 1,
        output=None,
        locals=[],
    )
    run(inner, source.tree.root_node)
    if "exec" in wrappers and shell.certain:
        shell.exited = True
    return None


def run_text(shell: Shell, node: Any, text: str, at: Word | None = None) -> Status:
    """A program in a quoted word. Its positions are the word's: nothing inside can be edited alone."""
    from mindspeed_mm_train_profiler.launch_script.statements import run

    if shell.depth >= MAX_DEPTH:
        return None
    data = syntax.encode(text)
    outer = shell.source.quoted or (at.span if at is not None and at.span else shell.source.span(node))
    source = syntax.Source(shell.source.path, data, data, syntax.parse_tree(data), (), quoted=outer)
    saved, shell.source = shell.source, source
    shell.depth += 1
    status: Status = run(shell, source.tree.root_node)
    shell.source = saved
    shell.depth -= 1
    return status
