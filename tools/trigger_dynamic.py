"""trigger_dynamic: opens a profiling window in a run that was built for dynamic collection, while it trains."""

import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import anyio
import anyio.to_thread
from pydantic import BaseModel, Field, ValidationError

from mindspeed_mm_train_profiler import audit
from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.options import ProfileOptions
from mindspeed_mm_train_profiler.skill import wording
from mindspeed_mm_train_profiler.tools.common import (
    Injected,
    Language,
    NextStep,
    Result,
    ToolSpec,
    remarks,
    resolve_language,
)

TICK_S = 0.3
CHANGEABLE = frozenset(
    {"level", "ranks", "aic_metrics_type", "analyse_flag", "with_cpu", "with_memory", "with_stack", "record_shapes"}
    | {"data_simplification"}
)


class Reason(BaseModel):
    code: str
    message: str


class TriggerResult(Result):
    """One window. Steps: the watcher's own counter, passes since the process began; null: not known (yet)."""

    run_id: str
    trigger_id: str
    status: Literal["stopped", "running", "waiting", "ignored"]
    start_step: int | None = Field(None, description="asked for; null: the next step")
    steps: int
    ranks: list[int] | None = Field(None, description="null: every rank that watches")
    started_at_step: int | None = None
    stopped_at_step: int | None = None
    reason: str | None = None
    reasons: list[Reason] = Field(default_factory=list)
    sessions: list[str] = Field(default_factory=list)
    config_file: str

    def body(self, language: wording.Language) -> Iterable[str]:
        start = "-" if self.start_step is None or self.start_step < 0 else self.start_step
        ranks = "-" if self.ranks is None else ", ".join(map(str, self.ranks))
        yield f"{self.trigger_id}: start_step {start}, steps {self.steps}, ranks {ranks}"
        if self.started_at_step is not None:
            yield f"started_at_step {self.started_at_step}, stopped_at_step {self.stopped_at_step}"
        yield from (reason.message for reason in self.reasons)
        yield from self.sessions[:16]


async def trigger_dynamic(
    run_id: Annotated[str, Field(description="a dynamic run")],
    start: Annotated[Literal["now"] | int, Field(description="step to start at")] = "now",
    steps: Annotated[int, Field(ge=1, le=100, description="how many to capture")] = 2,
    options: Annotated[
        dict[str, Any] | None, Field(description="build_config options to change: level, ranks, with_*, ...")
    ] = None,
    wait_s: Annotated[float, Field(ge=0, le=20, description="for its end")] = 10,
    language: Language = None,
    context: Annotated[Any, Injected("serving:OptionalContext")] = None,
) -> TriggerResult:
    """Write the window, then tell what became of it. The same call again follows the same window.

    Errors: ``run_unknown``, ``trigger_not_dynamic``, ``trigger_run_ended``, ``trigger_option_unknown``,
    ``answer_unknown``, ``rank_outside_world``, and those of ``dynamic_profile.trigger``.
    """
    from mindspeed_mm_train_profiler.runs import folder as folders

    spoken = resolve_language(language)
    folder = folders.find(run_id)
    trigger_id = await anyio.to_thread.run_sync(write, folder, start, steps, options)
    deadline = time.monotonic() + wait_s
    while True:
        result = await anyio.to_thread.run_sync(tell, folder, trigger_id, spoken)
        if result.status in ("stopped", "ignored") or time.monotonic() >= deadline:
            return result
        if context is not None:
            await context.report_progress(wait_s - max(0.0, deadline - time.monotonic()), wait_s, result.status)
        await anyio.sleep(min(TICK_S, max(0.0, deadline - time.monotonic())))


def write(folder: Any, start: Literal["now"] | int, steps: int, options: dict[str, Any] | None) -> str:
    """Make the trigger, or find the same one that is not over; its id."""
    from mindspeed_mm_train_profiler import dynamic_profile
    from mindspeed_mm_train_profiler.runs import launch, triggers

    build = folder.read("build") or {}
    place = triggers.config_dir(folder)
    if place is None:
        raise CodedError("trigger_not_dynamic", found=(build.get("options") or {}).get("profile_type"))
    wanted = changed(build, options or {})
    triggers.refresh(folder)
    if not launch.active(folder):
        raise CodedError("trigger_run_ended", found=folder.run_id)
    done, step_s = triggers.steps_done(folder)
    total = build.get("train_iters")
    record = dynamic_profile.trigger(
        place,
        wanted,
        generation(place, dynamic_profile.history(place)),
        start=start,
        steps=steps,
        save_path=str(build["save_path"]),
        ranks=None if wanted.ranks == "all" else wanted.ranks,
        current_step=done,
        step_s=step_s,
        last_step=total - (build.get("offset") or 0) if total else None,
        extra=triggers.at_writing(folder),
    )
    audit.record("trigger", run_id=folder.run_id, trigger_id=record["id"], start=start, steps=steps)
    return str(record["id"])


def changed(build: dict[str, Any], options: dict[str, Any]) -> ProfileOptions:
    """The build's options with those of this window. They are held against the world size as at the build."""
    if unknown := sorted(set(options) - CHANGEABLE):
        raise CodedError("trigger_option_unknown", found=", ".join(unknown), expected=", ".join(sorted(CHANGEABLE)))
    try:
        wanted = ProfileOptions(**{**(build.get("options") or {}), **options})
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in wrong["loc"])
        raise CodedError("answer_unknown", found=f"{where}={wrong.get('input')!r}", expected=wrong["msg"]) from error
    world = build.get("world_size")
    listed = (build.get("options") or {}).get("ranks")
    if isinstance(wanted.ranks, list):
        outside = [rank for rank in wanted.ranks if world is not None and rank >= world]
        if outside:
            raise CodedError("rank_outside_world", found=outside, expected=f"0..{(world or 1) - 1}", world=world)
        if isinstance(listed, list) and (deaf := sorted(set(wanted.ranks) - set(listed))):
            # MindSpeed-MM's own ``ranks`` decides who calls the watcher at all
            raise CodedError("trigger_rank_deaf", found=deaf, expected=listed)
        if not wanted.ranks:
            raise CodedError("ranks_empty", found="[]")
    return wanted


def generation(place: Path, known: list[dict[str, Any]]) -> Any:
    """Of the torch_npu that watches: from the file that it wrote itself, before the first window replaced it."""
    from mindspeed_mm_train_profiler import dynamic_profile

    if known:
        return dynamic_profile.generation(known[0].get("generation"))
    try:
        config = json.loads((place / "profiler_config.json").read_bytes()[: 2**20])
    except (OSError, ValueError):
        config = {}
    return dynamic_profile.template_generation(config if isinstance(config, dict) else {})


NEXT: dict[str, tuple[str, dict[str, Any]] | None] = {
    "stopped": ("verify_output", {}),
    "running": ("poll_status", {"wait_s": 15}),
    "waiting": ("poll_status", {"wait_s": 15}),
    "ignored": None,
}


def tell(folder: Any, trigger_id: str, spoken: wording.Language) -> TriggerResult:
    """What became of one window until now."""
    from mindspeed_mm_train_profiler.runs import triggers

    known = triggers.refresh(folder)
    record, progress = next(row for row in known if row[0]["id"] == trigger_id)
    reasons = [
        Reason(code=note.code, message=wording.note_message(spoken, note))
        for note in (progress.reasons if progress is not None else ())
    ]
    following = NEXT[record["state"]]
    asked = record["start_step"] if record["start_step"] > 0 else None
    started = max(progress.started.values(), default=None) if progress is not None else record.get("started_at_step")
    stopped = max(progress.stopped.values(), default=None) if progress is not None else record.get("stopped_at_step")
    return TriggerResult(
        ok=record["state"] != "ignored",
        summary=wording.text(
            spoken,
            f"trigger.{record['state']}",
            trigger_id=trigger_id,
            start="next" if asked is None else asked,
            started=started,
            stopped=stopped,
        ),
        warnings=remarks(spoken, progress.notes if progress is not None else []),
        next_step=NextStep(
            tool=following[0],
            arguments={"run_id": folder.run_id, **following[1]},
            why=wording.text(spoken, f"trigger.next.{record['state']}"),
        )
        if following
        else None,
        run_id=folder.run_id,
        trigger_id=trigger_id,
        status=record["state"],
        start_step=asked,
        steps=record["steps"],
        ranks=record["ranks"],
        started_at_step=started,
        stopped_at_step=stopped,
        reason=reasons[0].message if reasons else None,
        reasons=reasons,
        sessions=triggers.sessions_of(folder, trigger_id),
        config_file=str((triggers.config_dir(folder) or Path()) / "profiler_config.json"),
    )


TOOL = ToolSpec(
    name="trigger_dynamic",
    title="Open a dynamic window",
    description="Make a running dynamic collection capture steps now or at a step: writes profiler_config.json so that "
    "torch_npu takes it, then tells whether it started, stopped, or was ignored and why.",
    function=trigger_dynamic,
    read_only=False,
    destructive=False,
    idempotent=False,
    open_world=False,
)
