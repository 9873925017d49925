"""What a run is doing, from its folder alone: state, phase, iteration, window, sessions, diagnosis."""

import re
from datetime import datetime
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.runs import redact, signatures, slurm
from mindspeed_mm_train_profiler.runs.folder import RunFolder, alive
from mindspeed_mm_train_profiler.runs.launch import active
from mindspeed_mm_train_profiler.runs.logscan import Scan, tail

SESSION = re.compile(r"^.+_\d+_(\d{14,17})_ascend_pt$")
FALLBACK_BYTES = 512 * 1024
MAX_LOG_CHARS = 12_000
FULL_BYTES = 1024 * 1024
ACTIVE = {"starting", "running"}


def sessions(folder: RunFolder, build: dict[str, Any]) -> list[str]:
    """Profiler session directories of this run, as they appear under its save path."""
    run = folder.read("run") or {}
    began = float(run.get("created", 0))
    found = []
    for key in ("save_path",):
        place = build.get(key)
        if not place:
            continue
        try:
            names = sorted(path for path in Path(place).glob("*_ascend_pt"))[:1024]
        except OSError:
            continue
        for path in names:
            try:
                if path.is_dir() and path.stat().st_ctime >= began - 2:
                    found.append(str(path))
            except OSError:
                continue
    return found


def facts_of(folder: RunFolder) -> dict[str, Any]:
    """What the log says: from the supervisor's own reading; where there is none, from the log's end."""
    status = folder.read("status")
    if status is not None and (folder.read("end") is not None or alive(folder.read("supervisor"))):
        return status
    run = folder.read("run") or {}
    scan = Scan()
    for path in (folder.log, *([Path(run["log_file"])] if run.get("log_file") else [])):
        scan.read(path, most=FALLBACK_BYTES)
        scan.flush()
        if scan.lines:
            break
    facts = scan.as_dict()
    if status is not None and (status.get("iteration") or 0) > (facts.get("iteration") or 0):
        return status
    return facts


def state_of(folder: RunFolder) -> tuple[str, int | None, int | None]:
    """(state, exit code of the launcher or script, signal)."""
    if slurm.is_slurm(folder):
        from mindspeed_mm_train_profiler.runs import slurm_poll

        state, code, _ = slurm_poll.state_of(folder)
        return state, code, None
    end = folder.read("end")
    launchers = folder.launchers()
    if end is None:
        if folder.read("script") is None and active(folder):
            return "starting", None, None
        if active(folder):
            return "running", None, None
        end = folder.read("end")  # it may have ended between the two looks
        if end is None:
            return "lost", None, None
    codes = [int(code) for code in end.get("launcher_exit_codes") or []]
    script, killed = end.get("script_exit_code"), end.get("script_signal")
    code = next((c for c in codes if c != 0), codes[-1] if codes else script)
    if end.get("stopped"):
        return "stopped", code, killed
    if end.get("error") or killed or (launchers and len(codes) < len(launchers)):
        return "failed", code, killed
    if end.get("launcher_missed") and (folder.read("status") or {}).get("iteration") is None:
        return "failed", code, killed  # exit code 0, and nothing was trained
    return ("succeeded" if code == 0 else "failed"), code, killed


def phase_of(state: str, facts: dict[str, Any], folder: RunFolder, window: dict[str, Any] | None, seen: int) -> str:
    if state not in ACTIVE:
        return "done"
    iteration, last = facts.get("iteration"), facts.get("train_iters")
    if facts.get("parsing", 0) > facts.get("parsed", 0):
        return "parsing"
    if iteration is None:
        return "initialising" if folder.launchers() else "launching"
    if last is not None and iteration >= last:
        return "finishing"
    if window and window["first_iteration"] - 1 <= iteration < window["last_iteration"]:
        return "profiling"
    return "training"


def window_of(build: dict[str, Any], facts: dict[str, Any]) -> dict[str, Any] | None:
    window = build.get("window")
    if not window:
        return None
    iteration = facts.get("iteration")
    reached = None if iteration is None else iteration >= window["first_iteration"] - 1
    return {
        "first_iteration": window["first_iteration"],
        "last_iteration": window["last_iteration"],
        "reached": reached,
    }


def host_causes(folder: RunFolder) -> list[dict[str, Any]]:
    """What the kernel's own counters and free space say about the end; they know it better than the log."""
    told = folder.read("facts") or {}
    start, end = told.get("start") or {}, told.get("end") or {}
    rows = []

    def row(code: str, evidence: str) -> None:
        rows.append({"code": code, "evidence": evidence, "line": None, "rank": None})

    before, after = start.get("oom_kills"), end.get("oom_kills")
    if before is not None and after is not None and after > before:
        row("cgroup_oom", f"oom_kill {before} -> {after}")
    if (free := end.get("disk_free")) is not None and free < FULL_BYTES:
        row("disk_full", f"{(folder.read('build') or {}).get('save_path')}: {free} bytes free")
    if (free := end.get("shm_free")) is not None and free < FULL_BYTES:
        row("shared_memory_small", f"/dev/shm: {free} bytes free")
    return rows


def diagnosis_of(
    folder: RunFolder, state: str, facts: dict[str, Any], seen: list[str], build: dict[str, Any]
) -> list[dict[str, Any]]:
    """Findings in the order of their worth; of a run that did well only what concerns the profile."""
    findings = [dict(item, evidence=redact.text(str(item.get("evidence", "")))) for item in facts.get("findings") or []]
    failed = state in {"failed", "lost"}
    rows = signatures.judged(findings, failed=failed)
    if failed:
        rows = host_causes(folder) + rows
    window, iteration = build.get("window"), facts.get("iteration")
    finished = iteration is not None and iteration == facts.get("train_iters")
    if failed and finished:
        rows = [
            {
                "code": "failed_after_training",
                "evidence": f"iteration {iteration}/{iteration}",
                "line": None,
                "rank": None,
            },
            *rows,
        ]
    if (
        window
        and iteration is not None
        and iteration > window["last_iteration"] + 1
        and not seen
        and build.get("options", {}).get("profile_type") != "dynamic"
    ):
        place = f"window {window['first_iteration']}-{window['last_iteration']}, {build.get('save_path')}"
        evidence = f"iteration {iteration}, {place}"
        rows = [{"code": "window_passed_no_session", "evidence": evidence, "line": None, "rank": None}, *rows]
    if state == "failed" and iteration is None and (folder.read("end") or {}).get("launcher_missed"):
        evidence = " ".join(map(str, (folder.read("run") or {}).get("argv") or []))[:400]
        rows.append({"code": "launcher_not_reached", "evidence": evidence, "line": None, "rank": None})
    if state == "lost":
        rows = [{"code": "run_lost", "evidence": str(folder.path), "line": None, "rank": None}, *rows]
    if state == "failed" and not rows:
        rows = [{"code": "no_known_cause", "evidence": "", "line": None, "rank": None}]
    first: dict[str, dict[str, Any]] = {}
    for item in rows:
        first.setdefault(item["code"], item)
    return list(first.values())[:6]


def log_lines(folder: RunFolder, cursor: int | None, count: int) -> tuple[list[str], int, int]:
    """New lines of the log, secrets hidden, bounded in number and size: (lines, cursor, bytes left out)."""
    path = folder.log
    run = folder.read("run") or {}
    try:
        if path.stat().st_size == 0 and run.get("log_file"):
            path = Path(run["log_file"])
    except OSError:
        pass
    return tail_of(path, cursor, count)


def tail_of(path: Path, cursor: int | None, count: int) -> tuple[list[str], int, int]:
    """New lines of one log file, secrets hidden, bounded: (lines, cursor, bytes left out)."""
    lines, position, left = tail(path, cursor, count)
    lines = [redact.text(line) for line in lines]
    while lines and sum(len(line) for line in lines) > MAX_LOG_CHARS:
        left += len(lines.pop(0))
    return lines, position, left


def poll(folder: RunFolder, cursor: int | None = None, lines: int = 40, node: int | None = None) -> dict[str, Any]:
    """One look at a run. Reads its records and the end of its log, whatever the log's size.

    ``node``: of a run over many nodes, whose log is wanted; None: the one that prints the iterations.
    """
    build = folder.read("build") or {}
    run = folder.read("run") or {}
    if run.get("launcher") == "slurm":
        from mindspeed_mm_train_profiler.runs import slurm_poll

        return slurm_poll.poll_job(folder, cursor, lines, node)
    facts = facts_of(folder)
    state, code, killed = state_of(folder)
    seen = sessions(folder, build)
    window = window_of(build, facts)
    shown, position, left = log_lines(folder, cursor, lines)
    iteration, ms = facts.get("iteration"), facts.get("ms_per_iteration")
    total = facts.get("train_iters") or build.get("train_iters")
    eta = None
    if state in ACTIVE and iteration is not None and ms is not None and total is not None:
        eta = round(max(0, total - iteration) * ms / 1000, 1)
    end = folder.read("end") or {}
    return {
        "run_id": folder.run_id,
        "config_id": run.get("config_id"),
        "state": state,
        "phase": phase_of(state, facts, folder, window, len(seen)),
        "iteration": iteration,
        "train_iters": total,
        "ms_per_iteration": ms,
        "eta_s": eta,
        "window": window,
        "exit_code": code,
        "script_exit_code": end.get("script_exit_code"),
        "signal": killed,
        "started": iso(run.get("created")),
        "ended": iso(end.get("ended")),
        "log_tail": shown,
        "log_path": str(folder.log),
        "cursor": position,
        "omitted_bytes": left,
        "sessions_seen": seen,
        "parsing": {"started": facts.get("parsing", 0), "ended": facts.get("parsed", 0)},
        "diagnosis": diagnosis_of(folder, state, facts, seen, build),
        "error": end.get("error"),
        "save_path": build.get("save_path"),
    }


def iso(moment: Any) -> str | None:
    if moment is None:
        return None
    return datetime.fromtimestamp(float(moment)).astimezone().isoformat(timespec="seconds")


def changed(before: dict[str, Any], now: dict[str, Any]) -> bool:
    """Whether a waiting caller should be told: another state, phase or session, or the run has ended."""
    keys = ("state", "phase", "sessions_seen")
    return now["state"] not in ACTIVE or any(before[key] != now[key] for key in keys)
