"""parse_offline: lets torch_npu parse sessions in the background, under the training's environment."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field

from mindspeed_mm_train_profiler import audit
from mindspeed_mm_train_profiler.errors import CodedError, Note
from mindspeed_mm_train_profiler.skill import wording
from mindspeed_mm_train_profiler.tools.bounds import fit
from mindspeed_mm_train_profiler.tools.common import Language, NextStep, Result, ToolSpec, remarks, resolve_language


class SessionToParse(BaseModel):
    session: str
    rank: int | None = None


class SessionSkipped(SessionToParse):
    code: str = Field(description="already_parsed, prof_alone, raw_missing or rank_not_asked")


class ParseOfflineResult(Result):
    """The background job; follow it with poll_status(run_id=parse_id). No job where nothing needs parsing."""

    parse_id: str | None
    state: str
    path: str
    sessions: list[SessionToParse] = Field(default_factory=list)
    skipped: list[SessionSkipped] = Field(default_factory=list)
    already_running: bool = False
    log_path: str | None = None

    def body(self, language: wording.Language) -> Iterable[str]:
        for row in self.sessions[:16]:
            yield f"rank {row.rank}: {row.session}"
        for skipped in self.skipped[:16]:
            yield f"rank {skipped.rank}: {skipped.code}"


def parse_offline(
    run_id: Annotated[str | None, Field(description="a run")] = None,
    path: Annotated[str | None, Field(description="or a folder, any depth")] = None,
    ranks: Annotated[list[int] | None, Field(description="only these")] = None,
    overwrite: Annotated[bool, Field(description="parse again what has good results")] = False,
    sbatch: Annotated[list[str] | None, Field(description="run as Slurm array; options")] = None,
    language: Language = None,
) -> ParseOfflineResult:
    """Start parsing. Errors: parse_nothing, parse_run_active, parse_no_python, those of verify_output."""
    from mindspeed_mm_train_profiler.npu_host import cann, probe
    from mindspeed_mm_train_profiler.runs import folder as folders
    from mindspeed_mm_train_profiler.runs import launch, launcher, parse_job, poll
    from mindspeed_mm_train_profiler.tools.profile_source import locate

    spoken = resolve_language(language)
    place, _ = locate(run_id, path)
    build: dict[str, Any] = {}
    if run_id is not None:
        run = folders.find(run_id)
        build = run.read("build") or {}
        if launch.active(run):
            raise CodedError("parse_run_active", found=run_id)
    chosen, skipped, notes = choose(place, ranks, overwrite=overwrite)
    if not chosen and not any(row.code == "already_parsed" for row in skipped):
        raise CodedError("parse_nothing", found=place, skipped=", ".join(sorted({row.code for row in skipped})) or "-")
    subject = {"run_id": run_id} if run_id else {"path": str(place)}
    if not chosen:
        verify = NextStep(tool="verify_output", arguments=subject, why=wording.text(spoken, "poll.next.verify"))
        return _bounded(
            ParseOfflineResult(
                summary=wording.text(spoken, "parse.nothing_to_do", count=len(skipped), path=place),
                parse_id=None,
                state="succeeded",
                path=str(place),
                skipped=skipped,
                next_step=verify,
            ),
            spoken,
        )
    host = cann.find(build.get("cann_set_env") or ())
    python = probe.find_python(build.get("python"), host.environment)
    if python is None and sbatch is None:  # a login node has no training environment
        raise CodedError("parse_no_python", found=build.get("python") or "python3")
    job = {
        "path": str(place),
        "run_id": run_id,
        "python": python,
        "checkout": build.get("workdir"),
        "asked_python": build.get("python"),
        "cann_set_env": build.get("cann_set_env"),
        "environment": dict(host.environment) if sbatch is None else {},
        "sessions": [{**row.model_dump(), "state": "waiting"} for row in chosen],
        "skipped": [row.model_dump() for row in skipped],
    }
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with launch.launch_lock(parse_job.PREFIX):
        running = parse_job.running_on([row.session for row in chosen])
        if running is not None:
            folder = running
        elif sbatch is None:
            folder = parse_job.start(job, python=sys.executable, environment=own)
        else:
            way = launcher.named("slurm_array")
            folder = way.start(job, os.environ, None, {"sbatch": sbatch}, (), ())
    audit.record("parse", run_id=folder.run_id, path=str(place), sessions=len(chosen), overwrite=overwrite)
    return _bounded(
        ParseOfflineResult(
            summary=wording.text(
                spoken, "parse.already" if running else "parse.started", parse_id=folder.run_id, count=len(chosen)
            ),
            warnings=remarks(spoken, notes),
            parse_id=folder.run_id,
            state=poll.state_of(folder)[0],
            path=str(place),
            sessions=chosen,
            skipped=skipped,
            already_running=running is not None,
            log_path=str(launcher.of(folder).log(folder)),
            next_step=NextStep(
                tool="poll_status",
                arguments={"run_id": folder.run_id, "wait_s": 15},
                why=wording.text(spoken, "launch.next"),
            ),
        ),
        spoken,
    )


def _bounded(result: ParseOfflineResult, language: wording.Language) -> ParseOfflineResult:
    total = len(result.sessions) + len(result.skipped)
    if left_out := sum(fit(result, ("sessions", "skipped")).values()):
        states = f"{len(result.sessions)} sessions, {len(result.skipped)} skipped"
        note = Note("rows_left_out", {"shown": total - left_out, "total": total, "states": states})
        result.warnings += remarks(language, [note])
    return result


def choose(
    place: Path, ranks: list[int] | None, *, overwrite: bool
) -> tuple[list[SessionToParse], list[SessionSkipped], list[Note]]:
    """(sessions to parse, sessions left alone and why, what will make parsing fail)."""
    from mindspeed_mm_train_profiler import profile_data
    from mindspeed_mm_train_profiler.profile_data import foretell, layout
    from mindspeed_mm_train_profiler.runs import parse_job

    chosen: list[SessionToParse] = []
    skipped: list[SessionSkipped] = []
    notes: dict[str, Note] = {}
    for rank in profile_data.verify(place).ranks:
        if rank.session is None:
            continue
        path = parse_job.session_path(rank.session)
        codes = {problem.code for problem in rank.problems}
        code = None
        if ranks is not None and rank.rank not in ranks:
            code = "rank_not_asked"
        elif layout.PROF_NAME.match(rank.session.name):
            code = "prof_alone"
        elif (rank.state == "valid" or rank.good_results) and not overwrite:
            code = "already_parsed"
        elif codes & {"raw_missing", "raw_removed", "results_alone"}:
            code = "raw_missing" if rank.state != "valid" else "already_parsed"
        if code is not None:
            skipped.append(SessionSkipped(session=path, rank=rank.rank, code=code))
            continue
        chosen.append(SessionToParse(session=path, rank=rank.rank))
        for problem in foretell.parsing_obstacles(Path(path)):
            notes.setdefault(problem.code, problem.note)
    return chosen, skipped, list(notes.values())


TOOL = ToolSpec(
    name="parse_offline",
    title="Parse sessions offline",
    description="Parse sessions without good results in the background with torch_npu; judged by its outputs. Follow "
    "it with poll_status(run_id=parse_id).",
    function=parse_offline,
    read_only=False,
    destructive=True,
    idempotent=True,
    open_world=False,
)
