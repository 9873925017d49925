"""Reads a MindSpeed-MM launch script without running it; the result is a LaunchPlan."""

from mindspeed_mm_train_profiler.launch_script.read import read_launch

__all__ = ["read_launch"]
