"""What differs between generations of torch_npu, as data: the next one is a row.

Sources: Ascend/pytorch branches v2.1.0-6.0.0 ... v2.7.1-26.1.0, torch_npu/profiler/_profiler_path_creator.py (clock of
the session's name), analysis/prof_common_func/_constant.py (message format), analysis/_profiling_parser.py (messages,
analyse.done, what data_simplification removes), profiler_interface.py and scheduler.py (keys of profiler_info).
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Generation:
    name: str
    torch: str  # version of torch it belongs to
    utc_names: bool  # session names in UTC; else local time
    utc_messages: bool  # messages in UTC and without brackets
    mode_in_message: bool  # "Start parsing profiling data in sync mode at: "
    done_file: bool  # ASCEND_PROFILER_OUTPUT/analyse.done
    versions_in_info: bool  # torch_npu_version, cann_version in profiler_info; parallel_group_info; a list of exports
    device_column: bool  # Device_id in step_trace_time.csv and kernel_details.csv; _host_sys, _mstx_domain_*, _sys_*
    mstx: bool  # _mstx in profiler_info
    skip_first_wait: bool  # in the recorded schedule
    simplify_removes_framework: bool
    block: str  # the column's name in kernel_details.csv


TABLE: dict[str, Generation] = {
    row.name: row
    for row in (
        Generation("6.0.0", "2.1.0", True, True, False, False, False, False, False, False, True, "Block Dim"),
        Generation("7.0.0", "2.1.0", True, True, False, False, True, False, False, False, False, "Block Dim"),
        Generation("7.1.0", "2.6.0", True, False, False, False, True, True, False, False, False, "Block Dim"),
        Generation("7.2.0", "2.7.1", False, False, False, False, True, True, True, False, False, "Block Dim"),
        Generation("7.3.0", "2.7.1", False, False, True, False, True, True, True, False, False, "Block Dim"),
        Generation("26.0.0", "2.7.1", False, False, True, True, True, True, True, False, False, "Block Num"),
        Generation("26.1.0", "2.7.1", False, False, True, True, True, True, True, True, False, "Block Num"),
    )
}

CANN_VERSION = "8.3.RC1"


def generation(name: str) -> Generation:
    """The row for ``name``; SystemExit where there is none."""
    if name not in TABLE:
        raise SystemExit(f"simulated NPU host: SIMULATED_NPU_TORCH_NPU={name!r}: not one of {', '.join(TABLE)}")
    return TABLE[name]
