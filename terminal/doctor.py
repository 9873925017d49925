"""``doctor``: is this installation sound? Each check says what was looked at and what to do.

Concerns the installation alone; the NPU host is ``env``'s matter. Everything is tried, so that one run tells all.
"""

import importlib
import importlib.metadata
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.requirements import Requirement

from mindspeed_mm_train_profiler import __version__
from mindspeed_mm_train_profiler.state import private_folder, state_dir

DISTRIBUTION = "mindspeed-mm-train-profiler"


@dataclass(frozen=True, slots=True)
class Check:
    """``ok`` None: could not be looked at, or a remark that stops nothing. ``said``: ``found`` as a sentence of the
    catalogue with ``params``, where it is one."""

    name: str
    ok: bool | None
    found: str
    fix: str | None = None
    said: str | None = None
    params: tuple[tuple[str, str], ...] = ()


def python() -> Iterable[Check]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Check("python", sys.version_info >= (3, 10), f"{version} at {sys.executable}", "doctor.fix.python")


def requirements() -> Iterable[Check]:
    """Installed packages against the ranges this distribution asks for."""
    try:
        wanted = importlib.metadata.requires(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        yield Check("distribution", False, f"{DISTRIBUTION} {__version__} runs from files", "doctor.fix.install")
        return
    for line in wanted:
        requirement = Requirement(line)
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        try:
            version = importlib.metadata.version(requirement.name)
        except importlib.metadata.PackageNotFoundError:
            yield Check(requirement.name, False, f"absent, wanted {requirement.specifier}", "doctor.fix.install")
            continue
        good = requirement.specifier.contains(version, prereleases=True)
        yield Check(requirement.name, good, f"{version} (wanted {requirement.specifier})", "doctor.fix.install")


def parser() -> Iterable[Check]:
    """The compiled parts load here: a wheel for another platform fails at import."""
    for name in ("tree_sitter", "tree_sitter_bash", "psutil", "pydantic_core", "yaml"):
        try:
            importlib.import_module(name)
        except Exception as error:  # whatever a broken binary raises
            yield Check(f"import {name}", False, f"{type(error).__name__}: {error}", "doctor.fix.wheels")
        else:
            yield Check(f"import {name}", True, "loads", said="doctor.found.loads")


def command() -> Iterable[Check]:
    """The command is on PATH and is this installation's."""
    found = shutil.which(DISTRIBUTION)
    beside = Path(sys.executable).parent / DISTRIBUTION
    if found is None:
        there = beside.exists()
        yield Check(
            "command",
            None,
            f"not on PATH; lies at {beside}" if there else "not on PATH",
            "doctor.fix.path",
            "doctor.found.elsewhere" if there else "doctor.found.not_on_path",
            (("path", str(beside)),) if there else (),
        )
    elif beside.exists() and not beside.samefile(found):  # an older one, say: clients start what is found
        both = (("path", found), ("own", str(beside)))
        words = f"{found} is another installation's; this one's lies at {beside}"
        yield Check("command", None, words, "doctor.fix.path", "doctor.found.other", both)
    else:
        yield Check("command", True, found)
    bash = shutil.which("bash")
    yield Check(
        "bash",
        bash is not None,
        bash or "not on PATH",
        "doctor.fix.bash",
        None if bash else "doctor.found.not_on_path",
    )


def state() -> Iterable[Check]:
    """The state folder can be written, is ours alone, and renames within it work."""
    folder = state_dir()
    try:
        private_folder(folder)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".doctor-") as file:
            file.write(b"x")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        yield Check("state folder", False, f"{folder}: {error.strerror or error}", "doctor.fix.state")
        return
    yield Check("state folder", True, str(folder))


def server() -> Iterable[Check]:
    """The server starts as a client starts it, and ends when its input closes."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", "mindspeed_mm_train_profiler.cli"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        yield Check("server", False, f"{type(error).__name__}: {error}", "doctor.fix.server")
        return
    last = (done.stderr.strip().splitlines() or ["started and ended cleanly"])[-1]
    good = done.returncode == 0 and done.stdout == ""
    yield Check(
        "server",
        good,
        last[:300] if not good else "starts and ends cleanly",
        "doctor.fix.server",
        "doctor.found.clean" if good else None,
    )


CHECKS: tuple[Callable[[], Iterable[Check]], ...] = (python, requirements, parser, command, state, server)


def examine() -> list[Check]:
    """All checks; a fix is named only where something is wrong."""
    found = [check for group in CHECKS for check in group()]
    return [replace(check, fix=None) if check.ok else check for check in found]


def as_rows(checks: Iterable[Check]) -> list[dict[str, object]]:
    return [{name: getattr(check, name) for name in ("name", "ok", "found", "fix")} for check in checks]
