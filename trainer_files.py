"""Reading configuration files under the trainer's own rules.

JSON: strict, as ``json.load`` reads tools.json (MindSpeed-MM ``mindspeed_mm/configs/config.py``).
YAML: PyYAML ``safe_load`` (YAML 1.1): ``1e-5`` is a string, ``on`` is true, the last of two equal keys wins, ``<<``
merges. Both engines load with it (``configs/read_yaml_config.py``, ``fsdp/params/argument.py``,
``config/config_manager.py``), so the same library is used here, and nothing else decides what a file means.
"""

import json
import stat
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.errors import CodedError, Note

# the largest shipped configuration has less than 100 KB; PyYAML needs seconds for a megabyte
MAX_CONFIG_BYTES = 1024 * 1024
# values after every alias is followed: a few nested lists of aliases make billions of them
MAX_CONFIG_VALUES = 200_000


def read_config_bytes(path: Path) -> bytes:
    """The bytes of a configuration file.

    Errors: ``config_missing``, ``config_unreadable`` (a directory, a pipe, no permission), ``config_too_large``.
    """
    try:
        status = path.stat()
        if stat.S_ISFIFO(status.st_mode) or stat.S_ISCHR(status.st_mode) or stat.S_ISSOCK(status.st_mode):
            raise CodedError("config_unreadable", found=path, detail="not a regular file")  # reading might never end
        size = status.st_size
        if size > MAX_CONFIG_BYTES:
            raise CodedError("config_too_large", found=f"{path}: {size} bytes", expected=f"<= {MAX_CONFIG_BYTES} bytes")
        return path.read_bytes()
    except FileNotFoundError:
        raise CodedError("config_missing", found=path) from None
    except (OSError, ValueError) as error:
        raise CodedError("config_unreadable", found=path, detail=getattr(error, "strerror", None) or error) from None


def decode(path: Path, data: bytes) -> str:
    """UTF-8 text of a configuration file. Error: ``config_not_utf8`` with the line."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CodedError("config_not_utf8", found=f"{path}:{line}", line=line) from None


def parse_json(path: Path, data: bytes) -> Any:
    """What ``json.load`` makes of it. Error: ``config_malformed`` with line and column (1-based)."""
    text = decode(path, data)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise CodedError(
            "config_malformed",
            found=f"{path}:{error.lineno}:{error.colno}",
            kind="JSON",
            detail=error.msg,
            line=error.lineno,
            column=error.colno,
        ) from None
    except RecursionError:
        raise CodedError("config_malformed", found=path, kind="JSON", detail="nested too deeply") from None
    except ValueError as error:  # a number of thousands of digits: the trainer's json refuses it as well
        raise CodedError("config_malformed", found=path, kind="JSON", detail=error) from None


def bounded(path: Path, value: Any) -> Any:
    """``value``, if following its aliases ends, and in a bounded number of values.

    Errors: ``config_too_large``; ``config_malformed`` for an alias that refers to a node around it.
    """
    sizes: dict[int, int] = {}

    def size(part: Any) -> int:
        if not isinstance(part, (dict, list, tuple, set)):
            return 1
        if (known := sizes.get(id(part))) is not None:
            if known == 0:
                raise CodedError(
                    "config_malformed", found=path, kind="YAML", detail="an alias refers to a node around it"
                )
            return known
        sizes[id(part)] = 0
        inner = [*part.keys(), *part.values()] if isinstance(part, dict) else list(part)
        sizes[id(part)] = total = min(1 + sum(map(size, inner)), MAX_CONFIG_VALUES + 1)
        return total

    if size(value) > MAX_CONFIG_VALUES:
        found = f"{path}: more than {MAX_CONFIG_VALUES} values once its aliases are followed"
        raise CodedError("config_too_large", found=found, expected=f"<= {MAX_CONFIG_VALUES} values")
    return value


def lenient_loader() -> Any:
    """A ``SafeLoader`` that takes an anchor defined twice, later aliases meaning the later one, as YAML 1.1 allows."""
    import yaml

    class Loader(yaml.SafeLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            event = self.peek_event()  # type: ignore[no-untyped-call]
            if getattr(event, "anchor", None) in self.anchors and not isinstance(event, yaml.AliasEvent):
                del self.anchors[event.anchor]
            return super().compose_node(parent, index)

    return Loader


def quick_yaml(path: Path, data: bytes, notes: list[Note] | None = None) -> Any:
    """``parse_yaml`` for looking at a file: libyaml's scanner, ten times as fast; the trainer's own where it fails.

    A proof takes ``parse_yaml``: it must not rest on another scanner.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", None)
    if loader is not None:
        try:
            return bounded(path, yaml.load(decode(path, data), Loader=loader))
        except (yaml.YAMLError, RecursionError, ValueError, OverflowError):
            pass
    return parse_yaml(path, data, notes)


def parse_yaml(path: Path, data: bytes, notes: list[Note] | None = None) -> Any:
    """What the trainer's ``yaml.safe_load`` makes of it. Error: ``config_malformed`` with line and column (1-based).

    An anchor defined twice is read on (shipped examples have one; the trainer's PyYAML decides) and told in ``notes``.
    """
    import yaml  # not at the top: the server starts without it

    text = decode(path, data)
    try:
        try:
            return bounded(path, yaml.safe_load(text))
        except yaml.composer.ComposerError as error:
            if "duplicate anchor" not in str(error.context):
                raise
            if notes is not None and error.problem_mark:
                notes.append(Note("yaml_anchor_twice", {"path": path, "line": error.problem_mark.line + 1}))
            return bounded(path, yaml.load(text, Loader=lenient_loader()))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        where = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        raise CodedError(
            "config_malformed",
            found=where,
            kind="YAML",
            detail=getattr(error, "problem", None) or str(error).splitlines()[0],
            line=mark.line + 1 if mark else None,
            column=mark.column + 1 if mark else None,
        ) from None
    except (RecursionError, ValueError, OverflowError) as error:
        # ValueError: a timestamp such as 2024-99-99 fails in the constructor, for the trainer as well
        detail = str(error) or "nested too deeply"
        raise CodedError("config_malformed", found=path, kind="YAML", detail=detail) from None


def load_config(path: Path) -> Any:
    """Load a ``.json`` or ``.yaml``/``.yml`` file as the trainer would."""
    data = read_config_bytes(path)
    return parse_yaml(path, data) if path.suffix.lower() in {".yaml", ".yml"} else parse_json(path, data)
