"""One module per MCP tool: its models, one function, its text. ``ALL`` is the order in which they are listed."""

from mindspeed_mm_train_profiler.tools import (
    build_config,
    check_env,
    choose_options,
    compare_profiles,
    detect_engine,
    discard_copies,
    launch_training,
    list_runs,
    parse_offline,
    poll_status,
    stop_training,
    summarize_profile,
    trigger_dynamic,
    verify_output,
)
from mindspeed_mm_train_profiler.tools.common import ToolSpec

ALL: tuple[ToolSpec, ...] = (
    detect_engine.TOOL,
    check_env.TOOL,
    choose_options.TOOL,
    build_config.TOOL,
    launch_training.TOOL,
    poll_status.TOOL,
    trigger_dynamic.TOOL,
    stop_training.TOOL,
    verify_output.TOOL,
    parse_offline.TOOL,
    summarize_profile.TOOL,
    compare_profiles.TOOL,
    list_runs.TOOL,
    discard_copies.TOOL,
)

__all__ = ["ALL"]
