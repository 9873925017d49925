"""What poll_status tells of a run or of an offline parse, and its text."""

from collections.abc import Iterable

from pydantic import BaseModel, Field

from mindspeed_mm_train_profiler.skill import wording
from mindspeed_mm_train_profiler.tools.common import Result


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
