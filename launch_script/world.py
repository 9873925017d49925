"""Commands that would touch more than the launch: a copy of the script still does what the original does."""

import itertools
import re
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.launch_script.plan import Word, WorldChange
from mindspeed_mm_train_profiler.launch_script.state import Shell

MAX_CHANGES = 64
KINDS: dict[str, str] = {
    "rm": "removes",
    "rmdir": "removes",
    "unlink": "removes",
    "shred": "removes",
    "mv": "moves",
    "cp": "copies",
    "ln": "links",
    "sed": "edits",
    "truncate": "edits",
    "dd": "edits",
    "patch": "edits",
    "tee": "writes",
    "chmod": "modes",
    "chown": "modes",
    "pkill": "kills",
    "killall": "kills",
    "kill": "kills",
    "fuser": "kills",
    "find": "finds",
    "pip": "installs",
    "pip3": "installs",
    "apt": "installs",
    "apt-get": "installs",
    "yum": "installs",
    "conda": "installs",
    "git": "checkout",
    "wget": "downloads",
    "curl": "downloads",
    "huggingface-cli": "downloads",
    "modelscope": "downloads",
    "rsync": "copies",
    "reboot": "host",
    "shutdown": "host",
    "systemctl": "host",
}
CREATES = {"mkdir", "touch"}


OWN = re.compile(r"-?\$[!$]|%\S*|\$\(\s*jobs\s+-p\w*\s*\)|`\s*jobs\s+-p\w*\s*`")
"""The script's own jobs, as reading leaves them: what was put in the background ends with the script that did it."""


def _own_jobs(texts: list[str]) -> bool:
    """``kill -9 "$MONITOR_PID"`` of what the script started itself (``MONITOR_PID=$!``): stilled, it would be waited
    for in vain."""
    targets, takes_value = [], False
    for text in texts:
        if takes_value:
            takes_value = False
        elif OWN.fullmatch(text):
            targets.append(True)
        elif text in {"-s", "-n"}:
            takes_value = True
        elif text and not text.startswith("-"):
            targets.append(False)
    return bool(targets) and all(targets)


def _acts(name: str, texts: list[str]) -> bool:
    """Whether the command, as written, changes something."""
    if name == "sed":
        return any(
            text.startswith("-i")
            or text.startswith("--in-place")
            or (text[:1] == "-" and text[1:2] != "-" and "i" in text)
            for text in texts
        )
    if name == "find":
        return any(text in {"-delete", "-exec", "-execdir", "-ok"} for text in texts)
    if name == "kill":
        return not texts or (texts[0] not in {"-0", "-l"} and not _own_jobs(texts))
    if name == "pkill":
        return not any(pair == ("-P", "$$") for pair in itertools.pairwise(texts))
    if name == "fuser":
        return any(text.startswith("-") and "k" in text for text in texts)
    if name in {"pip", "pip3", "apt", "apt-get", "yum", "conda"}:
        return any(text in {"install", "uninstall", "remove", "upgrade"} for text in texts)
    if name == "git":
        return any(text in {"checkout", "reset", "apply", "am", "clean", "pull", "clone", "stash"} for text in texts)
    return True


def note_change(shell: Shell, node: Any, words: list[Word]) -> None:
    """Remember a command that changes files or processes; and what ``mkdir`` and ``touch`` make."""
    name = Path(words[0].text).name
    texts = [word.text for word in words[1:]]
    targets = tuple(word for word in words[1:] if not word.text.startswith("-"))
    if name in CREATES:
        for word in targets:
            if word.known and word.text:
                path = Path(word.text)
                if not path.is_absolute() and shell.cwd is not None:
                    path = shell.cwd / path
                if path.is_absolute():
                    shell.record.generated.setdefault(path, node.start_point[0] + 1)
        return
    kind = KINDS.get(name)
    if kind is None or not _acts(name, texts) or len(shell.record.world) >= MAX_CHANGES:
        return
    shell.record.world.append(
        WorldChange(
            kind,
            shell.source.raw(node)[:500],
            shell.source.span(node),
            targets,
            before_launch=not shell.record.launched,
            certain=shell.certain,
        )
    )
