"""verify_output: whether the profile that was asked for is really there, rank by rank."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, Field, ValidationInfo, field_validator

from mindspeed_mm_train_profiler.errors import CodedError, Note
from mindspeed_mm_train_profiler.options import ProfileOptions
from mindspeed_mm_train_profiler.skill import wording
from mindspeed_mm_train_profiler.tools import verify_rows as rows
from mindspeed_mm_train_profiler.tools.bounds import MAX_BYTES, fit, short
from mindspeed_mm_train_profiler.tools.common import (
    Language,
    NextStep,
    Result,
    ToolSpec,
    remarks,
    resolve_language,
)

MAX_RANGES = 600
MAX_BRIEF = 8
MAX_STEPS = 64


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

    @field_validator("level", "aic_metrics_type")
    @classmethod
    def _known(cls, value: str | None, info: ValidationInfo) -> str | None:
        # checked here, and not by a Literal: the schema of every chat would carry the words
        field = ProfileOptions.model_fields[str(info.field_name)].annotation
        words = (*get_args(field), "level_none") if info.field_name == "level" else get_args(field)
        if value is not None and value not in words:
            raise ValueError(f"one of {', '.join(words)}")
        return value


class VerifyResult(Result):
    """Steps are the profiler's 0-based counter; null where nothing tells them (with_cpu false)."""

    verdict: Literal["complete", "unparsed", "partial", "empty", "missing"]
    path: str
    ranks: list[rows.RankFound] = Field(default_factory=list)
    checks: list[rows.CheckFound] = Field(default_factory=list)
    summary_numbers: dict[str, Any] | None = None
    tree: str = ""
    viewer_hint: str | None = None

    def body(self, language: wording.Language) -> Iterable[str]:
        for rank in self.ranks[:16]:
            number = "?" if rank.rank is None else rank.rank
            state = wording.text(language, f"verify.state.{rank.state}")
            steps = "-" if rank.steps is None else rows.ranges(list(rank.steps))
            where = "" if rank.node is None else f"node {rank.node} "
            yield where + wording.text(language, "verify.rank", rank=number, state=state, steps=steps)
            for problem in rank.problems[:4]:
                yield f"  [{problem.code}] {problem.detail}"
                if problem.fix:
                    yield f"    {wording.text(language, 'common.hint', value=problem.fix)}"
        for check in self.checks:
            if not check.ok:
                yield f"[{check.name}] {check.detail}"
                if check.fix:
                    yield f"  {wording.text(language, 'common.hint', value=check.fix)}"
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
    from mindspeed_mm_train_profiler.tools.profile_source import locate, per_node, seconds

    spoken = resolve_language(language)
    folder, expectation = locate(run_id, path)
    nproc = per_node(run_id)
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

    def shown(problem: Any) -> rows.ProblemFound:
        note: Note = problem.note
        return rows.ProblemFound(
            code=problem.code,
            detail=wording.note_message(spoken, note),
            fix=wording.note_hint(spoken, note),
        )

    ranks = [
        rows.RankFound(
            rank=rank.rank,
            device=rank.device,
            node=rows.node_of(nproc, rank.rank),
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
    checks = rows.grouped(verdict.problems, shown)
    if run_id and (said := _log_lines(run_id)):
        looked = Problem("training_log_errors", " | ".join(said))
        checks.append(rows.check(shown(looked), ok=verdict.word == "complete"))
    notes = [Note("search_cut", {"looked": str(folder)})] if verdict.bounded else []
    if shortened := rows.shorten(ranks, verdict.ranks):
        notes.append(Note("rows_shortened", {"looked": f"{shortened}/{len(ranks)}"}))
    if (long := max((len(rank.steps) for rank in verdict.ranks if rank.steps), default=0)) > MAX_STEPS:
        notes.append(Note("rows_shortened", {"looked": f"steps, {MAX_STEPS}/{long}"}))
    valid = len({rank.rank for rank in verdict.ranks if rank.state == "valid"} - {None})
    total = len({rank.rank for rank in verdict.ranks} - {None})
    unknown = sum(rank.rank is None for rank in verdict.ranks)
    if unknown and not total:  # nothing tells a rank anywhere: sessions are all there is to count
        valid, total = sum(rank.state == "valid" for rank in verdict.ranks), unknown
    subject = {"run_id": run_id} if run_id else {"path": str(folder)}
    result = VerifyResult(
        ok=verdict.word == "complete",
        verdict=verdict.word,
        path=str(folder),
        ranks=ranks,
        checks=checks,
        warnings=remarks(spoken, notes),
        summary=wording.text(
            spoken,
            "verify.summary",
            verdict=verdict.word,
            valid=valid,
            total=total,
            sessions=sum(rank.session is not None for rank in verdict.ranks),
            path=folder,
        ),
        summary_numbers=_numbers(verdict),
        tree=rows.tree(ranks),
        viewer_hint=wording.text(spoken, "verify.viewer", path=folder) if valid else None,
        next_step=_next(verdict.word, subject, spoken),
    )
    return _bounded(result, spoken)


def _bounded(result: VerifyResult, language: wording.Language) -> VerifyResult:
    """Rows with problems first where not all have room; the ranks of each state that are not listed are told."""
    whole = list(result.ranks)
    if fit(result, ("ranks", "checks")):
        count = max(len(result.ranks), 1)
        order = sorted(range(len(whole)), key=lambda place: (whole[place].state == "valid", place))
        kept = set(order[:count])
        result.ranks = [rank for place, rank in enumerate(whole) if place in kept]
        left: dict[str, list[int | None]] = {}
        for place in order[count:]:
            left.setdefault(whole[place].state, []).append(whole[place].rank)
        told = "; ".join(f"{state}: {rows.ranges(numbers)}" for state, numbers in sorted(left.items()))
        if left:
            about = {"shown": len(result.ranks), "total": len(whole), "states": f"+ {told[:MAX_RANGES]}"}
            result.warnings += remarks(language, [Note("rows_left_out", about)])
        fit(result, ("ranks", "checks"), limit=MAX_BYTES + 1_000)
    return result


def _log_lines(run_id: str) -> list[str]:
    """What the profiler complained of in the run's log."""
    from mindspeed_mm_train_profiler.profile_data.training_log import profiler_lines
    from mindspeed_mm_train_profiler.runs import folder as folders

    return profiler_lines(folders.find(run_id).log)


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
