"""Why a run went as it did: the kernel's counters, what the pre-flight refused, the log's signatures, and its end."""

from typing import Any

from mindspeed_mm_train_profiler.runs import redact, signatures
from mindspeed_mm_train_profiler.runs.folder import RunFolder
from mindspeed_mm_train_profiler.runs.poll import secrets_of

FULL_BYTES = 1024 * 1024
MAX_EVIDENCE = 400


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
    known = secrets_of(folder)
    findings = [
        dict(item, evidence=redact.text(str(item.get("evidence", "")), known)[:MAX_EVIDENCE])
        for item in facts.get("findings") or []
    ]
    failed = state in {"failed", "lost"}
    rows = [dict(row) for row in signatures.judged(findings, failed=failed)]
    if failed:
        rows = host_causes(folder) + rows
        holder = ((folder.read("facts") or {}).get("end") or {}).get("port_holder")
        for item in rows:
            if item["code"] == "port_in_use" and holder:
                item["evidence"] = f"{item['evidence']} ({build.get('master_port')}: {holder})"
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
        evidence = redact.text(" ".join(map(str, (folder.read("run") or {}).get("argv") or [])), known)[:MAX_EVIDENCE]
        rows.append({"code": "launcher_not_reached", "evidence": evidence, "line": None, "rank": None})
    if refused := (folder.read("end") or {}).get("refused"):
        rows = [{**refused, "line": None, "rank": None}]
    codes = (folder.read("end") or {}).get("all_exit_codes") or []
    earlier = ["killed" if code is None else code for code in codes if code != 0]
    if state == "succeeded" and earlier:
        told = f"exit codes of earlier launcher calls: {', '.join(map(str, earlier))}"
        rows.append({"code": "earlier_launch_failed", "evidence": told, "line": None, "rank": None})
    if state == "lost":
        rows = [{"code": "run_lost", "evidence": str(folder.path), "line": None, "rank": None}, *rows]
    if state == "failed" and not rows:
        rows = [{"code": "no_known_cause", "evidence": "", "line": None, "rank": None}]
    first: dict[str, dict[str, Any]] = {}
    for item in rows:
        first.setdefault(item["code"], item)
    return list(first.values())[:6]
