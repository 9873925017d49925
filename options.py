"""The user's choices: what the eight questions settle, before any engine's spelling of it.

Shared by the conversation (answers become options), by the copies (options become a profile block) and by the
verdict (options become an expectation). Defaults are the skill's own.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

ProfileType = Literal["static", "dynamic"]
Level = Literal["level0", "level1", "level2"]
AicMetrics = Literal["PipeUtilization", "ArithmeticUtilization"]
Acknowledgement = Literal[
    "all_ranks",
    "long_window",
    "large_data",
    "missing_paths",
    "multi_node",
    "world_changes",
    "checkpoint_overwrite",
    "move_intervals",
]


class ProfileOptions(BaseModel):
    """Options of one collection. Steps are the profiler's 0-based counter: 10 to 12 captures steps 10 and 11."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    profile_type: ProfileType = "static"
    level: Level = "level1"
    start_step: Annotated[int, Field(ge=1, description="first captured step (0-based counter), at least 1")] = 10
    end_step: Annotated[int, Field(ge=2, description="first step no longer captured; greater than start_step")] = 12
    ranks: Annotated[
        list[Annotated[int, Field(ge=0)]] | Literal["all"], Field(description='global ranks, or "all"')
    ] = Field(default_factory=lambda: [0])
    with_cpu: bool = True
    with_memory: bool = False
    with_stack: bool = False
    record_shapes: bool = False
    data_simplification: bool = False
    aic_metrics_type: AicMetrics = "PipeUtilization"
    analyse_flag: bool = True
    train_iters: Annotated[int, Field(ge=1)] = 100
    save_path: Annotated[
        str | None, Field(description="where sessions go; default: a fresh folder under ./npu_profiling")
    ] = None
    dynamic_config_path: Annotated[
        str | None, Field(description="dynamic only: directory watched for profiler_config.json")
    ] = None
    acknowledge: list[Acknowledgement] = Field(default_factory=list)
