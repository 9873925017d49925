"""One module per MCP tool: its models, one function, its text. ``ALL`` is the order in which they are listed."""

from mindspeed_mm_train_profiler.tools import (
    build_config,
    detect_engine,
    discard_copies,
    summarize_profile,
    verify_output,
)
from mindspeed_mm_train_profiler.tools.common import ToolSpec

ALL: tuple[ToolSpec, ...] = (
    detect_engine.TOOL,
    build_config.TOOL,
    verify_output.TOOL,
    summarize_profile.TOOL,
    discard_copies.TOOL,
)

__all__ = ["ALL"]
