"""The rows of verify_output: what one says, and how many of them say it in full."""

from typing import Any, Literal

from pydantic import BaseModel, Field

MAX_TREE = 24
MAX_DETAIL = 48
MAX_ALIKE = 4
MAX_FULL = 8
"""Rows shown in full; beyond them a row goes without its files, and a problem met before without its words."""


class ProblemFound(BaseModel):
    code: str
    detail: str
    fix: str | None = None


class RankFound(BaseModel):
    """``device`` is the device index, not the rank."""

    rank: int | None
    device: int | None = None
    node: int | None = Field(None, description="of a run over many")
    session: str | None = None
    state: Literal["valid", "unparsed", "invalid", "missing"]
    steps: list[int] | None = None
    level: str | None = None
    activities: list[str] | None = None
    bytes: int | None = None
    files: list[str] | None = Field(None, description="null: not listed")
    problems: list[ProblemFound] = Field(default_factory=list)


class CheckFound(BaseModel):
    name: str
    ok: bool
    detail: str
    fix: str | None = None


def ranges(numbers: list[int | None]) -> str:
    """``0-7, 12, 3 x ?``: the last are sessions whose rank nothing tells."""
    known = sorted({number for number in numbers if number is not None})
    parts: list[list[int]] = []
    for number in known:
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    words = [str(first) if first == last else f"{first}-{last}" for first, last in parts]
    unknown = numbers.count(None)
    return ", ".join([*words, *([f"{unknown} x ?"] if unknown else [])])


def node_of(nproc: int | None, rank: int | None) -> int | None:
    return None if nproc is None or rank is None else rank // nproc


def grouped(problems: list[Any], shown: Any) -> list[CheckFound]:
    """Of each kind the first few, then how many more there are."""
    kinds: dict[str, list[Any]] = {}
    for problem in problems:
        kinds.setdefault(problem.code, []).append(problem)
    found = []
    for several in kinds.values():
        rows = [check(shown(problem), ok=problem.remark) for problem in several[:MAX_ALIKE]]
        if len(several) > MAX_ALIKE:
            rows[-1].detail += f" (+{len(several) - MAX_ALIKE})"
            rows[-1].ok = all(problem.remark for problem in several)
        found += rows
    return found


def check(found: ProblemFound, *, ok: bool) -> CheckFound:
    return CheckFound(name=found.code, ok=ok, detail=found.detail, fix=found.fix)


def shorten(ranks: list[RankFound], judged: list[Any]) -> int:
    """Take from the rows beyond ``MAX_FULL`` what others say already; the number of rows shortened."""
    told: set[str] = set()
    shortened = 0
    for place, (rank, source) in enumerate(zip(ranks, judged, strict=True)):
        cut = False
        for problem, met in zip(rank.problems, source.problems, strict=True):
            if problem.code in told:
                problem.fix = None
                if place >= MAX_FULL:
                    # the sentence stands above already; inside the session, its path says nothing new
                    problem.detail = str(met.looked).replace(f"{rank.session}/", "")[:MAX_DETAIL]
                    cut = True
            told.add(problem.code)
        if place >= MAX_FULL:
            cut = cut or bool(rank.files) or rank.activities is not None
            rank.files = rank.activities = rank.level = None
            rank.problems = rank.problems[:3]
        shortened += cut
    return shortened


def tree(ranks: list[RankFound]) -> str:
    lines: list[str] = []
    for rank in ranks:
        if rank.session:
            lines.append(rank.session)
            lines += [f"  ASCEND_PROFILER_OUTPUT/{name}" for name in rank.files or ()]
    cut = len(lines) - MAX_TREE
    return "\n".join(lines[:MAX_TREE] + ([f"... +{cut}"] if cut > 0 else []))
