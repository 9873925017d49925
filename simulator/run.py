"""Starts a module of the simulated NPU host with any Python >= 3.10, whether or not this package is installed there.

    python .../simulator/run.py MODULE [ARG...]      runs mindspeed_mm_train_profiler.simulator.MODULE's main(argv)

The simulated commands on PATH are started by whatever a user's script brings along, so the package is made importable
from this very file; nothing outside the standard library is imported for it.
"""

import importlib
import importlib.util
import sys
from pathlib import Path

PACKAGE = "mindspeed_mm_train_profiler"


def make_importable() -> None:
    """Let ``import mindspeed_mm_train_profiler`` find the tree this file stands in."""
    if PACKAGE in sys.modules:
        return
    root = Path(__file__).resolve().parent.parent
    spec = importlib.util.spec_from_file_location(PACKAGE, root / "__init__.py", submodule_search_locations=[str(root)])
    if spec is None or spec.loader is None:
        raise ImportError(f"no package at {root}")
    package = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = package
    spec.loader.exec_module(package)


def main(argv: list[str]) -> int:
    if sys.path and Path(sys.path[0] or ".").resolve() == Path(__file__).resolve().parent:
        sys.path.pop(0)  # this folder's modules are reached by their full names only
    make_importable()
    module = importlib.import_module(f"{PACKAGE}.simulator.{argv[0]}")
    return int(module.main(argv[1:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
