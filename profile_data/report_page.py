"""One self-contained page about a profile: no script, no network, every text of the profile escaped."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape

from mindspeed_mm_train_profiler.profile_data.numbers import SessionNumbers, step_labels
from mindspeed_mm_train_profiler.profile_data.spread import slow_rank, spreads

Say = Callable[..., str]
"""Text of a key in the page's language."""
PARTS = (("compute_us", "#2f6f9f"), ("communication_not_overlapped_us", "#c8553d"), ("free_us", "#b9b9b9"))
MEASURES = ("compute_us", "communication_us", "communication_not_overlapped_us", "free_us", "bubble_us")
MAX_BARS = 64
MAX_ROWS = 200
SHORT = 18
"""Characters that stay on one line."""
STYLE = """
body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em;color:#1d1d1f;background:#fff}
table{border-collapse:collapse;margin:.6em 0;width:100%}th,td{border:1px solid #ddd;padding:.3em .6em;text-align:left;
vertical-align:top;overflow-wrap:anywhere}th{background:#f4f4f5;overflow-wrap:normal}
td.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}td.s{white-space:nowrap}
.word{font-weight:600}.note{background:#fff7e0;border-left:4px solid #e0a800;padding:.5em .8em}
figure{margin:1em 0}svg{max-width:100%;height:auto}
.key span{display:inline-block;width:.9em;height:.9em;margin:0 .3em 0 1em}
@media (prefers-color-scheme:dark){body{background:#16181d;color:#e6e6e6}th{background:#22252c}
th,td{border-color:#3a3d45}
.note{background:#3a3210}svg text{fill:#e6e6e6}}
"""


@dataclass(slots=True)
class Page:
    """What a page shows. ``ranks``: (rank, state, steps, problems); ``settings``: (name, value); ``files``: paths."""

    place: str
    verdict: str
    ranks: Sequence[tuple[str, str, str, Sequence[str]]]
    numbers: Sequence[SessionNumbers]
    settings: Sequence[tuple[str, str]] = ()
    files: Sequence[str] = ()
    remarks: Sequence[str] = ()
    hand_over: Sequence[tuple[str, str]] = field(default_factory=tuple)


def render(page: Page, say: Say, language: str) -> str:
    """The page as HTML."""
    parts = [
        f'<!doctype html><html lang="{escape(language)}"><head><meta charset="utf-8">',
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        f"<title>{escape(say('title'))}</title><style>{STYLE}</style></head><body>",
        f"<h1>{escape(say('title'))}</h1><p>{escape(page.place)}</p>",
        *(f'<p class="note">{escape(text)}</p>' for text in page.remarks),
        f'<h2>{escape(say("verdict"))}</h2><p class="word">{escape(page.verdict)}</p>',
        table(
            [say("rank"), say("state"), say("steps"), say("problems")],
            [(a, b, c, "; ".join(d)) for a, b, c, d in page.ranks],
        ),
        f"<h2>{escape(say('breakdown'))}</h2>",
        _bars(page.numbers, say),
        _spread(page.numbers, say),
        f"<h2>{escape(say('operators'))}</h2>",
        _operators(page.numbers, say),
        f"<h2>{escape(say('communication'))}</h2>",
        _communication(page.numbers, say),
        f"<h2>{escape(say('settings'))}</h2>",
        table([say("name"), say("value")], page.settings),
        f"<h2>{escape(say('hand_over'))}</h2>",
        table([say("name"), say("value")], page.hand_over),
        f"<h2>{escape(say('files'))}</h2>",
        table([say("files")], [(name,) for name in page.files]),
        "</body></html>",
    ]
    return "\n".join(part for part in parts if part)


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table, numbers to the right; at most ``MAX_ROWS`` rows, the rest told."""
    if not rows:
        return "<p>-</p>"
    lines = ["<table><tr>" + "".join(f"<th>{escape(str(cell))}</th>" for cell in head) + "</tr>"]
    for row in rows[:MAX_ROWS]:
        cells = (_cell(cell) for cell in row)
        lines.append("<tr>" + "".join(cells) + "</tr>")
    if len(rows) > MAX_ROWS:
        lines.append(f'<tr><td colspan="{len(head)}">... +{len(rows) - MAX_ROWS}</td></tr>')
    return "\n".join(lines) + "</table>"


def _cell(cell: object) -> str:
    if isinstance(cell, float):
        return f'<td class="n">{cell:,.1f}</td>'
    text = _shown(cell)
    return f'<td class="s">{escape(text)}</td>' if len(text) <= SHORT else f"<td>{escape(text)}</td>"


def _shown(cell: object) -> str:
    return "-" if cell is None else str(cell)


def _bars(numbers: Sequence[SessionNumbers], say: Say) -> str:
    """Stacked bars, one for each rank and step, over a table of the same numbers."""
    rows = step_labels(numbers)
    told = [(label, [row.values.get(name) or 0.0 for name, _ in PARTS]) for label, _, row in rows[:MAX_BARS]]
    longest = max((sum(values) for _, values in told), default=0.0)
    if not longest:
        return f"<p>{escape(say('not_measured'))}</p>"
    height, left, width = 18, 150, 760
    svg = [f'<svg role="img" viewBox="0 0 {left + width + 10} {height * len(told) + 6}" width="{left + width + 10}">']
    for line, (label, values) in enumerate(told):
        y, x = line * height + 2, float(left)
        svg.append(f'<text x="0" y="{y + 12}" font-size="12">{escape(label)}</text>')
        for value, (name, colour) in zip(values, PARTS, strict=True):
            length = value / longest * width
            title = escape(f"{say(name)}: {value:,.1f} us")
            svg.append(
                f'<rect x="{x:.1f}" y="{y}" width="{length:.1f}" height="{height - 4}" fill="{colour}">'
                f"<title>{title}</title></rect>"
            )
            x += length
    key = "".join(f'<span style="background:{colour}"></span>{escape(say(name))}' for name, colour in PARTS)
    head = [
        say("rank"),
        say("device"),
        say("step"),
        *map(say, MEASURES),
    ]
    body = [(rank, row.device, row.step, *(row.values.get(name) for name in MEASURES)) for _, rank, row in rows]
    return f'<figure>{"".join(svg)}</svg><figcaption class="key">{key}</figcaption></figure>' + table(head, body)


def _spread(numbers: Sequence[SessionNumbers], say: Say) -> str:
    rows = [
        (say(item.measure), item.least_us, item.least_rank, item.most_us, item.most_rank, item.mean_us)
        for item in spreads(numbers)
    ]
    if not rows:
        return ""
    slow = slow_rank(numbers)
    told = f'<p class="note">{escape(say("slow_rank", rank=slow[0], times=f"{slow[1]:.2f}"))}</p>' if slow else ""
    head = [say("name"), say("least"), say("rank"), say("most"), say("rank"), say("mean")]
    return f"<h3>{escape(say('spread'))}</h3>" + told + table(head, rows)


def _operators(numbers: Sequence[SessionNumbers], say: Say) -> str:
    head = [say("rank"), say("name"), say("type"), say("core"), say("count"), say("total_us"), "%"]
    rows = [
        (
            item.rank,
            row.name,
            row.type,
            row.core,
            row.count,
            row.total_us,
            row.share * 100 if row.share is not None else None,
        )
        for item in numbers
        for row in item.operators
    ]
    cores = [
        (item.rank, ", ".join(f"{core} {share:.1%}" for core, share in item.core_shares.items()), item.memory_peak_mb)
        for item in numbers
        if item.core_shares or item.memory_peak_mb is not None
    ]
    return table(head, rows) + table([say("rank"), say("core"), say("memory_peak_mb")], cores)


def _communication(numbers: Sequence[SessionNumbers], say: Say) -> str:
    kinds, links = [], []
    for item in numbers:
        if item.communication is not None:
            kinds += [
                (item.rank, c.name, c.count, c.elapsed_us, c.transit_us, c.wait_us)
                for c in item.communication.collectives
            ]
            links += [
                (item.rank, link.name, link.size_mb, link.transit_us, link.bandwidth_gb_s)
                for link in item.communication.links
            ]
    first = table([say("rank"), say("name"), say("count"), say("elapsed_us"), say("transit_us"), say("wait_us")], kinds)
    return first + table([say("rank"), say("link"), "MB", say("transit_us"), "GB/s"], links)
