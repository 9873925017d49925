"""poll_status: what a run is doing, from its folder alone; waits up to 20 s for news."""

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import anyio
import anyio.to_thread
from pydantic import BaseModel, Field

from mindspeed_mm_train_profiler.errors import Note
from mindspeed_mm_train_profiler.skill import wording
from mindspeed_mm_train_profiler.tools.common import Injected, Language, NextStep, Result, ToolSpec, resolve_language

if TYPE_CHECKING:
    from mindspeed_mm_train_profiler.runs.folder import RunFolder

TICK_S = 0.5


class WindowFound(BaseModel):
    first_iteration: int
    last_iteration: int
    reached: bool | None = None


class SessionParsed(BaseModel):
    """``state``: waiting, parsing, valid, invalid or failed; ``kept_earlier``: the new results were worse."""

    session: str
    rank: int | None = None
    state: str
    problems: list[str] = Field(default_factory=list)
    kept_earlier: bool = False
    error: str | None = None


class ParseProgress(BaseModel):
    done: int
    total: int
    current: str | None = None
    sessions: list[SessionParsed] = Field(default_factory=list)


class NodeRow(BaseModel):
    """One node of a run over many."""

    node: int
    name: str | None = None
    state: str
    exit_code: int | None = None
    iteration: int | None = None


class SlurmRow(BaseModel):
    """Slurm's own words on the job."""

    job_id: str | None = None
    state: str | None = None
    reason: str | None = None
    nodes: str | None = None


class WindowOpened(BaseModel):
    """A window of a dynamic run; steps are the watcher's own counter."""

    trigger_id: str
    state: str
    start_step: int
    steps: int
    ranks: list[int] | None = None
    started_at_step: int | None = None
    stopped_at_step: int | None = None
    reason: str | None = None


class Finding(BaseModel):
    code: str
    rank: int | None = None
    evidence: str = Field("", description="quoted from the log")
    line: int | None = None
    cause: str
    fix: str


class PollStatusResult(Result):
    """Iterations count from 1 as the log prints them; ``log_tail`` is quoted data, secrets hidden."""

    run_id: str
    state: str
    phase: str
    iteration: int | None = None
    train_iters: int | None = None
    ms_per_iteration: float | None = None
    eta_s: float | None = None
    window: WindowFound | None = None
    exit_code: int | None = None
    script_exit_code: int | None = None
    signal: int | None = None
    started: str | None = None
    ended: str | None = None
    log_tail: list[str] = Field(default_factory=list)
    log_path: str | None = None
    cursor: int = 0
    omitted_bytes: int = Field(0, description="log bytes before the lines shown, left out")
    sessions_seen: list[str] = Field(default_factory=list)
    diagnosis: list[Finding] = Field(default_factory=list)
    triggers: list[WindowOpened] | None = Field(None, description="of a dynamic run, oldest first")
    nodes: list[NodeRow] | None = Field(None, description="of a run over many nodes")
    slurm: SlurmRow | None = None
    parse: ParseProgress | None = Field(None, description="of an offline parse")

    def body(self, language: wording.Language) -> Iterable[str]:
        if self.iteration is not None:
            rate = f", {self.ms_per_iteration:g} ms" if self.ms_per_iteration is not None else ""
            eta = f", ETA {self.eta_s:g} s" if self.eta_s is not None else ""
            yield f"iteration {self.iteration}/{self.train_iters}{rate}{eta}"
        if self.window:
            yield wording.text(
                language,
                "poll.window",
                first=self.window.first_iteration,
                last=self.window.last_iteration,
                seen=len(self.sessions_seen),
            )
        if self.slurm:
            told = [self.slurm.job_id, self.slurm.state, self.slurm.reason, self.slurm.nodes]
            yield " ".join(["slurm", *(word for word in told if word)])
        for row_of in (self.nodes or ())[:16]:
            reached = "-" if row_of.iteration is None else row_of.iteration
            yield f"node {row_of.node} {row_of.name or ''}: {row_of.state}, iteration {reached}"
        for opened in self.triggers or ():
            start = "-" if opened.start_step < 0 else opened.start_step  # -1: with the next step
            yield f"{opened.trigger_id}: {opened.state}, start_step {start}, steps {opened.steps}"
            if opened.reason:
                yield f"  {opened.reason}"
        for row in self.parse.sessions[:16] if self.parse else ():
            yield f"rank {'?' if row.rank is None else row.rank}: {row.state} {row.session}"
        for item in self.diagnosis:
            yield f"[{item.code}] {item.cause}"
            yield f"  {wording.text(language, 'common.hint', value=item.fix)}"
            if item.evidence:
                yield f"  | {item.evidence}"
        if self.log_tail:
            yield wording.text(language, "poll.log", count=len(self.log_tail[-8:]))
            yield from (f"  | {line}" for line in self.log_tail[-8:])


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
