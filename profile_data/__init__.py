"""Reads what the profiler left: completeness, steps, numbers, report."""
