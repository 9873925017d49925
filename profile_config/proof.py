"""The proof of every build: the copy means what was asked, and nothing else has changed.

Configurations are reloaded under the trainer's own rules; the script copy is read again by the static evaluator.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.launch_script.plan import LaunchPlan
from mindspeed_mm_train_profiler.profile_config.edits import Change, differences, dotted, merged, same
from mindspeed_mm_train_profiler.trainer_files import parse_json, parse_yaml


def load(path: Path, data: bytes) -> Any:
    """What the trainer makes of these bytes, by the file's name."""
    if data.startswith(b"\xef\xbb\xbf"):
        raise CodedError("config_has_bom", found=path)
    return parse_yaml(path, data) if path.suffix.lower() in {".yaml", ".yml"} else parse_json(path, data)


def prove_config(path: Path, original: Any, after: bytes, wanted: Mapping[str, Any]) -> list[Change]:
    """The semantic difference, proven to be exactly ``wanted``. ``original``: what ``load`` made of the original.

    Error: ``proof_failed``, saying which keys differ from the request.
    """
    try:
        copy = load(path, after)
    except CodedError as error:
        raise CodedError("proof_failed", found=f"{path}: {error.code} {error.found}") from error
    expected = merged(original, wanted)
    if not same(copy, expected):
        wrong = differences(expected, copy)
        shown = "; ".join(f"{dotted(c.key)}: {c.after!r} != {c.before!r}" for c in wrong[:5])
        raise CodedError("proof_failed", found=f"{path}: {shown}")
    return differences(original, copy)


@dataclass(slots=True)
class Request:
    """What the script copy must launch. ``paths``: original → copy, for every file of the chain that was copied."""

    paths: dict[Path, Path]
    train_iters: int | None = None
    added: tuple[str, ...] = ()
    """Arguments put behind the entry."""
    words: dict[int, str] = field(default_factory=dict)
    """Other words of the launcher call that may change, by index, and what they must become."""


BACKTICKS = re.compile(r"`([^`\\]*)`")


def script_problems(before: LaunchPlan, after: LaunchPlan, request: Request) -> list[tuple[str, str]]:
    """What the copy would do otherwise than asked, as (kind, detail); empty where the proof holds.

    Kinds: ``chain:<n>`` (the n-th link leads elsewhere), ``train_iters``, ``word:<n>``, ``engine``.
    """
    found: list[tuple[str, str]] = []
    if after.engine != before.engine or after.call is None or before.call is None:
        return [("engine", f"{after.engine}, {before.engine}")]
    if len(after.chain) != len(before.chain):
        found.append(("chain:1", " -> ".join(str(link.path) for link in after.chain)))
    for index, (old, new) in enumerate(zip(before.chain[1:], after.chain[1:], strict=False), 1):
        if new.path != request.paths.get(old.path, old.path):
            found.append((f"chain:{index}", f"{new.path} != {request.paths.get(old.path, old.path)}"))
    if request.train_iters is not None and after.train_iters.value != request.train_iters:
        found.append(("train_iters", f"{after.train_iters.value} != {request.train_iters}"))
    found += _word_problems(before, after, request)
    originals = set(request.paths)
    for change in after.world_changes:
        from mindspeed_mm_train_profiler.profile_config.world import STOPS, touches

        if change.kind in STOPS and touches(after, change, originals):
            found.append(("touches", f"line {change.span.line}: {change.command[:100]}"))
    return found


def _word_problems(before: LaunchPlan, after: LaunchPlan, request: Request) -> list[tuple[str, str]]:
    assert before.call is not None and after.call is not None
    old = [word.text for word in before.call.words]
    new = [word.text.replace(after.script.name, before.script.name) for word in after.call.words]
    if request.added:
        at = len(old) - len(before.call.entry_args)
        if tuple(new[at : at + len(request.added)]) != request.added:
            return [("word:0", f"{new[at : at + 2]} != {request.added}")]
        del new[at : at + len(request.added)]
    if len(old) != len(new):
        return [("word:0", f"{len(new)} words instead of {len(old)}")]
    return [
        (f"word:{index}", f"{b!r} != {request.words.get(index, a)!r}")
        for index, (a, b) in enumerate(zip(old, new, strict=True))
        if b != request.words.get(index, a)
        and not (
            # an unknown value is told by its text: a command in backticks is the same one in $()
            not before.call.words[index].known and b == BACKTICKS.sub(r"$(\1)", a)
        )
    ]
