"""One module per MCP tool: its models, one function, its text. ``ALL`` is the order in which they are listed."""

from mindspeed_mm_train_profiler.tools import detect_engine
from mindspeed_mm_train_profiler.tools.common import ToolSpec

ALL: tuple[ToolSpec, ...] = (detect_engine.TOOL,)

__all__ = ["ALL"]
