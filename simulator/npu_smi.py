"""npu-smi of the simulated host: ``info`` with the layout of npu-smi 25.2 on 910B3, ``info -l``, ``info -m``.

A line before the table says that the host is simulated. Ranks that run on the host stand in the process table.
"""

import sys
import time

from mindspeed_mm_train_profiler.simulator import switches as switch_table
from mindspeed_mm_train_profiler.simulator.devices import running
from mindspeed_mm_train_profiler.simulator.messages import say

VERSION = "25.2.0"
NOTE = "simulated NPU host: no device is present, all values are made up"
DCMI_8005 = "DrvMngGetConsoleLogLevel failed. (ret=4)\ndcmi module initialize failed. ret is -8005"
HBM_TOTAL, HBM_IDLE, HBM_RANK = 65536, 3400, 37709
FOREIGN_PID = 4194303  # the largest pid Linux gives: stands for somebody else's process

SLOW_S = 2.0
"""Longer than a launch waits; real ones take this long on a host with 16 dies."""

WIDE = "+" + "-" * 96 + "+"
SPLIT = "+" + "-" * 27 + "+" + "-" * 15 + "+" + "-" * 52 + "+"
DOUBLE = SPLIT.replace("-", "=")
PROCESS_SPLIT = "+" + "-" * 27 + "+" + "-" * 15 + "+" + "-" * 52 + "+"


def _row(left: str, middle: str, right: str) -> str:
    return f"| {left:<26}| {middle:<14}| {right:<51}|"


def info(devices: int, busy: dict[int, list[int]]) -> str:
    """The table of ``npu-smi info``. ``busy``: device -> pids."""
    lines = [NOTE, WIDE, f"| npu-smi {VERSION:<25}Version: {VERSION:<53}|", SPLIT]
    lines.append(_row("NPU   Name", "Health", "Power(W)    Temp(C)           Hugepages-Usage(page)"))
    lines.append(_row("Chip", "Bus-Id", "AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)"))
    lines.append(DOUBLE)
    for device in range(devices):
        load = len(busy.get(device, []))
        used = HBM_IDLE + HBM_RANK * load
        lines.append(_row(f"{device:<6}910B3", "OK", f"{93.5 + 80 * bool(load):<12.1f}{36:<18}0    / 0"))
        lines.append(
            _row(
                "0", f"0000:{0xC1 + device:02X}:00.0", f"{35 * bool(load):<12}0    / 0          {used:<5}/ {HBM_TOTAL}"
            )
        )
        lines.append(DOUBLE)
    lines.append(PROCESS_SPLIT)
    lines.append(f"| {'NPU     Chip':<26}| {'Process id':<14}| {'Process name':<25}| {'Process memory(MB)':<24}|")
    lines.append(DOUBLE)
    for device in range(devices):
        pids = busy.get(device, [])
        lines += [f"| {f'{device:<8}0':<26}| {pid:<14}| {'python':<25}| {HBM_RANK:<24}|" for pid in pids]
        if not pids:
            lines.append(f"| {f'No running processes found in NPU {device}':<95}|")
        lines.append(DOUBLE)
    return "\n".join(lines)


def listing(devices: int) -> str:
    rows = [f"        Total Count                    : {devices}"]
    for device in range(devices):
        rows += [f"\n        NPU ID                         : {device}", "        Chip Count                     : 1"]
    return "\n".join([NOTE, *rows])


def mapping(devices: int) -> str:
    head = f"{'NPU ID':<31}{'Chip ID':<31}{'Chip Logic ID':<31}Chip Name"
    return "\n".join([NOTE, head, *(f"{i:<31}{0:<31}{i:<31}Ascend 910B3" for i in range(devices))])


def main(argv: list[str]) -> int:
    """argv as npu-smi has it. Exit code 0, or what the switch asks for."""
    switches = switch_table.read()
    fault = switches.smi or ""
    if fault == "hang":
        time.sleep(3600)
    if fault.startswith("slow"):  # "slow:busy" answers late, and that the cards are taken
        time.sleep(SLOW_S)
        fault = fault.partition(":")[2]
    if fault == "8005":
        say(DCMI_8005)
        return 0  # the real one does not always exit with an error either
    if fault == "empty":
        return 0
    if fault.startswith("exit:"):
        sys.stderr.write(f"{NOTE}\n")
        return int(fault[5:])
    if argv in (["-v"], ["--version"]):
        say(f"npu-smi version: {VERSION} ({NOTE})")
    elif argv[:1] == ["info"] and argv[1:] in ([], ["-l"], ["-m"]):
        busy = running(switches.home)
        if fault == "busy":
            busy.setdefault(0, []).append(FOREIGN_PID)
        view = {"": lambda: info(switches.devices, busy), "-l": lambda: listing(switches.devices)}
        say(view.get("".join(argv[1:]), lambda: mapping(switches.devices))())
    else:
        say(f"Error parameter of {' '.join(argv) or 'npu-smi'}: this simulated npu-smi knows info, info -l, info -m")
        return 1
    return 0
