"""The line on which a key of a YAML or JSON file stands."""

import json
import re
from typing import Any

from mindspeed_mm_train_profiler.trainer_files import lenient_loader


def yaml_line(data: bytes, path: tuple[str | int, ...]) -> int | None:
    """1-based line of a key path; the last of equal keys, as the trainer reads it. None where there is none."""
    import yaml

    try:
        try:
            node: Any = yaml.compose(data.decode("utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        except yaml.YAMLError:
            node = yaml.compose(data.decode("utf-8"), Loader=lenient_loader())
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError):
        return None
    line: int | None = None
    for step in path:
        found = None
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value == str(step):
                    found, line = value, key.start_mark.line + 1
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            found = node.value[step]
            line = found.start_mark.line + 1
        if found is None:
            return None
        node = found
    return line


def json_line(data: bytes, key: str) -> int | None:
    """1-based line of the first ``"key":`` of a JSON text."""
    found = re.search(re.escape(json.dumps(key)).encode() + rb"\s*:", data)
    return data.count(b"\n", 0, found.start()) + 1 if found else None
