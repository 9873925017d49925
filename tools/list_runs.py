"""list_runs: runs, and builds that were not launched yet, newest first."""

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import BaseModel, Field

from mindspeed_mm_train_profiler.skill import wording
from mindspeed_mm_train_profiler.tools.common import Language, Result, ToolSpec, resolve_language


class RunListed(BaseModel):
    kind: str = Field(description="run or build")
    id: str
    state: str
    script: str | None = None
    created: str | None = None
    save_path: str | None = None
    config_id: str | None = None


class ListRunsResult(Result):
    items: list[RunListed] = Field(default_factory=list)
    cursor: str | None = Field(None, description="pass it on for older ones; null at the end")

    def body(self, language: wording.Language) -> Iterable[str]:
        for item in self.items:
            yield f"{item.created or '?'}  {item.kind:5} {item.state:10} {item.id}  {item.script or ''}"


def entries() -> list[dict[str, Any]]:
    """All runs and unlaunched builds as plain rows, newest first; folders that cannot be read are told as such."""
    from datetime import datetime

    from mindspeed_mm_train_profiler import profile_config
    from mindspeed_mm_train_profiler.runs import folder as folders
    from mindspeed_mm_train_profiler.runs import poll

    rows, launched = [], set()
    for folder in folders.all_runs():
        run, build = folder.read("run"), folder.read("build") or {}
        if run is None:
            rows.append({"kind": "run", "id": folder.run_id, "state": "unreadable", "created": None})
            continue
        launched.add(run.get("config_id"))
        try:
            state = poll.state_of(folder)[0]
            created = datetime.fromtimestamp(float(run.get("created") or 0)).astimezone().isoformat(timespec="seconds")
        except (TypeError, ValueError, KeyError, OverflowError):
            state, created = "unreadable", None
        rows.append(
            {
                "kind": "run",
                "id": folder.run_id,
                "state": state,
                "created": created,
                "script": build.get("script"),
                "save_path": build.get("save_path"),
                "config_id": run.get("config_id"),
            }
        )
    rows += [
        {
            "kind": "build",
            "id": build.get("config_id"),
            "state": "built",
            "created": build.get("created"),
            "script": build.get("script"),
            "save_path": build.get("save_path"),
            "config_id": build.get("config_id"),
        }
        for build in profile_config.list_builds()
        if build.get("config_id") not in launched
    ]
    return sorted(rows, key=lambda row: str(row["id"]).partition("-")[2], reverse=True)


def list_runs(
    limit: Annotated[int, Field(ge=1, le=200)] = 20,
    cursor: Annotated[str | None, Field(description="from the last call")] = None,
    language: Language = None,
) -> ListRunsResult:
    """List runs and builds."""
    spoken = resolve_language(language)
    rows = entries()
    start = next((i + 1 for i, row in enumerate(rows) if row["id"] == cursor), 0) if cursor else 0
    page = rows[start : start + limit]
    more = start + limit < len(rows)
    return ListRunsResult(
        summary=wording.text(spoken, "runs.summary", count=len(page), all=len(rows)),
        items=[RunListed(**row) for row in page],
        cursor=page[-1]["id"] if more and page else None,
    )


TOOL = ToolSpec(
    name="list_runs",
    title="List builds and runs",
    description="Runs of this host's user and builds that were not launched yet, newest first.",
    function=list_runs,
    read_only=True,
    destructive=False,
    idempotent=True,
    open_world=False,
)
