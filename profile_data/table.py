"""Wanted columns of a table that may be huge: one row at a time, without dictionaries.

Most rows are taken apart by their commas alone, which costs a quarter of what the csv module does; a row that quotes
something among the wanted columns goes through the csv module, and all of a table from a row on whose quotes do not
close in its line.
"""

import csv
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from operator import itemgetter
from pathlib import Path

from mindspeed_mm_train_profiler.profile_data.loadable import bounded_lines

Cells = tuple[str, ...]


def rows(path: Path, *wanted: str) -> Iterator[Cells]:
    """The wanted cells of each row; "" where a row or the table lacks one. Raises OSError, csv.Error."""
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        lines = bounded_lines(file)
        header = [cell.strip() for cell in next(csv.reader(lines), [])]
        places = [header.index(name) if name in header else None for name in wanted]
        width = max((place for place in places if place is not None), default=-1) + 1
        pick = _picker(places)
        for line in lines:
            quotes = line.count('"')
            if quotes % 2:
                yield from (pick(_padded(row, width)) for row in csv.reader(chain([line], lines)) if row)
                return
            parts = line.rstrip("\r\n").split(",", width)
            rest = parts[width] if len(parts) > width else ""
            if quotes and line.find('"') < len(line.rstrip("\r\n")) - len(rest):
                parts = next(csv.reader([line]))
            elif parts == [""]:  # a blank line is no row
                continue
            yield pick(parts if len(parts) >= width else _padded(parts, width))


def _picker(places: Sequence[int | None]) -> Callable[[list[str]], Cells]:
    told = [place for place in places if place is not None]
    if len(told) == len(places) > 1:
        return itemgetter(*told)
    return lambda row: tuple("" if place is None else row[place] for place in places)


def _padded(row: list[str], width: int) -> list[str]:
    return row + [""] * (width - len(row))
