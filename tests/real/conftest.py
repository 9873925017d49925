"""The real stack: a copy of a checkout to work in, and an environment in which torchrun starts MindSpeed-MM's loader and
Profiler over torch_npu's own Python side on the CPU."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def checkout(mindspeed_mm_root: Path, tmp_path: Path) -> Path:
    """A copy to work in: copies of scripts are written beside the originals."""
    copy = tmp_path / "MindSpeed-MM"
    shutil.copytree(mindspeed_mm_root, copy, ignore=shutil.ignore_patterns(".git", "*.png", "*.gif", "*.pdf"))
    return copy


@pytest.fixture
def host(torch_npu_root: Path, profiler_shared: Path, tmp_path: Path) -> Iterator[dict[str, str]]:
    """An environment in which torchrun starts the real stack and npu-smi prints eight idle cards."""
    python = os.environ.get("REAL_STACK_PYTHON")
    if (
        not python
        or subprocess.run([python, "-c", "import torch, yaml, pydantic"], capture_output=True, timeout=60).returncode
    ):
        pytest.skip("REAL_STACK_PYTHON is not an interpreter with torch, PyYAML and pydantic")
    tools = profiler_shared / "tools"
    shims = tmp_path / "shims"
    shims.mkdir()
    for name in ("python", "python3"):
        (shims / name).symlink_to(python)  # the training's python
    cann = tmp_path / "cann"
    cann.mkdir()
    (cann / "set_env.sh").write_text("export ASCEND_TOOLKIT_HOME=/nowhere\n", encoding="utf-8")
    path = [str(tools / "real_launch"), str(tools / "npu_env" / "bin"), str(shims), os.environ["PATH"]]
    yield {
        **os.environ,
        "PATH": os.pathsep.join(path),
        "PYTHONPATH": str(tools / "npu_env" / "site"),
        "REAL_STACK_TORCH_NPU": str(torch_npu_root),
        "REAL_STACK_PYTHON": python,
        "REAL_STACK_MS": "60",
    }


@pytest.fixture
def provide() -> Callable[[dict[str, Any]], None]:
    """Make what an example names and does not ship: weights and data, as empty folders and files."""

    def make(detected: dict[str, Any]) -> None:
        for missing in detected["missing_paths"]:
            path = Path(missing["path"])
            if path.suffix in {".json", ".jsonl", ".list", ".txt", ".csv", ".pt", ".safetensors"}:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("[]", encoding="utf-8")
            else:
                path.mkdir(parents=True, exist_ok=True)

    return make
