"""communication.json and communication_matrix.json: what the collectives of each step cost.

Source: torch_npu/profiler/analysis/prof_view/_communication_parser.py.
"""

import json
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.simulator.session import group_name
from mindspeed_mm_train_profiler.simulator.source import Source


def _bandwidth(megabytes: float, milliseconds: float) -> dict[str, Any]:
    """A collective over HCCS: the other links are idle."""
    idle = {"Transit Size(MB)": 0, "Transit Time(ms)": 0, "Bandwidth(GB/s)": 0, "Large Packet Ratio": 0}
    links: dict[str, Any] = {name: idle | {"Size Distribution": {}} for name in ("RDMA", "HCCS", "PCIE", "SDMA", "SIO")}
    speed = round(megabytes / milliseconds, 4) if milliseconds else 0
    busy = {"Transit Size(MB)": megabytes, "Transit Time(ms)": milliseconds, "Bandwidth(GB/s)": speed}
    spread = {str(round(megabytes / 4, 6)): [4, milliseconds]}
    links["HCCS"] = busy | {"Large Packet Ratio": 1.0, "Size Distribution": spread}
    links["SDMA"] = busy | {"Large Packet Ratio": 0, "Size Distribution": {}}
    return links


def _times(elapsed: float, *, start: float | None = None) -> dict[str, Any]:
    """Times of a collective in ms: a third is waiting for the other ranks."""
    wait = round(elapsed / 3, 6)
    head = {} if start is None else {"Start Timestamp(us)": start}
    return head | {
        "Elapse Time(ms)": elapsed,
        "Transit Time(ms)": round(elapsed - wait, 6),
        "Wait Time(ms)": wait,
        "Synchronization Time(ms)": wait,
        "Idle Time(ms)": 0.0,
        "Wait Time Ratio": round(wait / elapsed, 4) if elapsed else 0,
        "Synchronization Time Ratio": round(wait / elapsed, 4) if elapsed else 0,
    }


def write_communication(output: Path, source: Source) -> None:
    group = group_name(source.world_size)
    times: dict[str, Any] = {}
    matrix: dict[str, Any] = {}
    for step in source.steps:
        key = f"step{step.number}" if source.cpu else "step"
        entry = times.setdefault(key, {"p2p": {}, "collective": {}})
        cells = matrix.setdefault(key, {"p2p": {}, "collective": {}})["collective"]
        collective = entry["collective"]
        collective.pop("Total Op Info", None)
        for task in step.collectives:
            elapsed = task.duration / 1000
            collective[f"{task.name}@{group}"] = {
                "Communication Time Info": _times(elapsed, start=float(step.moment(task.start))),
                "Communication Bandwidth Info": _bandwidth(64.0, round(elapsed * 2 / 3, 6)),
            }
        whole = sum(item["Communication Time Info"]["Elapse Time(ms)"] for item in collective.values())
        collective["Total Op Info"] = {
            "Communication Time Info": _times(whole),
            "Communication Bandwidth Info": _bandwidth(64.0 * len(collective), round(whole * 2 / 3, 6)),
        }
        for place in ("top1", "middle", "bottom1", "total"):
            cells[f"allreduce-{place}@{group}"] = {
                f"{source.rank}-{peer}": {
                    "Transport Type": "LOCAL" if peer == source.rank else "HCCS",
                    "Transit Size(MB)": 64.0,
                    "Transit Time(ms)": round(whole / 3, 6),
                    "Bandwidth(GB/s)": round(64.0 / (whole / 3), 4) if whole else 0,
                    "Op Name": step.collectives[0].name,
                }
                for peer in range(source.world_size)
            }
    (output / "communication.json").write_text(json.dumps(times), encoding="utf-8")
    (output / "communication_matrix.json").write_text(json.dumps(matrix), encoding="utf-8")
