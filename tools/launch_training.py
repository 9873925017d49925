"""launch_training: starts a built copy under a supervisor that outlives this server. One run per configuration."""

import os
from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field

from mindspeed_mm_train_profiler import audit, settings
from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.skill import wording
from mindspeed_mm_train_profiler.tools.common import Language, NextStep, Result, ToolSpec, remarks, resolve_language

REMOVE = "remove_shared_memory"
"""An override that is a request: remove shared memory of dead dynamic jobs before the launch."""


class LaunchTrainingResult(Result):
    """The run; ask for it again with poll_status after ``poll_after_s`` seconds."""

    run_id: str
    state: str
    pid: int | None = None
    job_id: str | None = Field(None, description="Slurm's")
    log_path: str
    run_dir: str
    poll_after_s: int = 5
    already_running: bool = False

    def body(self, language: wording.Language) -> Iterable[str]:
        yield f"run_id: {self.run_id}"
        yield f"log: {self.log_path}"


def launch_training(
    config_id: Annotated[str, Field(description="from build_config")],
    idempotency_key: Annotated[str | None, Field(description="same key, same run", max_length=200)] = None,
    override: Annotated[list[str] | None, Field(description="refusals to overrule, e.g. port_in_use")] = None,
    launcher: Literal["local", "slurm"] = "local",
    partition: str | None = None,
    account: str | None = None,
    time: Annotated[str | None, Field(description="Slurm's time limit")] = None,
    sbatch: Annotated[list[str] | None, Field(description="e.g. --gres=npu:8")] = None,
    language: Language = None,
) -> LaunchTrainingResult:
    """Start the run, or return the one that exists. Errors: refusals of the pre-flight, those of Slurm."""
    from mindspeed_mm_train_profiler import profile_config
    from mindspeed_mm_train_profiler.npu_host import cann
    from mindspeed_mm_train_profiler.runs import launch, preflight
    from mindspeed_mm_train_profiler.runs import launcher as launchers

    spoken = resolve_language(language)
    build = profile_config.load_build(config_id)
    with launch.launch_lock(config_id):
        found = launch.existing(config_id, idempotency_key)
        if found is not None:
            return _result(spoken, found, already=True, notes=[])
        limit = settings.current().max_nproc
        if limit is not None and (build.get("nproc_per_node") or 0) > limit:
            raise CodedError("too_many_ranks", found=build["nproc_per_node"], expected=f"<= {limit}")
        way = launchers.named(launcher)
        # a login node's environment is not the nodes': they source CANN themselves
        environment = os.environ if launcher == "slurm" else cann.find(build.get("cann_set_env") or ()).environment
        if REMOVE in (override or ()):
            removed = preflight.remove_dead_segments()
            audit.record("remove_shared_memory", config_id=config_id, paths=[str(path) for path in removed])
        findings = way.findings(build, environment)
        allowed = set(override or ()) - preflight.NEVER_OVERRIDDEN
        refusing = [f for f in findings if f.refuses and f.note.code not in allowed]
        if refusing:
            first = refusing[0].note
            others = [f.note.code for f in refusing[1:]]
            params = {key: value for key, value in first.params.items() if key not in {"found", "expected"}}
            raise CodedError(
                first.code, found=first.params.get("found") or _found(first.params), also=", ".join(others), **params
            )
        asked = {"partition": partition, "account": account, "time": time, "sbatch": sbatch or []}
        folder = way.start(build, environment, idempotency_key, asked, allowed, findings)
    audit.record(
        "launch",
        run_id=folder.run_id,
        config_id=config_id,
        script=build["script"],
        override=sorted(allowed),
        launcher=launcher,
    )
    return _result(spoken, folder, already=False, notes=[f.note for f in findings])


def _found(params: object) -> str | None:
    values = [str(value) for value in dict(params).values()] if params else []  # type: ignore[call-overload]
    return "; ".join(values)[:500] or None


def _result(spoken: wording.Language, folder: object, *, already: bool, notes: list) -> LaunchTrainingResult:  # type: ignore[type-arg]
    from mindspeed_mm_train_profiler.runs import launcher as launchers
    from mindspeed_mm_train_profiler.runs import poll
    from mindspeed_mm_train_profiler.runs.folder import RunFolder

    assert isinstance(folder, RunFolder)
    state, _, _ = poll.state_of(folder)
    script, run = folder.read("script") or {}, folder.read("run") or {}
    return LaunchTrainingResult(
        summary=wording.text(
            spoken, "launch.already" if already else "launch.started", run_id=folder.run_id, state=state
        ),
        warnings=remarks(spoken, notes),
        next_step=NextStep(
            tool="poll_status",
            arguments={"run_id": folder.run_id, "wait_s": 15},
            why=wording.text(spoken, "launch.next"),
        ),
        run_id=folder.run_id,
        state=state,
        pid=script.get("pid"),
        job_id=run.get("job_id"),
        log_path=str(launchers.of(folder).log(folder)),
        run_dir=str(folder.path),
        already_running=already,
    )


TOOL = ToolSpec(
    name="launch_training",
    title="Launch the training copy",
    description="Start the copy of a build under a supervisor that outlives this server. Repeating never starts a "
    "second training. Refusals (busy NPU, port, disk, changed files) name a code; override takes such codes.",
    function=launch_training,
    read_only=False,
    destructive=True,
    idempotent=True,
    open_world=True,
)
