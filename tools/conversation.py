"""Resources, the prompt and completion: the conversation for clients that lead it themselves."""

import json
from typing import Any

import anyio.to_thread
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp.types import Completion, CompletionArgument, CompletionContext, PromptReference, ResourceTemplateReference

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.skill import wording
from mindspeed_mm_train_profiler.tools.common import printable, resolve_language

JSON, MARKDOWN = "application/json", "text/markdown"


def _language(asked: str, uri: str) -> wording.Language:
    for language in wording.LANGUAGES:
        if asked == language:
            return language
    raise ResourceNotFoundError(f"Unknown resource: {uri}")


def _json(value: Any) -> str:
    return json.dumps(printable(value), ensure_ascii=False, indent=1)


def questions(language: str) -> str:
    """The ordered questions: id, text, options, default, multiple, custom input, when asked, option fields."""
    from mindspeed_mm_train_profiler.skill import catalogue

    return _json(catalogue.questions(_language(language, f"profiling://questions/{language}")))


def question(language: str, id: str) -> str:
    """One question."""
    from mindspeed_mm_train_profiler.skill import catalogue

    uri = f"profiling://questions/{language}/{id}"
    found = catalogue.by_id(_language(language, uri), id)
    if found is None:
        raise ResourceNotFoundError(f"Unknown resource: {uri}")
    return _json(found)


def reference(language: str) -> str:
    """Every profile parameter of both engines, by release."""
    from mindspeed_mm_train_profiler.skill import parameters

    return parameters.render(_language(language, f"profiling://reference/{language}"))


def troubleshooting(language: str) -> str:
    """Symptoms, causes, remedies."""
    from mindspeed_mm_train_profiler.skill import troubleshooting as table

    return table.render(_language(language, f"profiling://troubleshooting/{language}"))


def runs() -> str:
    """Runs and builds of this user, newest first; at most 100."""
    from mindspeed_mm_train_profiler.tools.list_runs import list_runs

    return _json(list_runs(limit=100).model_dump(mode="json", include={"items", "cursor"}))


def run(run_id: str) -> str:
    """One run: its state as poll_status tells it, without log lines."""
    from mindspeed_mm_train_profiler.runs import folder as folders
    from mindspeed_mm_train_profiler.runs import poll

    try:
        return _json(poll.poll(folders.find(run_id), None, 0))
    except CodedError as error:
        raise ResourceNotFoundError(f"Unknown resource: profiling://runs/{run_id}") from error


def collect_profile(script: str = "", language: str = "") -> str:
    """Collect a performance profile of a MindSpeed-MM training: asks, confirms, runs, verifies."""
    spoken: wording.Language = "zh" if language.strip().lower().startswith("zh") else resolve_language(None)
    if language.strip().lower().startswith("en"):
        spoken = "en"
    start = (
        wording.text(spoken, "prompt.script", script=script.strip())
        if script.strip()
        else wording.text(spoken, "prompt.no_script")
    )
    return wording.text(spoken, "prompt.text", start=start, language=spoken)


async def complete(
    ref: PromptReference | ResourceTemplateReference, argument: CompletionArgument, context: CompletionContext | None
) -> Completion | None:
    """Languages, question ids, script paths, ids of runs."""
    from mindspeed_mm_train_profiler.tools import completing

    found = await anyio.to_thread.run_sync(completing.values, argument.name, argument.value)
    cut = found[: completing.MAX_VALUES]
    return Completion(values=cut, total=len(found), has_more=len(cut) < len(found))


def register(server: MCPServer[Any]) -> None:
    """Offer the resources, the prompt and completion."""
    for uri, name, title, mime, function in (
        ("profiling://questions/{language}", "questions", "Questions", JSON, questions),
        ("profiling://questions/{language}/{id}", "question", "One question", JSON, question),
        ("profiling://reference/{language}", "reference", "Profile parameters", MARKDOWN, reference),
        ("profiling://troubleshooting/{language}", "troubleshooting", "Troubleshooting", MARKDOWN, troubleshooting),
        ("profiling://runs", "runs", "Runs and builds", JSON, runs),
        ("profiling://runs/{run_id}", "run", "One run", JSON, run),
    ):
        server.resource(uri, name=name, title=title, mime_type=mime)(function)
    server.prompt("collect_profile", title="Collect a training profile")(collect_profile)
    server.completion()(complete)  # type: ignore[no-untyped-call]
