"""The confirmation table: one row an item, in the skill's order. Labels and words come from the catalogues."""

from collections.abc import Sequence

from mindspeed_mm_train_profiler.options import ProfileOptions
from mindspeed_mm_train_profiler.skill import wording

Row = tuple[str, str]

CONTENTS = ("with_cpu", "with_memory", "with_stack", "record_shapes", "data_simplification")
"""The contents question's answers, in its order."""


def rows(
    language: wording.Language,
    options: ProfileOptions,
    *,
    script: str,
    engine: str,
    config_path: str,
    save_path: str | None = None,
    dynamic_path: str | None = None,
    captured: Sequence[int] = (),
) -> list[Row]:
    """(item, value) rows. ``captured``: the iterations as the training log will count them."""

    def text(key: str, **params: object) -> str:
        return wording.text(language, f"confirmation.{key}", **params)

    separator = text("separator")
    contents = [text(name) for name in CONTENTS if getattr(options, name)]
    ranks = text("all") if options.ranks == "all" else ", ".join(str(rank) for rank in options.ranks)
    found: list[Row] = [
        (text("script"), script),
        (text("engine"), text(f"engine.{engine}")),
        (text("config"), config_path),
        (text("type"), options.profile_type),
        (text("level"), options.level),
    ]
    if options.profile_type == "static":
        steps = text("steps.value", start=options.start_step, end=options.end_step)
        if captured:
            steps += text("steps.iterations", first=captured[0], last=captured[-1])
        found.append((text("steps"), steps))
    found += [
        (text("ranks"), text("ranks.value", ranks=ranks)),
        (text("contents"), separator.join(contents) or text("none")),
        (text("aic"), options.aic_metrics_type),
        (text("analyse"), text("on") if options.analyse_flag else text("off")),
        (text("iters"), str(options.train_iters)),
    ]
    if save_path is not None and options.profile_type == "static":
        found.append((text("save"), save_path))
    if dynamic_path is not None:
        found.append((text("dynamic"), dynamic_path))
    return found


def table(language: wording.Language, found: Sequence[Row]) -> str:
    """The rows as a Markdown table."""

    def cell(value: str) -> str:
        return value.replace("|", "\\|").replace("\n", " ")

    head = (wording.text(language, "confirmation.item"), wording.text(language, "confirmation.value"))
    lines = [f"| {head[0]} | {head[1]} |", "| --- | --- |"]
    lines += [f"| {cell(item)} | {cell(value)} |" for item, value in found]
    return "\n".join(lines)
