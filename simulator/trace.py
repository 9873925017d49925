"""trace_view.json: a bare list of chrome events, timestamps as strings in us.

Source: torch_npu/profiler/analysis/prof_view/_trace_view_parser.py and prof_common_func/_trace_event_manager.py.
"""

import json
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.simulator.session import NOTE
from mindspeed_mm_train_profiler.simulator.source import Source
from mindspeed_mm_train_profiler.simulator.tables import HOST_OPS
from mindspeed_mm_train_profiler.simulator.workload import Kernel, Step, merged, spans

Event = dict[str, Any]


def _process(pid: int, name: str, label: str, order: int) -> list[Event]:
    return [
        {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}},
        {"ph": "M", "name": "process_labels", "pid": pid, "tid": 0, "args": {"labels": label}},
        {"ph": "M", "name": "process_sort_index", "pid": pid, "tid": 0, "args": {"sort_index": order}},
    ]


def _span(step: Step, pid: int, tid: int, name: str, begin: float, duration: float, **more: Any) -> Event:
    """A slice that begins ``begin`` us into the step."""
    event = {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": step.moment(begin), "dur": round(duration, 3)}
    return event | more


def _gaps(busy: list[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(end, begin) for (_, end), (begin, _) in pairwise(busy)]


def _minus(first: list[tuple[float, float]], second: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The parts of ``first`` outside ``second`` (both unions)."""
    left = []
    for begin, end in first:
        for a, b in second:
            if b <= begin or a >= end:
                continue
            if a > begin:
                left.append((begin, a))
            begin = max(begin, b)
        if begin < end:
            left.append((begin, end))
    return left


def write_trace(path: Path, source: Source) -> None:
    host = os.getpid()
    base = 3_000_000_000 + source.device * 1000
    hardware, hccl, overlap, cann = base + 1, base + 2, base + 3, base + 4
    npu = f"NPU {source.device}"
    events: list[Event] = [{"ph": "M", "name": "simulated", "pid": host, "tid": 0, "args": {"note": NOTE}}]
    if source.cpu:
        events += _process(host, "Python", "CPU", 0)
    if source.device_data:
        events += _process(hardware, "Ascend Hardware", npu, 13)
        events.append({"ph": "M", "name": "thread_name", "pid": hardware, "tid": 2, "args": {"name": "Stream 2"}})
        events += _process(overlap, "Overlap Analysis", npu, 23)
        if source.level1:
            events += _process(cann, "CANN", "CPU", 7)
            if source.world_size > 1:
                events += _process(hccl, "Communication", npu, 15)
    for step in source.steps:
        if source.cpu:
            events.append(
                _span(step, host, host, f"ProfilerStep#{step.number}", 0, step.duration, cat="cpu_op", args={})
            )
        for number, task in enumerate(step.kernels):
            flow = step.number * 10000 + number
            if source.cpu:
                events += _host_side(source, step, host, hardware, task, flow)
            if source.device_data:
                arguments = {"Model Id": 4294967295, "Task Type": task.core, "Physic Stream Id": 2, "Task Id": flow}
                events.append(_span(step, hardware, 2, task.name, task.start, task.duration, args=arguments))
                if source.level1:
                    events.append(_span(step, cann, host, "AscendCL@aclrtLaunchKernel", task.start - 40, 4.1, args={}))
        if source.device_data:
            events += _overlap(step, overlap)
            if source.level1:
                events += [
                    _span(step, hccl, 0, task.name, task.start, task.duration, args={}) for task in step.collectives
                ]
    path.write_text(json.dumps(events), encoding="utf-8")


def _host_side(source: Source, step: Step, host: int, hardware: int, task: Kernel, flow: int) -> list[Event]:
    begin = task.start - 60
    arguments = {"Input Dims": "1,4096,2048"} if source.shapes else {}
    events = [
        _span(step, host, host, HOST_OPS.get(task.type, f"npu::{task.type}"), begin, 35.9, cat="cpu_op", args=arguments)
    ]
    if source.device_data:
        link = {"bp": "e", "name": "torch_to_npu", "id": flow, "cat": "async_npu"}
        events.append({"ph": "s", "pid": host, "tid": host, "ts": step.moment(begin)} | link)
        events.append({"ph": "f", "pid": hardware, "tid": 2, "ts": step.moment(task.start)} | link)
    return events


def _overlap(step: Step, pid: int) -> list[Event]:
    computing, communication = spans(step.kernels), spans(step.collectives)
    lanes = (
        ("Computing", computing),
        ("Communication", communication),
        ("Communication(Not Overlapped)", _minus(communication, computing)),
        ("Free", _gaps(merged(computing + communication))),
    )
    return [
        _span(step, pid, lane, name, begin, end - begin)
        for lane, (name, intervals) in enumerate(lanes)
        for begin, end in intervals
    ]
