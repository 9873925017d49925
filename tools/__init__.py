"""One module per MCP tool: its models, one function, its text. ``ALL`` is the order in which they are listed."""

from mindspeed_mm_train_profiler.tools.common import ToolSpec

ALL: tuple[ToolSpec, ...] = ()

__all__ = ["ALL"]
