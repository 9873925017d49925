"""The one interface behind which launchers stand: this host, Slurm; a third one is a module and a row in ``MODULES``.

A run's record names its launcher; a record without one is this host's. Implementations are modules, imported when one
of their runs is met: a server that only reads scripts never imports them.
"""

from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from mindspeed_mm_train_profiler.runs.folder import RunFolder
from mindspeed_mm_train_profiler.runs.preflight import Finding

ROOM = "mindspeed_mm_train_profiler.runs"
MODULES: Mapping[str, str] = {
    "local": f"{ROOM}.this_host",
    "slurm": f"{ROOM}.slurm_launcher",
    "slurm_array": f"{ROOM}.slurm_array",
}
DEFAULT = "local"


class Launcher(Protocol):
    """What a way of starting a training must be able to do. Folders are those of its own runs."""

    def findings(self, build: Mapping[str, Any], environment: Mapping[str, str]) -> list[Finding]:
        """What is wrong with a launch now, as far as a launch has time to look (2 s). Errors: the launcher's own."""

    def start(
        self,
        build: Mapping[str, Any],
        environment: Mapping[str, str],
        key: str | None,
        asked: Mapping[str, Any],
        allowed: Iterable[str],
        findings: Iterable[Finding],
    ) -> RunFolder:
        """Make the run's folder and start it. ``asked``: the launcher's own options; ``allowed``: overridden codes;
        ``findings``: what it said before.

        The caller holds the launch lock.
        """

    def active(self, folder: RunFolder) -> bool:
        """Whether the run has not ended: it waits, starts or trains, supervised."""

    def orphaned(self, folder: RunFolder) -> bool:
        """Whether its training goes on although nobody supervises it any more."""

    def state(self, folder: RunFolder) -> tuple[str, int | None, int | None]:
        """(state in the contract's words, exit code of the launcher or the script, signal)."""

    def poll(self, folder: RunFolder, cursor: int | None, lines: int, node: int | None) -> dict[str, Any]:
        """One look: all that ``poll_status`` tells. ``node``: of a run over many, whose log is wanted."""

    def stop(self, folder: RunFolder, grace_s: float) -> dict[str, Any]:
        """End it: {already_ended, terminated, killed, left}; nothing that is not this run's is touched."""

    def log(self, folder: RunFolder) -> Path:
        """The log that a user would open first."""


def named(name: str) -> Launcher:
    """The launcher of that name. Error: KeyError."""
    return cast(Launcher, import_module(MODULES[name]))


def of(folder: RunFolder) -> Launcher:
    """The launcher of a run; one that a later release wrote, and this one does not know, is read as this host's."""
    name = str((folder.read("run") or {}).get("launcher") or DEFAULT)
    return named(name if name in MODULES else DEFAULT)
