"""Where the conversation of choose_options stands: the facts of a launch, what is settled, what is asked next."""

from dataclasses import dataclass, field
from typing import Any, Literal

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.skill import confirmation, wording
from mindspeed_mm_train_profiler.skill.flow import Flow
from mindspeed_mm_train_profiler.skill.questions import Facts, Offer
from mindspeed_mm_train_profiler.tools.common import argument_path, resolve_language

SLOTS = 20
"""Most forms of one call, asked again included."""


@dataclass(frozen=True, slots=True)
class State:
    """Where the conversation stands. ``able``: the client can be asked."""

    flow: Flow
    language: wording.Language
    one_form: bool
    able: bool = False
    rounds: int = SLOTS
    asked: int = 0
    ended: Literal["declined", "cancelled"] | None = None
    confirmed: bool = False
    facts: dict[str, str] = field(default_factory=dict)
    """script, engine, config_path: what the table shows of the launch."""

    def offers(self) -> list[Offer]:
        """What the next form asks: everything open, or the next question (with the one about the user's file)."""
        found = self.flow.open()
        if self.one_form:
            return found
        return found[:2] if found and found[0].question.id == "existing_profile" else found[:1]

    @property
    def over(self) -> bool:
        return self.ended is not None or self.confirmed or not self.able or self.asked >= self.rounds

    def rows(self) -> list[confirmation.Row]:
        """The confirmation table's rows; none without a script or while something is open."""
        if not self.facts or not self.flow.complete:
            return []
        options = self.flow.options()
        first = options.start_step + 1 + (self.flow.facts.warmup_steps or 0)
        return confirmation.rows(
            self.language,
            options,
            **self.facts,
            save_path=options.save_path,
            dynamic_path=options.dynamic_config_path,
            captured=(first, first + options.end_step - options.start_step - 1),
        )


def read_facts(
    script: str, workdir: str | None, script_args: list[str] | None, env: dict[str, str] | None
) -> tuple[Facts, dict[str, str]]:
    """Facts of the launch, and what the table shows of it.

    Errors: ``no_script`` and the others of reading; ``engine_unsupported``.
    """
    from mindspeed_mm_train_profiler.launch_script import read_launch

    place = argument_path(workdir) if workdir is not None else None
    plan = read_launch(argument_path(script, base=place), workdir=place, script_args=script_args or (), env=env or {})
    if plan.engine == "unsupported":
        raise CodedError("engine_unsupported", found=plan.script, reason=plan.reason.code)
    can = plan.capabilities
    facts = Facts(
        engine=plan.engine,
        dynamic=can.dynamic,
        analyse_flag=can.analyse_flag,
        warmup_steps=can.warmup_steps,
        world_size=plan.world_size,
        train_iters=plan.train_iters.value,
        current_profile=plan.current_profile,
    )
    config = str(plan.config_path) if plan.config_path else "-"
    return facts, {"script": str(plan.script), "engine": plan.engine, "config_path": config}


def begin(
    script: str | None,
    answers: dict[str, Any] | None,
    style: str,
    workdir: str | None,
    script_args: list[str] | None,
    env: dict[str, str] | None,
    language: wording.Language | None,
) -> State:
    """The state before the first question. Errors: those of ``read_facts`` and of the answers given."""
    facts, shown = read_facts(script, workdir, script_args, env) if script is not None else (Facts(), {})
    flow = Flow.start(facts, answers)
    return State(flow, resolve_language(language), style == "one_form", facts=shown)
