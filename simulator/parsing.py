"""What torch_npu makes of a session: ASCEND_PROFILER_OUTPUT, the logs, the messages, and its failures.

Source: torch_npu/profiler/analysis/_profiling_parser.py (order, analyse.done, data_simplification) and prof_config/
_parser_config.py (which file for which level and activity). Failures end as the real ones do: errors are printed, and
"All profiling data parsed" and analyse.done come all the same.
"""

import json
import os
import shutil
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

from mindspeed_mm_train_profiler.simulator.database import write_databases
from mindspeed_mm_train_profiler.simulator.generations import Generation
from mindspeed_mm_train_profiler.simulator.messages import Messages, say
from mindspeed_mm_train_profiler.simulator.session import NOTE, RECORD
from mindspeed_mm_train_profiler.simulator.source import Source
from mindspeed_mm_train_profiler.simulator.tables import write_tables
from mindspeed_mm_train_profiler.simulator.trace import write_trace
from mindspeed_mm_train_profiler.simulator.workload import from_record

OUTPUT = "ASCEND_PROFILER_OUTPUT"
Exports = frozenset[Literal["text", "db"]]
TEXT: Exports = frozenset({"text"})


def exports_of(generation: Generation, *, db: bool) -> Exports:
    """What a parse of text writes: the db files as well where CANN can, from torch_npu 7.2.0 on."""
    return frozenset({"text", "db"}) if db and generation.mstx else TEXT


def _load(session: Path) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """(profiler_info, the record in the payload's place); the record is None where there is none."""
    infos = sorted(session.glob("profiler_info*.json"))
    info = json.loads(infos[0].read_text(encoding="utf-8")) if infos else {}
    records = [*session.glob(f"PROF_*/host/{RECORD}"), *session.glob(f"FRAMEWORK/{RECORD}")]
    return info, json.loads(records[0].read_text(encoding="utf-8")) if records else None


def analyse_session(
    session: Path, generation: Generation, *, exports: Exports = TEXT, fails: bool = False, seconds: float = 0.0
) -> None:
    """Parse one session in this process."""
    messages = Messages(generation)
    begun = time.monotonic()
    output = session / OUTPUT
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(mode=0o750)
    if generation.mode_in_message:
        messages.info(f"Start parsing profiling data in sync mode at: {session}")
    else:
        messages.info(f"Start parsing profiling data: {session}")
    say("|\b", end="")
    info, record = _load(session)
    if not info:
        messages.warning("Failed to get profiler info json from file.")
    lines = [NOTE, f"parsing {session}"]
    time.sleep(seconds)
    if fails or record is None:
        messages.error(f"Failed to export CANN Profiling data. Error msg: {generation.no_msprof}")
        stamp = time.strftime("%Y-%m-%d-%H:%M:%S")
        rank = info.get("rank_id", -1)
        say(f"[ERROR] {stamp} (PID:{os.getpid()}, Device:-1, RankID:{rank}) ERR04008 PROF resource not found\n")
        for task in generation.tasks:
            messages.error(generation.task_failed.format(task))
            lines.append(f"[ERROR] {generation.task_failed.format(task)}")
    else:
        spent = timedelta(seconds=time.monotonic() - begun)
        messages.info(f"CANN profiling data parsed in a total time of {spent}")
        _write(session, output, info, record, generation, exports)
    if generation.logs:
        stamp = time.strftime("%Y%m%d%H%M%S")
        log = session / "logs" / f"profiler_{stamp}_{os.getpid()}_ProfilingParser.log"
        log.parent.mkdir(mode=0o750, exist_ok=True)
        log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    _simplify(session, info, generation)
    if generation.done_file:
        (output / "analyse.done").touch(mode=0o640)
    for path in output.iterdir():
        path.chmod(0o640)
    messages.info(f"All profiling data parsed in a total time of {timedelta(seconds=time.monotonic() - begun)}")


def _write(
    session: Path,
    output: Path,
    info: dict[str, Any],
    record: dict[str, Any],
    generation: Generation,
    exports: Exports,
) -> None:
    config = info.get("config", {})
    common = config.get("common_config", {})
    level = config.get("experimental_config", {}).get("_profiler_level", "Level0")
    steps = [from_record(step) for step in record["steps"]]
    if level == "Level0":  # collectives are traced from Level1 on
        steps = [replace(step, collectives=[]) for step in steps]
    source = Source(
        steps=steps,
        generation=generation,
        level=level,
        metrics=config.get("experimental_config", {}).get("_aic_metrics", "ACL_AICORE_NONE"),
        cpu="ProfilerActivity.CPU" in common.get("activities", []),
        device_data=record["device_data"] and "ProfilerActivity.NPU" in common.get("activities", []),
        shapes=common.get("record_shapes", False),
        stack=common.get("with_stack", False),
        memory=common.get("profile_memory", False),
        rank=int(info.get("rank_id", 0)),
        device=record["device"],
        world_size=record["world_size"],
    )
    # a step without work on the device stands in the trace and in no table, as with torch_npu
    worked = replace(source, steps=[step for step in steps if step.kernels])
    if "text" in exports:
        write_tables(output, worked)
        write_trace(output / "trace_view.json", source)
    if "db" in exports:
        write_databases(output, worked)
    for prof in session.glob("PROF_*"):  # the CANN side's own results; data_simplification removes them
        results = prof / "mindstudio_profiler_output"
        results.mkdir(mode=0o750, exist_ok=True)
        kernels = output / "kernel_details.csv"
        if kernels.exists():
            shutil.copyfile(kernels, results / f"op_summary_{time.strftime('%Y%m%d%H%M%S')}.csv")
        (prof / "mindstudio_profiler_log").mkdir(mode=0o750, exist_ok=True)
        if level != "Level0" and record["world_size"] > 1:
            (prof / "analyze").mkdir(mode=0o750, exist_ok=True)


def _simplify(session: Path, info: dict[str, Any], generation: Generation) -> None:
    if not info.get("config", {}).get("experimental_config", {}).get("_data_simplification", True):
        return
    for prof in session.glob("PROF_*"):
        for name in ("analyze", "mindstudio_profiler_log", "mindstudio_profiler_output"):
            shutil.rmtree(prof / name, ignore_errors=True)
    if generation.simplify_removes_framework:
        shutil.rmtree(session / "FRAMEWORK", ignore_errors=True)


def analyse(
    path: Path, generation: Generation, *, exports: Exports = TEXT, fails: bool = False, seconds: float = 0.0
) -> int:
    """Offline: a session, or a folder whose direct children are sessions. Returns how many were parsed."""
    candidates = [path] if _is_session(path) else sorted(child for child in path.iterdir() if _is_session(child))
    for session in candidates:
        analyse_session(session, generation, exports=exports, fails=fails, seconds=seconds)
    return len(candidates)


def _is_session(path: Path) -> bool:
    return path.is_dir() and ((path / "FRAMEWORK").is_dir() or any(path.glob("PROF_*")))
