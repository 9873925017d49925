"""stop_training: ends one run's own processes and nothing else."""

from collections.abc import Iterable
from typing import Annotated

from pydantic import BaseModel, Field

from mindspeed_mm_train_profiler import audit
from mindspeed_mm_train_profiler.errors import Note
from mindspeed_mm_train_profiler.skill import wording
from mindspeed_mm_train_profiler.tools.common import Language, NextStep, Result, ToolSpec, remarks, resolve_language


class ProcessEnded(BaseModel):
    pid: int
    name: str


class StopTrainingResult(Result):
    run_id: str
    state: str
    already_ended: bool
    terminated: list[ProcessEnded] = Field(default_factory=list)
    killed: list[ProcessEnded] = Field(default_factory=list)
    left: list[ProcessEnded] = Field(default_factory=list)

    def body(self, language: wording.Language) -> Iterable[str]:
        if not self.already_ended:
            yield f"TERM: {len(self.terminated)}, KILL: {len(self.killed)}, left: {len(self.left)}"


def stop_training(
    run_id: Annotated[str, Field(description="from launch_training")],
    grace_s: Annotated[float, Field(ge=0, le=120, description="seconds the profiler gets to flush")] = 15,
    language: Language = None,
) -> StopTrainingResult:
    """End a run; repeating it is harmless."""
    from mindspeed_mm_train_profiler.runs import folder as folders
    from mindspeed_mm_train_profiler.runs import poll, stop

    spoken = resolve_language(language)
    folder = folders.find(run_id)
    done = stop.stop(folder, grace_s)
    audit.record("stop", run_id=run_id, already_ended=done["already_ended"], killed=len(done["killed"]))
    state, _, _ = poll.state_of(folder)
    notes = [Note("processes_left", {"count": len(done["left"])})] if done["left"] else []
    return StopTrainingResult(
        ok=not done["left"],
        summary=wording.text(spoken, "stop.already" if done["already_ended"] else "stop.done", run_id=run_id),
        warnings=remarks(spoken, notes),
        next_step=NextStep(tool="verify_output", arguments={"run_id": run_id}, why=wording.text(spoken, "stop.next")),
        run_id=run_id,
        state=state,
        already_ended=done["already_ended"],
        terminated=[ProcessEnded(**row) for row in done["terminated"]],
        killed=[ProcessEnded(**row) for row in done["killed"]],
        left=[ProcessEnded(**row) for row in done["left"]],
    )


TOOL = ToolSpec(
    name="stop_training",
    title="Stop a run",
    description="End this run's own processes (TERM, then KILL after grace_s seconds) or its Slurm job, nothing else.",
    function=stop_training,
    read_only=False,
    destructive=True,
    idempotent=True,
    open_world=False,
)
