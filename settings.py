"""Settings of one server process, from its command line or its environment. Read once, before the first call."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

PREFIX = "MINDSPEED_MM_TRAIN_PROFILER_"
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
YES = frozenset({"1", "true", "yes", "on"})
NO = frozenset({"0", "false", "no", "off"})


@dataclass(frozen=True, slots=True)
class Settings:
    """``language``: of results where the caller names none. ``allow_dirs``: empty means no restriction, as for the
    terminal commands, which act for their own user; a server has ``default_dirs`` where none are named.
    """

    language: Literal["zh", "en"] = "en"
    read_only: bool = False
    allow_dirs: tuple[Path, ...] = ()
    max_nproc: int | None = None
    log_level: str = "WARNING"
    extra: dict[str, str] = field(default_factory=dict)
    wrong: tuple[str, ...] = ()
    """``NAME=value`` of variables that do not say what they may: a server does not start with a limit misread."""


def from_environment() -> Settings:
    """Settings named in ``MINDSPEED_MM_TRAIN_PROFILER_*`` variables; an invalid one is left at its default and told."""
    wrong = []

    def get(name: str) -> str:
        return os.environ.get(PREFIX + name, "").strip()

    def known(name: str, good: Callable[[str], bool]) -> str:
        value = get(name)
        if value and not good(value):
            wrong.append(f"{PREFIX}{name}={value}")
            return ""
        return value

    def folder(part: str) -> Path | None:
        try:
            return Path(part).expanduser().resolve()
        except (OSError, RuntimeError):  # ~ of a user who is not there
            wrong.append(f"{PREFIX}ALLOW_DIR={part}")
            return None

    nproc = known("MAX_NPROC", lambda value: value.isdecimal() and int(value) > 0)
    folders = [folder(part) for part in get("ALLOW_DIR").split(os.pathsep) if part]
    return Settings(
        language="zh" if get("LANGUAGE").lower().startswith("zh") else "en",
        read_only=known("READ_ONLY", lambda value: value.lower() in YES | NO).lower() in YES,
        allow_dirs=tuple(path for path in folders if path is not None),
        max_nproc=int(nproc) if nproc else None,
        log_level=known("LOG_LEVEL", lambda value: value.upper() in LOG_LEVELS).upper() or "WARNING",
        wrong=tuple(wrong),
    )


def default_dirs() -> tuple[Path, ...]:
    """The working directory and home, links resolved. A client that starts servers in ``/`` names none."""
    found = []
    for place in (Path.cwd, Path.home):
        try:
            folder = place().resolve()
        except (OSError, RuntimeError):  # the directory is gone; there is no home
            continue
        if folder != Path(folder.anchor) and folder not in found:
            found.append(folder)
    return tuple(found)


_current = from_environment()


def current() -> Settings:
    return _current


def change(**values: object) -> Settings:
    """Replace settings of this process (command line flags, tests); returns the new ones."""
    global _current
    _current = replace(_current, **values)  # type: ignore[arg-type]
    return _current
