"""What differs between generations of torch_npu, as data: each row says what changed, the next one is a row.

Sources: Ascend/pytorch branches v2.1.0-6.0.0 ... v2.7.1-26.1.0: torch_npu/profiler/_profiler_path_creator.py (clock of
the session's name), analysis/prof_common_func/_constant.py (message format), analysis/_profiling_parser.py (messages,
analyse.done, what data_simplification removes), analysis/prof_view/cann_parse/_cann_export.py (failure texts),
experimental_config.py, profiler_interface.py and scheduler.py (keys of profiler_info), dynamic_profile.py and
_dynamic_profiler/ (watch_*).
"""

from dataclasses import dataclass, replace
from typing import Literal

PARSERS = (
    "CANNExportParser",
    "CANNTimelineParser",
    "RelationParser",
    "CANNAnalyzeParser",
    "OperatorViewParser",
    "TraceViewParser",
    "KernelViewParser",
    "TraceStepTimeParser",
    "MemoryViewParser",
    "IntegrateParser",
    "CommunicationParser",
)
OLD_TASKS = (
    "export",
    "timeline",
    "relation",
    "analyze",
    "operator",
    "trace",
    "kernel",
    "step_time",
    "memory",
    "integrate",
    "communication",
)
NO_MSPROF = "Export CANN Profiling data failed! msprof command not found!"
NO_MSPROF_SOURCE = (
    "Export CANN Profiling data failed! 'msprof' command not found!"
    + "Please re-source the CANN package to fix this error. "
)


@dataclass(frozen=True, slots=True)
class Generation:
    name: str
    torch: str  # version of torch it belongs to
    package: str  # version of the torch_npu package
    cann: str  # the CANN release it belongs to
    utc_names: bool = True  # session names in UTC; else local time
    utc_messages: bool = True  # messages in UTC and without brackets
    mode_in_message: bool = False  # "Start parsing profiling data in sync mode at: "
    done_file: bool = False  # ASCEND_PROFILER_OUTPUT/analyse.done
    logs: bool = False  # logs/profiler_*.log in the session
    versions_in_info: bool = False  # torch_npu_version, cann_version in profiler_info; parallel_group_info
    export_list: bool = False  # _export_type is a list
    export_warning: bool = False  # complains about the default of export_type
    device_column: bool = False  # Device_id in step_trace_time.csv and kernel_details.csv; _host_sys, _sys_* ...
    mstx: bool = False  # _mstx in profiler_info
    skip_first_wait: bool = False  # in the recorded schedule
    simplify_removes_framework: bool = True
    metrics_default: bool = True  # Level1 without metrics collects PipeUtilization
    watch_from: int = 0  # dynamic: smallest start_step that is not reset to 0; -1 starts with the next step
    watch_late: Literal["silent", "repeat", "drop"] = "silent"  # a start_step that has passed
    watch_poll_limit: int | None = None  # longest interval between two looks at the file, s
    watch_warmup: bool = True  # warmup is known
    watch_async: bool = False  # async_mode keeps the parse of a ranked configuration on
    block: str = "Block Dim"  # the column's name in kernel_details.csv
    no_msprof: str = NO_MSPROF  # what is missing when msprof is not on PATH
    task_failed: str = "Task [{}] run failed."
    tasks: tuple[str, ...] = PARSERS


G6_0 = Generation(
    "6.0.0",
    "2.1.0",
    "2.1.0.post10",
    "8.0.0",
    watch_warmup=False,
    task_failed="Task {} has not run successfully.",
    tasks=OLD_TASKS,
)
G7_0 = replace(
    G6_0,
    name="7.0.0",
    package="2.1.0.post12",
    cann="8.1.RC1",
    logs=True,
    versions_in_info=True,
    export_list=True,
    export_warning=True,
    simplify_removes_framework=False,
    watch_warmup=True,
    task_failed="Task [{}] run failed.",
    tasks=PARSERS,
)
G7_1 = replace(
    G7_0, name="7.1.0", torch="2.6.0", package="2.6.0", cann="8.2.RC1", utc_messages=False, device_column=True
)
G7_2 = replace(
    G7_1,
    name="7.2.0",
    torch="2.7.1",
    package="2.7.1",
    cann="8.3.RC1",
    utc_names=False,
    mstx=True,
    no_msprof=NO_MSPROF_SOURCE,
    watch_from=-1,
    watch_late="repeat",
)
G7_3 = replace(
    G7_2,
    name="7.3.0",
    package="2.7.1.post2",
    cann="8.5.0",
    mode_in_message=True,
    watch_late="drop",
    watch_poll_limit=50,
    watch_async=True,
)
G26_0 = replace(
    G7_3,
    name="26.0.0",
    package="2.7.1.post4",
    cann="9.0.0",
    done_file=True,
    export_warning=False,
    metrics_default=False,
    block="Block Num",
)
G26_1 = replace(G26_0, name="26.1.0", package="2.7.1.post8", cann="9.1.0", skip_first_wait=True)

TABLE: dict[str, Generation] = {row.name: row for row in (G6_0, G7_0, G7_1, G7_2, G7_3, G26_0, G26_1)}


def generation(name: str) -> Generation:
    """The row for ``name``; SystemExit where there is none."""
    if name not in TABLE:
        raise SystemExit(f"simulated NPU host: SIMULATED_NPU_TORCH_NPU={name!r}: not one of {', '.join(TABLE)}")
    return TABLE[name]
