"""The configuration chain: script → tools.json, script → YAML → tools.json, script → FSDP2 YAML; and what it says."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.errors import CodedError, Note
from mindspeed_mm_train_profiler.launch_script.plan import ConfigLink, LauncherCall, TrainIters, Word
from mindspeed_mm_train_profiler.launch_script.yaml_positions import yaml_line
from mindspeed_mm_train_profiler.trainer_files import parse_json, parse_yaml, quick_yaml, read_config_bytes

UNKNOWN_ITERS = TrainIters(None, None, None, None, None)


@dataclass(slots=True)
class Chain:
    """The files that hold the launch's configuration, loaded as the trainer loads them."""

    links: list[ConfigLink] = field(default_factory=list)
    yaml: Any = None
    yaml_data: bytes = b""
    tools: Any = None
    train_iters: TrainIters = UNKNOWN_ITERS
    arguments: list[tuple[str, str | None, Word | None]] = field(default_factory=list)
    """(option, value, word) as Megatron's parser would see them."""
    notes: list[Note] = field(default_factory=list)

    def argument(self, *names: str) -> tuple[str | None, Word | None, str | None]:
        """Value, word and name of an option; the last one wins, as argparse has it."""
        value, word, found = None, None, None
        for name, given, at in self.arguments:
            if name in names:
                value, word, found = given, at, name
        return value, word, found

    @property
    def profile(self) -> Mapping[str, Any] | None:
        """The profile object in force today, as found."""
        holder: Any = None
        if self.tools is not None:
            holder = self.tools.get("profile") if isinstance(self.tools, dict) else None
        elif isinstance(self.yaml, dict) and isinstance(self.yaml.get("tools"), dict):
            holder = self.yaml["tools"].get("profile")
        return holder if isinstance(holder, dict) else None


def options(words: Sequence[Word]) -> list[tuple[str, str | None, Word | None]]:
    """``--name value`` and ``--name=value`` pairs; a flag has None. Names as written, ``_`` as ``-``."""
    from mindspeed_mm_train_profiler.launch_script.launcher import tail

    found: list[tuple[str, str | None, Word | None]] = []
    for index, word in enumerate(words):
        if not word.text.startswith("--") or len(word.text) < 3:
            continue
        name, equals, _ = word.text.partition("=")
        name = name.replace("_", "-")
        if equals:
            part = tail(word, len(word.text.partition("=")[0]) + 1)
            found.append((name, part.text, part))
        elif index + 1 < len(words) and not words[index + 1].text.startswith("--"):
            found.append((name, words[index + 1].text, words[index + 1]))
        else:
            found.append((name, None, None))
    return found


def flatten(config: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any, tuple[str, ...]]]:
    """Leaves of nested mappings as ``configs/read_yaml_config.py`` has them: (name with hyphens, value, key path)."""
    if isinstance(config, dict) and len(path) < 40:
        for key, value in config.items():
            here = (*path, str(key))
            if isinstance(value, dict):
                yield from flatten(value, here)
            else:
                yield str(key).replace("_", "-"), value, here


def _integer(text: object) -> int | None:
    if isinstance(text, bool):
        return None
    if isinstance(text, int):
        return text
    if isinstance(text, str) and text.strip().lstrip("+").isdecimal():
        return int(text)
    return None


def resolve(text: str, workdir: Path) -> Path:
    path = Path(text)
    return path if path.is_absolute() else Path(_lexical(workdir / path))


def _lexical(path: Path) -> str:
    import os

    return os.path.normpath(path)


def _tools_link(chain: Chain, text: str, workdir: Path, link: dict[str, Any]) -> None:
    path = resolve(text, workdir)
    chain.links.append(ConfigLink("tools_json", path, **link))
    data = _read(chain, path)
    if data is None:
        return
    if path.suffix == ".yaml":  # MMConfig takes the top-level key `tool` of a .yaml (26.0.0 and later)
        loaded = parse_yaml(path, data)
        chain.tools = loaded.get("tool") if isinstance(loaded, dict) else None
    else:
        chain.tools = parse_json(path, data)


def _read(chain: Chain, path: Path) -> bytes | None:
    """Bytes of a configuration file; a missing one is told with the other missing paths, not here."""
    try:
        return read_config_bytes(path)
    except CodedError as error:
        if error.code == "config_missing":
            return None
        raise


def megatron(script: Path, call: LauncherCall, workdir: Path, *, reads_yaml: bool) -> Chain:
    """Chain of a Megatron launch.

    With a ``.yaml`` first (and a release that reads it) the arguments are rebuilt from the YAML: what stands behind it
    on the command line is thrown away (``configs/read_yaml_config.py``).
    """
    chain = Chain(links=[ConfigLink("script", script, "argument", None)])
    first = call.entry_args[0] if call.entry_args else None
    if reads_yaml and first is not None and first.text.endswith(".yaml") and first.known:
        _megatron_yaml(chain, first, call, workdir)
        return chain
    chain.arguments = options(call.entry_args)
    text, word, name = chain.argument("--mm-tool", "--tool-config")
    if word is not None and text and word.known:
        reached = _variable(word) or name
        _tools_link(chain, text, workdir, {"reached_by": reached or "--mm-tool", "line": word.line, "word": word})
    elif word is None:
        chain.notes.append(Note("tool_not_given", {}))
    value, iters_word, key = chain.argument("--train-iters", "--epochs" if name == "--tool-config" else "--train-iters")
    chain.train_iters = TrainIters(
        _integer(value) if iters_word is not None and iters_word.known else None,
        "script" if key else None,
        _word_path(iters_word) or (script if key else None),
        key,
        iters_word.line if iters_word else None,
        word=iters_word,
    )
    return chain


def _variable(word: Word) -> str | None:
    """The variable whose whole value is the word, where there is one."""
    for piece in word.pieces[:1]:
        for binding in piece.bindings:
            if binding.text == word.text:
                return binding.name
    return None


def _word_path(word: Word | None) -> Path | None:
    if word is None:
        return None
    return next((piece.span.path for piece in word.pieces if piece.span), None)


def _megatron_yaml(chain: Chain, first: Word, call: LauncherCall, workdir: Path) -> None:
    path = resolve(first.text, workdir)
    chain.links.append(ConfigLink("yaml", path, "argument", first.line, word=first))
    if len(call.entry_args) > 1:
        dropped = " ".join(word.text for word in call.entry_args[1:])
        chain.notes.append(Note("arguments_after_yaml_dropped", {"arguments": dropped[:200]}))
    data = _read(chain, path)
    if data is None:
        return
    chain.yaml, chain.yaml_data = quick_yaml(path, data, chain.notes), data
    if not isinstance(chain.yaml, dict):
        raise CodedError("config_malformed", found=path, kind="YAML", detail="not a mapping")
    flat: dict[str, tuple[Any, tuple[str, ...]]] = {}
    for section in ("gpt_args", "lora_args"):
        for name, value, where in flatten(chain.yaml.get(section), (section,)):
            flat[name] = (value, where)
    for name, (value, _) in flat.items():
        for item in value if isinstance(value, list) else [value]:
            chain.arguments.append((f"--{name}", None if item is True else str(item), None))
    if "train-iters" in flat:
        value, where = flat["train-iters"]
        chain.train_iters = TrainIters(
            _integer(value), "yaml", path, ".".join(where), yaml_line(data, where), key_path=where
        )
    tool = chain.yaml.get("MM_TOOL_PATH")
    if isinstance(tool, str) and tool:
        key = ("MM_TOOL_PATH",)
        _tools_link(chain, tool, workdir, {"reached_by": "MM_TOOL_PATH", "line": yaml_line(data, key), "key": key})
    else:
        chain.notes.append(Note("mm_tool_path_missing", {"path": path}))


def fsdp2(script: Path, call: LauncherCall, workdir: Path) -> Chain:
    """Chain of an FSDP2 launch: the first argument is the YAML; ``training.train_epochs`` overrides ``train_iters``."""
    chain = Chain(links=[ConfigLink("script", script, "argument", None)])
    first = call.entry_args[0] if call.entry_args else None
    if first is None:
        chain.notes.append(Note("yaml_not_given", {}))
        return chain
    if not first.known:
        return chain
    path = resolve(first.text, workdir)
    chain.links.append(ConfigLink("yaml", path, "argument", first.line, word=first))
    data = _read(chain, path)
    if data is None:
        return chain
    chain.yaml, chain.yaml_data = quick_yaml(path, data, chain.notes), data
    if not isinstance(chain.yaml, dict):
        raise CodedError("config_malformed", found=path, kind="YAML", detail="not a mapping")
    training = chain.yaml.get("training")
    training = training if isinstance(training, dict) else {}
    override = None
    if training.get("train_epochs") is not None:
        override = "training.train_epochs"
    value: Any = training.get("train_iters", 10000 if training else None)
    where = ("training", "train_iters")
    chain.train_iters = TrainIters(
        _integer(value), "yaml", path, "training.train_iters", yaml_line(data, where), override, key_path=where
    )
    overrides = [word.text for word in call.entry_args[1:] if "=" in word.text]
    if overrides:
        chain.notes.append(Note("yaml_overrides_given", {"arguments": " ".join(overrides)[:200]}))
    return chain
