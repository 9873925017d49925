"""This host behind the launchers' interface: the copy under a supervisor of its own, followed from the run's folder."""

import os
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.errors import CodedError, Note
from mindspeed_mm_train_profiler.npu_host import smi
from mindspeed_mm_train_profiler.runs import diagnosis, preflight, recorder
from mindspeed_mm_train_profiler.runs import poll as looks
from mindspeed_mm_train_profiler.runs import stop as stopping
from mindspeed_mm_train_profiler.runs.folder import RECORD_VARIABLE, RUN_VARIABLE, RunFolder, alive, runs_dir
from mindspeed_mm_train_profiler.runs.logscan import Scan
from mindspeed_mm_train_profiler.runs.preflight import Finding
from mindspeed_mm_train_profiler.runs.processes import members
from mindspeed_mm_train_profiler.state import new_id, private_folder

START_WAIT_S = 1.5
SMI_WAIT_S = 1.2
"""A launch answers within 2 s. Where npu-smi is slower, the supervisor looks at the NPUs before the script starts."""
SLOW = "npus_checked_later"
FALLBACK_BYTES = 512 * 1024


def findings(build: Mapping[str, Any], environment: Mapping[str, str]) -> list[Finding]:
    """Files, NPUs, torch_npu, port, disk, variables, other nodes, shared memory."""
    report = smi.query(dict(environment), timeout_s=SMI_WAIT_S)
    found = list(preflight.look(build, environment, report if report.status != "timeout" else None))
    return [*found, Finding(Note(SLOW, {"seconds": SMI_WAIT_S}), False)] if report.status == "timeout" else found


def start(
    build: Mapping[str, Any],
    environment: Mapping[str, str],
    key: str | None,
    asked: Mapping[str, Any] | None = None,
    allowed: Iterable[str] = (),
    findings: Iterable[Finding] = (),
) -> RunFolder:
    """Make the run's folder and start its supervisor; that asks npu-smi where ``findings`` say it was too slow."""
    private_folder(runs_dir())
    run_id = new_id("run")
    folder = RunFolder(private_folder(runs_dir() / run_id))
    record = recorder.install(folder.path)
    env = {**environment, **dict(build.get("env") or {}), RECORD_VARIABLE: str(record), RUN_VARIABLE: run_id}
    folder.write("build", dict(build))
    folder.write(
        "run",
        {
            "version": 1,
            "run_id": run_id,
            "config_id": build["config_id"],
            "idempotency_key": key,
            "created": time.time(),
            "argv": build["argv"],
            "workdir": build["workdir"],
            "environment": env,
            "log_file": build.get("log_file"),
            "log_size": _size(build.get("log_file")),
            "check_npus": any(item.note.code == SLOW for item in findings),
            "allowed": sorted(allowed),
        },
    )
    return begin(folder)


def _size(path: str | None) -> int:
    """What an earlier run left in the script's log: it is not this one's."""
    try:
        return Path(path).stat().st_size if path else 0
    except OSError:
        return 0


def begin(folder: RunFolder) -> RunFolder:
    """Start the supervisor of a prepared folder and wait until it has told its pid. Error: supervisor_not_started."""
    handle = os.open(folder.path / "supervisor.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    try:
        subprocess.run(
            [sys.executable, "-m", "mindspeed_mm_train_profiler.runs.supervisor", str(folder.path)],
            stdin=subprocess.DEVNULL,
            stdout=handle,
            stderr=handle,
            cwd="/",
            env=environment,
            timeout=20,
            check=False,
        )
    finally:
        os.close(handle)
    wanted = ("supervisor",) if (folder.read("run") or {}).get("check_npus") else ("script", "end")
    deadline = time.monotonic() + START_WAIT_S
    while time.monotonic() < deadline:
        if any(folder.read(name) for name in wanted):
            return folder
        time.sleep(0.02)
    if folder.read("supervisor") is None:
        log = (folder.path / "supervisor.log").read_text(encoding="utf-8", errors="replace").strip()
        raise CodedError("supervisor_not_started", found=log.splitlines()[-1] if log else str(folder.path))
    return folder


def facts_of(folder: RunFolder) -> dict[str, Any]:
    """What the log says: from the supervisor's own reading; where there is none, from the log's end."""
    status = folder.read("status")
    if status is not None and (folder.read("end") is not None or alive(folder.read("supervisor"))):
        return status
    scan = Scan()
    if folder.other_log is not None:
        scan.offsets[str(folder.other_log[0])] = folder.other_log[1]
    scan.read(folder.training_log, most=FALLBACK_BYTES)
    scan.flush()
    facts = scan.as_dict()
    if status is not None and (status.get("iteration") or 0) > (facts.get("iteration") or 0):
        return status
    return facts


def active(folder: RunFolder) -> bool:
    """Its supervisor lives, or was started this instant."""
    if folder.read("end") is not None:
        return False
    supervisor = folder.read("supervisor")
    if supervisor is None:
        return time.time() - float((folder.read("run") or {}).get("created", 0)) < 30
    return alive(supervisor)


def orphaned(folder: RunFolder) -> bool:
    """Its supervisor was killed, by its own script or by others, and left no end; its processes live."""
    return folder.read("end") is None and bool(members(folder))


def state(folder: RunFolder) -> tuple[str, int | None, int | None]:
    """From the records alone."""
    end = folder.read("end")
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
    if end.get("error") or killed or any(record.get("exit_code") is None for record in folder.last_round()):
        return "failed", code, killed
    if end.get("launcher_missed") and (folder.read("status") or {}).get("iteration") is None:
        return "failed", code, killed  # exit code 0, and nothing was trained
    return ("succeeded" if code == 0 else "failed"), code, killed


def poll(folder: RunFolder, cursor: int | None, lines: int, node: int | None = None) -> dict[str, Any]:
    """Reads the run's records and the end of its log, whatever the log's size."""
    build, run = folder.read("build") or {}, folder.read("run") or {}
    if node != build.get("node_rank"):  # with a part of several nodes started here, that node's number
        looks.check_node(node, 1)
    facts = facts_of(folder)
    now, code, killed = state(folder)
    seen = looks.sessions(folder, build)
    window = looks.window_of(build, facts)
    shown, position, left = looks.log_lines(folder, cursor, lines)
    iteration, ms = facts.get("iteration"), facts.get("ms_per_iteration")
    total = facts.get("train_iters") or build.get("train_iters")
    eta = None
    if now in looks.ACTIVE and iteration is not None and ms is not None and total is not None:
        eta = round(max(0, total - iteration) * ms / 1000, 1)
    end = folder.read("end") or {}
    return {
        "run_id": folder.run_id,
        "config_id": run.get("config_id"),
        "state": now,
        "phase": looks.phase_of(now, facts, folder, window, len(seen)),
        "iteration": iteration,
        "train_iters": total,
        "ms_per_iteration": ms,
        "eta_s": eta,
        "window": window,
        "exit_code": code,
        "script_exit_code": end.get("script_exit_code"),
        "signal": killed,
        "started": looks.iso(run.get("created")),
        "ended": looks.iso(end.get("ended")),
        "log_tail": shown,
        "log_path": str(folder.log),
        "cursor": position,
        "omitted_bytes": left,
        "sessions_seen": seen,
        "parsing": {"started": facts.get("parsing", 0), "ended": facts.get("parsed", 0)},
        "diagnosis": diagnosis.diagnosis_of(folder, now, facts, seen, build),
        "error": end.get("error"),
        "save_path": build.get("save_path"),
    }


def stop(folder: RunFolder, grace_s: float) -> dict[str, Any]:
    return stopping.stop_processes(folder, grace_s)


def log(folder: RunFolder) -> Path:
    return folder.log
