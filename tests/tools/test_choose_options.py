"""choose_options with scripted clients in both eras: forms, refusals, wrong answers, clients that cannot be asked."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.types import ElicitResult, ErrorData

from mindspeed_mm_train_profiler.server import build_server
from mindspeed_mm_train_profiler.simulator.sample import make_checkout
from mindspeed_mm_train_profiler.skill.questions import QUESTIONS
from mindspeed_mm_train_profiler.tools.choose_asking import ROUNDS
from mindspeed_mm_train_profiler.tools.choose_options import choose_options

ERAS = ["auto", "legacy"]
ORDER = [question.id for question in QUESTIONS]
YES = {"confirm": True}
Said = Callable[[int, dict[str, Any]], ElicitResult | ErrorData]


@pytest.fixture
def script(tmp_path: Path) -> str:
    return str(make_checkout(tmp_path / "mm").scripts["yaml"])


@pytest.fixture
def fsdp2(tmp_path: Path) -> str:
    return str(make_checkout(tmp_path / "mm").scripts["fsdp2"])


class Person:
    """Answers forms by a rule, and remembers what was shown."""

    def __init__(self, said: Said) -> None:
        self.said = said
        self.messages: list[str] = []
        self.forms: list[dict[str, Any]] = []

    async def __call__(self, context: Any, params: Any) -> ElicitResult | ErrorData:
        self.messages.append(params.message)
        self.forms.append(params.requested_schema["properties"])
        return self.said(len(self.forms) - 1, self.forms[-1])


def accepting(**answers: Any) -> Person:
    def said(number: int, form: dict[str, Any]) -> ElicitResult:
        content = {name: value for name, value in answers.items() if name in form}
        return ElicitResult(action="accept", content=YES if "confirm" in form else content)

    return Person(said)


async def call(era: Any, person: Any, **arguments: Any) -> dict[str, Any]:
    async with Client(build_server(), mode=era, elicitation_callback=person) as client:
        result = await client.call_tool("choose_options", arguments)
    assert result.structured_content is not None, result.content
    return result.structured_content


@pytest.mark.parametrize("era", ERAS)
async def test_the_whole_path_takes_nine_rounds(era: Any, script: str) -> None:
    """SK-07 to SK-16: one form a question, in order, then the table."""
    person = accepting()
    told = await call(era, person, script=script, language="zh")
    asked = [next(iter(form)) for form in person.forms]
    assert asked == [*ORDER, "confirm"]
    assert told["status"] == "complete" and told["confirmed"] is True
    assert "| 运行脚本 |" in person.messages[-1] and "确认后开始配置" in person.messages[-1]
    assert [row["item"] for row in told["confirmation"]][:3] == ["运行脚本", "训练引擎", "配置文件"]
    assert told["next_step"]["tool"] == "build_config" and told["next_step"]["arguments"]["confirmed"] is True


@pytest.mark.parametrize("era", ERAS)
async def test_a_value_of_ones_own_rides_in_the_same_form(era: Any, script: str) -> None:
    person = accepting(
        steps="custom", steps_custom="20~22", ranks="custom", ranks_custom="0,1", train_iters_custom="60",
        contents=["with_cpu", "with_memory"], analyse_flag="off", level="level2",
    )  # fmt: skip
    told = await call(era, person, script=script)
    assert len(person.forms) == 9
    options = told["options"]
    assert (options["start_step"], options["end_step"], options["ranks"], options["train_iters"]) == (
        20,
        22,
        [0, 1],
        60,
    )
    assert options["with_memory"] and options["analyse_flag"] is False and options["level"] == "level2"


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("action", ["decline", "cancel"])
@pytest.mark.parametrize("at", range(9))
async def test_declined_or_cancelled_at_each_question(era: Any, action: Any, at: int, script: str) -> None:
    """SK-16: it ends there, nothing goes on, and the two are told apart."""

    def said(number: int, form: dict[str, Any]) -> ElicitResult:
        return ElicitResult(action=action) if number == at else ElicitResult(action="accept", content={})

    person = Person(said)
    told = await call(era, person, script=script)
    assert told["status"] == {"decline": "declined", "cancel": "cancelled"}[action]
    assert len(person.forms) == at + 1
    assert told["next_step"] is None and told["confirmed"] is False and told["options"] is None


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("answer", [False, "true", 1, None])
async def test_only_a_plain_yes_confirms(era: Any, answer: Any, script: str) -> None:
    def said(number: int, form: dict[str, Any]) -> ElicitResult:
        return ElicitResult(action="accept", content={"confirm": answer})

    told = await call(era, Person(said), script=script, answers={"rest": "default"})
    assert told["status"] == "declined" and told["next_step"] is None


@pytest.mark.parametrize("era", ERAS)
async def test_out_of_range_is_asked_again_with_the_reason(era: Any, script: str) -> None:
    def said(number: int, form: dict[str, Any]) -> ElicitResult:
        if "confirm" in form:
            return ElicitResult(action="accept", content=YES)
        content = {"steps": "custom", "steps_custom": "0~2" if not said.again else "4~6"} if "steps" in form else {}
        said.again = said.again or "steps" in form
        return ElicitResult(action="accept", content=content)

    said.again = False
    person = Person(said)
    told = await call(era, person, script=script, language="zh")
    asked = [next(iter(form)) for form in person.forms]
    assert asked.count("steps") == 2 and asked[2:4] == ["steps", "steps"]
    assert "start_step 必须 >= 1" in person.messages[3] and "start_step 必须" not in person.messages[2]
    assert told["options"]["start_step"] == 4 and told["status"] == "complete"


@pytest.mark.parametrize("era", ERAS)
async def test_a_value_outside_the_schema_is_asked_again(era: Any, script: str) -> None:
    """A client that sends what the form does not offer spoils neither the call nor the answers before."""
    wrong = iter(["level9", 17, "level1"])

    def said(number: int, form: dict[str, Any]) -> ElicitResult:
        return ElicitResult(action="accept", content=YES if "confirm" in form else {"level": next(wrong)})

    known = {"rest": "default", "profile_type": "static"}
    told = await call(era, Person(said), script=script, answers={**known, "level": "level7"})
    assert told["status"] == "complete" and told["options"]["level"] == "level1"


async def test_a_new_client_is_never_asked_past_its_rounds(script: str) -> None:
    """Clients of 2026-07-28 give up after ten rounds: the rest comes back as data before that."""

    def said(number: int, form: dict[str, Any]) -> ElicitResult:
        wrong = {"level": "nonsense", "level_custom": ""} if "level" in form else {}
        return ElicitResult(action="accept", content=wrong)

    person = Person(said)
    told = await call("auto", person, script=script)
    assert len(person.forms) == ROUNDS
    assert told["status"] == "needs_answers" and told["questions"][0]["id"] == "level"
    assert told["questions"][0]["problem"] and told["next_step"]["arguments"]["answers"]["profile_type"] == "static"


@pytest.mark.parametrize("era", ERAS)
async def test_one_form_asks_everything_at_once(era: Any, script: str) -> None:
    person = accepting(train_iters="1000", level="level0")
    told = await call(era, person, script=script, style="one_form")
    assert len(person.forms) == 2 and set(ORDER) <= set(person.forms[0])
    assert told["options"]["train_iters"] == 1000 and told["options"]["level"] == "level0"


@pytest.mark.parametrize("era", ERAS)
async def test_one_form_asks_again_only_what_does_not_fit(era: Any, script: str) -> None:
    def said(number: int, form: dict[str, Any]) -> ElicitResult:
        content: dict[str, Any] = {} if number else {"steps": "custom", "steps_custom": "300~302", "train_iters": "100"}
        return ElicitResult(action="accept", content=YES if "confirm" in form else content)

    person = Person(said)
    told = await call(era, person, script=script, style="one_form")
    assert [name for name in person.forms[1] if not name.endswith("_custom")] == ["train_iters"]
    assert told["options"]["train_iters"] == 1000


@pytest.mark.parametrize("era", ERAS)
async def test_what_the_caller_gave_is_not_asked(era: Any, script: str) -> None:
    person = accepting()
    answers = {"ranks": "0,1", "contents": "CPU 事件、内存占用", "analyse_flag": "关闭", "start_step": 5, "end_step": 7}
    told = await call(era, person, script=script, answers=answers)
    assert [next(iter(form)) for form in person.forms] == [
        "profile_type", "level", "aic_metrics_type", "train_iters", "confirm",
    ]  # fmt: skip
    assert told["options"]["ranks"] == [0, 1] and told["options"]["start_step"] == 5


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("style", ["one_by_one", "one_form"])
async def test_a_client_without_forms_walks_the_same_path(era: Any, style: str, script: str) -> None:
    """SK-07: the questions come back as data; answered, the table; nobody has confirmed anything."""
    asked: list[str] = []
    async with Client(build_server(), mode=era) as client:
        arguments: dict[str, Any] = {"script": script, "style": style, "language": "zh"}
        for _ in range(12):
            result = await client.call_tool("choose_options", arguments)
            told = result.structured_content
            assert told is not None
            if told["status"] != "needs_answers":
                break
            assert told["questions"][0]["text"] in result.content[0].text  # type: ignore[union-attr]
            arguments = told["next_step"]["arguments"]
            for question in told["questions"]:
                asked.append(question["id"])
                arguments["answers"][question["id"]] = question["default"]
    assert asked == ORDER
    assert told["status"] == "complete" and told["confirmed"] is False
    assert told["table"] and "confirmed" not in told["next_step"]["arguments"]
    assert told["next_step"]["tool"] == "build_config"


async def test_a_client_that_fails_when_asked_has_not_said_yes(script: str) -> None:
    """It says that it can show forms, and answers with an error: the open question comes back as data."""

    def broken(number: int, form: dict[str, Any]) -> ErrorData:
        return ErrorData(code=-32601, message="Method not found")

    person = Person(broken)
    told = await call("legacy", person, script=script)
    assert told["status"] == "needs_answers" and told["questions"][0]["id"] == "profile_type" and len(person.forms) == 1
    table = await call("legacy", Person(broken), script=script, answers={"rest": "default"})
    assert table["confirmed"] is False and "confirmed" not in table["next_step"]["arguments"]


@pytest.mark.parametrize("content", [None, {}])
async def test_an_accepted_table_without_content_is_no_yes(script: str, content: Any) -> None:
    def said(number: int, form: dict[str, Any]) -> ElicitResult:
        return ElicitResult(action="accept", content=content)

    told = await call("legacy", Person(said), script=script, answers={"rest": "default"})
    assert told["confirmed"] is False and "confirmed" not in told["next_step"]["arguments"]


@pytest.mark.parametrize("era", ERAS)
async def test_fsdp2_is_not_offered_dynamic(era: Any, fsdp2: str) -> None:
    person = accepting()
    told = await call(era, person, script=fsdp2)
    assert all("profile_type" not in form for form in person.forms) and "FSDP2" in person.messages[0]
    assert "advice_fsdp2_static_only" in {warning["code"] for warning in told["warnings"]}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("arguments", "code"),
    [({"script": "/nowhere/train.sh"}, "no_script"), ({"answers": {"colour": "red"}}, "answer_unknown")],
)
async def test_expected_failures_are_coded(era: Any, arguments: dict[str, Any], code: str) -> None:
    """SK-03."""
    async with Client(build_server(), mode=era) as client:
        result = await client.call_tool("choose_options", arguments)
    assert result.is_error and result.structured_content is not None
    assert result.structured_content["error"]["code"] == code


async def test_without_a_script_there_is_nothing_to_confirm() -> None:
    """SK-02."""
    person = accepting()
    told = await call("auto", person, answers={"rest": "default"})
    assert told["status"] == "complete" and person.forms == [] and told["table"] == "" and told["next_step"] is None
    assert "choose_without_script" in {warning["code"] for warning in told["warnings"]}


def test_a_given_answer_that_does_not_fit_is_told(script: str) -> None:
    """The plain function, as the terminal command calls it."""
    told = choose_options(script, {"rest": "default", "ranks": "0-99"}, language="zh")
    assert told.status == "needs_answers" and [item.id for item in told.questions] == ["ranks"]
    assert told.questions[0].problem and "rank_outside_world" in {warning.code for warning in told.warnings}


@pytest.mark.parametrize("era", ERAS)
async def test_an_option_and_a_value_of_ones_own_are_asked_again(era: Any, script: str) -> None:
    def said(number: int, form: dict[str, Any]) -> ElicitResult:
        both = {"steps": "5~8", "steps_custom": "20~22"} if number == 0 else {}
        return ElicitResult(action="accept", content=YES if "confirm" in form else both)

    person = Person(said)
    given = {name: "default" for name in ORDER if name != "steps"}
    told = await call(era, person, script=script, answers=given)
    assert [next(iter(form)) for form in person.forms] == ["steps", "steps", "confirm"]
    assert told["options"]["start_step"] == 10


@pytest.mark.parametrize("era", ERAS)
async def test_an_enabled_block_is_asked_about_in_the_first_form(era: Any, script: str) -> None:
    import json

    root = Path(script).parents[2]
    file = root / "mindspeed_mm" / "tools" / "tools.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    content["profile"] |= {"enable": True, "ranks": [0, 1]}
    file.write_text(json.dumps(content), encoding="utf-8")
    person = accepting(existing_profile="keep")
    told = await call(era, person, script=script)
    assert list(person.forms[0]) == ["existing_profile", "profile_type"] and len(person.forms) < 9
    assert told["options"]["ranks"] == [0, 1]
