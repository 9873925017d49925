"""What an entry file does: decided by what it imports, where it can be read; by its name where it cannot.

The word fsdp2 in a script means nothing (megatron scripts carry ``--use-torch-fsdp2``); neither does ``--mm-tool``
(feature extraction carries it). Only a training loop that builds MindSpeed-MM's Profiler honours the profile block.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mindspeed_mm_train_profiler.launch_script.plan import Engine

MAX_FILES = 24
MAX_BYTES = 1024 * 1024
IMPORT = re.compile(r"^\s*(?:from\s+([\w.]+)\s+import\s+([^\n#]+)|import\s+([\w.]+(?:\s*,\s*[\w.]+)*))", re.M)


@dataclass(frozen=True, slots=True)
class Signal:
    """A module an entry imports (a prefix), and what follows from it. First match wins."""

    module: str
    engine: Engine
    reason: str
    suggestion: str | None = None
    names: frozenset[str] = frozenset()
    """Where given, one of these names must be imported from the module."""


SIGNALS: tuple[Signal, ...] = (
    Signal("mindspeed_mm.tasks.inference", "unsupported", "kind_inference", "suggest_general"),
    Signal("mindspeed_mm.tasks.evaluation", "unsupported", "kind_evaluation", "suggest_general"),
    Signal("mindspeed_mm.fsdp.train.trainer", "fsdp2", "engine_fsdp2"),
    Signal("mindspeed_mm.fsdp.train.train_engine", "fsdp2", "engine_fsdp2"),
    # Ray-driven reinforcement learning borrows parts of the training module and has a loop of its own
    Signal("mindspeed_rl", "unsupported", "kind_grpo", "suggest_general"),
    Signal("ray", "unsupported", "kind_grpo", "suggest_general"),
    Signal("mindspeed_mm.training", "megatron", "engine_megatron", names=frozenset({"pretrain", "train"})),
    Signal("mindspeed_mm.models.ae.training.training", "megatron", "engine_megatron_ae"),
    Signal("mindspeed_mm.tasks.rl.soragrpo.preprocess", "unsupported", "kind_preprocessing", "suggest_general"),
    Signal("mindspeed_mm.tasks.rl.soragrpo", "megatron", "engine_dancegrpo"),
    Signal("mindspeed_mm.tasks.rl.dpo", "megatron", "engine_megatron_dpo"),
    Signal("mindspeed_mm.tasks.rl", "unsupported", "kind_grpo", "suggest_general"),
    Signal("verl", "unsupported", "kind_verl", "suggest_verl"),
    Signal("mindspeed_llm", "unsupported", "kind_other_framework", "suggest_general"),
    Signal("modellink", "unsupported", "kind_other_framework", "suggest_general"),
    Signal("diffusers", "unsupported", "kind_diffusers", "suggest_general"),
    Signal("diffsynth", "unsupported", "kind_diffusers", "suggest_general"),
    Signal("swift", "unsupported", "kind_other_framework", "suggest_general"),
    Signal("llamafactory", "unsupported", "kind_other_framework", "suggest_general"),
)


@dataclass(frozen=True, slots=True)
class Named:
    """Known by path alone."""

    pattern: "re.Pattern[str]"
    engine: Engine
    reason: str
    suggestion: str | None = None


def _named(pattern: str, engine: Engine, reason: str, suggestion: str | None = None) -> Named:
    return Named(re.compile(pattern), engine, reason, suggestion)


BY_PATH: tuple[Named, ...] = (
    _named(
        r"feature_extract|/preprocess/|(^|/)(pre)?process_|convert|make_parquet",
        "unsupported",
        "kind_preprocessing",
        "suggest_general",
    ),
    _named(
        r"(^|/)inference_?\w*\.py$|(^|/)(infer|generate|predict|demo)\w*\.py$",
        "unsupported",
        "kind_inference",
        "suggest_general",
    ),
    _named(r"(^|/)(evaluate|eval)_?\w*\.py$", "unsupported", "kind_evaluation", "suggest_general"),
)
BY_NAME: tuple[Named, ...] = (
    _named(r"(^|/)mindspeed_mm/fsdp/(train|tasks/\w+)/(trainer|train)\.py$", "fsdp2", "engine_fsdp2_by_name"),
    _named(r"(^|/)posttrain_flux_dancegrpo\.py$", "megatron", "engine_dancegrpo"),
    _named(r"(^|/)posttrain_\w*(grpo|dapo)\w*\.py$", "unsupported", "kind_grpo", "suggest_general"),
    _named(r"(^|/)(pretrain_\w+|posttrain_\w*dpo)\.py$", "megatron", "engine_megatron_by_name"),
    _named(
        r"(^|/)train_dreambooth\w*\.py$|(^|/)train_text_to_image\w*\.py$",
        "unsupported",
        "kind_diffusers",
        "suggest_general",
    ),
    _named(r"^verl\.", "unsupported", "kind_verl", "suggest_verl"),
)


@dataclass(frozen=True, slots=True)
class EntryKind:
    """``how``: "content" where the file was read, "name" where it could not be."""

    engine: Engine
    reason: str
    suggestion: str | None
    how: Literal["content", "name"]
    reads_yaml: bool = False
    """The entry rebuilds its arguments from a YAML given first (``configs/read_yaml_config.py``)."""


def imports(text: str) -> list[tuple[str, frozenset[str]]]:
    """(module, imported names) of a Python text."""
    found = []
    for match in IMPORT.finditer(text):
        if match[1]:
            names = frozenset(re.findall(r"\w+", match[2].replace("(", " ")))
            if match[2].strip().startswith("("):
                end = text.find(")", match.end())
                names |= frozenset(re.findall(r"\w+", text[match.start() : end]))
            found.append((match[1], names))
        else:
            found += [(name.strip(), frozenset()) for name in match[3].split(",")]
    return found


def _signal(found: list[tuple[str, frozenset[str]]]) -> Signal | None:
    for signal in SIGNALS:
        for module, names in found:
            if (module == signal.module or module.startswith(signal.module + ".")) and (
                not signal.names or signal.names & names
            ):
                return signal
    return None


def _read(path: Path) -> str | None:
    try:
        if path.is_file() and path.stat().st_size <= MAX_BYTES:
            return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        pass
    return None


def classify(entry: str, path: Path | None, workdir: Path) -> EntryKind:
    """What the entry is. ``entry``: as the launcher gets it (a path, or a module after ``-m``)."""
    shown = (path.as_posix() if path else entry).replace("\\", "/")
    text = _read(path) if path else None
    for named in BY_PATH:
        if named.pattern.search(entry.replace("\\", "/")) and not (text and _signal_engine(text)):
            return EntryKind("unsupported", named.reason, named.suggestion, "name")
    if text is None or path is None:
        return _by_name(entry, shown)
    yaml = "read_yaml_config" in text
    seen, queue = {path}, [(path, text)]
    uses_npu = False
    while queue and len(seen) <= MAX_FILES:
        current, body = queue.pop(0)
        found = imports(body)
        signal = _signal(found)
        if signal is None and _is_fsdp_trainer(current, body):
            return EntryKind("fsdp2", "engine_fsdp2", None, "content")
        if signal is not None:
            return EntryKind(signal.engine, signal.reason, signal.suggestion, "content", yaml)
        uses_npu = uses_npu or any(module.partition(".")[0] in {"torch_npu", "mindspeed"} for module, _ in found)
        for module, _ in found:
            for base in (current.parent, workdir):
                local = base.joinpath(*module.split(".")).with_suffix(".py")
                if local not in seen and (content := _read(local)) is not None:
                    seen.add(local)
                    queue.append((local, content))
    if any("mindspeed_mm" in body for _, body in [(path, text)]):
        return EntryKind("unsupported", "kind_no_profiler", "suggest_general", "content")
    if re.search(r"torch_npu\.profiler|npu_profiler|--profiling", text):
        return EntryKind("unsupported", "kind_own_profiler", "suggest_general", "content")
    return EntryKind(
        "unsupported", "kind_not_mindspeed_mm", "suggest_general" if uses_npu or "torch" in text else None, "content"
    )


def _signal_engine(text: str) -> bool:
    signal = _signal(imports(text))
    return signal is not None and signal.engine != "unsupported"


def _is_fsdp_trainer(path: Path, text: str) -> bool:
    return "mindspeed_mm/fsdp/" in path.as_posix() and bool(
        re.search(r"^class \w*Trainer\b|\bTrainEngine\(", text, re.M)
    )


def _by_name(entry: str, shown: str) -> EntryKind:
    for named in (*BY_PATH, *BY_NAME):
        if named.pattern.search(entry) or named.pattern.search(shown):
            return EntryKind(named.engine, named.reason, named.suggestion, "name", "pretrain_transformers" in shown)
    return EntryKind("unsupported", "kind_entry_unknown", "suggest_general", "name")
