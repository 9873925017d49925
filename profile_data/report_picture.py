"""A picture of a profile as PNG: step breakdown by rank, operators that take the most. Wants the extra ``report``."""

import io
from collections.abc import Sequence

from mindspeed_mm_train_profiler.profile_data.numbers import Operator, SessionNumbers, step_labels
from mindspeed_mm_train_profiler.profile_data.report_page import PARTS

MAX_STEPS = 32
MAX_OPERATORS = 10
NAME_CHARS = 44


def available() -> bool:
    """Whether matplotlib is installed; it is imported only when a picture is drawn."""
    from importlib.util import find_spec

    return find_spec("matplotlib") is not None


def draw(numbers: Sequence[SessionNumbers], title: str) -> bytes | None:
    """The PNG; None where there is nothing to draw. Labels are English: fonts for others may not be installed."""
    steps = [(label, row) for label, _, row in step_labels(numbers)[:MAX_STEPS]]
    operators = sorted((row for item in numbers for row in item.operators), key=lambda row: -row.total_us)
    seen: dict[tuple[str, str | None], Operator] = {}
    for row in operators:  # of several ranks the one that takes longest
        seen.setdefault((row.name, row.core), row)
    operators = list(seen.values())[:MAX_OPERATORS]
    if not steps and not operators:
        return None
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 2.2 + 0.22 * (len(steps) + len(operators))), layout="constrained")
    figure.suptitle(title, parse_math=False)
    upper, lower = figure.subplots(2, 1, height_ratios=[max(len(steps), 2), max(len(operators), 2)])
    labels = [label for label, _ in steps]
    begun = [0.0] * len(steps)
    for name, colour in PARTS:
        values = [(row.values.get(name) or 0.0) / 1000 for _, row in steps]
        upper.barh(
            range(len(steps)), values, left=begun, color=colour, label=name.removesuffix("_us").replace("_", " ")
        )
        begun = [before + value for before, value in zip(begun, values, strict=True)]
    upper.set_yticks(range(len(steps)), labels, fontsize=8)
    upper.invert_yaxis()
    upper.set_xlabel("ms")
    figure.legend(*upper.get_legend_handles_labels(), fontsize=8, ncols=3, loc="outside lower center")
    lower.barh(range(len(operators)), [row.total_us / 1000 for row in operators], color=PARTS[0][1])
    names = [f"{_plain(row.name)} ({_plain(row.core or '?')})" for row in operators]
    lower.set_yticks(range(len(operators)), names, fontsize=8, parse_math=False)
    lower.invert_yaxis()
    lower.set_xlabel("ms, one rank")
    out = io.BytesIO()
    FigureCanvasAgg(figure).print_png(out)  # type: ignore[no-untyped-call]
    return out.getvalue()


def _plain(name: str) -> str:
    """A label of printable ASCII, its end kept where it is long: names of kernels differ there."""
    text = "".join(char if " " <= char <= "~" else "?" for char in name)
    return text if len(text) <= NAME_CHARS else "..." + text[-(NAME_CHARS - 3) :]
