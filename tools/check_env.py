"""check_env: is this host ready to train and profile? CANN, npu-smi, torch_npu, msprof, disk, port."""

import socket
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field

from mindspeed_mm_train_profiler.errors import Note
from mindspeed_mm_train_profiler.skill import wording
from mindspeed_mm_train_profiler.tools.common import (
    Language,
    NextStep,
    Remark,
    Result,
    ToolSpec,
    argument_path,
    remark,
    remarks,
    resolve_language,
)


class CannFound(BaseModel):
    set_env: str | None = None
    sourced: list[str] = Field(default_factory=list)
    version: str | None = None


class SmiFound(BaseModel):
    path: str | None = None
    version: str | None = None
    status: str
    raw_error: str | None = None
    simulated: bool = False


class ProcessFound(BaseModel):
    pid: int
    name: str | None = None
    memory_mb: int | None = None


class NpuFound(BaseModel):
    npu: int
    chip: int | None = None
    device: int | None = None
    name: str | None = None
    health: str | None = None
    hbm_used_mb: int | None = None
    hbm_total_mb: int | None = None
    memory_used_mb: int | None = None
    memory_total_mb: int | None = None
    aicore_percent: int | None = None
    processes: list[ProcessFound] | None = Field(None, description="null: npu-smi printed no process table")


class DiskFound(BaseModel):
    path: str
    free_bytes: int | None = None


class PortFound(BaseModel):
    number: int
    free: bool | None = None


NPU_WORDS = {True: "env.npu.yes", False: "env.npu.no", None: "env.npu.unknown"}


class CheckEnvResult(Result):
    """Facts about this host; ``blocking`` is what stops a collection here."""

    ready: bool
    host: str | None = None
    cann: CannFound
    npu_smi: SmiFound
    npus: list[NpuFound] = Field(default_factory=list)
    torch: str | None = None
    torch_npu: str | None = None
    npu_available: bool | None = None
    device_count: int | None = None
    probe_error: str | None = None
    msprof: str | None = None
    python: str | None = None
    disk: list[DiskFound] = Field(default_factory=list)
    port: PortFound | None = None
    blocking: list[Remark] = Field(default_factory=list)

    def body(self, language: wording.Language) -> Iterable[str]:
        yield f"CANN: {self.cann.version or '?'} ({self.cann.set_env or '-'})"
        yield f"npu-smi: {self.npu_smi.status} {self.npu_smi.version or ''} - {len(self.npus)} NPU"
        npu = wording.text(language, NPU_WORDS[self.npu_available])
        yield f"torch {self.torch or '?'}, torch_npu {self.torch_npu or '?'}, {npu}"
        yield f"python: {self.python or '?'}; msprof: {self.msprof or '-'}"
        if self.npu_smi.simulated:
            yield wording.text(language, "env.simulated")
        for item in self.blocking:
            yield wording.text(language, "env.blocking", code=item.code, message=item.message)
            if item.hint:
                yield "  " + wording.text(language, "common.hint", value=item.hint)


def check_env(
    script: Annotated[str | None, Field(description="launch script, for its CANN, Python, port and paths")] = None,
    python: Annotated[str | None, Field(description="interpreter the training uses")] = None,
    workdir: Annotated[str | None, Field(description="where the launch starts")] = None,
    srun: Annotated[list[str] | None, Field(description="probe a Slurm node; srun options")] = None,
    language: Language = None,
) -> CheckEnvResult:
    """Look at the host; nothing is changed. Errors with ``srun``: those of ``check_node``."""
    import shutil

    if srun is not None:
        from mindspeed_mm_train_profiler.tools.check_node import check_node

        return check_node(srun, script=script, python=python, workdir=workdir, language=resolve_language(language))

    from mindspeed_mm_train_profiler.launch_script import read_launch
    from mindspeed_mm_train_profiler.npu_host import advisories, cann, local, probe, smi

    spoken = resolve_language(language)
    plan = None
    if script is not None:
        place = argument_path(workdir) if workdir is not None else None
        plan = read_launch(argument_path(script, base=place), workdir=place)
    found = cann.find(plan.cann_set_env if plan else ())
    environment = dict(found.environment)
    report = smi.query(environment)
    asked = python or (plan.python if plan else None)
    cwd = plan.workdir if plan else None
    answer = probe.probe(asked, environment, cwd=cwd)
    msprof = shutil.which("msprof", path=environment.get("PATH"))
    place = plan.workdir if plan else argument_path(workdir) if workdir else Path.cwd()
    disks = [local.disk(place / "npu_profiling"), local.disk(Path("/tmp"))]
    port = plan.master_port if plan else None
    free = local.port_free(port) if port is not None else None
    blocking, notes = judge(report, answer, found, msprof)
    if free is False:
        notes.append(
            Note("port_in_use", {"port": port, "holder": (port is not None and local.port_holder(port)) or "-"})
        )
    if blocking and shutil.which("sbatch", path=environment.get("PATH")) and not report.dies:
        notes.append(Note("login_node", {}))
    notes += advisories.notes(answer.torch_npu, found.version)
    if names := local.disabling_variables(environment):
        notes.append(Note("profiler_disabled", {"names": ", ".join(names)}))
    ready = not blocking
    return CheckEnvResult(
        summary=wording.text(
            spoken, "env.ready" if ready else "env.not_ready", npus=len(report.dies), count=len(blocking)
        ),
        warnings=remarks(spoken, notes),
        next_step=_next(spoken, script) if ready else None,
        ready=ready,
        host=socket.gethostname(),
        cann=CannFound(
            set_env=found.set_env[0] if found.set_env else None, sourced=list(found.set_env), version=found.version
        ),
        npu_smi=SmiFound(
            path=report.path,
            version=report.version,
            status=report.status,
            raw_error=report.raw_error,
            simulated=report.simulated,
        ),
        npus=[_npu(die, report.processes_known) for die in report.dies],
        torch=answer.torch,
        torch_npu=answer.torch_npu,
        npu_available=answer.npu_available,
        device_count=answer.device_count,
        probe_error=answer.error,
        msprof=msprof,
        python=answer.executable,
        disk=[DiskFound(path=item.path, free_bytes=item.free_bytes) for item in disks],
        port=PortFound(number=port, free=free) if port is not None else None,
        blocking=[remark(spoken, note) for note in blocking],
    )


def _npu(die: Any, known: bool) -> NpuFound:
    return NpuFound(
        npu=die.npu,
        chip=die.chip,
        device=die.device,
        name=die.name,
        health=die.health,
        hbm_used_mb=die.hbm_used_mb,
        hbm_total_mb=die.hbm_total_mb,
        memory_used_mb=die.memory_used_mb,
        memory_total_mb=die.memory_total_mb,
        aicore_percent=die.aicore_percent,
        processes=[ProcessFound(pid=p.pid, name=p.name, memory_mb=p.memory_mb) for p in die.processes]
        if known
        else None,
    )


def _next(spoken: wording.Language, script: str | None) -> NextStep:
    arguments = {"script": script} if script else {}
    return NextStep(tool="choose_options", arguments=arguments, why=wording.text(spoken, "env.next"))


def judge(report: Any, answer: Any, found: Any, msprof: str | None) -> tuple[list[Note], list[Note]]:
    """(what stops, what is worth a word): absent, refused, not sourced and broken are different answers."""
    blocking: list[Note] = []
    notes: list[Note] = []
    error = answer.error or ""
    unsourced = "cannot open shared object" in error or "No module named 'acl'" in error or "set_env.sh" in error
    if report.status == "driver_refuses":
        blocking.append(Note("driver_refuses", {"detail": (report.raw_error or "").strip().splitlines()[-1]}))
    elif report.status == "timeout":
        notes.append(Note("npu_smi_hangs", {"detail": report.raw_error}))
    elif report.status == "not_found":
        if answer.npu_available is not True:
            blocking.append(Note("npu_unavailable", {"detail": "npu-smi: not found", "found": "npu-smi: not found"}))
        else:
            notes.append(Note("npu_smi_absent", {}))
    elif report.status != "ok":
        notes.append(Note("npu_smi_error", {"detail": (report.raw_error or "")[:300]}))
    if answer.torch_npu is None:
        if unsourced:
            blocking.append(Note("cann_not_sourced", {"detail": error[:300]}))
        else:
            blocking.append(Note("torch_npu_unavailable", {"detail": error[:300], "found": error[:300]}))
    elif answer.npu_available is False and report.status != "driver_refuses":
        if all(note.code != "npu_unavailable" for note in blocking):
            said = "torch.npu.is_available() = False"
            blocking.append(Note("npu_unavailable", {"detail": said, "found": said}))
    elif answer.npu_available is None:
        notes.append(Note("npu_not_probed", {"detail": error[:300]}))
    if not found.set_env and not found.already and not unsourced:
        notes.append(Note("cann_not_found", {}))
    if msprof is None:
        notes.append(Note("msprof_absent", {}))
    notes += [
        Note("npu_unhealthy", {"npu": die.npu, "chip": "-" if die.chip is None else die.chip, "health": die.health})
        for die in report.dies
        if die.health not in {None, "OK"}
    ]
    if report.status == "ok":
        notes += [Note("npu_smi_says", {"detail": line}) for line in report.said]
    return blocking, notes


TOOL = ToolSpec(
    name="check_env",
    title="Check the NPU host",
    description="Look at this host without changing it: CANN, npu-smi (NPUs, memory, processes), torch_npu in the "
    "Python the script uses, msprof, free disk, MASTER_PORT. 'blocking' stops a collection.",
    function=check_env,
    read_only=True,
    destructive=False,
    idempotent=True,
    open_world=False,
)
