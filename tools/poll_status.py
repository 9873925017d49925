"""poll_status: what a run is doing, from its folder alone; waits up to 20 s for news."""

import time
from typing import TYPE_CHECKING, Annotated, Any

import anyio
import anyio.to_thread
from pydantic import Field

from mindspeed_mm_train_profiler.errors import Note
from mindspeed_mm_train_profiler.skill import wording
from mindspeed_mm_train_profiler.tools.common import Injected, Language, NextStep, ToolSpec, resolve_language
from mindspeed_mm_train_profiler.tools.poll_result import Finding, PollStatusResult, WindowOpened

if TYPE_CHECKING:
    from mindspeed_mm_train_profiler.runs.folder import RunFolder

TICK_S = 0.5


async def poll_status(
    run_id: Annotated[str, Field(description="from launch_training, or a parse_id")],
    cursor: Annotated[int | None, Field(ge=0, description="from the last call, for newer log lines")] = None,
    wait_s: Annotated[float, Field(ge=0, le=20, description="for a change")] = 0,
    log_lines: Annotated[int, Field(ge=0, le=200)] = 40,
    node: Annotated[int | None, Field(ge=0, description="whose log, of many")] = None,
    language: Language = None,
    context: Annotated[Any, Injected("serving:OptionalContext")] = None,
) -> PollStatusResult:
    """Look at a run; with ``wait_s`` return as soon as its state, phase or sessions change."""
    from mindspeed_mm_train_profiler.runs import folder as folders
    from mindspeed_mm_train_profiler.runs import poll

    spoken = resolve_language(language)
    folder = folders.find(run_id)
    if run_id.startswith("parse-"):
        return await _parse_job(folder, cursor, wait_s, log_lines, node, spoken, context)
    facts = await anyio.to_thread.run_sync(poll.poll, folder, cursor, log_lines, node)
    deadline, first, told = time.monotonic() + wait_s, facts, -1
    while facts["state"] in poll.ACTIVE and time.monotonic() < deadline and not poll.changed(first, facts):
        await anyio.sleep(min(TICK_S, max(0.0, deadline - time.monotonic())))
        facts = await anyio.to_thread.run_sync(poll.poll, folder, cursor, log_lines, node)
        iteration = facts["iteration"]
        if context is not None and iteration is not None and iteration > told:
            told = iteration
            await context.report_progress(iteration, facts["train_iters"], f"{facts['phase']}: {iteration}")
    windows = await anyio.to_thread.run_sync(_windows, folder, spoken)
    return result(spoken, facts, windows)


def _windows(folder: "RunFolder", spoken: wording.Language) -> list[WindowOpened] | None:
    from mindspeed_mm_train_profiler.runs import triggers

    if triggers.config_dir(folder) is None:
        return None
    return [
        WindowOpened(
            **{name: row[name] for name in WindowOpened.model_fields if name in row},
            reason=wording.note_message(spoken, row["reasons"][0]) if row["reasons"] else None,
        )
        for row in triggers.rows(folder)[-20:]
    ]


async def _parse_job(
    folder: "RunFolder",
    cursor: int | None,
    wait_s: float,
    log_lines: int,
    node: int | None,
    spoken: wording.Language,
    context: Any,
) -> PollStatusResult:
    """An offline parse: progress by session instead of iterations."""
    from mindspeed_mm_train_profiler.runs import parse_job, poll

    facts = await anyio.to_thread.run_sync(parse_job.look, folder, cursor, log_lines, node)
    deadline, first = time.monotonic() + wait_s, facts["parse"]["done"]
    while facts["state"] in poll.ACTIVE and time.monotonic() < deadline and facts["parse"]["done"] == first:
        await anyio.sleep(min(TICK_S, max(0.0, deadline - time.monotonic())))
        facts = await anyio.to_thread.run_sync(parse_job.look, folder, cursor, log_lines, node)
        if context is not None:
            await context.report_progress(facts["parse"]["done"], facts["parse"]["total"], facts["parse"]["current"])
    known = {name: facts[name] for name in PollStatusResult.model_fields if name in facts and name not in RENDERED}
    state, progress = facts["state"], facts["parse"]
    subject = {"run_id": facts["of_run"]} if facts["of_run"] else {"path": facts["path"]}
    return PollStatusResult(
        **known,
        ok=state not in {"failed", "lost"},
        summary=wording.text(
            spoken, f"parse.state.{state}", parse_id=facts["run_id"], done=progress["done"], total=progress["total"]
        ),
        diagnosis=[_parse_finding(item, spoken) for item in facts["diagnosis"]],
        next_step=_next(spoken, facts)
        if state in poll.ACTIVE
        else NextStep(tool="verify_output", arguments=subject, why=wording.text(spoken, "poll.next.verify")),
    )


def _parse_finding(item: dict[str, Any], spoken: wording.Language) -> Finding:
    """What verify_output finds wrong with the session says why parsing failed."""
    note = Note(item["code"], {"looked": item["evidence"]})
    return Finding(
        code=item["code"],
        rank=item["rank"],
        evidence=item["evidence"],
        cause=wording.note_message(spoken, note),
        fix=wording.note_hint(spoken, note) or "",
    )


RENDERED = {"ok", "summary", "warnings", "next_step", "diagnosis"}


def result(
    spoken: wording.Language, facts: dict[str, Any], windows: list[WindowOpened] | None = None
) -> PollStatusResult:
    """The facts in the asked language."""
    findings = [
        Finding(
            code=item["code"],
            rank=item.get("rank"),
            evidence=item.get("evidence") or "",
            line=item.get("line"),
            cause=_words(spoken, item["code"], "cause"),
            fix=_words(spoken, item["code"], "fix"),
        )
        for item in facts["diagnosis"]
    ]
    known = {name: facts[name] for name in PollStatusResult.model_fields if name in facts and name not in RENDERED}
    state = facts["state"]
    code = facts["exit_code"] if facts["exit_code"] is not None else facts["signal"] and f"signal {facts['signal']}"
    return PollStatusResult(
        **known,
        ok=state not in {"failed", "lost"},
        summary=wording.text(spoken, f"poll.state.{state}", run_id=facts["run_id"], phase=facts["phase"], code=code),
        diagnosis=findings,
        triggers=windows,
        next_step=_next(spoken, facts, windows),
    )


def _words(spoken: wording.Language, code: str, part: str) -> str:
    """What is said of a code; one that another release wrote down is shown as it is, with its evidence."""
    key = f"diagnosis.{code}.{part}"
    return wording.text(spoken, key if key in wording.catalogue(spoken) else f"diagnosis.no_known_cause.{part}")


def _next(
    spoken: wording.Language, facts: dict[str, Any], windows: list[WindowOpened] | None = None
) -> NextStep | None:
    if windows == [] and facts["phase"] == "training":
        return NextStep(
            tool="trigger_dynamic", arguments={"run_id": facts["run_id"]}, why=wording.text(spoken, "poll.next.trigger")
        )
    if facts["state"] in {"starting", "running"}:
        arguments = {"run_id": facts["run_id"], "cursor": facts["cursor"], "wait_s": 15}
        return NextStep(tool="poll_status", arguments=arguments, why=wording.text(spoken, "poll.next.wait"))
    if facts["state"] == "succeeded" or facts["sessions_seen"]:
        return NextStep(
            tool="verify_output", arguments={"run_id": facts["run_id"]}, why=wording.text(spoken, "poll.next.verify")
        )
    return None


TOOL = ToolSpec(
    name="poll_status",
    title="Follow a run",
    description="State, phase, iteration, ETA, whether the profiling window was reached, sessions seen, new log lines "
    "and a diagnosis, from the run's own folder. Works after any restart. wait_s waits for news; pass the cursor on.",
    function=poll_status,
    read_only=True,
    destructive=False,
    idempotent=True,
    open_world=False,
)
