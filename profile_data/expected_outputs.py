"""Which files analysis leaves, by level, flags and world size: one row per file.

From torch_npu ``analysis/prof_config/_parser_config.py``; a csv or json whose rows are empty is not written, so files
that depend on what the model did (``may``) are never asked for.
"""

from dataclasses import dataclass

from mindspeed_mm_train_profiler.profile_data.record import SessionRecord

LEVELS = ("Level0", "Level1", "Level2")


@dataclass(frozen=True, slots=True)
class OutputRow:
    """``header``: columns that the file must have. Conditions are all to hold; None: does not matter."""

    name: str
    activity: str | None = None
    levels: tuple[str, ...] | None = None
    memory: bool = False
    several_ranks: bool = False
    header: tuple[str, ...] = ()
    may: bool = False
    later: bool = False
    """Not written by torch_npu 5.0."""
    torch: bool = False
    """Not written by MindSpore."""


TEXT_ROWS = (
    OutputRow("trace_view.json"),
    OutputRow("operator_details.csv", activity="CPU", header=("Name", "Device Self Duration(us)"), torch=True),
    OutputRow("kernel_details.csv", activity="NPU", levels=LEVELS, header=("Name", "Duration(us)")),
    OutputRow("step_trace_time.csv", activity="NPU", levels=LEVELS, header=("Step", "Computing", "Free")),
    OutputRow(
        "op_statistic.csv",
        activity="NPU",
        levels=("Level1", "Level2"),
        header=("OP Type", "Total Time(us)"),
        later=True,
    ),
    OutputRow(
        "api_statistic.csv", activity="NPU", levels=("Level1", "Level2"), header=("API Name", "Time(us)"), later=True
    ),
    OutputRow("communication.json", activity="NPU", levels=("Level1", "Level2"), several_ranks=True),
    OutputRow("communication_matrix.json", activity="NPU", levels=("Level1", "Level2"), several_ranks=True),
    OutputRow("memory_record.csv", memory=True, header=("Component", "Total Reserved(MB)")),
    OutputRow("operator_memory.csv", memory=True, header=("Name", "Size(KB)"), may=True),
    OutputRow("npu_module_mem.csv", memory=True, header=("Component", "Total Reserved(MB)"), may=True),
    OutputRow("data_preprocess.csv", levels=("Level2",), may=True),
    OutputRow("l2_cache.csv", may=True),
    # from 26.1 on, passed on where CANN made one (``prof_view/_integrate_parser.py``)
    OutputRow("task_time.csv", levels=LEVELS, may=True),
)


def applies(row: OutputRow, record: SessionRecord, world_size: int | None) -> bool:
    """Whether the file must be there; a condition that cannot be known asks for nothing."""
    if row.may or (row.later and record.first_release) or (row.torch and record.mindspore):
        return False
    if row.activity and (record.activities is None or row.activity not in record.activities):
        return False
    if row.levels and record.level not in row.levels:
        return False
    if row.memory and record.profile_memory is not True:
        return False
    return not row.several_ranks or (world_size is not None and world_size > 1)
