"""Runs real_stack.py, also over torch_npu generations that keep their warning switch elsewhere than the newest.

usage: real_rank.py REAL_STACK.PY ARGUMENT...
"""

import os
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    path = sys.argv[1]
    sys.argv = sys.argv[1:]
    names: dict[str, Any] = {"__name__": "real_stack", "__file__": path}
    exec(compile(Path(path).read_text(encoding="utf-8"), path, "exec"), names)
    plain = names["package"]

    def package(name: str, root: str) -> Any:
        module = plain(name, root)
        if name == "torch_npu.utils":  # up to 26.0 this name comes from the package's __init__, which is not run
            module._should_print_warning = lambda: os.environ.get("RANK", "0") == "0"
        return module

    names["package"] = package
    names["main"]()


if __name__ == "__main__":
    main()
