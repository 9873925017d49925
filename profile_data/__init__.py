"""Reads what the profiler left: completeness, steps, numbers, report."""

from mindspeed_mm_train_profiler.profile_data.verdict import Expectation, RankVerdict, Verdict, verify

__all__ = ["Expectation", "RankVerdict", "Verdict", "verify"]
