"""Whether a result file can be loaded: header, closed JSON, a database that answers. Cheap unless asked to go deep."""

import csv
import io
import json
import os
import re
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TextIO
from urllib.parse import quote

LONGEST = 2**24
# with record_shapes the shapes of one foreach kernel over thousands of tensors pass the csv module's 128 KiB
csv.field_size_limit(LONGEST)
EDGE = 4096
PIECE = 4 * 2**20
TEXT = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
MAX_DEPTH = 10_000
HEADER = 65536
DEEP_JSON_LIMIT = 64 * 2**20
"""Above it a JSON file is checked for strings and brackets that close, in pieces: loading takes ten times its size."""
WHOLE = 4 * 2**20
"""A text up to this size is looked through for zeros; of a larger one its holes are asked for, and this many bytes."""
EMPTY_LIST = re.compile(rb"^\s*[\[{]\s*[\]}]\s*$")


def defect(path: Path, header: Sequence[str] = (), *, deep: bool = False) -> str | None:
    """What is wrong with the file, in a few plain words with numbers; None where nothing was seen."""
    if not path.is_file():
        return "not a regular file"
    try:
        if path.suffix == ".csv":
            return _csv_defect(path, header, deep=deep)
        if path.suffix == ".json":
            return _json_defect(path, deep=deep)
        if path.suffix == ".db":
            return _db_defect(path, deep=deep)
    except OSError as error:
        return error.strerror or type(error).__name__
    return None


def _zeros(path: Path) -> str | None:
    """Bytes of zero inside a text: what a full disk or a lost host leaves of pages that were never written."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        try:
            hole = os.lseek(file.fileno(), 0, os.SEEK_HOLE)
        except (OSError, AttributeError):  # not told here
            hole = size
        if hole < size:
            return f"zeros from byte {hole}"
        pieces = 1 if size <= WHOLE else WHOLE // EDGE
        for piece in range(pieces):
            place = piece * (size // pieces)
            file.seek(place)
            at = file.read(WHOLE if pieces == 1 else EDGE).find(b"\0")
            if at >= 0:
                return f"zeros from byte {place + at}"
    return None


def csv_rows(file: TextIO) -> Iterator[list[str]]:
    """The rows of an opened table. Raises csv.Error, also for a line of gigabytes, as a full disk leaves it."""
    return csv.reader(bounded_lines(file))


def bounded_lines(file: TextIO) -> Iterator[str]:
    """Lines of a table. Raises csv.Error for one without an end."""
    for line in iter(partial(file.readline, LONGEST), ""):
        if len(line) == LONGEST and line[-1] != "\n":
            raise csv.Error(f"a line of more than {LONGEST} characters")
        yield line


def csv_header(path: Path) -> list[str]:
    """Columns of the first line; empty where there is none. Raises OSError."""
    with path.open("rb") as file:
        first = file.readline(HEADER).decode("utf-8-sig", "replace")
    try:
        return [cell.strip() for cell in next(csv.reader(io.StringIO(first)), [])]
    except csv.Error:
        return []


def _csv_defect(path: Path, header: Sequence[str], *, deep: bool) -> str | None:
    columns = csv_header(path)
    if missing := [name for name in header if name not in columns]:
        return f"columns missing: {', '.join(missing)}"
    size = path.stat().st_size
    with path.open("rb") as file:
        second = file.readline(HEADER) and file.read(EDGE)
        if not second.strip():
            return "no rows"
        file.seek(max(0, size - 1))
        if file.read(1) not in (b"\n", b"\r"):
            return "last line is cut"
    if zeros := _zeros(path):
        return zeros
    if deep:
        try:
            with path.open(encoding="utf-8-sig", errors="strict", newline="") as text:
                for number, row in enumerate(csv_rows(text), 1):
                    if row and len(row) != len(columns):
                        return f"row {number} has {len(row)} of {len(columns)} cells"
        except (csv.Error, UnicodeDecodeError) as error:
            return str(error)
    return None


def _json_defect(path: Path, *, deep: bool) -> str | None:
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(EDGE).lstrip()
        file.seek(max(0, size - EDGE))
        tail = file.read(EDGE).rstrip()
    closing_of = {b"[": b"]", b"{": b"}"}.get(head[:1])
    if closing_of is None:
        return "does not begin with [ or {"
    if not tail.endswith(closing_of) or len(head) < 2:
        return f"not closed: ends with {tail[-20:].decode('utf-8', 'replace')!r}"
    if size < EDGE and EMPTY_LIST.match(head):
        return "nothing in it"
    if zeros := _zeros(path):
        return zeros
    if deep and size > DEEP_JSON_LIMIT:
        return _unbalanced(path)
    if deep:
        try:
            with path.open("rb") as file:
                json.load(file)
        except (ValueError, RecursionError) as error:
            return str(error)[:200]
    return None


def _unbalanced(path: Path) -> str | None:
    """What does not close in a JSON file of any size."""
    pairs = {ord("]"): ord("["), ord("}"): ord("{")}
    others = bytes(set(range(256)) - set(b"[]{}"))
    stack: list[int] = []
    rest = b""
    place = 0
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            place += len(piece)
            text = TEXT.sub(b"", rest + piece)
            cut = text.find(b'"')  # a string that goes on in the next piece
            rest, text = (b"", text) if cut < 0 else (text[cut:], text[:cut])
            if len(rest) > LONGEST + PIECE:
                return f"a string of more than {LONGEST} bytes before byte {place}"
            marks, before = text.translate(None, others), -1
            while len(marks) != before:  # what closes at once needs no stack
                before = len(marks)
                marks = marks.replace(b"{}", b"").replace(b"[]", b"")
            for mark in marks:
                if mark not in pairs:
                    stack.append(mark)
                elif not stack or stack.pop() != pairs[mark]:
                    return f"{chr(mark)} closes nothing, before byte {place}"
            if len(stack) > MAX_DEPTH:
                return "nested too deeply"
    return f"not closed: {len(stack)} levels" if stack or rest else None


def open_db(path: Path, *, seconds: float = 60) -> sqlite3.Connection:
    """Read-only, leaving no -wal, -shm or journal beside the file; no query runs longer. Raises sqlite3.Error."""
    db = sqlite3.connect(f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True, timeout=1)
    end = time.monotonic() + seconds
    # a table's name may stand for a view that never ends
    db.set_progress_handler(lambda: time.monotonic() > end, 1_000_000)
    return db


def _db_defect(path: Path, *, deep: bool) -> str | None:
    with path.open("rb") as file:
        head = file.read(100)
    if head[:16] != b"SQLite format 3\0":
        return "not a SQLite database"
    page = int.from_bytes(head[16:18], "big") or 0
    page = 65536 if page == 1 else page
    told = int.from_bytes(head[28:32], "big") * page
    size = path.stat().st_size
    if told and size < told:
        return f"{size} of {told} bytes"
    try:
        with closing(open_db(path)) as db:
            if not db.execute("select count(*) from sqlite_master where type='table'").fetchone()[0]:
                return "no tables"
            if deep and (answer := db.execute("pragma quick_check(1)").fetchone()[0]) != "ok":
                return str(answer)[:200]
    except (sqlite3.Error, UnicodeError) as error:  # a damaged schema is quoted in sqlite's own message
        return str(error)[:200]
    return None
