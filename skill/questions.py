"""The questions as data, in the skill's order: what is asked, what can be answered, which options it settles.

The texts stand in the catalogues under ``question.<id>.*``. ``asked_when`` names a rule of ``RULES``; the rules read
the facts of the case (``Facts``) and what is settled already, never a file.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

CUSTOM = "custom"
"""The option under which a value of one's own is given."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of the launch. None: unknown, and then nothing is held against an answer."""

    engine: Literal["megatron", "fsdp2"] | None = None
    dynamic: bool | None = None
    analyse_flag: bool | None = None
    warmup_steps: int | None = None
    world_size: int | None = None
    train_iters: int | None = None
    """What the user's own script says today."""
    current_profile: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Option:
    """One answer. ``sets``: the option fields it settles."""

    value: str
    sets: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Question:
    """One question. ``default``: an option's value, several for a multiple choice.

    ``custom``: pattern (ECMA) of a value of one's own, None where only the options count.
    """

    id: str
    options: tuple[Option, ...]
    default: str | tuple[str, ...]
    maps_to: tuple[str, ...]
    asked_when: str = "always"
    multiple: bool = False
    custom: str | None = None
    sign: str = ""
    """The number the skill gives it: ① to ⑧."""

    def values(self) -> tuple[str, ...]:
        return tuple(option.value for option in self.options)


def _choices(name: str, *values: str) -> tuple[Option, ...]:
    return tuple(Option(value, {name: value}) for value in values)


CONTENTS = ("with_cpu", "with_memory", "with_stack", "record_shapes", "data_simplification")
ITERATIONS = (20, 100, 1000, 10000)

QUESTIONS: tuple[Question, ...] = (
    Question(
        "profile_type",
        _choices("profile_type", "static", "dynamic"),
        "static",
        ("profile_type",),
        "dynamic_supported",
        sign="①",
    ),
    Question("level", _choices("level", "level0", "level1", "level2"), "level1", ("level",), sign="②"),
    Question(
        "steps",
        (
            Option("10~12", {"start_step": 10, "end_step": 12}),
            Option("5~8", {"start_step": 5, "end_step": 8}),
        ),
        "10~12",
        ("start_step", "end_step"),
        "static",
        custom=r"^\s*\d+\s*(~|-|to|到)\s*\d+\s*$",
        sign="③",
    ),
    Question(
        "ranks",
        (Option("0", {"ranks": [0]}), Option("all", {"ranks": "all"})),
        "0",
        ("ranks",),
        custom=r"^\s*\d+(\s*[,~-]\s*\d+)*\s*$",
        sign="④",
    ),
    Question(
        "contents",
        tuple(Option(name, {name: True}) for name in CONTENTS),
        ("with_cpu",),
        CONTENTS,
        multiple=True,
        sign="⑤",
    ),
    Question(
        "aic_metrics_type",
        _choices("aic_metrics_type", "PipeUtilization", "ArithmeticUtilization"),
        "PipeUtilization",
        ("aic_metrics_type",),
        sign="⑥",
    ),
    Question(
        "analyse_flag",
        (Option("on", {"analyse_flag": True}), Option("off", {"analyse_flag": False})),
        "on",
        ("analyse_flag",),
        "analyse_flag_known",
        sign="⑦",
    ),
    Question(
        "train_iters",
        tuple(Option(str(count), {"train_iters": count}) for count in ITERATIONS),
        "100",
        ("train_iters",),
        custom=r"^\s*[1-9]\d*\s*$",
        sign="⑧",
    ),
)

EXISTING = Question(
    "existing_profile",
    (Option("override", {}), Option("keep", {})),
    "override",
    (),
    "profile_enabled",
)
"""Asked before the eight, in the same form as the first of them, where the user's file profiles already."""

BY_ID: dict[str, Question] = {question.id: question for question in (EXISTING, *QUESTIONS)}

Rule = Callable[[Facts, Mapping[str, Any]], bool]

RULES: dict[str, Rule] = {
    "always": lambda facts, settled: True,
    "dynamic_supported": lambda facts, settled: facts.engine != "fsdp2" and facts.dynamic is not False,
    "static": lambda facts, settled: settled.get("profile_type", "static") == "static",
    "analyse_flag_known": lambda facts, settled: facts.analyse_flag is not False,
    "profile_enabled": lambda facts, settled: bool(
        facts.current_profile and facts.current_profile.get("enable") is True
    ),
}


@dataclass(frozen=True, slots=True)
class Offer:
    """A question as it is put in this case: only what can be chosen, and a default that fits."""

    question: Question
    options: tuple[Option, ...]
    default: str | tuple[str, ...] | None
    notes: tuple[Any, ...] = field(default_factory=tuple)


def needed_iterations(facts: Facts, settled: Mapping[str, Any]) -> int | None:
    """The iteration with which the window closes; None where no window is fixed."""
    if settled.get("profile_type", "static") != "static" or "end_step" not in settled:
        return None
    return int(settled["end_step"]) + (facts.warmup_steps or 0)


def offer(question: Question, facts: Facts, settled: Mapping[str, Any]) -> Offer:
    """The options that fit the case. Steps and iterations are held against each other as soon as one is known."""
    options = question.options
    if question.id == "profile_type" and not RULES["dynamic_supported"](facts, settled):
        options = options[:1]
    elif question.id == "steps" and "train_iters" in settled:
        last = settled["train_iters"] - (facts.warmup_steps or 0)
        options = tuple(option for option in options if option.sets["end_step"] <= last)
    elif question.id == "train_iters" and (needed := needed_iterations(facts, settled)) is not None:
        options = tuple(option for option in options if option.sets["train_iters"] >= needed)
    values = [option.value for option in options]
    default: str | tuple[str, ...] | None = question.default
    if isinstance(default, str) and default not in values:
        default = values[0] if values else None
    return Offer(question, options, default)
