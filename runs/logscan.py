"""Reading a training log as it grows: iterations, profiler messages, error lines. Each byte is read once.

Iteration lines (both engines, and the variants of torchrun's prefixes, ModelLink, Bridge, MindSpeed-RL):
``iteration       12/     100 | ... elapsed time per iteration (ms): 934.4 | ...``, the number counted from 1.
"""

import os
import re
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.runs import signatures

ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[@-Z\\-_]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x08")
ITERATION = re.compile(r"\biteration:?\s+(\d{1,9})\s*/\s*(\d{1,9})\b")
ELAPSED = re.compile(r"elapsed time per iteration(?: \((ms|s)\))?:\s*([0-9]+(?:\.[0-9]+)?)")
"""Milliseconds where no unit is told; the autoencoder's trainer tells seconds."""
BEHIND = 2
"""Ranks that print into one log may be that much apart. A number further back is a training that began again."""
PARSE_START = re.compile(r"Start parsing profiling data")
PARSE_END = re.compile(r"All profiling data parsed in a total time of|profiling data parse(?:d)? finished")
CHUNK = 1024 * 1024
MAX_LINE = 8192
MAX_SHOWN = 2048
"""Of a line that is told. Secrets are hidden in it before it is cut to what a result has room for."""
MAX_FINDINGS = 40


def clean(line: str) -> str:
    """A line as a person reads it: no ANSI codes, and of a line overwritten by carriage returns the last state."""
    line = ANSI.sub("", line)
    if "\r" in line:
        parts = [part for part in line.split("\r") if part.strip()]
        line = parts[-1] if parts else ""
    return "".join(char for char in line if char == "\t" or char >= " ")


@dataclass(slots=True)
class Scan:
    """What was read so far. Iterations count from 1; ``ms``: recent milliseconds an iteration."""

    offsets: dict[str, int] = field(default_factory=dict)
    files: dict[str, int] = field(default_factory=dict)
    """Inode of each file: one that was rotated away is another file, whatever its size."""
    iteration: int | None = None
    first_iteration: int | None = None
    train_iters: int | None = None
    ms: deque[float] = field(default_factory=lambda: deque(maxlen=20))
    parsing: int = 0
    parsed: int = 0
    findings: list[dict[str, Any]] = field(default_factory=list)
    lines: int = 0
    skipped: int = 0
    rest: dict[str, bytes] = field(default_factory=dict)

    def line(self, text: str, number: int | None = None) -> None:
        """Take one cleaned line, the log's ``number``-th; None: the one after the last."""
        number = self.lines + 1 if number is None else number
        self.lines = number
        counted = [(int(a), int(b)) for a, b in ITERATION.findall(text) if int(a) <= int(b)]
        for done, total in counted:  # ranks that print at once put two into a line
            if self.iteration is None or done < self.iteration - BEHIND:
                self.iteration = self.first_iteration = done
            self.iteration = max(self.iteration, done)
            self.train_iters = total
        if counted:
            self.ms.extend(float(value) * (1000 if unit == "s" else 1) for unit, value in ELAPSED.findall(text))
        # no return here: another rank's error may stand in the same line
        if PARSE_START.search(text):
            self.parsing += 1
        elif PARSE_END.search(text):
            self.parsed += 1
        if len(self.findings) < MAX_FINDINGS:
            for signature in signatures.match(text):
                if all(item["code"] != signature.code for item in self.findings):
                    self.findings.append(
                        {
                            "code": signature.code,
                            "evidence": text[:MAX_SHOWN],
                            "line": self.lines,
                            "rank": signatures.rank(text),
                        }
                    )

    def feed(self, name: str, data: bytes) -> None:
        """Take bytes that follow those taken before."""
        parts = (self.rest.pop(name, b"") + data).split(b"\n")
        rest = parts.pop()
        for part in parts:
            self._states(part, self.lines + 1)
        self.rest[name] = rest[-MAX_LINE:]

    def _states(self, part: bytes, number: int) -> None:
        """A line and, where progress bars overwrote it by carriage returns, every state that it had."""
        self.lines = number
        for state in part.split(b"\r"):
            if text := clean(state[:MAX_LINE].decode("utf-8", "replace")):
                self.line(text, number)

    def flush(self) -> bool:
        """Take what stands at the end without a line end: a killed process leaves its last word so."""
        left = [part for part in self.rest.values() if part]
        self.rest.clear()
        for part in left:
            self._states(part, self.lines + 1)
        return bool(left)

    def read(self, path: Path, *, most: int | None = None) -> bool:
        """Read what is new in a file; ``most`` bytes at the end where there is more. True where something was read.

        A file that became shorter, or another one, was rotated or truncated: it is read from its beginning.
        """
        name = str(path)
        try:
            with path.open("rb") as file:
                size = file.seek(0, 2)
                offset = self.offsets.get(name, 0)
                inode = os.fstat(file.fileno()).st_ino
                if size < offset or self.files.setdefault(name, inode) != inode:
                    self.files[name] = inode
                    offset = 0
                    self.rest.pop(name, None)
                if most is not None and size - offset > most:
                    self.skipped += size - offset - most
                    offset = size - most
                    self.rest.pop(name, None)
                file.seek(offset)
                start = offset
                while data := file.read(CHUNK):
                    self.feed(name, data)
                    offset += len(data)
                self.offsets[name] = offset
                return offset > start
        except OSError:
            return False

    def milliseconds(self) -> float | None:
        """Median of recent iterations; the first one (compiling) and profiled ones do not carry it."""
        values = sorted(self.ms)
        return values[len(values) // 2] if values else None

    def as_dict(self) -> dict[str, Any]:
        return {
            "iteration": self.iteration,
            "first_iteration": self.first_iteration,
            "train_iters": self.train_iters,
            "ms_per_iteration": self.milliseconds(),
            "parsing": self.parsing,
            "parsed": self.parsed,
            "findings": self.findings,
            "lines": self.lines,
            "skipped_bytes": self.skipped,
        }


def merged(own: Scan, other: Scan) -> dict[str, Any]:
    """What two logs of one run say together; lines that both have (`tee`) count once."""
    first, second = own.as_dict(), other.as_dict()
    ahead = second if (second["iteration"] or 0) > (first["iteration"] or 0) else first
    codes = {item["code"] for item in first["findings"]}
    return {
        **ahead,
        "parsing": max(first["parsing"], second["parsing"]),
        "parsed": max(first["parsed"], second["parsed"]),
        "findings": first["findings"] + [item for item in second["findings"] if item["code"] not in codes],
        "lines": max(first["lines"], second["lines"]),
    }


def tail(path: Path, cursor: int | None, most_lines: int, most_bytes: int = 64 * 1024) -> tuple[list[str], int, int]:
    """(lines, new cursor, bytes left out): complete lines after ``cursor`` (None: the end of the file).

    Reads at most ``most_bytes`` from the end, whatever the file's size.
    """
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            start = 0 if cursor is None or cursor > size else cursor
            begin = max(start, size - most_bytes)
            file.seek(begin)
            data = file.read(size - begin)
    except OSError:
        return [], cursor or 0, 0
    end = data.rfind(b"\n") + 1
    if end == 0:
        return [], begin if cursor is not None else 0, begin - start
    lines = data[:end].split(b"\n")[:-1]
    if begin > start and lines:
        lines = lines[1:]  # cut in the middle
    shown = [clean(line[:MAX_LINE].decode("utf-8", "replace"))[:MAX_SHOWN] for line in lines[-most_lines:]]
    dropped = len(lines) - len(shown)
    return shown, begin + end, begin - start + (sum(len(line) + 1 for line in lines[:dropped]) if dropped > 0 else 0)
