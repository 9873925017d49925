"""Paths a launch names: which are missing, which are placeholders nobody filled in, which the run makes itself."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.launch_script.chain import Chain, resolve
from mindspeed_mm_train_profiler.launch_script.plan import MissingPath, Placeholder

PLACEHOLDER = re.compile(
    r"^\s*$|<[^<>]+>|\b(your|path[ _]to|path/to|to/your|xxx+|TODO|FIXME)\b|/path/|^path$|\{\{.*\}\}", re.I
)
INPUT_OPTIONS = {
    "--load", "--mm-data", "--mm-model", "--mm-tool", "--tool-config", "--fsdp2-config-path", "--layerzero-config",
    "--data-path", "--train-data-path", "--valid-data-path", "--tokenizer-model", "--vocab-file", "--merge-file",
    "--pretrained-checkpoint", "--deepspeed-config", "--yaml-cfg", "--lora-load", "--ref-load", "--reward-load",
    "--dist-ckpt-load", "--hostfile", "--model-config", "--data-config", "--ae-config", "--mm-config",
}  # fmt: skip
"""Options of the entry whose value is read; what is written (``--save``, logs) is the run's own."""
OUTPUT_KEY = re.compile(r"save|output|log(?!ic)|dump|export|result|cache|tensorboard|profil|snapshot", re.I)
INPUT_KEY = re.compile(
    r"(_path|_paths|_dir|_dirs|_folder|_file|_root|path|folder|dir|from_pretrained|name_or_path|ckpt|checkpoint|weights?)$"
    r"|(^|_)data_?sets?(_list|_files?)?$|(^|_)(manifest|corpus|load)$",
    re.I,
)
FREE_KEY = re.compile(r"(^|_)(model_id|repo_id|name)$")
MAX_LEAVES = 20_000


@dataclass(frozen=True, slots=True)
class Named:
    """A path as it was named."""

    text: str
    source: str
    line: int | None


def leaves(config: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Scalars of nested mappings and lists with their key paths; bounded."""
    stack: list[tuple[tuple[str | int, ...], Any]] = [(path, config)]
    count = 0
    while stack and count < MAX_LEAVES:
        where, value = stack.pop()
        count += 1
        if len(where) > 40:
            continue
        if isinstance(value, dict):
            stack.extend(((*where, str(key)), item) for key, item in reversed(list(value.items())))
        elif isinstance(value, list):
            stack.extend(((*where, index), item) for index, item in reversed(list(enumerate(value[:500]))))
        else:
            yield where, value


def _looks_like_path(text: str) -> bool:
    if len(text) > 1024 or "\n" in text or "://" in text or text.startswith("-"):
        return False
    return "/" in text or text.endswith(
        (".json", ".jsonl", ".yaml", ".yml", ".pt", ".pth", ".txt", ".csv", ".bin", ".model")
    )


def _reads(key: str, text: str) -> bool:
    return (
        bool(INPUT_KEY.search(key))
        and not OUTPUT_KEY.search(key)
        and not FREE_KEY.search(key)
        and _looks_like_path(text)
    )


def named_in(config: Any, role: str) -> Iterator[Named]:
    """Paths inside a YAML or JSON that its keys say are read."""
    for where, value in leaves(config):
        if not isinstance(value, str):
            continue
        keys = [str(key) for key in where if not isinstance(key, int)]
        if not keys or any(OUTPUT_KEY.search(key) for key in keys):
            continue
        if _reads(keys[-1], value) or (PLACEHOLDER.search(value) and value.strip() and INPUT_KEY.search(keys[-1])):
            yield Named(value, f"{role}:" + ".".join(str(key) for key in where), None)


def named_by(chain: Chain) -> Iterator[Named]:
    """Paths among the entry's arguments."""
    for name, value, word in chain.arguments:
        if name in INPUT_OPTIONS and value is not None:
            if word is not None and not word.known:
                continue
            yield Named(value, name, word.line if word else None)


def related(chain: Chain, workdir: Path) -> Iterator[Named]:
    """Paths inside the data and model JSON files that the arguments name (``--mm-data``, ``--mm-model``)."""
    from mindspeed_mm_train_profiler.errors import CodedError
    from mindspeed_mm_train_profiler.trainer_files import load_config

    seen = {link.path for link in chain.links}
    for name in ("--mm-data", "--mm-model"):
        value, _, _ = chain.argument(name)
        if value is None:
            continue
        path = resolve(value, workdir)
        if path in seen or path.suffix not in {".json", ".yaml", ".yml"} or not path.is_file():
            continue
        seen.add(path)
        try:
            yield from named_in(load_config(path), path.name)
        except CodedError:
            continue


def judge(
    found: Iterable[Named], workdir: Path, made: Iterable[Path]
) -> tuple[tuple[MissingPath, ...], tuple[Placeholder, ...]]:
    """Sort into missing paths and placeholders; what exists, and what the script itself makes, is neither."""
    own = set(made)
    missing: dict[Path, MissingPath] = {}
    placeholders: dict[str, Placeholder] = {}
    for item in found:
        text = item.text.strip()
        if PLACEHOLDER.search(text):
            placeholders.setdefault(f"{item.source}={text}", Placeholder(item.text, item.source, item.line))
            continue
        path = resolve(text, workdir)
        if path in own or any(parent in own for parent in path.parents):
            continue
        try:
            exists = path.exists()
        except (OSError, ValueError):
            exists = False
        if not exists:
            missing.setdefault(path, MissingPath(path, item.source, item.line))
    return tuple(missing.values()), tuple(placeholders.values())
