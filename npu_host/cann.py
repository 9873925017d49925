"""CANN on this host: which ``set_env.sh`` applies, and the environment it makes.

An MCP server started by a client has neither ``~/.bashrc`` nor ``set_env.sh`` behind it; whatever is probed or started
runs in the environment that sourcing gives, taken from a child bash.
"""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from mindspeed_mm_train_profiler.npu_host import child

USUAL = ("/usr/local/Ascend/ascend-toolkit/set_env.sh", "/usr/local/Ascend/cann/set_env.sh")
OTHERS = (
    "~/Ascend/ascend-toolkit/set_env.sh",
    "~/Ascend/cann/set_env.sh",
    "/opt/Ascend/ascend-toolkit/set_env.sh",
    "/home/Ascend/ascend-toolkit/set_env.sh",
)
TIMEOUT_S = 20.0
HOME_VARIABLES = ("ASCEND_TOOLKIT_HOME", "ASCEND_HOME_PATH", "ASCEND_INSTALL_PATH")


@dataclass(frozen=True, slots=True)
class Cann:
    """``set_env``: the files sourced. ``already``: the server's own environment has CANN in it."""

    set_env: tuple[str, ...]
    version: str | None
    already: bool
    environment: Mapping[str, str]
    error: str | None = None


def candidates(named: Iterable[str | Path], environment: Mapping[str, str]) -> list[Path]:
    """Files to source: those the script names that exist; else the first that exists of the usual places."""
    chosen = [Path(path) for path in named if Path(path).is_file()]
    if any("nnal" not in str(path) for path in chosen):
        return chosen
    homes = [Path(environment[name]) / "set_env.sh" for name in HOME_VARIABLES if environment.get(name)]
    homes += [Path(environment[name]).parent / "set_env.sh" for name in HOME_VARIABLES if environment.get(name)]
    for path in [*map(Path, USUAL), *homes, *(Path(other).expanduser() for other in OTHERS)]:
        if path.is_file():
            return [path, *chosen]
    return chosen


def source(files: list[Path], environment: Mapping[str, str]) -> tuple[dict[str, str], str | None]:
    """The environment after sourcing; on failure the given one and what went wrong. Files are passed as arguments."""
    if not files:
        return dict(environment), None
    program = 'for file in "$@"; do . "$file" >/dev/null 2>&1 </dev/null; done; exec env -0'
    try:
        words = ["bash", "--noprofile", "--norc", "-c", program, "source", *map(str, files)]
        done = child.ask(words, environment, timeout_s=TIMEOUT_S)
    except OSError as error:
        return dict(environment), str(error)
    if done.code is None:
        return dict(environment), f"no answer within {TIMEOUT_S:g} s"
    found: dict[str, str] = {}
    for item in done.out.split(b"\0"):
        name, equals, value = item.partition(b"=")
        if equals:
            found[os.fsdecode(name)] = os.fsdecode(value)
    if not found.get("PATH"):
        return dict(environment), done.err.decode("utf-8", "replace").strip()[:300] or "nothing came back"
    for own in ("_", "SHLVL", "PWD", "OLDPWD"):
        if own in environment:
            found[own] = environment[own]
        else:
            found.pop(own, None)
    return found, None


def version(environment: Mapping[str, str]) -> str | None:
    """The toolkit's version, from the files it installs (``version.cfg``, ``version.info``, ...)."""
    for name in HOME_VARIABLES:
        home = environment.get(name)
        if not home:
            continue
        files = [Path(home) / "version.cfg", Path(home) / "compiler/version.info", Path(home) / "version.info"]
        try:
            files += sorted(Path(home).glob("*/ascend_toolkit_install.info"))[:4]
        except OSError:
            continue
        for file in files:
            try:
                text = file.read_text(encoding="utf-8", errors="replace")[:20_000]
            except OSError:
                continue
            if found := re.search(
                r"(?im)^\s*(?:version|toolkit_installed_version|runtime_running_version)\s*=\s*\[?([^\s\]]+)", text
            ):
                return found[1].split(":")[-1]
    return None


def find(named: Iterable[str | Path], environment: Mapping[str, str] | None = None) -> Cann:
    """CANN as the script would have it. ``named``: the set_env.sh files that the script sources, in order."""
    base = dict(os.environ if environment is None else environment)
    already = any(base.get(name) for name in HOME_VARIABLES)
    files = candidates(named, base)
    made, error = source(files, base)
    return Cann(tuple(map(str, files)), version(made), already, made, error)
