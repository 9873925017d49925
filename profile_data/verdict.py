"""The verdict over a folder of sessions: per rank and overall. Looking changes nothing on disk.

complete   every expected rank is valid
unparsed   raw data is sound, analysis is absent or failed: parse offline
partial    some ranks or parts are missing or invalid
empty      sessions are there, but nothing was captured in them
missing    there is no session
"""

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.profile_data import layout, opened
from mindspeed_mm_train_profiler.profile_data.foretell import parsing_obstacles
from mindspeed_mm_train_profiler.profile_data.outputs import Outputs, inspect_outputs
from mindspeed_mm_train_profiler.profile_data.problems import Problem
from mindspeed_mm_train_profiler.profile_data.raw_data import inspect_raw
from mindspeed_mm_train_profiler.profile_data.record import (
    AIC_METRICS,
    NO_METRICS,
    SessionRecord,
    read_record,
    session_time,
)
from mindspeed_mm_train_profiler.profile_data.steps import captured_steps

State = Literal["valid", "unparsed", "invalid", "missing"]
Word = Literal["complete", "unparsed", "partial", "empty", "missing"]


@dataclass(slots=True)
class Expectation:
    """What was asked for, as in the tool contract; None asks for nothing. ``since``: seconds since 1970."""

    ranks: list[int] | None = None
    steps: list[int] | None = None
    level: str | None = None
    with_cpu: bool | None = None
    with_memory: bool | None = None
    with_stack: bool | None = None
    record_shapes: bool | None = None
    aic_metrics_type: str | None = None
    analyse_flag: bool | None = None
    world_size: int | None = None
    since: float | None = None
    windows: list[opened.Window] | None = None
    """Of a dynamic run: what was opened; then a rank may have several sessions."""


@dataclass(slots=True)
class RankVerdict:
    """One session, or an expected rank without one. ``rank`` and ``device`` are None where nothing tells them."""

    rank: int | None
    state: State
    session: Path | None = None
    device: int | None = None
    steps: list[int] | None = None
    record: SessionRecord | None = None
    bytes: int = 0
    captured: bool = False
    stale: bool = False
    good_results: bool = False
    """All that analysis should have left is there and loads, whatever became of the raw data."""
    files: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


@dataclass(slots=True)
class Verdict:
    """``bounded``: the search for sessions ended at its limit, so more may exist."""

    root: Path
    word: Word
    ranks: list[RankVerdict] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    bounded: bool = False


def verify(path: Path, expected: Expectation | None = None, *, deep: bool = False) -> Verdict:
    """Judge everything at or below ``path``. Errors: ``output_path_missing``, ``output_path_not_directory``."""
    wanted = expected or Expectation()
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        raise CodedError("output_path_missing", found=path) from None
    if not stat.S_ISDIR(mode):
        raise CodedError("output_path_not_directory", found=path)
    if not os.access(path, os.R_OK | os.X_OK):
        raise CodedError("output_path_unreadable", found=path)
    found = layout.find_sessions(path)
    if wanted.since is not None:  # a run leaves whole sessions: results alone are somebody's copy
        found.sessions = [session for session in found.sessions if not layout.is_results(session)]
    verdict = Verdict(path, "missing", bounded=found.cut)
    verdict.problems += [Problem("folder_unreadable", looked=str(folder)) for folder in found.unreadable[:10]]
    records = [(session, read_record(session)) for session in found.sessions]
    fresh: list[tuple[Path, SessionRecord]] = []
    for session, record in records:
        when = session_time(session, record)
        if wanted.since is not None and when is not None and when < wanted.since:
            verdict.problems.append(Problem("session_stale", looked=str(session), remark=True))
        else:
            fresh.append((session, record))
    if wanted.ranks == [0] and wanted.world_size in (None, 1) and all(map(_of_one_process, fresh)):
        for _, record in fresh:
            record.rank = 0
    world = wanted.world_size or _world_size(
        # a session of another job says nothing of this one
        record
        for _, record in fresh
        if wanted.ranks is None or record.rank in wanted.ranks
    )
    verdict.ranks = [_judge(session, record, wanted, world, deep=deep) for session, record in fresh]
    if wanted.windows is not None:
        opened.match(verdict, wanted.windows)
    else:
        _duplicates(verdict)
    present = {rank.rank for rank in verdict.ranks}
    for number in dict.fromkeys(wanted.ranks or ()):
        if number not in present:
            missing = Problem("rank_missing", looked=f"rank {number}: {path}")
            verdict.ranks.append(RankVerdict(number, "missing", problems=[missing]))
    verdict.ranks.sort(key=lambda rank: (rank.rank is None, rank.rank or 0, str(rank.session)))
    verdict.word = _word(verdict, wanted)
    return verdict


def _of_one_process(found: tuple[Path, SessionRecord]) -> bool:
    """A training of one process has no RANK and no group: torch_npu then tells no rank, and there is only rank 0."""
    record = found[1]
    return record.path is not None and record.broken is None and record.rank is None and record.world_size is None


def _world_size(records: Iterable[SessionRecord]) -> int | None:
    """Largest communicator told by metadata; else a lower bound from the ranks that are here; None where neither."""
    told: list[int] = []
    for record in records:
        if record.world_size is not None:
            told.append(record.world_size)
        if record.rank is not None and record.rank > 0:
            told.append(record.rank + 1)
    return max(told, default=None)


def _judge(session: Path, record: SessionRecord, wanted: Expectation, world: int | None, *, deep: bool) -> RankVerdict:
    outputs = inspect_outputs(session, record, world, deep=deep)
    raw = inspect_raw(session, record, analysed=outputs.analysed)
    rank = RankVerdict(record.rank, "valid", session, record=record)
    rank.device = raw.devices[0] if len(raw.devices) == 1 else None
    rank.steps = captured_steps(session) if outputs.analysed else None
    rank.bytes, rank.files = raw.bytes + outputs.bytes, outputs.files
    rank.captured = raw.captured or outputs.analysed
    part = _part(session)
    rank.problems += _record_problems(session, record, wanted, part=part)
    rank.problems += [problem for problem in raw.problems if part != "results_alone"]
    blocking = [problem for problem in rank.problems if not problem.remark]
    rank.problems += _output_problems(outputs, wanted)
    rank.good_results = outputs.analysed and all(problem.remark for problem in outputs.problems)
    if outputs.analysed:
        if not _steps_unreliable(outputs.problems):
            rank.problems += _step_problems(rank, record, wanted)
        rank.state = "invalid" if any(not problem.remark for problem in rank.problems) else "valid"
        # results that are damaged over sound raw data can be made again
        if rank.state == "invalid" and not blocking and raw.present and _only_outputs(rank.problems):
            rank.problems.append(Problem("reparse_possible", looked=str(session), remark=True))
    else:
        closed = any(problem.code == "folder_unreadable" for problem in outputs.problems)
        rank.state = "invalid" if blocking or closed or not raw.present else "unparsed"
        if rank.state == "unparsed":
            rank.problems += parsing_obstacles(session)
    return rank


def _part(session: Path) -> str | None:
    """The code of a session that is only a part of one."""
    if layout.PROF_NAME.match(session.name):
        return "prof_alone"
    return "results_alone" if layout.is_results(session) else None


def _steps_unreliable(problems: list[Problem]) -> bool:
    """The file that tells the steps is itself damaged: what it says about steps is no second finding."""
    damaged = [problem.looked for problem in problems if problem.code in ("output_broken", "output_empty")]
    return any("step_trace_time" in looked or ".db" in looked for looked in damaged)


def _only_outputs(problems: list[Problem]) -> bool:
    codes = {problem.code for problem in problems if not problem.remark}
    return codes <= {"output_missing", "output_empty", "output_broken", "parse_errors", "analysis_unfinished"}


def _output_problems(outputs: Outputs, wanted: Expectation) -> list[Problem]:
    if not outputs.analysed and wanted.analyse_flag is False:
        return [
            Problem(problem.code, problem.looked, remark=True) if problem.code == "not_parsed" else problem
            for problem in outputs.problems
        ]
    return outputs.problems


def _record_problems(session: Path, record: SessionRecord, wanted: Expectation, *, part: str | None) -> list[Problem]:
    if part is not None:
        return [Problem(part, looked=str(session))]
    if record.path is None:
        return [Problem("session_record_missing", looked=str(session / "profiler_info_<rank>.json"))]
    if record.broken:
        return [Problem("session_record_broken", looked=f"{record.path}: {record.broken}")]
    found = [Problem("request_differs", looked=text) for text in _differences(record, wanted)]
    if wanted.ranks is not None and record.rank is not None and record.rank not in wanted.ranks:
        found.append(Problem("rank_unexpected", looked=f"rank {record.rank}: {session}", remark=True))
    if record.rank is None:
        found.append(Problem("rank_unknown", looked=str(record.path), remark=wanted.ranks is None))
    return found


def _differences(record: SessionRecord, wanted: Expectation) -> list[str]:
    """``name: asked != recorded``, after the corrections that torch_npu makes itself."""
    level = wanted.level.capitalize() if wanted.level else None
    metrics = AIC_METRICS.get(wanted.aic_metrics_type or "")
    if metrics and (level or record.level) == "Level0":
        metrics = NO_METRICS
    cpu = None if record.activities is None else "CPU" in record.activities
    pairs: tuple[tuple[str, object, object], ...] = (
        ("level", level, record.level),
        ("aic_metrics_type", metrics, record.aic_metrics),
        ("with_cpu", wanted.with_cpu, cpu),
        ("with_memory", wanted.with_memory, record.profile_memory),
        ("with_stack", wanted.with_stack, record.with_stack),
        ("record_shapes", wanted.record_shapes, record.record_shapes),
    )
    return [f"{name}: {a} != {b}" for name, a, b in pairs if a is not None and b is not None and a != b]


def _step_problems(rank: RankVerdict, record: SessionRecord, wanted: Expectation) -> list[Problem]:
    asked = wanted.steps
    if asked is None and record.steps and record.raw and _starts_late(record):
        asked = record.steps
    if rank.steps is None or asked is None or rank.steps == sorted(asked):
        return []
    if wanted.steps is None and record.cycle and rank.steps:
        later = rank.steps[0] - asked[0]
        if later > 0 and later % record.cycle == 0 and rank.steps == [step + later for step in asked]:
            return []
    return [Problem("steps_differ", looked=f"{opened.listed(rank.steps)} != {opened.listed(sorted(asked))}")]


def _starts_late(record: SessionRecord) -> bool:
    """Dynamic collection records skip_first 0 and not its real start, so only other schedules tell their steps."""
    schedule = record.raw["config"]["common_config"].get("schedule")
    return isinstance(schedule, dict) and bool(schedule.get("skip_first") or schedule.get("_skip_first"))


def _duplicates(verdict: Verdict) -> None:
    by_rank: dict[int, list[RankVerdict]] = {}
    for rank in verdict.ranks:
        if rank.rank is not None:
            by_rank.setdefault(rank.rank, []).append(rank)
    for number, several in by_rank.items():
        if len(several) > 1:
            names = ", ".join(item.session.name for item in several[:8] if item.session)
            more = f" (+{len(several) - 8})" if len(several) > 8 else ""
            # a schedule that repeats leaves a session for each of its windows
            windows = {tuple(item.steps or ()) for item in several if item.record and item.record.cycle}
            repeated = len(windows) == len(several)
            looked = f"rank {number}: {names}{more}"
            verdict.problems.append(Problem("rank_duplicate", looked=looked, remark=repeated))


def _word(verdict: Verdict, wanted: Expectation) -> Word:
    sessions = [rank for rank in verdict.ranks if rank.session is not None]
    if not sessions:
        return "missing"
    if not any(rank.captured for rank in sessions):
        return "empty"
    # a session of a rank nobody asked for cannot spoil the verdict
    asked = [rank for rank in verdict.ranks if wanted.ranks is None or rank.rank is None or rank.rank in wanted.ranks]
    states = {rank.state for rank in asked}
    if states == {"valid"} and not any(not problem.remark for problem in verdict.problems):
        return "complete"
    if states and states <= {"valid", "unparsed"} and "unparsed" in states:
        return "unparsed"
    return "partial"
