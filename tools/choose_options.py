"""choose_options: the eight questions in order, then the confirmation table.

A client with forms is asked through the SDK's resolvers (``choose_asking``). To a client without forms, and from the
terminal command, the open questions are returned as data. Nothing but the user's own yes to the table is taken for a
confirmation.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from mindspeed_mm_train_profiler.tools.choose_result import ChooseResult, result
from mindspeed_mm_train_profiler.tools.choose_state import State, begin
from mindspeed_mm_train_profiler.tools.common import Injected, Language, ToolSpec


def choose_options(
    script: Annotated[str | None, Field(description="launch script (.sh)")] = None,
    answers: Annotated[
        dict[str, Any] | None,
        Field(description='known answers by question id or option name; {"rest": "default"} takes the other defaults'),
    ] = None,
    style: Literal["one_by_one", "one_form"] = "one_by_one",
    workdir: Annotated[str | None, Field(description="where the launch starts")] = None,
    script_args: Annotated[list[str] | None, Field(description="the script's own")] = None,
    env: Annotated[dict[str, str] | None, Field(description="set for the launch")] = None,
    language: Language = None,
    state: Annotated[Any, Injected("choose_asking:Asked")] = None,
) -> ChooseResult:
    """Settle the eight choices."""
    settled: State = state or begin(script, answers, style, workdir, script_args, env, language)
    given = {"script": script, "workdir": workdir, "script_args": script_args, "env": env, "language": language}
    return result(settled, {name: value for name, value in given.items() if value})


TOOL = ToolSpec(
    name="choose_options",
    title="Choose what to collect",
    description=(
        "Ask the user the eight questions in order, skipping those answered in `answers`; then the confirmation table. "
        "Clients with forms are asked directly; else the open questions come back: ask them, call again with all "
        "answers."
    ),
    function=choose_options,
    read_only=True,
    destructive=False,
    idempotent=True,
    open_world=False,
)
