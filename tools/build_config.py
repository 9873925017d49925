"""build_config: shows what would be collected, and after confirmation makes the proven copies."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from mindspeed_mm_train_profiler.options import ProfileOptions
from mindspeed_mm_train_profiler.skill import confirmation, wording
from mindspeed_mm_train_profiler.tools.build_result import (
    MAX_PLACED,
    BuildResult,
    ChangeMade,
    CopyMade,
    Estimate,
    Expected,
    Placed,
    Row,
)
from mindspeed_mm_train_profiler.tools.common import (
    Injected,
    Language,
    NextStep,
    ToolSpec,
    argument_path,
    remarks,
    resolve_language,
)

MAX_DIFF_CHARS = 6000
"""All diffs of one result together; the copies on disk hold the rest."""
MAX_WARNINGS = 20
DEFAULTS = ProfileOptions()


def prepare(
    script: str, options: ProfileOptions, workdir: str | None, script_args: Any, env: Any, nodes: int | None = None
) -> Any:
    """The proposal; paths of the options are taken from the server's working directory."""
    from mindspeed_mm_train_profiler import profile_config
    from mindspeed_mm_train_profiler.launch_script import read_launch

    place = argument_path(workdir) if workdir is not None else None
    given = {
        name: str(argument_path(value))
        for name in ("save_path", "dynamic_config_path")
        if (value := getattr(options, name)) is not None
    }
    plan = read_launch(argument_path(script, base=place), workdir=place, script_args=script_args or (), env=env or {})
    for link in plan.chain:
        argument_path(link.path)  # a copy is written beside it
    proposal = profile_config.prepare(plan, options.model_copy(update=given), nodes=nodes)
    argument_path(proposal.save_path)
    return proposal


def table_rows(language: wording.Language, proposal: Any, *, made: bool = False) -> list[confirmation.Row]:
    def shown(path: Path | None, given: str | None) -> str | None:
        if path is None:
            return None
        # a folder of this run gets its name when it is made
        return str(path) if made or given is not None else f"{path.parent}/run_<time>"

    plan, options = proposal.plan, proposal.options
    return confirmation.rows(
        language,
        options,
        script=str(plan.script),
        engine=plan.engine,
        config_path=str(plan.config_path),
        save_path=shown(proposal.save_path, options.save_path),
        dynamic_path=shown(proposal.dynamic_path, options.dynamic_config_path),
        captured=proposal.window.iterations,
    )


def _placement(proposal: Any) -> list[Placed] | None:
    nproc, ranks = proposal.plan.nproc_per_node, proposal.expected.get("ranks")
    if not nproc or ranks is None or (proposal.nodes or proposal.plan.nnodes or 1) < 2:
        return None
    return [Placed(rank=rank, node=rank // nproc, device=rank % nproc) for rank in ranks[:MAX_PLACED]]


def build_config(
    script: Annotated[str, Field(description="launch script (.sh)")],
    options: ProfileOptions = DEFAULTS,
    workdir: Annotated[str | None, Field(description="where the launch starts")] = None,
    script_args: Annotated[list[str] | None, Field(description="the script's own")] = None,
    env: Annotated[dict[str, str] | None, Field(description="set for the launch")] = None,
    confirmed: Annotated[
        bool | None, Field(description="true: the user has confirmed the table; false: declined")
    ] = None,
    nodes: Annotated[int | None, Field(description="for slurm: how many nodes")] = None,
    language: Language = None,
    answer: Annotated[Any, Injected("build_asking:Answer")] = None,
) -> BuildResult:
    """Check, show the confirmation table, and once confirmed write the copies."""
    from mindspeed_mm_train_profiler import profile_config

    spoken = resolve_language(language)
    proposal = prepare(script, options, workdir, script_args, env, nodes)
    said = confirmed
    if said is None and answer is not None:  # from the terminal command nobody is asked here
        from mindspeed_mm_train_profiler.tools.build_asking import said_yes

        said = said_yes(answer)
    rows = table_rows(spoken, proposal, made=said is True)
    shown: dict[str, Any] = {
        "confirmation": [Row(item=item, value=value) for item, value in rows],
        "table": confirmation.table(spoken, rows),
        "expected": Expected(**proposal.expected, placement=_placement(proposal)),
        "estimate": Estimate(**proposal.estimate) if proposal.estimate else None,
    }
    if said is not True:
        declined = said is False
        arguments: dict[str, Any] = {"script": script, "options": options.model_dump(mode="json", exclude_unset=True)}
        optional = {"workdir": workdir, "script_args": script_args, "env": env, "nodes": nodes, "language": language}
        arguments |= {name: value for name, value in optional.items() if value}
        return BuildResult(
            status="declined" if declined else "needs_confirmation",
            summary=wording.text(spoken, "build.declined" if declined else "build.needs_confirmation"),
            warnings=remarks(spoken, proposal.notes[:MAX_WARNINGS]),
            next_step=None
            if declined
            else NextStep(
                tool="build_config",
                arguments={**arguments, "confirmed": True},
                why=wording.text(spoken, "build.confirm_next"),
            ),
            **shown,
        )
    manifest = profile_config.build(proposal)
    return _built(spoken, manifest, proposal, shown, asked_nodes=nodes is not None)


def _built(
    language: wording.Language,
    manifest: dict[str, Any],
    proposal: Any,
    shown: dict[str, Any],
    *,
    asked_nodes: bool,
) -> BuildResult:
    from mindspeed_mm_train_profiler.errors import Note

    left, omitted, copies = MAX_DIFF_CHARS, 0, []
    for copy in manifest["copies"]:
        diff = copy["diff"]
        if len(diff) > left:
            omitted += len(diff) - left
            diff = diff[:left] + "\n" + wording.text(language, "build.diff_cut", count=len(diff) - left)
        left = max(left - len(diff), 0)
        copies.append(CopyMade(**{k: copy[k] for k in ("role", "original", "copy", "sha256_original")}, diff=diff))
    notes = [Note(note["code"], note["params"]) for note in manifest["notes"]]
    return BuildResult(
        status="built",
        config_id=manifest["config_id"],
        summary=wording.text(language, "build.built", count=len(copies), config_id=manifest["config_id"]),
        warnings=remarks(language, notes[:MAX_WARNINGS]),
        next_step=NextStep(
            tool="launch_training",
            arguments={
                "config_id": manifest["config_id"],
                **({"launcher": "slurm"} if manifest["nodes"] and asked_nodes else {}),
            },
            why=wording.text(language, "build.next"),
        ),
        copies=copies,
        changes=[ChangeMade(**change) for change in manifest["changes"]],
        command=manifest["command"],
        save_path=manifest["save_path"],
        dynamic_config_path=manifest["dynamic_config_path"],
        omitted_chars=omitted,
        **shown,
    )


TOOL = ToolSpec(
    name="build_config",
    title="Build profiling copies",
    description=(
        "Show the confirmation table for one collection and, once confirmed, write timestamped copies of script and "
        "configuration with profiling on, each proven by reloading it as the trainer does; originals never change. "
        "Without confirmed=true (or the client's own answer) nothing is written."
    ),
    function=build_config,
    read_only=False,
    destructive=False,
    idempotent=False,
    open_world=False,
)
