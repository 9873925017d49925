"""Where a profile lies and what it was asked to be: from a run's own record, or from a path given."""

from datetime import datetime
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.profile_data import Expectation, layout, opened
from mindspeed_mm_train_profiler.tools.common import argument_path


def locate(run_id: str | None, path: str | None) -> tuple[Path, Expectation]:
    """(folder, expectation). Errors: run_id_or_path, run_unknown, run_unknown_here, those of argument_path."""
    if (run_id is None) == (path is None):
        raise CodedError("run_id_or_path")
    if path is not None:
        place = argument_path(path)
        half = place.name in (layout.OUTPUT, layout.FRAMEWORK) and place.is_dir()
        if half and layout.find_sessions(place, limit=1_000).sessions in ([], [place]):  # the whole session is meant
            place = argument_path(place.parent)
        return place, Expectation()
    manifest = _manifest(str(run_id))
    if not isinstance(manifest.get("save_path"), str):
        raise CodedError("run_unknown_here", found=run_id)
    expectation = _expectation(manifest)
    if manifest.get("dynamic_config_path"):
        expectation.windows, expectation.ranks = _windows(str(run_id)), None
    return Path(manifest["save_path"]), expectation


def per_node(run_id: str | None) -> int | None:
    """Ranks of a node, where a run is one over many; None elsewhere."""
    if run_id is None:
        return None
    manifest = _manifest(run_id)
    many = int(manifest.get("nodes") or manifest.get("nnodes") or 1) > 1
    nproc = manifest.get("nproc_per_node")
    return nproc if many and isinstance(nproc, int) and nproc > 0 else None


def _windows(run_id: str) -> list[opened.Window]:
    """What was opened in a dynamic run and was not ignored."""
    from mindspeed_mm_train_profiler.runs import folder as folders
    from mindspeed_mm_train_profiler.runs import triggers

    found = []
    for row in triggers.rows(folders.find(run_id)):
        first, last = row["started_at_step"], row["stopped_at_step"]
        if row["state"] in ("running", "stopped"):
            steps = (
                list(range(first, last if last is not None else first + row["steps"])) if first is not None else None
            )
            found.append(opened.Window(row["ranks"], steps))
    return found


def seconds(value: object) -> float | None:
    """Seconds since 1970 from an ISO time (local where it names no zone) or a number; None for anything else."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    try:
        # Python 3.10 does not read the Z
        return datetime.fromisoformat(str(value).replace("Z", "+00:00")).timestamp()
    except (ValueError, OverflowError):
        return None


def _manifest(run_id: str) -> dict[str, Any]:
    """The build's manifest as it was at the launch, with ``since`` added from the run's record."""
    from mindspeed_mm_train_profiler.runs import folder as folders

    folder = folders.find(run_id)
    run, build = folder.read("run"), folder.read("build")
    if run is None or build is None:
        raise CodedError("run_unknown_here", found=run_id)
    return {**build, "since": seconds(run.get("created"))}


def _expectation(manifest: dict[str, Any]) -> Expectation:
    asked, options = manifest.get("expected") or {}, manifest.get("options") or {}
    static = options.get("profile_type", "static") == "static"
    return Expectation(
        ranks=asked.get("ranks"),
        steps=(asked.get("steps") or None) if static else None,
        **{
            key: options.get(key) if static else None
            for key in ("level", "with_cpu", "with_memory", "with_stack", "record_shapes", "aic_metrics_type")
        },
        analyse_flag=options.get("analyse_flag"),
        world_size=manifest.get("world_size"),
        since=manifest["since"],
    )
