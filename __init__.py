"""Profile collection for MindSpeed-MM training on Ascend NPU hosts: an MCP server and an agent skill."""

from mindspeed_mm_train_profiler._version import __version__

__all__ = ["__version__"]
