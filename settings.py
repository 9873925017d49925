"""Settings of one server process, from its command line or its environment. Read once, before the first call."""

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

PREFIX = "MINDSPEED_MM_TRAIN_PROFILER_"


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


def from_environment() -> Settings:
    """Settings named in ``MINDSPEED_MM_TRAIN_PROFILER_*`` variables; what is not valid there is left at its default."""

    def get(name: str) -> str:
        return os.environ.get(PREFIX + name, "").strip()

    nproc = get("MAX_NPROC")
    return Settings(
        language="zh" if get("LANGUAGE").lower().startswith("zh") else "en",
        read_only=get("READ_ONLY").lower() in {"1", "true", "yes", "on"},
        allow_dirs=tuple(Path(part).resolve() for part in get("ALLOW_DIR").split(os.pathsep) if part),
        max_nproc=int(nproc) if nproc.isdecimal() and int(nproc) > 0 else None,
        log_level=get("LOG_LEVEL").upper() or "WARNING",
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
