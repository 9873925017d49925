"""The conversation as a state machine: answers and facts in, the next question (or none) out. No input, no output.

    Flow.start(facts, given) -> flow;  flow.open() -> offers;  flow.answer(id, raw) -> flow;  flow.options()

Every step returns a new state. An answer that does not fit leaves its question open, with the reason in ``problems``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.options import ProfileOptions
from mindspeed_mm_train_profiler.skill import advice, answers
from mindspeed_mm_train_profiler.skill.questions import (
    BY_ID,
    CONTENTS,
    EXISTING,
    QUESTIONS,
    RULES,
    Facts,
    Offer,
    Question,
    needed_iterations,
    offer,
)

REST = "rest"
"""In given answers: {"rest": "default"} takes the default of everything not named."""
UNASKED = ("save_path", "dynamic_config_path", "acknowledge")
"""Option fields that no question is about; they pass through."""
FROM_FILE = ("profile_type", "level", "steps", "ranks", "contents", "aic_metrics_type", "analyse_flag")


def _given(given: Mapping[str, Any]) -> dict[str, Any]:
    """Answers by question id from what a caller gives: question ids, option fields, or both.

    Errors: ``answer_unknown``.
    """
    rest = {name: value for name, value in given.items() if value is not None}
    found: dict[str, Any] = {name: rest.pop(name) for name in UNASKED if name in rest}
    if "start_step" in rest and "end_step" in rest and "steps" not in rest:
        rest["steps"] = {name: rest.pop(name) for name in ("start_step", "end_step")}
    bounds = {name: rest.pop(name) for name in ("start_step", "end_step") if name in rest}
    if bounds and "steps" in rest:
        raise CodedError("answer_unknown", found=", ".join(bounds), expected="steps")
    if bounds:
        rest["steps"] = bounds  # one bound alone settles nothing: the question stays open, with the reason
    named = {name: rest.pop(name) for name in CONTENTS if name in rest}
    if named and "contents" not in rest:
        if all(isinstance(value, bool) for value in named.values()):
            chosen = [name for name in CONTENTS if named.get(name, name == "with_cpu")]
            rest["contents"] = chosen
        else:
            raise CodedError("answer_unknown", found=str(named), expected="true, false")
    known = {*BY_ID, REST}
    if unknown := sorted(set(rest) - known):
        raise CodedError("answer_unknown", found=", ".join(unknown), expected=", ".join([*BY_ID, *UNASKED, REST]))
    return {**rest, **found}


def from_file(profile: Mapping[str, Any]) -> dict[str, Any]:
    """The answers that a profile block of the user's file amounts to; what it does not say is left out."""
    static = profile.get("static_param")
    values: dict[str, Any] = {**(static if isinstance(static, Mapping) else {}), **profile}
    found: dict[str, Any] = {
        name: values[name] for name in ("profile_type", "level", "ranks", "aic_metrics_type") if name in values
    }
    if "start_step" in values and "end_step" in values:
        found["steps"] = {"start_step": values["start_step"], "end_step": values["end_step"]}
    if any(name in values for name in CONTENTS):
        found["contents"] = [name for name in CONTENTS if values.get(name) is True]
    if isinstance(values.get("analyse_flag"), bool):
        found["analyse_flag"] = values["analyse_flag"]
    return found


@dataclass(frozen=True, slots=True)
class Flow:
    """``settled``: option fields. ``problems``: the reason why a question is asked again, by question id."""

    facts: Facts = field(default_factory=Facts)
    settled: Mapping[str, Any] = field(default_factory=dict)
    problems: Mapping[str, CodedError] = field(default_factory=dict)
    existing: str | None = None

    @classmethod
    def start(cls, facts: Facts, given: Mapping[str, Any] | None = None) -> "Flow":
        """A conversation in which the caller has answered something already.

        Errors: ``answer_unknown`` for a name that is no question; an answer that does not fit becomes a problem.
        """
        named = _given(given or {})
        flow = cls(facts, {name: named[name] for name in UNASKED if name in named})
        for question in (EXISTING, *QUESTIONS):
            if question.id in named and (question is not EXISTING or flow.is_open(EXISTING)):
                flow = flow.answer(question.id, named[question.id])
        if REST in named:
            if not answers.is_default(named[REST]):
                raise CodedError("answer_unknown", found=f"{REST}={named[REST]!r}", expected=f'{REST}="default"')
            while (pending := [item for item in flow.open() if item.question.id not in flow.problems]) and any(
                item.default is not None for item in pending
            ):
                first = next(item for item in pending if item.default is not None)
                flow = flow.answer(first.question.id, "default")
        return flow

    def is_open(self, question: Question) -> bool:
        if question.id in self.problems:
            return True
        if not RULES[question.asked_when](self.facts, self.settled):
            return False
        if question is EXISTING:
            return self.existing is None
        return not all(name in self.settled for name in question.maps_to)

    def open(self) -> list[Offer]:
        """The questions still to ask, in order, each as it fits the case."""
        found = []
        for question in (EXISTING, *QUESTIONS):
            if self.is_open(question):
                fitting = offer(question, self.facts, self.settled)
                notes = tuple(advice.about(question.id, self.facts, self.settled))
                found.append(replace(fitting, notes=notes))
        return found

    def answer(self, question_id: str, raw: Any) -> "Flow":
        """The conversation after one answer. What does not fit becomes a problem and settles nothing."""
        question = BY_ID[question_id]
        try:
            if question is EXISTING:
                return self._existing(raw)
            sets = self._default(question) if answers.is_default(raw) else answers.understand(question_id, raw)
            if "analyse_flag" in sets and self.facts.analyse_flag is False:
                sets = {"analyse_flag": True}  # such a release parses online whatever is asked (advice_always_online)
            self._check(question, sets)
        except CodedError as error:
            return self.refuse(question_id, error)
        problems = {name: error for name, error in self.problems.items() if name != question_id}
        return replace(self, settled={**self.settled, **sets}, problems=problems)

    def refuse(self, question_id: str, error: CodedError) -> "Flow":
        """The conversation with one question open again, and the reason."""
        fields = BY_ID[question_id].maps_to
        kept = {name: value for name, value in self.settled.items() if name not in fields}
        return replace(self, settled=kept, problems={**self.problems, question_id: error})

    def _default(self, question: Question) -> dict[str, Any]:
        default = offer(question, self.facts, self.settled).default
        if default is None:
            raise CodedError("answer_no_default", question=question.id)
        return answers.understand(question.id, list(default) if isinstance(default, tuple) else default)

    def _existing(self, raw: Any) -> "Flow":
        keep = not answers.is_default(raw) and answers.keeps(raw)
        problems = {name: error for name, error in self.problems.items() if name != EXISTING.id}
        flow = replace(self, existing="keep" if keep else "override", problems=problems)
        if keep:
            for name, value in from_file(self.facts.current_profile or {}).items():
                if not any(part in flow.settled for part in BY_ID[name].maps_to):
                    flow = flow.answer(name, value)
        return flow

    def _check(self, question: Question, sets: Mapping[str, Any]) -> None:
        """Hold an answer against the case and against what is settled."""
        facts, settled = self.facts, {**self.settled, **sets}
        if sets.get("profile_type") == "dynamic" and not RULES["dynamic_supported"](facts, {}):
            code = "dynamic_not_supported_fsdp2" if facts.engine == "fsdp2" else "dynamic_not_supported"
            raise CodedError(code, found="dynamic", expected="static")
        ranks, world = sets.get("ranks"), facts.world_size
        if isinstance(ranks, list) and world is not None and (outside := [rank for rank in ranks if rank >= world]):
            raise CodedError("rank_outside_world", found=outside[:8], expected=f"0..{world - 1}", world=world)
        needed = needed_iterations(facts, settled)
        if needed is None and "train_iters" in sets and settled.get("profile_type", "static") == "static":
            needed = 2 + (facts.warmup_steps or 0)  # the least that any window needs: no dead end at the steps
        if needed is None or "train_iters" not in settled or settled["train_iters"] >= needed:
            return
        if question.id == "steps":
            last = settled["train_iters"] - (facts.warmup_steps or 0)
            raise CodedError("window_beyond_training", found=needed, expected=f"end_step <= {last}", last=last)
        if question.id in ("train_iters", "profile_type"):
            raise CodedError(
                "train_iters_too_small",
                found=settled["train_iters"],
                expected=f">= {needed}",
                needed=needed,
                recommended=needed + 1,
            )

    @property
    def complete(self) -> bool:
        return not self.open()

    def options(self) -> ProfileOptions:
        """The options, once nothing is open; questions that are not asked in this case take the skill's default.

        Errors: ``answer_unknown`` where a field that passes through does not fit.
        """
        try:
            return ProfileOptions(**self.settled)
        except ValidationError as error:
            wrong = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in wrong["loc"])
            raise CodedError(
                "answer_unknown", found=f"{where}={wrong.get('input')!r}", expected=wrong["msg"]
            ) from error

    def answers(self) -> dict[str, Any]:
        """What is settled, as a caller can give it back with the next call."""
        given = {name: value for name, value in self.settled.items() if name not in CONTENTS}
        if any(name in self.settled for name in CONTENTS):
            given["contents"] = [name for name in CONTENTS if self.settled.get(name)]
        if self.existing is not None:
            given[EXISTING.id] = self.existing
        return given

    def notes(self) -> list[Any]:
        return advice.overall(self.facts, self.settled)
