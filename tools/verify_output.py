"""verify_output: whether the profile that was asked for is really there, rank by rank."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from mindspeed_mm_train_profiler.errors import CodedError, Note
from mindspeed_mm_train_profiler.skill import wording
from mindspeed_mm_train_profiler.tools.bounds import MAX_BYTES, fit, short
from mindspeed_mm_train_profiler.tools.common import (
    Language,
    NextStep,
    Result,
    ToolSpec,
    remarks,
    resolve_language,
)

MAX_TREE = 40
MAX_BRIEF = 8
MAX_STEPS = 64
MAX_ALIKE = 4
MAX_FULL = 8
"""Ranks shown in full; beyond them sound ranks go without their files, and a problem met again without its fix."""


class Asked(BaseModel):
    """What the output should be."""

    ranks: list[int] | None = None
    steps: list[int] | None = None
    level: str | None = None
    with_cpu: bool | None = None
    with_memory: bool | None = None
    with_stack: bool | None = None
    record_shapes: bool | None = None
    aic_metrics_type: str | None = None
    analyse_flag: bool | None = None
    world_size: int | None = Field(None, ge=1)
    since: str | None = Field(None, description="ISO time; older is stale")


class ProblemFound(BaseModel):
    code: str
    detail: str
    fix: str | None = None


class RankFound(BaseModel):
    """``device`` is the device index, not the rank."""

    rank: int | None
    device: int | None = None
    session: str | None = None
    state: Literal["valid", "unparsed", "invalid", "missing"]
    steps: list[int] | None = None
    level: str | None = None
    activities: list[str] | None = None
    bytes: int | None = None
    files: list[str] | None = Field(None, description="null: not listed")
    problems: list[ProblemFound] = Field(default_factory=list)


class CheckFound(BaseModel):
    name: str
    ok: bool
    detail: str
    fix: str | None = None


class VerifyResult(Result):
    """Steps are the profiler's 0-based counter; null where nothing tells them (with_cpu false)."""

    verdict: Literal["complete", "unparsed", "partial", "empty", "missing"]
    path: str
    ranks: list[RankFound] = Field(default_factory=list)
    checks: list[CheckFound] = Field(default_factory=list)
    summary_numbers: dict[str, Any] | None = None
    tree: str = ""
    viewer_hint: str | None = None

    def body(self, language: wording.Language) -> Iterable[str]:
        for rank in self.ranks[:16]:
            steps = rank.steps and (rank.steps if len(rank.steps) <= 16 else f"{rank.steps[0]} ... {rank.steps[-1]}")
            yield f"rank {rank.rank}: {rank.state}, steps {steps}"
            for problem in rank.problems[:4]:
                yield f"  {problem.code}: {problem.detail}"
        for check in self.checks:
            if not check.ok:
                yield f"{check.name}: {check.detail}"
        if self.viewer_hint:
            yield self.viewer_hint


def verify_output(
    run_id: Annotated[str | None, Field(description="a run: judged by its own request")] = None,
    path: Annotated[str | None, Field(description="or a folder with sessions")] = None,
    expected: Asked | None = None,
    deep: Annotated[bool, Field(description="read files to their end")] = False,
    language: Language = None,
) -> VerifyResult:
    """Judge what the profiler left; changes nothing on disk."""
    from mindspeed_mm_train_profiler import profile_data
    from mindspeed_mm_train_profiler.profile_data.problems import Problem
    from mindspeed_mm_train_profiler.tools.profile_source import locate, seconds

    spoken = resolve_language(language)
    folder, expectation = locate(run_id, path)
    if expected and expected.ranks == [-1]:  # as the profiler's own settings say "all"
        expected.ranks = list(range(expected.world_size)) if expected.world_size else None
    for key, value in (expected.model_dump(exclude_none=True) if expected else {}).items():
        if key == "since" and (value := seconds(value)) is None:
            raise CodedError("since_invalid", found=expected.since if expected else None)
        setattr(expectation, key, value)
    try:
        verdict = profile_data.verify(folder, expectation, deep=deep)
    except CodedError as error:
        # a run whose window never opened has not even created its folder
        if run_id is None or error.code != "output_path_missing":
            raise
        verdict = profile_data.Verdict(folder, "missing")

    def shown(problem: Any) -> ProblemFound:
        note: Note = problem.note
        return ProblemFound(
            code=problem.code,
            detail=wording.note_message(spoken, note),
            fix=wording.note_hint(spoken, note),
        )

    ranks = [
        RankFound(
            rank=rank.rank,
            device=rank.device,
            session=str(rank.session) if rank.session else None,
            state=rank.state,
            steps=rank.steps and rank.steps[:MAX_STEPS],
            level=rank.record.level.lower() if rank.record and rank.record.level else None,
            activities=rank.record.activities if rank.record else None,
            bytes=rank.bytes if rank.session else None,
            files=rank.files,
            problems=[shown(problem) for problem in rank.problems],
        )
        for rank in verdict.ranks
    ]
    checks = _checks(verdict.problems, shown)
    if run_id and (said := _log_lines(run_id)):
        looked = Problem("training_log_errors", " | ".join(said))
        checks.append(_check(shown(looked), ok=verdict.word == "complete"))
    notes = [Note("search_cut", {"looked": str(folder)})] if verdict.bounded else []
    if shortened := _shorten(ranks, verdict.ranks):
        notes.append(Note("rows_shortened", {"looked": f"{shortened}/{len(ranks)}"}))
    if (long := max((len(rank.steps) for rank in verdict.ranks if rank.steps), default=0)) > MAX_STEPS:
        notes.append(Note("rows_shortened", {"looked": f"steps, {MAX_STEPS}/{long}"}))
    valid = sum(rank.state == "valid" for rank in ranks)
    subject = {"run_id": run_id} if run_id else {"path": str(folder)}
    result = VerifyResult(
        ok=verdict.word == "complete",
        verdict=verdict.word,
        path=str(folder),
        ranks=ranks,
        checks=checks,
        warnings=remarks(spoken, notes),
        summary=wording.text(
            spoken, "verify.summary", verdict=verdict.word, valid=valid, total=len(ranks), path=folder
        ),
        summary_numbers=_numbers(verdict),
        tree=_tree(ranks),
        viewer_hint=wording.text(spoken, "verify.viewer", path=folder) if valid else None,
        next_step=_next(verdict.word, subject, spoken),
    )
    return _bounded(result, spoken)


def _bounded(result: VerifyResult, language: wording.Language) -> VerifyResult:
    """Rows with problems first where not all have room; how many there are of each state is told."""
    whole = list(result.ranks)
    if fit(result, ("ranks", "checks")):
        count = len(result.ranks)
        bad = [rank for rank in whole if rank.state != "valid"]
        told = {id(rank) for rank in (bad + [rank for rank in whole if rank.state == "valid"])[: max(count, 1)]}
        result.ranks = [rank for rank in whole if id(rank) in told]
        states = ", ".join(
            f"{sum(r.state == state for r in whole)} {state}" for state in sorted({r.state for r in whole})
        )
        result.warnings += remarks(
            language, [Note("rows_left_out", {"shown": len(result.ranks), "total": len(whole), "states": states})]
        )
        fit(result, ("ranks", "checks"), limit=MAX_BYTES + 1_000)
    return result


def _checks(problems: list[Any], shown: Any) -> list[CheckFound]:
    """Of each kind the first few, then how many more there are."""
    kinds: dict[str, list[Any]] = {}
    for problem in problems:
        kinds.setdefault(problem.code, []).append(problem)
    found = []
    for several in kinds.values():
        rows = [_check(shown(problem), ok=problem.remark) for problem in several[:MAX_ALIKE]]
        if len(several) > MAX_ALIKE:
            rows[-1].detail += f" (+{len(several) - MAX_ALIKE})"
            rows[-1].ok = all(problem.remark for problem in several)
        found += rows
    return found


def _check(found: ProblemFound, *, ok: bool) -> CheckFound:
    return CheckFound(name=found.code, ok=ok, detail=found.detail, fix=found.fix)


def _log_lines(run_id: str) -> list[str]:
    """What the profiler complained of in the run's log."""
    from mindspeed_mm_train_profiler.profile_data.training_log import profiler_lines
    from mindspeed_mm_train_profiler.runs import folder as folders

    return profiler_lines(folders.find(run_id).log)


def _shorten(ranks: list[RankFound], judged: list[Any]) -> int:
    """Take from the rows beyond ``MAX_FULL`` what others say already; the number of rows shortened."""
    told: set[str] = set()
    shortened = 0
    for place, (rank, source) in enumerate(zip(ranks, judged, strict=True)):
        for problem, met in zip(rank.problems, source.problems, strict=True):
            if place >= MAX_FULL and problem.code in told:
                # the sentence stands above already; inside the session, its path says nothing new
                problem.fix, problem.detail = None, str(met.looked).replace(f"{rank.session}/", "")
            told.add(problem.code)
        if place >= MAX_FULL and rank.files:
            rank.files = None
            shortened += 1
    return shortened


def _next(word: str, subject: dict[str, Any], language: wording.Language) -> NextStep | None:
    from mindspeed_mm_train_profiler import tools

    name, why = {
        "unparsed": ("parse_offline", "verify.next_parse"),
        "complete": ("summarize_profile", "verify.next_summary"),
    }.get(word, ("", ""))
    if not any(tool.name == name for tool in tools.ALL):
        return None
    return NextStep(tool=name, arguments=subject, why=wording.text(language, why))


def _numbers(verdict: Any) -> dict[str, Any] | None:
    """Steps of the first ranks, and of the first one the operator types that take longest; us. None: nothing told."""
    from mindspeed_mm_train_profiler.profile_data.numbers import brief_numbers

    valid = [rank for rank in verdict.ranks if rank.session is not None and rank.files]
    told = [brief_numbers(rank.session) for rank in valid[:MAX_BRIEF]]
    steps = [
        {
            "rank": item.rank,
            "step": row.step,
            **{key: None if value is None else round(value, 3) for key, value in row.values.items()},
        }
        for item in told
        for row in item.steps
    ]
    operators = [
        {
            "rank": item.rank,
            "type": row.type and short(row.type),
            "core": row.core and short(row.core),
            "count": row.count,
            "total_us": round(row.total_us, 3),
        }
        for item in told[:1]
        for row in item.operators
    ]
    if not steps and not operators:
        return None
    return {
        "unit": "us",
        "steps": steps[:MAX_BRIEF],
        "top_operators": operators,
        "ranks_left_out": len(valid) - len(told),
    }


def _tree(ranks: list[RankFound]) -> str:
    lines: list[str] = []
    for rank in ranks:
        if rank.session:
            lines.append(rank.session)
            lines += [f"  ASCEND_PROFILER_OUTPUT/{name}" for name in rank.files or ()]
    cut = len(lines) - MAX_TREE
    return "\n".join(lines[:MAX_TREE] + ([f"... +{cut}"] if cut > 0 else []))


TOOL = ToolSpec(
    name="verify_output",
    title="Verify collected profile",
    description=(
        "Judge the *_ascend_pt sessions of a run or path: ranks, settings, raw data, results, steps. "
        "Verdict: complete, unparsed (parse offline), partial, empty, missing."
    ),
    function=verify_output,
    read_only=True,
    destructive=False,
    idempotent=True,
    open_world=False,
)
