"""Wanted columns of a table are those that the csv module reads, whatever the shorter way."""

import csv
import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mindspeed_mm_train_profiler.profile_data import loadable, table

HEADER = ["Step Id", "Name", "Type", "Duration(us)", "Shapes"]
CELL = st.one_of(
    st.sampled_from(["", "N/A", "12.5", "7\t", "aclnnMatMul", 'say "x"', '"4096,1;2"', "a,b", "two\nlines", "汉"]),
    st.text(alphabet="ab1.,;\"' \n", max_size=6),
)


def by_csv(text: str, wanted: tuple[str, ...]) -> list[tuple[str, ...]]:
    given = csv.reader(io.StringIO(text, newline=""))
    header = [cell.strip() for cell in next(given, [])]
    return [
        tuple(row[header.index(name)] if name in header and header.index(name) < len(row) else "" for name in wanted)
        for row in given
        if row
    ]


def by_table(text: str, wanted: tuple[str, ...]) -> list[tuple[str, ...]]:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "t.csv"
        path.write_text(text, encoding="utf-8", newline="")
        return list(table.rows(path, *wanted))


def written(rows: list[list[str]], **how: object) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, **how).writerows([HEADER, *rows])  # type: ignore[arg-type]
    return out.getvalue()


@settings(deadline=None)
@given(
    st.lists(st.lists(CELL, max_size=7), max_size=12),
    st.lists(st.sampled_from([*HEADER, "Absent"]), min_size=1, max_size=5, unique=True),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
)
@example([["1", "a", "b", "2", '"x"']], ["Duration(us)", "Name"], "\n", csv.QUOTE_MINIMAL)
def test_as_the_csv_module(rows: list[list[str]], wanted: list[str], end: str, quoting: int) -> None:
    text = written(rows, lineterminator=end, quoting=quoting)
    assert by_table(text, tuple(wanted)) == by_csv(text, tuple(wanted))


@settings(deadline=None)
@given(st.lists(st.text(alphabet='a1,"\t .', max_size=12).filter(lambda line: line.count('"') < 2), max_size=8))
def test_lines_that_no_writer_wrote(lines: list[str]) -> None:
    """A single quote among them opens nothing or all the rest, as the csv module has it."""
    text = "\n".join([",".join(HEADER), *lines]) + "\n"
    assert by_table(text, ("Name", "Duration(us)")) == by_csv(text, ("Name", "Duration(us)"))


def test_one_column_and_no_rows() -> None:
    assert by_table("Name\nx\n\ny\n", ("Name",)) == [("x",), ("y",)]
    assert by_table("Name\n", ("Name",)) == [] == by_table("", ("Name", "Type"))


def test_a_line_without_an_end_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loadable, "LONGEST", 100)
    path = tmp_path / "t.csv"
    path.write_text("Name,Type\n" + "x" * 500, encoding="utf-8")
    with pytest.raises(csv.Error, match="more than 100"):
        list(table.rows(path, "Name", "Type"))
