"""The conversation as a state machine: order, conditions, advice, and the checks between answers."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.options import ProfileOptions
from mindspeed_mm_train_profiler.skill import parameters, wording
from mindspeed_mm_train_profiler.skill.__main__ import generated
from mindspeed_mm_train_profiler.skill.flow import Flow
from mindspeed_mm_train_profiler.skill.questions import BY_ID, QUESTIONS, Facts

ORDER = [question.id for question in QUESTIONS]


def ids(flow: Flow) -> list[str]:
    return [item.question.id for item in flow.open()]


def codes(notes: Any) -> set[str]:
    return {note.code for note in notes}


def walk(facts: Facts, **said: Any) -> tuple[Flow, list[str]]:
    """Answer what is open, one after another, with ``said`` or the default; the flow and what was asked."""
    flow, asked = Flow.start(facts), []
    while found := flow.open():
        name = found[0].question.id
        assert name not in flow.problems, flow.problems
        asked.append(name)
        flow = flow.answer(name, said.get(name, "default"))
    return flow, asked


def test_the_order_and_the_defaults() -> None:
    """SK-08 to SK-15: eight questions in the skill's order, whose defaults are the options' own."""
    flow, asked = walk(Facts())
    assert asked == ORDER and flow.options() == ProfileOptions()


def test_steps_are_asked_for_static_only() -> None:
    """SK-10."""
    flow, asked = walk(Facts(), profile_type="动态")
    assert "steps" not in asked and flow.options().profile_type == "dynamic"


def test_fsdp2_is_not_offered_dynamic() -> None:
    """SK-38."""
    flow, asked = walk(Facts(engine="fsdp2"))
    assert asked == ORDER[1:] and "advice_fsdp2_static_only" in codes(flow.notes())
    insisting = Flow.start(Facts(engine="fsdp2"), {"profile_type": "dynamic"})
    assert insisting.problems["profile_type"].code == "dynamic_not_supported_fsdp2"
    (first, *_) = insisting.open()
    assert first.question.id == "profile_type" and [option.value for option in first.options] == ["static"]


def test_a_release_without_analyse_flag_is_not_asked_about_parsing() -> None:
    """SK-38."""
    flow, asked = walk(Facts(analyse_flag=False), ranks="0,1")
    assert "analyse_flag" not in asked
    assert codes(flow.notes()) >= {"advice_always_online", "advice_online_many_ranks"}


@pytest.mark.parametrize(
    ("ranks", "world", "advised"), [("0", 8, False), ("0,1", 8, True), ("all", 8, True), ("all", 1, False)]
)
def test_several_ranks_are_advised_to_parse_offline(ranks: str, world: int, advised: bool) -> None:
    flow = Flow.start(Facts(world_size=world), {"ranks": ranks})
    (item,) = [item for item in flow.open() if item.question.id == "analyse_flag"]
    assert ("advice_parse_offline" in codes(item.notes)) == advised


def test_ranks_lie_below_the_world_size() -> None:
    flow = Flow.start(Facts(world_size=4), {"ranks": "0-4"})
    assert flow.problems["ranks"].code == "rank_outside_world" and "ranks" in ids(flow)
    assert not flow.answer("ranks", "0-3").problems


def test_window_and_iterations_are_held_against_each_other() -> None:
    """SK-31."""
    late = Flow.start(Facts(), {"steps": "90~101", "train_iters": 100})
    assert late.problems["train_iters"].code == "train_iters_too_small"
    assert not late.answer("train_iters", 101).problems
    short = Flow.start(Facts(), {"train_iters": 11})
    (steps,) = [item for item in short.open() if item.question.id == "steps"]
    assert [option.value for option in steps.options] == ["5~8"] and steps.default == "5~8"
    assert short.answer("steps", "10~12").problems["steps"].code == "window_beyond_training"
    warm = Flow.start(Facts(warmup_steps=1), {"steps": "10~12", "train_iters": 12})
    assert warm.problems["train_iters"].params["needed"] == 13


def test_the_default_of_the_iterations_fits_the_window() -> None:
    flow = Flow.start(Facts(), {"steps": "500~502"})
    item = flow.open()[-1]
    assert item.question.id == "train_iters" and item.default == "1000"
    beyond = Flow.start(Facts(), {"steps": "20000~20002"})
    assert beyond.open()[-1].default is None
    assert beyond.answer("train_iters", "default").problems["train_iters"].code == "answer_no_default"


PROFILE = {
    "enable": True,
    "profile_type": "static",
    "ranks": [0, 1],
    "static_param": {"level": "level2", "with_cpu": True, "with_stack": True, "start_step": 3, "end_step": 5},
}


def test_an_enabled_block_is_kept_or_replaced() -> None:
    facts = Facts(current_profile=PROFILE)
    assert ids(Flow.start(facts))[0] == "existing_profile"
    kept = Flow.start(facts, {"existing_profile": "保留"})
    assert ids(kept) == ["aic_metrics_type", "analyse_flag", "train_iters"]
    options = Flow.start(facts, {"existing_profile": "keep", "rest": "default"}).options()
    assert (options.level, options.ranks, options.start_step, options.with_stack) == ("level2", [0, 1], 3, True)
    assert ids(Flow.start(facts, {"existing_profile": "override"})) == ORDER
    assert ids(Flow.start(Facts(current_profile={"enable": False}))) == ORDER


def test_a_kept_block_that_does_not_fit_is_asked_again() -> None:
    facts = Facts(
        world_size=1, current_profile={**PROFILE, "ranks": [0, 1], "static_param": {"start_step": 5, "end_step": 5}}
    )
    flow = Flow.start(facts, {"existing_profile": "keep"})
    assert set(flow.problems) == {"ranks", "steps"}


def test_answers_by_option_name_and_by_question() -> None:
    given = {"start_step": 20, "end_step": 22, "with_memory": True, "save_path": "/x", "ranks": None}
    flow = Flow.start(Facts(), given)
    assert ids(flow) == ["profile_type", "level", "ranks", "aic_metrics_type", "analyse_flag", "train_iters"]
    options = Flow.start(Facts(), {**given, "rest": "default"}).options()
    assert options.start_step == 20 and options.with_cpu and options.with_memory and options.save_path == "/x"
    assert "steps" in ids(Flow.start(Facts(), {"start_step": 20}))  # half a window settles nothing


@pytest.mark.parametrize("given", [{"nonsense": 1}, {"rest": "whatever"}, {"with_cpu": "perhaps"}])
def test_names_that_no_question_has(given: dict[str, Any]) -> None:
    with pytest.raises(CodedError) as raised:
        Flow.start(Facts(), given)
    assert raised.value.code == "answer_unknown"


def test_a_field_that_passes_through_is_checked() -> None:
    with pytest.raises(CodedError):
        Flow.start(Facts(), {"acknowledge": ["everything"], "rest": "default"}).options()


settled = st.fixed_dictionaries(
    {},
    optional={
        "profile_type": st.sampled_from(["static", "dynamic", "x"]),
        "level": st.sampled_from(["level0", "level1", 7]),
        "steps": st.tuples(st.integers(-1, 30), st.integers(0, 40)).map(list),
        "ranks": st.lists(st.integers(-1, 9), max_size=4) | st.just("all"),
        "contents": st.lists(st.sampled_from(BY_ID["contents"].values()), max_size=5),
        "analyse_flag": st.booleans(),
        "train_iters": st.integers(0, 50),
    },
)
cases = st.builds(
    Facts,
    engine=st.sampled_from(["megatron", "fsdp2", None]),
    dynamic=st.sampled_from([True, False, None]),
    analyse_flag=st.sampled_from([True, False, None]),
    warmup_steps=st.sampled_from([0, 1, None]),
    world_size=st.sampled_from([1, 8, None]),
    current_profile=st.sampled_from([None, PROFILE]),
)


@given(facts=cases, said=settled)
def test_whatever_was_said_the_end_fits(facts: Facts, said: dict[str, Any]) -> None:
    """A finished conversation never leaves options that contradict the case."""
    flow = Flow.start(facts, said)
    for _ in range(40):
        if not (found := flow.open()):
            break
        name = found[0].question.id
        flow = flow.answer(name, {"steps": "1~2", "train_iters": "1000"}.get(name, "default"))
    options = flow.options()
    assert flow.complete and not flow.problems
    assert Flow.start(facts, flow.answers()).options() == options
    if options.profile_type == "static":
        assert 1 <= options.start_step < options.end_step <= options.train_iters
    else:
        assert facts.engine != "fsdp2"
    if facts.world_size and options.ranks != "all":
        assert max(options.ranks) < facts.world_size


@pytest.mark.parametrize("language", wording.LANGUAGES)
def test_all_advice_can_be_said(language: wording.Language) -> None:
    facts = Facts("fsdp2", False, False, 1, 8, 500, PROFILE)
    flow = Flow.start(facts, {"ranks": "all", "contents": "内存占用", "level": "level0", "train_iters": 50})
    notes = [note for item in flow.open() for note in item.notes] + flow.notes()
    assert len(notes) > 5 and all(wording.note_message(language, note) for note in notes)


def test_generated_references_are_current() -> None:
    """SK-34: run ``python -m mindspeed_mm_train_profiler.skill`` after a change."""
    stale = [path.name for path, content in generated().items() if path.read_text(encoding="utf-8") != content]
    assert stale == []


def test_the_parameter_table_knows_every_option() -> None:
    names = {parameter.name for parameter in parameters.PARAMETERS}
    assert names >= set(ProfileOptions.model_fields) - {"train_iters", "acknowledge", "dynamic_config_path"}


@pytest.mark.real
def test_the_parameter_table_agrees_with_a_checkout(mindspeed_mm_root: Any) -> None:
    """Every key of the checkout's tools.json stands in the table with the value shipped."""
    import json

    shipped = json.loads((mindspeed_mm_root / "mindspeed_mm/tools/tools.json").read_text(encoding="utf-8"))["profile"]
    flat = {key: value for key, value in shipped.items() if not isinstance(value, dict)}
    for section in ("static_param", "dynamic_param"):
        flat |= {f"{section}.{key}": value for key, value in shipped[section].items()}
    table = {item.megatron: item.shipped for item in parameters.PARAMETERS}
    assert flat.keys() <= table.keys()
    assert {key: value if isinstance(value, str) else json.dumps(value) for key, value in flat.items()} == {
        key: table[key] for key in flat
    }


@pytest.mark.parametrize("language", wording.LANGUAGES)
@pytest.mark.parametrize(
    "given",
    [
        {"steps": "90~101", "train_iters": 100}, {"train_iters": 5, "steps": "10~12"}, {"ranks": "9"}, {"steps": "0~2"},
        {"steps": "5~5"}, {"profile_type": "dynamic"}, {"level": "x"}, {"train_iters": 0}, {"train_iters": "9" * 12},
    ],
)  # fmt: skip
def test_every_reason_can_be_said(given: dict[str, Any], language: wording.Language) -> None:
    flow = Flow.start(Facts("fsdp2", world_size=4), given)
    assert flow.problems
    for problem in flow.problems.values():
        assert all(part is None or part for part in wording.error_texts(language, problem))


@pytest.mark.parametrize("bound", [{"start_step": 5}, {"end_step": 8}])
def test_one_bound_alone_is_never_dropped(bound: dict[str, int]) -> None:
    """The other defaults may be taken; the window stays open, with the reason."""
    flow = Flow.start(Facts(), {**bound, "rest": "default"})
    assert ids(flow) == ["steps"] and flow.problems["steps"].code == "step_bound_missing"
    assert flow.answer("steps", "5~8").complete
    with pytest.raises(CodedError, match="answer_unknown"):
        Flow.start(Facts(), {**bound, "steps": "5~8"})


def test_parsing_off_cannot_be_promised_where_the_release_parses_always() -> None:
    flow = Flow.start(Facts(analyse_flag=False), {"analyse_flag": False, "rest": "default"})
    assert flow.complete and flow.options().analyse_flag is True
    assert "advice_always_online" in codes(flow.notes())
