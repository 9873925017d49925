"""profiler_info: what torch_npu says it was asked for, after its own corrections, and for which rank.

Written by torch_npu ``profiler_interface.py::_dump_profiler_info`` when the window closes: a session without it was
never stopped. ``rank_id`` is a string or a number by release; ``_export_type`` a string or a list.
"""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.profile_data.layout import DB_NAME, INFO_NAME, SESSION_NAME, entries, is_results

MAX_BYTES = 16 * 2**20
AIC_METRICS = {
    "PipeUtilization": "ACL_AICORE_PIPE_UTILIZATION",
    "ArithmeticUtilization": "ACL_AICORE_ARITHMETIC_UTILIZATION",
}
NO_METRICS = "ACL_AICORE_NONE"


@dataclass(slots=True)
class SessionRecord:
    """None wherever the record does not say. ``steps`` are the 0-based counters that the schedule should capture."""

    path: Path | None = None
    broken: str | None = None
    rank: int | None = None
    level: str | None = None
    activities: list[str] | None = None
    record_shapes: bool | None = None
    profile_memory: bool | None = None
    with_stack: bool | None = None
    aic_metrics: str | None = None
    simplified: bool | None = None
    exports: list[str] | None = None
    steps: list[int] | None = None
    cycle: int | None = None
    """Of a schedule that repeats: the distance between its windows; each leaves a session."""
    first_release: bool = False
    """Of torch_npu 5.0, which recorded its own attributes (``_skip_first``) and wrote fewer results."""
    mindspore: bool = False
    torch_npu: str | None = None
    cann: str | None = None
    ended: float | None = None
    world_size: int | None = None
    raw: dict[str, Any] = field(default_factory=dict)


def read_object(path: Path, limit: int = MAX_BYTES) -> dict[str, Any]:
    """The JSON object in a small file; ValueError says what is wrong, OSError where it cannot be read."""
    if path.exists() and not path.is_file():  # a pipe would block
        raise ValueError("not a regular file")
    with path.open("rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise ValueError(f"more than {limit} bytes")
    try:
        value = json.loads(data)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _bool(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _int(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, str) and re.fullmatch(r"\d{1,9}", value) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _steps(schedule: dict[str, Any]) -> list[int] | None:
    parts = [_int(schedule.get(key, 0)) for key in ("skip_first", "wait", "warmup")]
    active = _int(schedule.get("active"))
    if (
        schedule.get("skip_first_wait")
        or active is None
        or not 0 < active <= 100_000
        or any(part is None for part in parts)
    ):
        return None
    first = sum(part for part in parts if part is not None)
    return list(range(first, first + active))


def _rank(value: object) -> int | None:
    """-1 and the like are how a release says that there is none."""
    number = _int(value)
    return number if number is not None and 0 <= number < 10**9 else None


def _info_files(session: Path) -> list[tuple[Path, int | None]]:
    try:
        names = sorted(entry.name for entry in entries(session))
    except OSError:
        return []
    return [(session / name, _rank(match["rank"])) for name in names if (match := INFO_NAME.match(name))]


def read_record(session: Path) -> SessionRecord:
    """The session's record; ``path`` None where there is none, ``broken`` where it cannot be understood."""
    files = _info_files(session)
    path, named_rank = files[0] if files else (None, None)
    record = SessionRecord(path=path, rank=named_rank, world_size=_world_size(session))
    record.mindspore = session.name.endswith("_ascend_ms")
    if path is None:
        record.rank = _rank_of_results(session)
        return record
    if len({rank for _, rank in files if rank is not None}) > 1:
        record.rank = None
        record.broken = "records of several ranks: " + ", ".join(file.name for file, _ in files[:4])
        return record
    try:
        raw = read_object(path)
    except (OSError, ValueError) as error:
        record.broken = str(error)
        return record
    common = _dict(_dict(raw.get("config")).get("common_config"))
    special = _dict(_dict(raw.get("config")).get("experimental_config"))
    if not common:
        record.broken = "config.common_config is missing"
    record.raw = raw
    rank = _rank(raw.get("rank_id"))
    record.rank = rank if rank is not None else named_rank
    activities = common.get("activities")
    if isinstance(activities, list):
        record.activities = sorted({str(item).rsplit(".", 1)[-1] for item in activities})
    record.level = _text(special.get("_profiler_level"))
    record.aic_metrics = _text(special.get("_aic_metrics"))
    record.simplified = _bool(special.get("_data_simplification"))
    exports = special.get("_export_type")
    if isinstance(exports, (str, list)):
        record.exports = [exports] if isinstance(exports, str) else [str(item) for item in exports]
    record.record_shapes = _bool(common.get("record_shapes"))
    record.profile_memory = _bool(common.get("profile_memory"))
    record.with_stack = _bool(common.get("with_stack"))
    schedule = _dict(common.get("schedule"))
    record.first_release = "_active" in schedule
    schedule = {key.removeprefix("_"): value for key, value in schedule.items()}
    record.steps = _steps(schedule)
    if record.steps and schedule.get("repeat") != 1:
        record.cycle = len(record.steps) + (_int(schedule.get("wait", 0)) or 0) + (_int(schedule.get("warmup", 0)) or 0)
    record.torch_npu, record.cann = _text(raw.get("torch_npu_version")), _text(raw.get("cann_version"))
    ended = _dict(raw.get("end_info")).get("collectionTimeEnd")
    if isinstance(ended, (int, float)) and not isinstance(ended, bool) and 0 < ended < 2**63:
        record.ended = ended / 1e9
    return record


def _rank_of_results(folder: Path) -> int | None:
    """Of results that were copied away from their session: their database's name tells the rank."""
    if not is_results(folder):
        return None
    named = {_rank(match["rank"]) for entry in entries(folder) if (match := DB_NAME.match(entry.name))}
    return named.pop() if len(named) == 1 else None


def _world_size(session: Path) -> int | None:
    """Largest group of the communicators in profiler_metadata.json (torch_npu 7.0 and later)."""
    try:
        groups = _dict(read_object(session / "profiler_metadata.json").get("parallel_group_info"))
    except (OSError, ValueError):
        return None
    sizes = [len(ranks) for group in groups.values() if isinstance(ranks := _dict(group).get("global_ranks"), list)]
    return max(sizes, default=None)


def session_time(session: Path, record: SessionRecord) -> float | None:
    """When the session ended or was last written, seconds since 1970: record first, else times on disk.

    The name's stamp is UTC up to torch_npu 7.1 and local time later, so it is not used.
    """
    if record.ended is not None:
        return record.ended
    try:
        return (record.path or session).stat().st_mtime
    except OSError:
        return None


def worker_of(session: Path) -> str | None:
    match = SESSION_NAME.match(session.name)
    return match["worker"] if match else None
