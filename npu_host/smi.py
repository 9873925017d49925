"""``npu-smi info``: run with a time limit, read in whatever layout its release prints.

Layouts met: one die a card (910B), two dies (A3, 310P), with or without HBM column, the wide one of 26.x, with or
without a process table, blank process names, text before the table. Two kinds of rows describe a die: ``NPU Name |
Health | Power ...`` and ``Chip [Device|Phy-ID] | Bus-Id | AICore ...``; the header says which columns there are.
The 950 generation gives id and name a column each, has no chip numbers, and says NPU Util in the place of AICore.
"""

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from mindspeed_mm_train_profiler.npu_host import child

TIMEOUT_S = 15.0
Status = Literal["ok", "not_found", "timeout", "driver_refuses", "error", "unreadable"]
BUS = re.compile(r"^(?:[\dA-Fa-fxX*]{4,8}:)?[\dA-Fa-fxX*]{2}:[\dA-Fa-fxX*]{2}\.[\dA-Fa-fxX*]$|^(?:N/?A)?$|^-+$")
"""A PCI address, with a domain of any width or none, or masked; or what a SoC or a virtual card has in its place."""
UNTOLD = re.compile(r"N/?A|-+", re.I)
CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
SAID = re.compile(
    r"\b(?:warn(?:ing)?|errors?|fail(?:ed|ure)?|mismatch|not (?:be )?(?:\w+ly )?installed)\b|告警|失败|错误", re.I
)
"""A line outside the tables that says something is wrong, as of a driver package that is only partly installed."""
MAX_SAID = 3
PROCESS_HEAD = re.compile(r"\bprocess[ _-]?id\b|\bpid\b", re.I)
PAIR = re.compile(r"(\d+|-\d*|NA?)\s*/\s*(\d+|-\d*|N/?A)")
REFUSALS = re.compile(
    r"-80(0[2-689]|1[0-2]|20)\b|dcmi (module|model) initialize failed|DrvMng\w+ failed|drv\w* (init|open)\w* failed"
    r"|\bdrv[A-Z]\w+ failed|\blib(?:drv|dcmi|ascend_hal|mmpa|c_sec)\w*\.so\S*: cannot open shared object",
    re.I,
)


@dataclass(frozen=True, slots=True)
class NpuProcess:
    """A process on a die. ``name`` None: npu-smi left it blank. Memory in MB."""

    pid: int
    name: str | None
    memory_mb: int | None


@dataclass(slots=True)
class Die:
    """One die: ``npu`` and ``chip`` as npu-smi counts, ``device`` the logical index (position) a rank uses.

    ``chip`` None: npu-smi printed none. ``aicore_percent``: AICore(%), or NPU Util(%) where that stands in its place.
    """

    npu: int
    chip: int | None
    device: int | None
    name: str | None
    health: str | None
    bus_id: str | None = None
    aicore_percent: int | None = None
    memory_used_mb: int | None = None
    memory_total_mb: int | None = None
    hbm_used_mb: int | None = None
    hbm_total_mb: int | None = None
    processes: list[NpuProcess] = field(default_factory=list)

    @property
    def place(self) -> str:
        return str(self.npu) if self.chip is None else f"{self.npu}.{self.chip}"


@dataclass(slots=True)
class SmiReport:
    """What npu-smi said. ``processes_known``: there was a process table, so that an empty list means none."""

    path: str | None
    status: Status
    version: str | None = None
    dies: list[Die] = field(default_factory=list)
    processes_known: bool = False
    raw_error: str | None = None
    said: list[str] = field(default_factory=list)
    """Warnings around the tables, in npu-smi's own words."""
    simulated: bool = False


def _cells(line: str) -> list[str] | None:
    line = line.strip()
    if not line.startswith("|") or line.count("|") < 2:
        return None
    return [cell.strip() for cell in line.strip("|").split("|")]


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def _percent(text: str) -> int | None:
    found = re.match(r"(\d+)(?:\.\d+)?\b", text)
    return int(found[1]) if found else None


def parse(text: str) -> SmiReport:
    """Read the output of ``npu-smi info``; nothing readable gives status "unreadable" (or "driver_refuses")."""
    report = SmiReport(path=None, status="unreadable", simulated="simulated" in text.lower())
    has_hbm, second, own_column = False, "", False
    table: Literal["npu", "process"] | None = None
    pending: tuple[int, str | None, str | None] | None = None
    for line in CONTROL.sub("", text).splitlines()[:5000]:
        cells = _cells(line)
        if cells is None:
            if SAID.search(line) and len(report.said) < MAX_SAID:
                report.said.append(line.strip()[:300])
            continue
        joined = " ".join(cells)
        if report.version is None and (found := re.search(r"npu-smi\s+(\S+)", joined)):
            report.version = found[1]
        elif PROCESS_HEAD.search(joined):
            _untold_die(report, pending)
            table, report.processes_known, pending = "process", True, None
        elif re.match(r"NPU(?:\s+ID)?\s+Name\b", joined):
            table, own_column = "npu", "Name" not in cells[0]
        elif table == "npu" and "Bus-Id" in cells:
            has_hbm, second = "HBM" in joined, cells[0].partition(" ")[2].strip()
        elif table == "npu" and len(cells) >= 3 + own_column:
            if own_column:
                cells = [f"{cells[0]} {cells[1]}".strip(), *cells[2:]]
            pending = _npu_row(report, cells, pending, has_hbm, second)
        elif table == "process":
            _process_row(report, cells)
    _untold_die(report, pending)
    if report.dies:
        report.status = "ok"
        for index, die in enumerate(report.dies):
            if die.device is None:
                die.device = index
    elif REFUSALS.search(text):
        report.status = "driver_refuses"
    if report.status != "ok":
        report.raw_error = text.strip()[:2000] or None
    return report


def _npu_row(
    report: SmiReport, cells: list[str], pending: tuple[int, str | None, str | None] | None, has_hbm: bool, second: str
) -> tuple[int, str | None, str | None] | None:
    first = cells[0].split()
    untold = not first or UNTOLD.fullmatch(first[0]) is not None
    if (pending is None or not cells[2]) if untold else not first[0].isdecimal():
        return pending
    if BUS.match(cells[1]) and pending is not None and (len(first) < 2 or first[1].isdecimal() or cells[1]):
        npu, name, health = pending
        device = _number(first[1]) if len(first) > 1 and second else None
        rest = cells[2]
        die = Die(npu, None if untold else int(first[0]), device, name, health, cells[1], _percent(rest))
        pairs = PAIR.findall(rest)
        if has_hbm and len(pairs) == 1:
            # the memory column is not there: the one pair is the last column's, HBM
            pairs.insert(0, ("", ""))
        if pairs:
            die.memory_used_mb, die.memory_total_mb = _usage(*pairs[0])
        if has_hbm and pairs:
            die.hbm_used_mb, die.hbm_total_mb = _usage(*pairs[-1])
        report.dies.append(die)
        return None
    if untold or (":" in cells[1] and BUS.match(cells[1])):  # of a die whose card's own row could not be printed
        return pending
    _untold_die(report, pending)
    name = " ".join(first[1:]) or None
    return int(first[0]), name, cells[1] or None


def _untold_die(report: SmiReport, pending: tuple[int, str | None, str | None] | None) -> None:
    """A card whose second row npu-smi could not print (it asks the driver once more between the two) is there too."""
    if pending is not None:
        report.dies.append(Die(pending[0], None, None, pending[1], pending[2]))


def _usage(used: str, total: str) -> tuple[int | None, int | None]:
    """Megabytes; a total of nothing tells nothing, and what is used may be unknown where the total is known."""
    most = _number(total)
    return (_number(used), most) if most else (None, None)


def _process_row(report: SmiReport, cells: list[str]) -> None:
    first = cells[0].split()
    if len(cells) < 4 or not first or not all(part.isdecimal() or UNTOLD.fullmatch(part) for part in first[:2]):
        return
    npu, chip = _number(first[0]), _number(first[1]) if len(first) > 1 else None
    pid = _number(cells[1].split()[0]) if cells[1].split() else None
    if pid is None or npu is None:
        return
    memory = re.match(r"\d+", cells[3])
    for die in report.dies:
        # which die of the card is not always told: then it is each that it may be
        if die.npu == npu and (chip is None or die.chip is None or die.chip == chip):
            die.processes.append(NpuProcess(pid, cells[2] or None, int(memory[0]) if memory else None))


def query(
    environment: dict[str, str] | None = None,
    *,
    timeout_s: float = TIMEOUT_S,
    unwanted: Callable[[], bool] = lambda: False,
) -> SmiReport:
    """Run ``npu-smi info``. The text decides, not the exit code: a refusing driver often exits with 0.

    ``unwanted``: asked while waiting; True gives up as a time-out does.
    """
    search = environment.get("PATH") if environment is not None else None
    path = shutil.which("npu-smi", path=search)
    if path is None:
        for usual in ("/usr/local/bin/npu-smi", "/usr/local/sbin/npu-smi", "/usr/bin/npu-smi"):
            if Path(usual).is_file():
                path = usual
                break
    if path is None:
        return SmiReport(path=None, status="not_found")
    try:
        done = child.ask([path, "info"], environment, timeout_s=timeout_s, unwanted=unwanted)
    except OSError as error:
        return SmiReport(path=path, status="error", raw_error=str(error))
    if done.code is None:
        return SmiReport(path=path, status="timeout", raw_error=f"no answer within {timeout_s:g} s")
    report = parse((done.out + b"\n" + done.err).decode("utf-8", "replace"))
    report.path = path
    if report.status == "unreadable":
        report.status = "error"
    return report
