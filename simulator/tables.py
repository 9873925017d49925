"""The CSV and JSON tables of ASCEND_PROFILER_OUTPUT, with the columns of each level and generation.

Which file appears when: torch_npu/profiler/analysis/prof_config/_parser_config.py. Columns: CANN's op_summary and
op_statistic as torch_npu passes them on, _trace_step_time_parser.py, _memory_view_parser.py, _operator_view_parser.py,
_communication_parser.py. A table without rows is not written, as torch_npu skips it.
"""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from mindspeed_mm_train_profiler.simulator import columns
from mindspeed_mm_train_profiler.simulator.communication import write_communication
from mindspeed_mm_train_profiler.simulator.source import Source
from mindspeed_mm_train_profiler.simulator.workload import Kernel, Step, StepTimes, step_times

HOST_OPS = {"MatMulV3": "aten::matmul", "Add": "aten::add", "Cast": "aten::to", "ApplyAdamWV2": "npu::npu_apply_adam_w"}
SHAPES = {True: '"1,4096,2048;2048,2048"', False: '"1,4096,2048"'}
STACK = "mindspeed_mm/simulated.py(10): train_step;\nmindspeed_mm/simulated.py(3): <module>"


def stamp(step: Step, offset: float) -> str:
    """A timestamp cell as torch_npu writes it: a TAB keeps spreadsheets from rounding it."""
    return step.moment(offset) + "\t"


def _csv(path: Path, header: Sequence[object], rows: Iterable[Sequence[object]]) -> None:
    lines = list(rows)
    if not lines:
        return
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(lines)


def write_tables(output: Path, source: Source) -> None:
    """Every table that this level, these activities and this world give."""
    if source.cpu:
        _operator_details(output, source)
    if source.memory:
        _memory(output, source)
    if source.level1:
        _api_statistic(output, source)
    if not source.device_data or not source.steps:
        return
    _step_trace(output, source)
    _kernel_details(output, source)
    if source.level1:
        _op_statistic(output, source)
        if source.world_size > 1:
            write_communication(output, source)


def _step_trace(output: Path, source: Source) -> None:
    head = ["Device_id"] if source.generation.device_column else []
    numbers = [(step.number, step_times(step)) for step in source.steps]
    if not source.cpu:  # no step ids without host events: one row with an empty step
        times = [item[1] for item in numbers]
        distance = (source.steps[-1].start - source.steps[0].start) / 1000
        stage = distance + times[-1].preparing + times[-1].stage - times[0].preparing
        computing, exposed, overlapped, communication = (
            round(sum(getattr(item, name) for item in times), 3)
            for name in ("computing", "not_overlapped", "overlapped", "communication")
        )
        free = round(stage - computing - exposed, 3)
        whole = StepTimes(computing, exposed, overlapped, communication, free, round(stage, 3), 0)
        rows: list[tuple[object, StepTimes]] = [("", whole)]
    else:
        rows = [*numbers]
    _csv(
        output / "step_trace_time.csv",
        [*head, *columns.STEP_TRACE],
        (
            [
                *source.with_device(),
                number,
                times.computing,
                times.not_overlapped,
                times.overlapped,
                times.communication,
                times.free,
                times.stage,
                0,
                times.not_overlapped,
                times.preparing,
            ]
            for number, times in rows
        ),
    )


def _metric_columns(source: Source) -> list[str]:
    return columns.ARITHMETIC if "ARITHMETIC" in source.metrics else columns.PIPE


def _metric_cells(source: Source, task: Kernel) -> list[object]:
    """AI Core counters of a kernel: the cube's half for matrix work, the vector's for the rest."""
    busy, cycles = round(task.duration * 0.96, 3), int(task.duration * 1800)
    half = len(columns.PIPE) // 2
    if "ARITHMETIC" in source.metrics:
        cube: list[object] = [busy, cycles, 0.412, 0.0, cycles * 4096]
        vector: list[object] = [busy, cycles, 0.31, 0.05, 0.02, 0.01, cycles * 128]
        return [*cube, *[0] * 7] if task.matrix else [*[0] * 5, *vector]
    ratios: list[object] = []
    for part in (0.61, 0.12, 0.33, 0.42, 0.05):
        ratios += [round(busy * part, 3), part]
    if task.matrix:
        return [busy, cycles, *ratios, 0.001, *[0] * (half - 1), 71.2]
    return [*[0] * (half + 1), busy, cycles, *ratios[:8], 0.004, 0]


def _kernel_details(output: Path, source: Source) -> None:
    head = (["Step Id"] if source.cpu else []) + (["Device_id"] if source.generation.device_column else [])
    names = [*columns.KERNEL_LONG, *_metric_columns(source)] if source.level1 else columns.KERNEL_SHORT
    base = [name.replace("BLOCK", source.generation.block) for name in names]
    rows = []
    task_id = 11000
    for step in source.steps:
        collectives = step.collectives if source.level1 else []
        for task in sorted([*step.kernels, *collectives], key=lambda item: item.start):
            task_id += 1
            comm = task.core == "COMMUNICATION"
            timing = [task.core, stamp(step, task.start), task.duration, task.wait, 0 if comm else 24]
            row: list[object] = ([step.number] if source.cpu else []) + source.with_device()
            if not source.level1:
                row += [task.name, task.type, *timing]
            elif comm:
                row += [4294967295, "N/A", "N/A", task.name, task.type, "N/A", *timing]
                row += ["N/A"] * (len(head) + len(base) - len(row))
            else:
                shape = SHAPES[task.matrix]
                row += [4294967295, task_id, 2, task.name, task.type, "dynamic", *timing, 0, "NO"]
                row += [shape, "DT_BF16", "ND", '"1,4096,2048"', "DT_BF16", "ND", "N/A", *_metric_cells(source, task)]
            rows.append(row)
    _csv(output / "kernel_details.csv", [*head, *base], rows)


def _op_statistic(output: Path, source: Source) -> None:
    groups: dict[tuple[str, str], list[float]] = {}
    for step in source.steps:
        for task in step.kernels:
            groups.setdefault((task.type, task.core), []).append(task.duration)
    total = sum(sum(times) for times in groups.values())
    ordered = sorted(groups.items(), key=lambda item: -sum(item[1]))
    head = ["Device_id"] if source.generation.device_column else []
    _csv(
        output / "op_statistic.csv",
        [*head, *columns.OP_STATISTIC],
        (
            [
                *source.with_device(),
                kind,
                core,
                len(times),
                round(sum(times), 3),
                min(times),
                round(sum(times) / len(times), 3),
                max(times),
                round(100 * sum(times) / total, 3),
            ]
            for (kind, core), times in ordered
        ),
    )


def _api_statistic(output: Path, source: Source) -> None:
    head = ["Device_id"] if source.generation.device_column else []
    launches = sum(len(step.kernels) for step in source.steps)
    rows: list[list[object]] = [
        [*source.with_device("host"), level, name, round(each * launches, 2), launches, each, each, each, 0.0]
        for level, name, each in (("acl", "aclrtLaunchKernel", 4.1), ("node", "launch", 6.2), ("acl", "Tiling", 2.3))
    ]
    if source.world_size > 1:
        count = sum(len(step.collectives) for step in source.steps)
        rows.append(
            [*source.with_device("host"), "hccl", "hcom_allReduce_", 95.0 * count, count, 95.0, 95.0, 95.0, 0.0]
        )
    _csv(output / "api_statistic.csv", [*head, *columns.API_STATISTIC], rows)


def _operator_details(output: Path, source: Source) -> None:
    rows = []
    for step in source.steps:
        for task in step.kernels:
            device = task.duration if source.device_data else 0
            matrix = device if task.matrix else 0
            rows.append(
                [
                    HOST_OPS.get(task.type, f"npu::{task.type}"),
                    SHAPES[task.matrix].strip('"') if source.shapes else "",
                    STACK if source.stack else "",
                    21.4,
                    35.9,
                    device,
                    device,
                    matrix,
                    matrix,
                ]
            )
    _csv(output / "operator_details.csv", columns.OPERATOR_DETAILS, rows)


def _memory(output: Path, source: Source) -> None:
    device = f"NPU:{source.device}"
    records: list[list[object]] = []
    operators: list[list[object]] = []
    modules: list[list[object]] = []
    for step in source.steps:
        allocated = 4304.957
        for index, task in enumerate(step.kernels):
            size = 32768.0 if task.matrix else 512.0
            allocated = round(allocated + (size / 1024 if index < len(step.kernels) // 2 else -size / 1024), 3)
            at = stamp(step, task.start)
            records += [[part, at, allocated, 10372.0, allocated, 2, device] for part in ("PTA", "PTA+GE")]
            released = task.start + 3 * task.duration
            held = [
                stamp(step, released),
                stamp(step, released),
                f"{3 * task.duration:.3f}\t",
                f"{3 * task.duration:.3f}\t",
            ]
            amounts = [allocated, 10372.0, allocated, round(allocated - size / 1024, 3), 10372.0, allocated]
            operators.append(["aten::empty_strided", size, stamp(step, task.start), *held, *amounts, 2, device])
        records.append(["APP", stamp(step, 0), "", 11925.016, "", "", device])
        for component, amount in (("APP", 11925.016), ("HCCL", 204.0), ("RUNTIME", 88.5)):
            modules.append([*source.with_device(), component, stamp(step, 0), amount, device])
    _csv(output / "memory_record.csv", columns.MEMORY_RECORD, records)
    if source.cpu:
        _csv(output / "operator_memory.csv", columns.OPERATOR_MEMORY, operators)
    if source.device_data:
        head = ["Device_id"] if source.generation.device_column else []
        _csv(
            output / "npu_module_mem.csv",
            [*head, *columns.MODULE_MEMORY],
            modules,
        )
