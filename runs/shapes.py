"""What the records of a run's folder may hold. A field of another type, as after a crash or an edit, counts as absent.

One table for every record: whoever reads a folder relies on it instead of asking each field what it is.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

Check = Callable[[Any], bool]
MOMENTS = 1e11
"""Seconds since 1970 beyond any clock: a moment above it, or below nothing, is none."""


def whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53


def number(value: Any) -> bool:
    return whole(value) or (isinstance(value, float) and math.isfinite(value))


def moment(value: Any) -> bool:
    return number(value) and 0 <= value < MOMENTS


def text(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a surrogate pair: no result can carry it
        return False
    return True


def listed(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(check(item) for item in value)


def fields(required: Mapping[str, Check], **optional: Check) -> Check:
    """A mapping with these fields; others may stand beside them."""

    def check(value: Any) -> bool:
        return (
            isinstance(value, dict)
            and all(name in value and wanted(value[name]) for name, wanted in required.items())
            and all(value.get(name) is None or wanted(value[name]) for name, wanted in optional.items())
        )

    return check


def maybe(check: Check) -> Check:
    return lambda value: value is None or check(value)


mapping: Check = fields({})
counters = fields({}, oom_kills=whole, shm_free=number, disk_free=number, port_holder=text)
process = {"pid": whole, "started": moment, "ticks": whole, "boot_id": text, "pgid": whole}
SHAPES: Mapping[str, Mapping[str, Check]] = {
    "run": {
        "config_id": text,
        "created": moment,
        "argv": listed(text),
        "workdir": text,
        "environment": fields({}),
        "log_file": text,
        "log_size": whole,
        "allowed": listed(text),
        "launcher": text,
    },
    "build": {
        "config_id": text,
        "script": text,
        "save_path": text,
        "window": fields({"first_iteration": whole, "last_iteration": whole}),
        "train_iters": whole,
        "options": mapping,
        "offset": whole,
        "dynamic_config_path": text,
    },
    "supervisor": process,
    "script": process,
    "launcher": {
        "pid": whole,
        "started": moment,
        "ended": moment,
        "exit_code": whole,
        "born": whole,
        "died": whole,
        "over": listed(whole),
    },
    "status": {
        "iteration": whole,
        "first_iteration": whole,
        "train_iters": whole,
        "ms_per_iteration": number,
        "parsing": whole,
        "parsed": whole,
        "findings": listed(fields({"code": text}, evidence=text, line=whole, rank=whole)),
        "at": moment,
    },
    "facts": {"start": counters, "end": counters},
    "end": {
        "ended": moment,
        "script_exit_code": whole,
        "script_signal": whole,
        "launcher_exit_codes": listed(whole),
        "all_exit_codes": listed(maybe(whole)),
        "error": text,
        "refused": fields({"code": text, "evidence": text}),
    },
}


def shaped(name: str, record: dict[str, Any] | None) -> dict[str, Any] | None:
    """The record without fields that are empty or of another type than its table says."""
    if record is None:
        return None
    table = SHAPES.get("launcher" if name.startswith("launcher-") else name, {})
    return {
        key: value for key, value in record.items() if key not in table or (value is not None and table[key](value))
    }
