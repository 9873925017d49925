"""detect_engine: reads a launch script without running it, and says what would be launched with which configuration."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from mindspeed_mm_train_profiler.errors import Note
from mindspeed_mm_train_profiler.skill import wording
from mindspeed_mm_train_profiler.tools.common import (
    Language,
    NextStep,
    Result,
    ToolSpec,
    argument_path,
    remarks,
    resolve_language,
)

MAX_LISTED = 60


class Link(BaseModel):
    role: Literal["script", "yaml", "tools_json"]
    path: str
    reached_by: str
    line: int | None = None


class TrainItersFound(BaseModel):
    value: int | None = None
    role: str | None = None
    path: str | None = None
    key: str | None = None
    line: int | None = None
    overridden_by: str | None = None


class CapabilitiesFound(BaseModel):
    dynamic: bool | None = None
    analyse_flag: bool | None = None
    offline_cli: str | None = None
    warmup_steps: int | None = None
    profile_key: str | None = None
    checkout: str | None = None


class MissingPathFound(BaseModel):
    path: str
    source: str
    line: int | None = None


class PlaceholderFound(BaseModel):
    text: str
    source: str
    line: int | None = None


class UnresolvedFound(BaseModel):
    name: str
    line: int | None = None
    why: str


class CallFound(BaseModel):
    launcher: str
    entry: str | None = None
    line: int | None = None
    certain: bool = True
    chosen: bool = False


class WorldChangeFound(BaseModel):
    kind: str
    command: str
    path: str
    line: int
    before_launch: bool


class DetectEngineResult(Result):
    """What would be launched; steps and iterations are not touched here."""

    engine: Literal["megatron", "fsdp2", "unsupported"]
    framework: Literal["torch", "mindspore"] = "torch"
    reason: str = ""
    reason_code: str = ""
    suggestion: str | None = None
    script: str = ""
    workdir: str = ""
    launcher: str | None = None
    entry: str | None = None
    entry_args: list[str] = Field(default_factory=list)
    calls: list[CallFound] = Field(default_factory=list)
    config_kind: Literal["tools_json", "yaml"] | None = None
    config_path: str | None = None
    config_chain: list[Link] = Field(default_factory=list)
    train_iters: TrainItersFound = Field(default_factory=TrainItersFound)
    current_profile: dict[str, Any] | None = None
    nproc_per_node: int | None = None
    nnodes: int | None = None
    node_rank: int | None = None
    world_size: int | None = None
    master_addr: str | None = None
    master_port: int | None = None
    log_file: str | None = None
    save: str | None = None
    load: str | None = None
    capabilities: CapabilitiesFound = Field(default_factory=CapabilitiesFound)
    missing_paths: list[MissingPathFound] = Field(default_factory=list)
    placeholders: list[PlaceholderFound] = Field(default_factory=list)
    unresolved: list[UnresolvedFound] = Field(default_factory=list)
    world_changes: list[WorldChangeFound] = Field(default_factory=list)
    omitted: int = Field(0, description=f"entries left out of lists longer than {MAX_LISTED}")

    def body(self, language: wording.Language) -> Iterable[str]:
        yield f"script: {self.script}"
        if self.engine == "unsupported":
            if self.suggestion:
                yield self.suggestion
            return
        yield f"workdir: {self.workdir}"
        ranks = f"nproc {self.nproc_per_node}, nnodes {self.nnodes}, world {self.world_size}"
        yield f"{self.launcher} {self.entry} ({ranks})"
        for link in self.config_chain:
            yield f"  {link.role}: {link.path} <- {link.reached_by}" + (f" :{link.line}" if link.line else "")
        iters = self.train_iters
        yield f"train_iters: {iters.value} ({iters.key}, {iters.path}:{iters.line})" + (
            f" <- {iters.overridden_by}" if iters.overridden_by else ""
        )
        for missing in self.missing_paths[:10]:
            yield wording.text(language, "detect.missing", path=missing.path, source=missing.source)
        if len(self.missing_paths) > 10:
            yield wording.text(language, "detect.more", count=len(self.missing_paths) - 10)
        for hole in self.placeholders[:5]:
            yield wording.text(language, "detect.placeholder", text=hole.text, source=hole.source)
        for unknown in self.unresolved[:5]:
            yield wording.text(language, "detect.unresolved", name=unknown.name, line=unknown.line, why=unknown.why)


def detect_engine(
    script: Annotated[str, Field(description="launch script (.sh)")],
    workdir: Annotated[str | None, Field(description="where the launch starts")] = None,
    script_args: Annotated[list[str] | None, Field(description="the script's own")] = None,
    env: Annotated[dict[str, str] | None, Field(description="set for the launch")] = None,
    language: Language = None,
) -> DetectEngineResult:
    """Read a launch script; an unsupported one is a normal answer with its reason."""
    from mindspeed_mm_train_profiler.launch_script import read_launch

    spoken = resolve_language(language)
    place = argument_path(workdir) if workdir is not None else None
    plan = read_launch(argument_path(script, base=place), workdir=place, script_args=script_args or (), env=env or {})
    supported = plan.engine != "unsupported"
    notes = list(plan.notes)
    if supported and plan.missing_paths:
        notes.append(Note("paths_not_there", {"count": len(plan.missing_paths)}))
    if supported and plan.placeholders:
        notes.append(Note("placeholders_left", {"count": len(plan.placeholders)}))
    iters = plan.train_iters
    chosen = plan.call
    key = f"detect.summary.{plan.engine}"
    summary = wording.text(
        spoken,
        key,
        script=plan.script.name,
        config=plan.config_path or "?",
        iters=iters.value if iters.value is not None else "?",
        world=plan.world_size if plan.world_size is not None else "?",
        reason=wording.note_message(spoken, plan.reason),
    )
    lists = (plan.missing_paths, plan.placeholders, plan.unresolved, plan.world_changes)
    return DetectEngineResult(
        summary=summary,
        warnings=remarks(spoken, notes[:20]),
        next_step=NextStep(
            tool="check_env", arguments={"script": str(plan.script)}, why=wording.text(spoken, "detect.next")
        )
        if supported
        else None,
        engine=plan.engine,
        framework=plan.framework,
        reason=wording.note_message(spoken, plan.reason),
        reason_code=plan.reason.code,
        suggestion=wording.note_message(spoken, plan.suggestion) if plan.suggestion else None,
        script=str(plan.script),
        workdir=str(plan.workdir),
        launcher=chosen.launcher if chosen else None,
        entry=str(plan.entry) if plan.entry else (chosen.entry.text if chosen and chosen.entry else None),
        entry_args=[word.text for word in chosen.entry_args] if chosen else [],
        calls=[
            CallFound(
                launcher=call.launcher,
                entry=call.entry.text if call.entry else None,
                line=call.launcher_span.line,
                certain=call.certain,
                chosen=call is chosen,
            )
            for call in plan.calls[:MAX_LISTED]
        ],
        config_kind=plan.config_kind,
        config_path=str(plan.config_path) if plan.config_path and supported else None,
        config_chain=[
            Link(role=link.role, path=str(link.path), reached_by=link.reached_by, line=link.line) for link in plan.chain
        ],
        train_iters=TrainItersFound(
            value=iters.value,
            role=iters.role,
            path=str(iters.path) if iters.path else None,
            key=iters.key,
            line=iters.line,
            overridden_by=iters.overridden_by,
        ),
        current_profile=dict(plan.current_profile) if plan.current_profile is not None else None,
        nproc_per_node=plan.nproc_per_node,
        nnodes=plan.nnodes,
        node_rank=plan.node_rank,
        world_size=plan.world_size,
        master_addr=plan.master_addr,
        master_port=plan.master_port,
        log_file=str(chosen.log_file) if chosen and chosen.log_file else None,
        save=_text(plan.save),
        load=_text(plan.load),
        capabilities=CapabilitiesFound(
            dynamic=plan.capabilities.dynamic,
            analyse_flag=plan.capabilities.analyse_flag,
            offline_cli=plan.capabilities.offline_cli,
            warmup_steps=plan.capabilities.warmup_steps,
            profile_key=plan.capabilities.profile_key,
            checkout=_text(plan.capabilities.checkout),
        ),
        missing_paths=[
            MissingPathFound(path=str(m.path), source=m.source, line=m.line) for m in plan.missing_paths[:MAX_LISTED]
        ],
        placeholders=[
            PlaceholderFound(text=p.text, source=p.source, line=p.line) for p in plan.placeholders[:MAX_LISTED]
        ],
        unresolved=[
            UnresolvedFound(name=u.name, line=u.line, why=wording.note_message(spoken, u.why))
            for u in plan.unresolved[:MAX_LISTED]
        ],
        world_changes=[
            WorldChangeFound(
                kind=w.kind,
                command=w.command[:200],
                path=str(w.span.path),
                line=w.span.line,
                before_launch=w.before_launch,
            )
            for w in plan.world_changes[:MAX_LISTED]
        ],
        omitted=sum(max(0, len(items) - MAX_LISTED) for items in lists),
    )


def _text(path: Path | None) -> str | None:
    return str(path) if path is not None else None


TOOL = ToolSpec(
    name="detect_engine",
    title="Detect the training engine",
    description="Read a MindSpeed-MM launch script without running it: engine (Megatron or FSDP2), configuration "
    "chain, train_iters, ranks, current profile block, missing paths. An unsupported script is a normal answer.",
    function=detect_engine,
    read_only=True,
    destructive=False,
    idempotent=True,
    open_world=False,
)
