"""Reads a MindSpeed-MM launch script without running it; the result is a LaunchPlan."""
