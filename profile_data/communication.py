"""Communication by operator and by link, per session: ``communication.json``, or its tables in analysis.db.

Times in us, sizes in MB, bandwidths in GB/s: size over time of all transfers of a link type, as torch_npu's own
analysis computes them (analysis/prof_view/_communication_parser.py). "Total Op Info" is a sum and is left out.
"""

import json
import math
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.profile_data.loadable import open_db

MAX_BYTES = 512 * 2**20
TOTAL = "Total Op Info"
KIND = re.compile(r"^(?:hcom|hccl)_([A-Za-z]+?)_{1,2}", re.I)


@dataclass(slots=True)
class Collective:
    """All operators of one kind (allReduce, ...). ``wait_us``: waiting for the other ranks; None: not told."""

    name: str
    count: int = 0
    elapsed_us: float | None = None
    transit_us: float | None = None
    wait_us: float | None = None


@dataclass(slots=True)
class Link:
    """Transfers over one link type: HCCS, RDMA, PCIE, SIO, or SDMA, which holds the links inside a node together."""

    name: str
    size_mb: float = 0.0
    transit_us: float = 0.0

    @property
    def bandwidth_gb_s(self) -> float | None:
        """MB over ms is GB/s; None where nothing was transferred."""
        return self.size_mb / (self.transit_us / 1000) if self.transit_us else None


@dataclass(slots=True)
class Communication:
    collectives: list[Collective]
    links: list[Link]
    source: str


Row = tuple[str, dict[str, float | None], dict[str, tuple[float, float]]]
"""Operator, its times in ms, (MB, ms) by link."""


def communication(folder: Path) -> Communication | None:
    """Of one ``ASCEND_PROFILER_OUTPUT``; None where nothing tells it. Errors: OSError, ValueError, sqlite3.Error."""
    text, database = folder / "communication.json", folder / "analysis.db"
    size = text.stat().st_size if text.is_file() else None
    if size is not None and size <= MAX_BYTES:
        return _gather(_from_json(text), str(text))
    if database.is_file():
        return _gather(_from_db(database), str(database))
    if size is not None:
        raise ValueError(f"{size} bytes, more than {MAX_BYTES}")
    return None


def _gather(rows: Iterator[Row], source: str) -> Communication | None:
    kinds: dict[str, Collective] = {}
    links: dict[str, Link] = {}
    for operator, times, moved in rows:
        name = kind(operator)
        found = kinds.setdefault(name, Collective(name))
        found.count += 1
        found.elapsed_us = _plus(found.elapsed_us, times.get("elapsed"))
        found.transit_us = _plus(found.transit_us, times.get("transit"))
        found.wait_us = _plus(found.wait_us, times.get("wait"))
        for link, (size, transit) in moved.items():
            if size or transit:
                row = links.setdefault(link, Link(link))
                row.size_mb += size
                row.transit_us += 1000 * transit
    if not kinds:
        return None
    ordered = sorted(kinds.values(), key=lambda item: (-(item.elapsed_us or 0.0), item.name))
    return Communication(ordered, sorted(links.values(), key=lambda item: item.name), source)


def kind(operator: str) -> str:
    """``allReduce`` of ``hcom_allReduce__586_0_1@17522688603477080586``; the name itself where it is no such name."""
    found = KIND.match(operator)
    return found[1] if found else operator.partition("@")[0]


def _plus(us: float | None, ms: float | None) -> float | None:
    return us if ms is None else (us or 0.0) + 1000 * ms


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e300:
        return None
    return None if math.isnan(value) else float(value)


TIME_INFO, LINK_INFO = "Communication Time Info", "Communication Bandwidth Info"


@dataclass(frozen=True, slots=True)
class _Told:
    """What is kept of one operator while its file is read."""

    times: dict[str, float | None]
    moved: dict[str, tuple[float, float]]


def _kept(found: dict[str, Any]) -> Any:
    """Called for each object as soon as it is read, the innermost first: the file is never held as a whole in objects.

    They would take five times its bytes; most of it is the distribution of package sizes.
    """
    if TIME_INFO in found or LINK_INFO in found:
        times, links = found.get(TIME_INFO), found.get(LINK_INFO)
        cells = links.items() if isinstance(links, dict) else ()
        return _Told(
            times if isinstance(times, dict) else {},
            {link: cell for link, cell in cells if isinstance(cell, tuple) and any(cell)},
        )
    if "Elapse Time(ms)" in found or "Wait Time(ms)" in found:
        names = {"elapsed": "Elapse Time(ms)", "transit": "Transit Time(ms)", "wait": "Wait Time(ms)"}
        return {name: _number(found.get(key)) for name, key in names.items()}
    if "Transit Size(MB)" in found:
        size, transit = _number(found["Transit Size(MB)"]), _number(found.get("Transit Time(ms)"))
        return None if size is None or transit is None else (size, transit)
    return found if any(isinstance(value, dict | tuple | _Told) for value in found.values()) else None


def _from_json(path: Path) -> Iterator[Row]:
    data = json.loads(path.read_text(encoding="utf-8-sig"), object_hook=_kept)
    for step in data.values() if isinstance(data, dict) else ():
        for group in step.values() if isinstance(step, dict) else ():
            for operator, told in group.items() if isinstance(group, dict) else ():
                if isinstance(told, _Told) and not operator.startswith(TOTAL):
                    yield operator, told.times, told.moved


TIMES = "select hccl_op_name, group_name, step, elapse_time, transit_time, wait_time from CommAnalyzerTime"
# one row per package size, each with the size and time of the whole
LINKS = """select hccl_op_name, group_name, step, transport_type, max(transit_size), max(transit_time)
from CommAnalyzerBandwidth group by 1, 2, 3, 4"""


def _from_db(path: Path) -> Iterator[Row]:
    with closing(open_db(path)) as db:
        tables = {name for (name,) in db.execute("select name from sqlite_master where type = 'table'")}
        if "CommAnalyzerTime" not in tables:
            return
        moved: dict[tuple[Any, Any, Any], dict[str, tuple[float, float]]] = {}
        if "CommAnalyzerBandwidth" in tables:
            for operator, group, step, link, *cells in db.execute(LINKS):
                size, transit = map(_number, cells)
                if size is not None and transit is not None:
                    moved.setdefault((operator, group, step), {})[str(link)] = (size, transit)
        for operator, group, step, elapsed, transit, wait in db.execute(TIMES):
            if str(operator).startswith(TOTAL):
                continue
            times = {"elapsed": _number(elapsed), "transit": _number(transit), "wait": _number(wait)}
            yield str(operator), times, moved.get((operator, group, step), {})
