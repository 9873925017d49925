"""What reading a launch script yields. Plain data: no file is touched from here, nothing is run.

Positions are byte offsets into the file as it lies on disk (``end`` exclusive), lines are 1-based. They are what makes
an edit of a copy exact: every argument of the launcher knows from which bytes of which file its text came.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from mindspeed_mm_train_profiler.errors import Note

Engine = Literal["megatron", "fsdp2", "unsupported"]
Framework = Literal["torch", "mindspore"]
Role = Literal["script", "yaml", "tools_json"]


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes ``start:end`` of ``path``."""

    path: Path
    start: int
    end: int
    line: int


@dataclass(frozen=True, slots=True)
class Binding:
    """A variable through which text reached a word: ``MM_TOOL="..."`` at ``assignment``, its right side at ``value``.

    ``text`` is the whole value; where it equals the whole argument, editing ``value`` edits the argument. ``value``
    covers the raw bytes with their quotes. None where the variable came from the environment or a positional argument.
    """

    name: str
    text: str
    value: Span | None
    assignment: Span | None


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of characters of an evaluated word.

    ``span``: the raw bytes that spell exactly this text (None where it was computed: arithmetic, ``$(...)``, a
    pattern). ``bindings``: the variables it passed through, innermost first. ``use``: the bytes of the expansion,
    written where the text entered the value of the outermost binding, or the command line (``$MM_TOOL`` inside
    ``MM_ARGS="..."``).
    """

    text: str
    span: Span | None = None
    bindings: tuple[Binding, ...] = ()
    use: Span | None = None


@dataclass(frozen=True, slots=True)
class Word:
    """One argument as the launcher receives it. ``known`` is False where a part could not be evaluated."""

    pieces: tuple[Piece, ...]
    known: bool = True
    line: int = 0
    span: Span | None = None

    @property
    def text(self) -> str:
        pieces = self.pieces
        return pieces[0].text if len(pieces) == 1 else "".join([piece.text for piece in pieces])


@dataclass(frozen=True, slots=True)
class Unresolved:
    """Something that reading could not know, and why (``why.code`` is a catalogue key)."""

    name: str
    path: Path
    line: int
    why: Note


@dataclass(frozen=True, slots=True)
class LauncherCall:
    """One call of a training launcher (or plain python) as the shell would make it."""

    launcher: str
    """As the field says it: torchrun, msrun, "python -m torch.distributed.run", deepspeed, accelerate, python."""
    launcher_span: Span
    """The command word itself (after wrappers such as stdbuf or nohup): where a recorder can be put in front."""
    words: tuple[Word, ...]
    """The whole argv, launcher word first, as the shell passes it."""
    options: Mapping[str, Word | None]
    """Launcher options by long name without dashes, `-` as `_` (nproc_per_node); None for a flag. The last one wins."""
    entry: Word | None
    entry_args: tuple[Word, ...]
    cwd: Path | None
    """Working directory at the call; None where unknown."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Exported variables that the script sets, as known at the call."""
    wrappers: tuple[str, ...] = ()
    background: bool = False
    in_pipe: bool = False
    certain: bool = True
    """False where the call stands in a branch whose condition is not known."""
    log_file: Path | None = None
    quoted: bool = False
    """The call stands inside a quoted program (``bash -c "torchrun ..."``): positions are the outer file's."""


@dataclass(frozen=True, slots=True)
class ConfigLink:
    """One file of the chain script → (yaml →) tools_json."""

    role: Role
    path: Path
    reached_by: str
    """MM_TOOL, --mm-tool, MM_TOOL_PATH, argument, ... ; for the script itself "argument"."""
    line: int | None
    word: Word | None = None
    """Where a launcher argument carries the path: the argument. None where a YAML key does (see ``key``)."""
    key: tuple[str | int, ...] = ()
    """Where a key of the previous file carries the path: its key path."""


@dataclass(frozen=True, slots=True)
class TrainIters:
    """Where the engine reads its number of iterations. ``value`` None: not found, or not known."""

    value: int | None
    role: Role | None
    path: Path | None
    key: str | None
    """--train-iters, gpt_args.train_iters, training.train_iters, ..."""
    line: int | None
    overridden_by: str | None = None
    word: Word | None = None
    key_path: tuple[str | int, ...] = ()


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What the checkout beside the script can do, read from its files. None: no checkout there, unknown."""

    checkout: Path | None = None
    dynamic: bool | None = None
    analyse_flag: bool | None = None
    offline_cli: str | None = None
    """Path of the checkout's offline parse command, relative to the checkout; None where there is none or unknown."""
    warmup_steps: int | None = None
    profile_key: str | None = None
    """The key under which this engine and release reads the settings: "profile", "tools.profile", ..."""
    aic_metrics_type: bool | None = None
    memory_profile_required: bool | None = None
    unknown_keys: Literal["ignored", "warned", "error"] | None = None
    """What this release does with a profile key that it does not know."""


@dataclass(frozen=True, slots=True)
class MissingPath:
    path: Path
    source: str
    """Where it was named: "--mm-data", "yaml:model.model_name_or_path", "source"."""
    line: int | None


@dataclass(frozen=True, slots=True)
class Placeholder:
    text: str
    source: str
    line: int | None


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A shell file that was read: the script, and what it sources or calls. ``sourced_at``: the word that names it."""

    path: Path
    data: bytes
    sourced_at: Span | None = None


@dataclass(frozen=True, slots=True)
class WorldChange:
    """A command that would touch files or processes beyond the launch: ``sed -i``, ``rm -rf``, ``pkill``, ..."""

    kind: str
    command: str
    span: Span
    targets: tuple[Word, ...]
    before_launch: bool
    certain: bool = True


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """All that is known of a launch. ``engine`` "unsupported" is a normal answer; then ``reason`` says why."""

    script: Path
    workdir: Path
    engine: Engine
    framework: Framework
    reason: Note
    suggestion: Note | None
    call: LauncherCall | None
    calls: tuple[LauncherCall, ...]
    entry: Path | None
    config_kind: Literal["tools_json", "yaml"] | None
    chain: tuple[ConfigLink, ...]
    train_iters: TrainIters
    current_profile: Mapping[str, Any] | None
    nproc_per_node: int | None
    nnodes: int | None
    node_rank: int | None
    world_size: int | None
    master_addr: str | None
    master_port: int | None
    save: Path | None
    load: Path | None
    capabilities: Capabilities
    files: tuple[SourceFile, ...]
    missing_paths: tuple[MissingPath, ...] = ()
    placeholders: tuple[Placeholder, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()
    world_changes: tuple[WorldChange, ...] = ()
    notes: tuple[Note, ...] = ()
    script_args: tuple[str, ...] = ()
    cann_set_env: tuple[Path, ...] = ()
    """set_env.sh files that the script names, in order."""
    python: str | None = None
    """The interpreter or virtual environment that the script names, where it does."""
    env: Mapping[str, str] = field(default_factory=dict)

    def placeholders_in_call(self) -> bool:
        """Whether a word of the call stands for something that nobody filled in."""
        texts = [word.text for word in self.call.words] if self.call else []
        return any(hole.source == "script" for hole in self.placeholders) or any("<" in text for text in texts)

    @property
    def config_path(self) -> Path | None:
        """The file that holds the profile settings."""
        return self.chain[-1].path if len(self.chain) > 1 else None
