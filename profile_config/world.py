"""Commands of the script that would touch more than the launch: which follow to the copies, which must be stilled.

A copied script still does what the original does. With the user's consent (``world_changes``) such a command is
neutralised in the copy (``: `` before it); without it the build is refused.
"""

import re
from pathlib import Path

from mindspeed_mm_train_profiler.errors import CodedError, Note
from mindspeed_mm_train_profiler.launch_script.plan import LaunchPlan, Word, WorldChange
from mindspeed_mm_train_profiler.options import ProfileOptions

STOPS = {"removes", "moves", "edits", "kills", "installs", "downloads", "checkout", "host", "copies", "links"}
FIND_VALUES = {"d", "f", "l"}


def resolved(plan: LaunchPlan, word: Word) -> Path | None:
    """The path that a word names, where it is known and may be one."""
    if not word.known or not word.text or "\0" in word.text or len(word.text) > 4000:
        return None
    base = (plan.call.cwd if plan.call is not None else None) or plan.workdir
    import os

    return Path(os.path.normpath(base / word.text))


def touches(plan: LaunchPlan, change: WorldChange, paths: set[Path]) -> bool:
    return any(resolved(plan, word) in paths for word in change.targets)


def _lost_path(change: WorldChange) -> bool:
    """``find $SAVE_PATH -exec chmod`` with an empty variable acts on the current directory."""
    found = re.match(r"find\s+(\S+)", change.command)
    if found is None or not found[1].lstrip('"').startswith("$") or not change.targets:
        return False
    first = change.targets[0]
    return first.text in FIND_VALUES or (first.known and first.text in {".", "/", "./"})


def _own_log(plan: LaunchPlan, change: WorldChange) -> bool:
    log = plan.call.log_file if plan.call is not None else None
    return log is not None and all(resolved(plan, word) == log for word in change.targets)


def dangerous(plan: LaunchPlan, originals: set[Path]) -> list[WorldChange]:
    """Changes that need consent. An in-place edit of a configuration that is copied follows to the copy instead."""
    found = []
    for change in plan.world_changes:
        if change.kind == "finds":
            if "-delete" in change.command or re.search(r"-exec\s+rm\b", change.command) or _lost_path(change):
                found.append(change)
        elif change.kind == "modes":
            if any(
                re.search(r"(^|\s)-\w*R", change.command) and resolved(plan, w) in {plan.workdir, Path("/")}
                for w in change.targets
            ):
                found.append(change)
        elif change.kind in STOPS and not _own_log(plan, change):
            if change.kind == "edits" and touches(plan, change, originals):
                continue
            found.append(change)
    return found


def check(plan: LaunchPlan, options: ProfileOptions, originals: set[Path], notes: list[Note]) -> list[WorldChange]:
    """The changes to neutralise. Error: ``script_changes_world`` where the user has not consented."""
    found = dangerous(plan, originals)
    if found and "world_changes" not in options.acknowledge:
        lines = [f"{c.span.path.name}:{c.span.line}: {_short(c.command)}" for c in found]
        raise CodedError("script_changes_world", found="; ".join(lines[:8]), count=len(found))
    notes.extend(Note("command_neutralised", {"line": c.span.line, "command": _short(c.command)}) for c in found)
    return found


def _short(command: str) -> str:
    text = " ".join(command.split())
    return text if len(text) <= 100 else text[:97] + "..."
