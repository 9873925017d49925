"""A run over many nodes: Slurm's word on the job joined with the records that its nodes wrote."""

from typing import Any

from mindspeed_mm_train_profiler.runs import diagnosis as diagnosis_rows
from mindspeed_mm_train_profiler.runs import poll, redact, signatures, slurm
from mindspeed_mm_train_profiler.runs.folder import RunFolder
from mindspeed_mm_train_profiler.runs.slurm_job import NOT_SHARED, exit_code

CAUSES = {
    "TIMEOUT": "slurm_timeout",
    "DEADLINE": "slurm_timeout",
    "NODE_FAIL": "slurm_node_fail",
    "BOOT_FAIL": "slurm_node_fail",
    "LAUNCH_FAILED": "slurm_node_fail",
    "PREEMPTED": "slurm_preempted",
    "OUT_OF_MEMORY": "slurm_out_of_memory",
    "CANCELLED": "slurm_cancelled",
    "REVOKED": "slurm_cancelled",
}
"""Slurm's ends that have a cause of their own."""
UNSTARTED = "JobLaunchFailure"
"""Slurm's reason where a node could not start the job's own script."""
HELD = frozenset({"SUSPENDED", "STOPPED"})
"""It keeps its place, and does not go on until somebody lets it."""


def complete(folder: RunFolder) -> bool:
    """Whether every node has written its end."""
    ended = sum(node.read("end") is not None for node in slurm.node_folders(folder))
    return ended >= int((folder.read("run") or {}).get("nodes") or 1)


def state_of(folder: RunFolder) -> tuple[str, int | None, slurm.JobState]:
    """(state in the contract's words, exit code, Slurm's own)."""
    job = slurm.state_of(folder)
    ends = [end for node in slurm.node_folders(folder) if (end := node.read("end")) is not None]
    codes = [exit_code(end) for end in ends]
    code = next((value for value in codes if value), codes[0] if codes else None)
    if job.state in slurm.PENDING:
        return "starting", None, job
    if job.state in slurm.RUNNING:
        return "running", None, job
    whole = complete(folder)
    if job.silent and not whole:
        return ("running" if folder.read("job") is not None else "starting"), None, job
    if folder.read("stop") is not None and job.state in (None, "CANCELLED"):
        return "stopped", code, job
    if whole and not any(codes) and job.state not in ("CANCELLED", "TIMEOUT"):
        return "succeeded", code, job  # whatever the controller has forgotten meanwhile
    if job.state == "COMPLETED" or (job.state is None and whole):
        return ("failed" if code else "succeeded"), code, job
    if job.state is None:
        return "lost", code, job
    return "failed", code if code else job.exit_code, job


def nodes_of(folder: RunFolder, state: str) -> list[dict[str, Any]]:
    """One row a node: name, state, exit code, last iteration it printed.

    ``state``: the run's own; where that has ended, a node that wrote no end was stopped or lost.
    """
    names = (folder.read("job") or {}).get("nodes") or []
    rows = []
    for number in range(int((folder.read("run") or {}).get("nodes") or 1)):
        own = slurm.node_folder(folder, number)
        end, status = own.read("end"), own.read("status") or {}
        code = exit_code(end) if end is not None else None
        going = "running" if own.read("script") is not None else "starting"
        rows.append(
            {
                "node": number,
                "name": names[number] if number < len(names) else None,
                "state": ("failed" if code else "succeeded")
                if end is not None
                else going
                if state in poll.ACTIVE
                else "stopped"
                if state == "stopped"
                else "lost",
                "exit_code": code,
                "iteration": status.get("iteration"),
            }
        )
    return rows


def printing_node(folder: RunFolder) -> RunFolder | None:
    """The node whose log has the iterations: the last rank's with Megatron, the first one's with FSDP2."""
    told = [(int((own.read("status") or {}).get("iteration") or 0), own) for own in slurm.node_folders(folder)]
    return max(told, key=lambda pair: pair[0])[1] if told else None


def poll_job(folder: RunFolder, cursor: int | None, lines: int, node: int | None = None) -> dict[str, Any]:
    """The same facts as of a local run, with ``nodes`` and ``slurm``."""
    run, build = folder.read("run") or {}, folder.read("build") or {}
    poll.check_node(node, int(run.get("nodes") or 1))
    state, code, job = state_of(folder)
    chosen = slurm.node_folder(folder, node) if node is not None else printing_node(folder)
    facts = (chosen.read("status") if chosen is not None else None) or {}
    window = poll.window_of(build, facts)
    seen = poll.sessions(folder, build)
    place, secrets = (int(chosen.path.name) + 1, poll.secrets_of(chosen)) if chosen is not None else (0, [])
    log = chosen.log if chosen is not None else slurm.log_of(folder)
    shown, position, left = poll.tail_in(log, place, cursor, lines, secrets)
    iteration, ms = facts.get("iteration"), facts.get("ms_per_iteration")
    total = facts.get("train_iters") or build.get("train_iters")
    eta = None
    if state == "running" and iteration is not None and ms is not None and total is not None:
        eta = round(max(0, total - iteration) * ms / 1000, 1)
    phase = "launching" if state == "starting" else poll.phase_of(state, facts, chosen or folder, window, len(seen))
    rows = nodes_of(folder, state)
    ends = [end for own in slurm.node_folders(folder) if (end := own.read("end")) is not None]
    return {
        "run_id": folder.run_id,
        "config_id": run.get("config_id"),
        "state": state,
        "phase": phase,
        "iteration": iteration,
        "train_iters": total,
        "ms_per_iteration": ms,
        "eta_s": eta,
        "window": window,
        "exit_code": code,
        "script_exit_code": None,
        "signal": None,
        "started": poll.iso(run.get("created")),
        "ended": poll.iso(max((float(end["ended"]) for end in ends), default=None))
        if state not in poll.ACTIVE
        else None,
        "log_tail": shown,
        "log_path": str(log),
        "cursor": position,
        "omitted_bytes": left,
        "sessions_seen": seen,
        "diagnosis": diagnosis(folder, state, job, rows, chosen, build, facts, seen),
        "error": None,
        "save_path": build.get("save_path"),
        "nodes": rows,
        "slurm": {"job_id": run.get("job_id"), "state": job.state, "reason": job.reason, "nodes": job.nodes},
    }


def diagnosis(
    folder: RunFolder,
    state: str,
    job: slurm.JobState,
    rows: list[dict[str, Any]],
    chosen: RunFolder | None,
    build: dict[str, Any],
    facts: dict[str, Any],
    seen: list[str],
) -> list[dict[str, Any]]:
    """Slurm's own causes first, then what the failed nodes' logs say, then the printing node's."""

    def row(code: str, evidence: str) -> dict[str, Any]:
        return {"code": code, "evidence": evidence, "line": None, "rank": None}

    number = (folder.read("run") or {}).get("job_id")
    if job.silent and state in poll.ACTIVE:
        return [row("slurm_silent", f"job {number}")]
    if job.state in HELD:
        return [row("slurm_suspended", f"job {number}: {job.state} {job.reason or ''}".strip())]
    if state == "starting" and job.reason:
        return [row("slurm_pending", f"job {number}: {job.reason}")]
    found: list[dict[str, Any]] = []
    if state == "failed" and (cause := CAUSES.get(job.state or "")):
        missing = [str(item["name"] or item["node"]) for item in rows if item["exit_code"] is None]
        found.append(row(cause, f"{job.state} {job.reason or ''} {', '.join(missing)}".strip()))
    try:
        spoken = slurm.log_of(folder).read_text(encoding="utf-8", errors="replace")[-20_000:]
    except OSError:
        spoken = ""
    if state in {"failed", "lost"} and ("no shared file system" in spoken or job.exit_code == NOT_SHARED):
        line = next((line for line in spoken.splitlines() if "no shared file system" in line), "")
        found.append(row("slurm_not_shared", redact.text(line)[:400]))
    elif state == "failed" and job.reason == UNSTARTED and folder.read("job") is None and not spoken:
        # the first node could not even open the job's log in the run's folder
        found.append(row("slurm_not_shared", f"job {number}: {job.reason}, {job.nodes or ''}: {slurm.log_of(folder)}"))
    failed = [slurm.node_folder(folder, item["node"]) for item in rows if item["exit_code"]]
    for own in (failed or ([chosen] if chosen is not None else []))[:4]:
        known = poll.secrets_of(own)
        told = [
            dict(item, evidence=redact.text(str(item.get("evidence", "")), known)[:400])
            for item in (own.read("status") or {}).get("findings") or []
        ]
        if refused := (own.read("end") or {}).get("refused"):
            found.append(row(refused["code"], f"node {own.path.name}: {refused['evidence']}"))
            continue
        found += diagnosis_rows.host_causes(own) if own in failed else []
        found += [
            {**item, "evidence": f"node {own.path.name}: {item['evidence']}"}
            for item in signatures.judged(told, failed=state in {"failed", "lost"})
        ]
    if state == "failed" and not found:
        found.append(row("no_known_cause", ""))
    if state == "lost":
        found.insert(0, row("run_lost", str(folder.path)))
    first: dict[str, dict[str, Any]] = {}
    for item in found:
        first.setdefault(item["code"], item)
    return list(first.values())[:6]
