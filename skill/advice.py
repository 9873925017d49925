"""What is said with a question, because it fits the case: coded remarks, worded in the catalogues."""

from collections.abc import Mapping
from typing import Any

from mindspeed_mm_train_profiler.errors import Note
from mindspeed_mm_train_profiler.skill.questions import RULES, Facts, needed_iterations


def several_ranks(facts: Facts, settled: Mapping[str, Any]) -> bool:
    """Whether more than one rank is to be collected; all ranks of an unknown world count as several."""
    ranks = settled.get("ranks")
    return (facts.world_size != 1) if ranks == "all" else isinstance(ranks, list) and len(ranks) > 1


def about(question: str, facts: Facts, settled: Mapping[str, Any]) -> list[Note]:
    """Remarks to show with one question, in the order in which they matter."""
    notes: list[Note] = []
    if question == "existing_profile":
        notes.append(Note("advice_profile_enabled"))
    elif question == "level":
        notes.append(Note("advice_level_volume"))
    elif question == "steps":
        warmup = facts.warmup_steps or 0
        notes.append(Note("advice_steps_meaning", {"first": 11 + warmup, "last": 12 + warmup}))
        if "train_iters" in settled:
            notes.append(Note("advice_steps_within", {"last": settled["train_iters"] - warmup}))
    elif question == "ranks":
        if facts.world_size is not None:
            notes.append(Note("advice_ranks_range", {"world": facts.world_size, "last": facts.world_size - 1}))
        notes.append(Note("advice_all_ranks"))
    elif question == "contents":
        notes += [Note("advice_cpu_needed"), Note("advice_stack_heavy"), Note("advice_simplification_later")]
    elif question == "aic_metrics_type":
        if settled.get("level") == "level0":
            notes.append(Note("advice_level0_no_metrics"))
    elif question == "analyse_flag":
        if several_ranks(facts, settled):
            notes.append(Note("advice_parse_offline"))
    elif question == "train_iters":
        if (needed := needed_iterations(facts, settled)) is not None:
            notes.append(Note("advice_iterations_needed", {"needed": needed, "better": needed + 1}))
        if facts.train_iters is not None:
            notes.append(Note("advice_iterations_today", {"value": facts.train_iters}))
    return notes


def overall(facts: Facts, settled: Mapping[str, Any]) -> list[Note]:
    """Remarks on the case and on the choices made: what is not asked and why, what the choices will mean."""
    notes: list[Note] = []
    if not RULES["dynamic_supported"](facts, settled):
        fsdp2 = facts.engine == "fsdp2"
        notes.append(Note("advice_fsdp2_static_only" if fsdp2 else "advice_dynamic_not_supported"))
    if not RULES["analyse_flag_known"](facts, settled):
        notes.append(Note("advice_always_online"))
        if several_ranks(facts, settled):
            notes.append(Note("advice_online_many_ranks"))
    elif settled.get("analyse_flag") is True and several_ranks(facts, settled):
        notes.append(Note("advice_parse_offline"))
    if settled.get("with_cpu") is False:
        notes.append(Note("advice_cpu_needed"))
    if settled.get("ranks") == "all" and facts.world_size != 1:
        notes.append(Note("advice_all_ranks"))
    return notes
