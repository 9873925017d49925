"""A stand-in for CANN's exporter, in the test's own words: leaves what torch_npu's parser reads, from made-up kernels.

    msprof --export=on --output=PROF_...        (text; ``--type=db`` leaves nothing)

The real exporter reads device data, and there is none here. Everything after it is torch_npu's own.
"""

import csv
import json
import sys
from pathlib import Path

STAMP = "20260102030405"
KERNELS = [("MatMul_1", "MatMulV2", "AI_CORE", 400.5), ("Add_2", "Add", "AI_VECTOR_CORE", 99.5)] * 3
BEGIN = 1_700_000_000_000_000.0
COLUMNS = [
    "Device_id",
    "Model ID",
    "Task ID",
    "Stream ID",
    "Op Name",
    "OP Type",
    "OP State",
    "Task Type",
    "Task Start Time(us)",
    "Task Duration(us)",
    "Task Wait Time(us)",
    "Block Dim",
    "Mix Block Dim",
    "HF32 Eligible",
    "Input Shapes",
    "Input Data Types",
    "Input Formats",
    "Output Shapes",
    "Output Data Types",
    "Output Formats",
    "Context ID",
    "aicore_time(us)",
]


def table(path: Path, head: list[str], rows: list[list[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *rows])


def kernels() -> list[list[object]]:
    found: list[list[object]] = []
    at = BEGIN
    for number, (name, kind, core, duration) in enumerate(KERNELS):
        shapes = ['"8,8"', "FLOAT16", "ND"] * 2
        found.append([0, 4294967295, number, 2, name, kind, "dynamic", core, f"{at:.3f}\t", duration, 1.5, 20, 0, "NO"])
        found[-1] += [*shapes, "N/A", duration - 1]
        at += duration + 10
    return found


def timeline() -> list[dict[str, object]]:
    names = {1: "CANN", 2: "Ascend Hardware", 3: "Overlap Analysis"}
    events: list[dict[str, object]] = [
        {"name": "process_name", "ph": "M", "pid": pid, "tid": 0, "args": {"name": name}} for pid, name in names.items()
    ]
    events += [
        {"name": "process_labels", "ph": "M", "pid": pid, "tid": 0, "args": {"labels": "NPU 0"}} for pid in (2, 3)
    ]
    at = BEGIN
    for number, (name, _, _, duration) in enumerate(KERNELS):
        task = {"name": name, "ph": "X", "pid": 2, "tid": 2, "ts": f"{at:.3f}", "dur": duration}
        events.append({**task, "args": {"Task Type": "AI_CORE", "Stream Id": 2, "Task Id": number}})
        events.append(
            {"name": "Computing", "ph": "X", "pid": 3, "tid": 3, "ts": f"{at:.3f}", "dur": duration, "args": {}}
        )
        at += duration
        events.append({"name": "Free", "ph": "X", "pid": 3, "tid": 4, "ts": f"{at:.3f}", "dur": 10.0, "args": {}})
        at += 10
    return events


def main(words: list[str]) -> int:
    given = dict(word.partition("=")[::2] for word in words)
    if "--output" not in given or "--type" in given:
        return 0
    out = Path(given["--output"]) / "mindstudio_profiler_output"
    out.mkdir(exist_ok=True)
    table(out / f"op_summary_{STAMP}.csv", COLUMNS, kernels())
    totals: dict[tuple[str, str], list[float]] = {}
    for _, kind, core, duration in KERNELS:
        totals.setdefault((kind, core), []).append(duration)
    whole = sum(map(sum, totals.values()))
    head = [
        "Device_id",
        "OP Type",
        "Core Type",
        "Count",
        "Total Time(us)",
        "Min Time(us)",
        "Avg Time(us)",
        "Max Time(us)",
        "Ratio(%)",
    ]
    rows: list[list[object]] = [
        [0, kind, core, len(t), sum(t), min(t), sum(t) / len(t), max(t), round(100 * sum(t) / whole, 3)]
        for (kind, core), t in totals.items()
    ]
    table(out / f"op_statistic_{STAMP}.csv", head, rows)
    head = ["Device_id", "Level", "API Name", "Time(us)", "Count", "Avg(us)", "Min(us)", "Max(us)", "Variance"]
    table(out / f"api_statistic_{STAMP}.csv", head, [["host", "acl", "launch", 12.5, 6, 2.1, 1.0, 4.0, 0.5]])
    (out / f"msprof_{STAMP}.json").write_text(json.dumps(timeline()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
