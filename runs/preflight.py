"""What is looked at right before a launch. Each finding refuses or warns; a refusal can be overridden by its name."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler import dynamic_profile
from mindspeed_mm_train_profiler.errors import CodedError, Note
from mindspeed_mm_train_profiler.npu_host import local, probe
from mindspeed_mm_train_profiler.npu_host.smi import SmiReport

NEVER_OVERRIDDEN = {"paths_missing", "copies_changed"}
BUSY_MB = 8 * 1024
"""Memory in use on a die above which somebody computes there, where npu-smi prints no process table."""
LOW_DISK = 5 * 1024**3
VISIBLE = "ASCEND_RT_VISIBLE_DEVICES"
MAX_DIES = 1024
REACHED = re.compile(r"(?!localhost|127\.|0\.0\.0\.0|::1|_)[\w.:\-]+")
"""An address that other nodes may reach; not this host's own name for itself, nor what nobody filled in."""


@dataclass(frozen=True, slots=True)
class Finding:
    """``refuses``: the launch does not go on unless overridden."""

    note: Note
    refuses: bool


def fingerprint(path: Path) -> str | None:
    """SHA-256 of a file; None where it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


def look(build: Mapping[str, Any], environment: Mapping[str, str], smi: SmiReport | None) -> Iterable[Finding]:
    """All findings for a build under the environment that the launch will have.

    For a build that follows an allocation (``nodes``) started through a scheduler, see ``look_cluster``.
    """
    yield from _files(build)
    if smi is not None:
        yield from look_npus(build, environment, smi)
    if probe.has_torch_npu(build.get("python"), environment, cwd=_folder(build.get("workdir"))) is False:
        detail = "No module named 'torch_npu'"
        yield Finding(Note("torch_npu_unavailable", {"found": detail, "detail": detail}), True)
    port = build.get("master_port")
    if port is not None and local.port_free(int(port)) is False:
        holder = local.port_holder(int(port))
        yield Finding(Note("port_in_use", {"port": port, "holder": holder or "-"}), True)
    yield from _disk(build)
    if names := local.disabling_variables({**environment, **dict(build.get("env") or {})}):
        taken = set(build.get("unset") or ())
        if left := [name for name in names if name not in taken]:
            yield Finding(Note("profiler_disabled", {"names": ", ".join(left)}), True)
    if (build.get("nnodes") or 1) > 1 and "multi_node" not in (build.get("options") or {}).get("acknowledge", []):
        commands = node_commands(build)
        yield Finding(Note("other_nodes", {"nodes": build["nnodes"], "commands": "\n".join(commands)}), True)
    if (build.get("options") or {}).get("profile_type") == "dynamic" and (segments := dynamic_profile.find_segments()):
        yield Finding(Note("shared_memory_present", {"paths": "; ".join(map(_segment, segments))}), True)
    if local.umask() & 0o022 != 0o022:
        yield Finding(Note("umask_open", {"umask": f"{local.umask():04o}"}), False)


def look_node(build: Mapping[str, Any], environment: Mapping[str, str], number: int) -> Iterable[Finding]:
    """On a node of an allocation, before its script starts: disk and variables where a profiled rank runs.

    A node that profiles nothing is not asked: its full disk stops no profile.
    """
    if not ranks_of(build, number):
        return
    yield from _disk(build)
    if names := local.disabling_variables({**environment, **dict(build.get("env") or {})}):
        taken = set(build.get("unset") or ())
        if left := [name for name in names if name not in taken]:
            yield Finding(Note("profiler_disabled", {"names": ", ".join(left)}), True)


def ranks_of(build: Mapping[str, Any], number: int) -> list[int]:
    """The profiled global ranks of one node: torchrun counts them node by node."""
    nproc = build.get("nproc_per_node")
    ranks = (build.get("expected") or {}).get("ranks") or []
    return [rank for rank in ranks if nproc and rank // nproc == number]


def look_cluster(build: Mapping[str, Any]) -> Iterable[Finding]:
    """What can be looked at on a login node: files, disk, umask; devices and ports are the allocation's."""
    yield from _files(build)
    yield from _disk(build)
    if local.umask() & 0o022 != 0o022:
        yield Finding(Note("umask_open", {"umask": f"{local.umask():04o}"}), False)


def _segment(segment: dynamic_profile.Segment) -> str:
    """A segment and who holds it: pids, nobody (a dead job left it), or not known."""
    who = {
        True: "held by nobody",
        False: f"held by pid {', '.join(map(str, segment.holders))}",
        None: "holders unknown",
    }
    return f"{segment.path} ({segment.age_s:.0f} s old, {who[segment.owner_dead]})"


def remove_dead_segments() -> list[Path]:
    """Remove the segments that provably nobody holds; those removed. Only on the user's explicit request."""
    removed = []
    for segment in dynamic_profile.find_segments():
        if segment.owner_dead:
            try:
                dynamic_profile.remove_segment(segment.path)
            except (CodedError, OSError):
                continue  # somebody took it meanwhile
            removed.append(segment.path)
    return removed


def _folder(place: Any) -> Path | None:
    return Path(place) if place and Path(place).is_dir() else None


def _files(build: Mapping[str, Any]) -> Iterable[Finding]:
    missing = [path for path in build.get("missing_paths") or [] if not Path(_path_of(path)).exists()]
    if missing:
        yield Finding(Note("paths_missing", {"found": "\n".join(f"- {_path_of(path)}" for path in missing[:30])}), True)
    for copy in build.get("copies") or []:
        if fingerprint(Path(copy["copy"])) != copy["sha256_copy"]:
            yield Finding(Note("copies_changed", {"path": copy["copy"]}), True)
        if fingerprint(Path(copy["original"])) != copy["sha256_original"]:
            yield Finding(Note("originals_changed", {"path": copy["original"]}), True)


def _path_of(item: Any) -> str:
    return str(item["path"] if isinstance(item, dict) else item)


def look_npus(build: Mapping[str, Any], environment: Mapping[str, str], smi: SmiReport) -> Iterable[Finding]:
    """Whether the NPUs that this host's ranks will use are there and free.

    Rank i uses the i-th die that ASCEND_RT_VISIBLE_DEVICES leaves visible (CANN; all of them without it).
    """
    if smi.status == "driver_refuses":
        yield Finding(Note("driver_refuses", {"detail": (smi.raw_error or "").splitlines()[-1:]}), True)
        return
    if smi.status == "not_found" or (smi.status != "timeout" and not smi.dies):
        detail = smi.raw_error or "npu-smi: not found"
        yield Finding(Note("npu_unavailable", {"found": detail[:300], "detail": detail[:300]}), True)
        return
    if smi.status != "ok":
        yield Finding(Note("npu_smi_hangs", {"detail": smi.raw_error}), False)
        return
    wanted, dies = build.get("nproc_per_node"), smi.dies
    asked = {**environment, **dict(build.get("env") or {}), **dict(build.get("launch_env") or {})}.get(VISIBLE)
    chosen = visible_devices(asked) if asked is not None else None
    if chosen is not None:
        dies = [smi.dies[index] for index in chosen if index < len(smi.dies)]
    if wanted and len(dies) < wanted:
        note = Note("too_few_npus", {"wanted": wanted, "there": len(dies), "visible": asked or "-"})
        yield Finding(note, True)
    busy = []
    for die in dies[: wanted or None]:
        used = die.hbm_used_mb if die.hbm_used_mb is not None else die.memory_used_mb
        if die.processes:
            busy.append(f"{die.place} (pid {', '.join(str(p.pid) for p in die.processes[:4])})")
        elif not smi.processes_known and used is not None and used > BUSY_MB:
            busy.append(f"{die.place} ({used} MB)")
    if busy:
        yield Finding(Note("npu_busy", {"npus": "; ".join(busy)}), True)


def visible_devices(value: str) -> list[int] | None:
    """Dies named by ASCEND_RT_VISIBLE_DEVICES (``0,1``, ``4-7``), in its order; None where it says something else."""
    found: list[int] = []
    for part in value.split(","):
        first, dash, last = (piece.strip() for piece in part.partition("-"))
        if not first.isdecimal() or (dash and not last.isdecimal()):
            return None
        ends = (int(first), int(last) if dash else int(first))
        if not ends[0] <= ends[1] < MAX_DIES:
            return None
        found += range(ends[0], ends[1] + 1)
    return found


def _disk(build: Mapping[str, Any]) -> Iterable[Finding]:
    place = build.get("save_path")
    if not place:
        return
    free = local.disk(Path(place)).free_bytes
    wanted = (build.get("estimate") or {}).get("bytes")
    if free is not None and wanted and wanted > free:
        yield Finding(Note("save_disk_too_small", {"path": place, "free": free, "wanted": wanted}), True)
    elif free is not None and free < LOW_DISK:
        yield Finding(Note("disk_low", {"path": place, "free": free}), False)


def node_commands(build: Mapping[str, Any]) -> list[str]:
    """What to start on every node of a job over several: the same copy, from the same directory; and a pdsh line.

    The copy takes its place among the nodes from variables (``nodes`` in the build); where it cannot, it is started
    with the script's own NODE_RANK, which the user must see to.
    """
    import shlex

    count = int(build.get("nnodes") or 1)
    place, words = shlex.quote(str(build["workdir"])), shlex.join(build["argv"])
    given = "".join(f"{name}={shlex.quote(str(value))} " for name, value in (build.get("env") or {}).items())
    words = given + words  # the build was proven with these
    if not build.get("nodes"):
        return [f"cd {place} && NODE_RANK={rank} {words}" for rank in range(count)]
    master = str(build.get("master_addr") or "")
    if not REACHED.fullmatch(master):
        master = "ADDRESS_OF_NODE_0"
    shared = f"MM_PROFILER_NNODES={count} MM_PROFILER_MASTER_ADDR={master}"
    if build.get("master_port"):
        shared += f" MM_PROFILER_MASTER_PORT={build['master_port']}"
    lines = [f"cd {place} && {shared} MM_PROFILER_NODE_RANK={rank} {words}" for rank in range(count)]
    # %n is pdsh's: the node's number; any other % of the command would be taken for one of its own
    before, after = (text.replace("%", "%%") for text in (f"cd {place} && {shared}", words))
    everywhere = f"{before} MM_PROFILER_NODE_RANK=%n {after}"
    return [*lines, f"pdsh -w NODE_0,NODE_1,... {shlex.quote(everywhere)}"]
