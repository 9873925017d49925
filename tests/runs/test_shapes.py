"""Records of a run's folder whose fields are of other types, cut off or absent break no look at it."""

import json
from pathlib import Path
from typing import Any

import pytest

from mindspeed_mm_train_profiler.runs import launch, poll, shapes
from mindspeed_mm_train_profiler.runs.folder import RunFolder, boot_id
from mindspeed_mm_train_profiler.tools import list_runs, poll_status

JUNK: list[Any] = [None, -1, 1.5, 1e308, float("nan"), float("inf"), "", "x", "\ud800", [], {}, [1], {"a": 1}, True]
JUNK += [10**30, [None], [{"code": None}], [{"code": "killed"}]]
PROCESS = {"pid": 2**22 + 1, "started": 1.0, "ticks": 1, "boot_id": boot_id()}
RECORDS: dict[str, dict[str, Any]] = {
    "run": {"config_id": "build-1", "created": 1.0, "argv": ["bash", "x"], "environment": {}, "log_file": "/none/log"},
    "build": {
        "script": "/x.sh",
        "save_path": "/none",
        "window": {"first_iteration": 3, "last_iteration": 4},
        "train_iters": 5,
        "options": {},
    },
    "supervisor": PROCESS,
    "script": PROCESS,
    "launcher-7-1700000000": {"pid": 7, "started": 1.0, "ended": 2.0, "exit_code": 3, "over": []},
    "status": {"iteration": 5, "train_iters": 5, "ms_per_iteration": 1.0, "parsing": 0, "parsed": 0}
    | {"findings": [{"code": "value_error", "evidence": "ValueError: x", "line": 1, "rank": None}]},
    "facts": {"start": {"oom_kills": 0}, "end": {"oom_kills": 1, "shm_free": 1, "disk_free": 1}},
    "end": {"ended": 2.0, "script_exit_code": 0, "launcher_exit_codes": [3], "all_exit_codes": [3], "stopped": False}
    | {"script_signal": None, "error": None, "refused": {"code": "npu_busy", "evidence": "x"}},
}


def damaged(value: Any) -> list[Any]:
    """Copies with one field, at any depth, replaced by junk or left out."""
    if isinstance(value, list):
        return [[*value[:i], new, *value[i + 1 :]] for i, old in enumerate(value) for new in [*JUNK, *damaged(old)]]
    if not isinstance(value, dict):
        return []
    replaced = [{**value, key: new} for key, old in value.items() for new in [*JUNK, *damaged(old)]]
    return replaced + [{key: old for key, old in value.items() if key != left} for left in value]


def look(run: RunFolder) -> None:
    poll_status.result("en", poll.poll(run)).model_dump_json()
    list_runs.list_runs()
    launch.existing("build-1", "key")


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_with_a_field_of_another_type_breaks_no_look(name: str, own_state: Path) -> None:
    run = RunFolder(own_state / "runs" / "run-20260101-000000-abcdef")
    run.path.mkdir(parents=True)
    for own, record in RECORDS.items():
        run.write(own, record)
    look(run)
    for record in damaged(RECORDS[name]):
        run.file(name).write_text(json.dumps(record), encoding="utf-8")
        look(run)
    for content in (b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 100_000):
        run.file(name).write_bytes(content)
        look(run)
    run.file(name).unlink()
    look(run)
    run.file(name).mkdir()
    look(run)


def test_whole_records_are_left_as_they_are() -> None:
    for name, record in RECORDS.items():
        assert shapes.shaped(name, record) == {key: value for key, value in record.items() if value is not None}
