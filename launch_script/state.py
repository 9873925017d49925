"""What the evaluator carries: one shell's variables and place, and the record that all shells of a script share."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.errors import Note
from mindspeed_mm_train_profiler.launch_script.plan import (
    Binding,
    LauncherCall,
    SourceFile,
    Span,
    Unresolved,
    Word,
    WorldChange,
)
from mindspeed_mm_train_profiler.launch_script.syntax import Source
from mindspeed_mm_train_profiler.launch_script.values import Value, known, plain, text_of

MAX_STEPS = 100_000
"""Tree nodes evaluated for one script; real ones need a few thousand."""
MAX_DEPTH = 24
"""Nesting of functions, sourced files, followed scripts and quoted programs."""
MAX_CALLS = 64


Status = bool | None
"""What a condition would see of a statement; None: not known."""


class OutOfBudget(Exception):
    """The script asks for more evaluation than any real one; what was read so far stands."""


Items = tuple[Value | None, ...]
"""The elements of an array; None: not set."""


@dataclass(frozen=True, slots=True)
class Var:
    """A variable. ``array`` is None for a plain one; ``value`` is then its first element. ``keyed``: ``declare -A``, of
    which nothing is followed."""

    value: Value
    array: Items | None = None
    exported: bool = False
    assignment: Span | None = None
    right_side: Span | None = None
    keyed: bool = False

    def binding(self, name: str) -> Binding:
        return Binding(name, text_of(self.value), self.right_side, self.assignment)


@dataclass(slots=True)
class Record:
    """Shared by all shells of one reading."""

    calls: list[LauncherCall] = field(default_factory=list)
    world: list[WorldChange] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    files: dict[Path, SourceFile] = field(default_factory=dict)
    sources: dict[Path, Source] = field(default_factory=dict)
    reasons: dict[str, Unresolved] = field(default_factory=dict)
    generated: dict[Path, int] = field(default_factory=dict)
    missing_sources: list[tuple[Path, int]] = field(default_factory=list)
    set_env: list[Path] = field(default_factory=list)
    commands: list[tuple[str, ...]] = field(default_factory=list)
    """Words of the commands met, for telling what a script without a launcher does; bounded."""
    python: str | None = None
    steps: int = 0
    launched: bool = False
    any_set: bool = False
    """Something was met that may set any variable (``export $(cat .env)``): nothing is known of one that is not set."""

    def step(self) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise OutOfBudget

    def unknown(self, raw: str, source: Source, node: Any, note: Note) -> Value:
        """A value that reading cannot know: its own source text, marked, with the reason kept."""
        shown = raw if len(raw) <= 200 else raw[:197] + "..."
        self.reasons.setdefault(shown, Unresolved(shown, source.path, node.start_point[0] + 1, note))
        return plain(shown, known=False)


@dataclass(slots=True)
class Loop:
    """A loop that is being followed. ``choices``: of the shell when it began."""

    choices: int
    outer: "Loop | None"
    before: dict[str, Var]
    left_perhaps: bool = False


@dataclass(slots=True)
class Shell:
    """One shell: the script's own, a subshell, a branch that may or may not be taken."""

    record: Record
    source: Source
    cwd: Path | None
    variables: dict[str, Var] = field(default_factory=dict)
    functions: dict[str, tuple[Source, Any]] = field(default_factory=dict)
    arguments: tuple[Value, ...] = ()
    zero: str = "bash"
    certain: bool = True
    exited: bool = False
    returned: bool = False
    depth: int = 0
    output: list[Value] | None = None
    """Where ``echo`` goes while a command substitution is evaluated; None: nobody listens."""
    background: bool = False
    in_pipe: bool = False
    log: Word | None = None
    quoted_at: Span | None = None
    locals: list[dict[str, Var | None]] = field(default_factory=list)
    loop: Loop | None = None
    leaving: str = ""
    """"break" or "continue", until the loop has seen it."""
    choices: int = 0
    """Conditions that are not known around this place."""

    def fork(self, **changes: Any) -> "Shell":
        """A copy whose variables change apart from this one's."""
        copy = Shell(
            self.record,
            self.source,
            self.cwd,
            dict(self.variables),
            dict(self.functions),
            self.arguments,
            self.zero,
            self.certain,
            self.exited,
            self.returned,
            self.depth,
            self.output,
            self.background,
            self.in_pipe,
            self.log,
            self.quoted_at,
            [],
            self.loop,
            self.leaving,
            self.choices,
        )
        for name, value in changes.items():
            setattr(copy, name, value)
        return copy

    def stopped(self) -> bool:
        return self.exited or self.returned or bool(self.leaving)

    def text(self, name: str) -> str | None:
        """A variable's text, "" where unset, None where it is not known."""
        var = self.variables.get(name)
        if var is None:
            return ""
        return text_of(var.value) if known(var.value) else None

    def assign(self, name: str, var: Var) -> None:
        self.variables[name] = var

    def exported(self) -> dict[str, str]:
        """Exported variables whose value is known."""
        return {n: text_of(v.value) for n, v in self.variables.items() if v.exported and known(v.value)}


def enter_loop(shell: Shell) -> Loop:
    shell.loop = Loop(shell.choices, shell.loop, dict(shell.variables))
    return shell.loop


def next_round(shell: Shell) -> bool:
    """Whether the loop goes on after its body ran."""
    left, shell.leaving = shell.leaving, ""
    return left != "break" and not shell.stopped()


def leave_loop(shell: Shell, loop: Loop) -> None:
    """Back to the loop around it; where it may have been left earlier, what it changed is not known."""
    shell.loop, shell.leaving = loop.outer, ""
    if loop.left_perhaps:
        for name, var in list(shell.variables.items()):
            if var is not loop.before.get(name):
                differs(shell, name, var)


def differs(shell: Shell, name: str, var: Var) -> None:
    """A variable whose value depends on what is not known."""
    shown = f"${{{name}}}"
    line = var.assignment.line if var.assignment else 0
    why = Note("differs_by_branch", {"name": name})
    shell.record.reasons.setdefault(shown, Unresolved(shown, shell.source.path, line, why))
    shell.variables[name] = Var(plain(shown, known=False), exported=var.exported)


def merge(into: Shell, branches: list[Shell]) -> None:
    """After a condition that is not known: what all surviving branches agree on stays, the rest is unknown."""
    alive = [branch for branch in branches if not branch.stopped()]
    if not alive:
        into.exited = all(branch.exited for branch in branches)
        into.returned = not into.exited
        return
    before = into.variables
    touched = {n for branch in alive for n, var in branch.variables.items() if var is not before.get(n)}
    touched |= {n for branch in alive for n in before.keys() - branch.variables.keys()}
    for name in sorted(touched):
        found = [branch.variables.get(name) for branch in alive]
        first = next((var for var in found if var is not None), None)
        if first is None:
            before.pop(name)
        elif all(
            var is not None and text_of(var.value) == text_of(first.value) and var.array == first.array for var in found
        ):
            before[name] = first
        else:
            differs(into, name, first)
    into.functions.update({name: body for branch in alive for name, body in branch.functions.items()})
    if any(branch.cwd != alive[0].cwd for branch in alive):
        into.cwd = None
    else:
        into.cwd = alive[0].cwd
