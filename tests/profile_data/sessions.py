"""Writes small sessions for the tests: sound by default, to be damaged in one place by each test."""

import json
from pathlib import Path

STEP_HEAD = "Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble\n"


def put(path: Path, content: str, *, twin: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    if twin:
        path.with_name(path.name + ".done").write_text(f"filesize:{len(content)}\n", encoding="utf-8")


def information(rank: int, *, cpu: bool = True) -> dict[str, object]:
    common = {
        "activities": ["ProfilerActivity.NPU", *(["ProfilerActivity.CPU"] if cpu else [])],
        "schedule": {"wait": 0, "warmup": 0, "active": 2, "repeat": 1, "skip_first": 4},
        "record_shapes": False,
        "profile_memory": False,
        "with_stack": False,
    }
    special = {"_profiler_level": "Level1", "_aic_metrics": "ACL_AICORE_PIPE_UTILIZATION", "_export_type": ["text"]}
    return {"config": {"common_config": common, "experimental_config": special}, "rank_id": str(rank)}


def write_session(parent: Path, rank: int = 0, *, device: int = 3, cpu: bool = True, analysed: bool = True) -> Path:
    session = parent / f"node-a_{100 + rank}_20260102030405678_ascend_pt"
    if cpu:
        put(session / "FRAMEWORK" / "torch.op_range", "o" * 50)
        put(session / "FRAMEWORK" / "torch.op_mark", "m" * 20)
    prof = session / "PROF_000001_20260102030405678_QWERTYUIOP"
    for half, dot in (("host", ""), (f"device_{device}", f".{device}")):
        put(prof / half / f"end_info{dot}", "{}", twin=True)
        put(prof / half / "data" / f"stars_soc.data{dot}.slice_0", "payload", twin=True)
    put(session / f"profiler_info_{rank}.json", json.dumps(information(rank, cpu=cpu)))
    if analysed:
        write_results(session / "ASCEND_PROFILER_OUTPUT", cpu=cpu)
    return session


def write_results(folder: Path, *, cpu: bool = True) -> None:
    put(folder / "trace_view.json", '[{"ph": "X", "ts": "1.0", "dur": 2}]')
    if cpu:
        put(folder / "operator_details.csv", "Name,Device Self Duration(us)\naten::mm,3\n")
    put(folder / "kernel_details.csv", "Name,Type,Accelerator Core,Duration(us)\nMatMul1,MatMul,AI_CORE,3.5\n")
    steps = ("4", "5") if cpu else ("",)
    put(folder / "step_trace_time.csv", STEP_HEAD + "".join(f"3,{step},10,4,1,5,2,17,0\n" for step in steps))
    put(folder / "op_statistic.csv", "OP Type,Core Type,Count,Total Time(us)\nMatMul,AI_CORE,1,3.5\n")
    put(folder / "api_statistic.csv", "API Name,Time(us)\nlaunch,1\n")
