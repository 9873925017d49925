"""Shared by all tests: a state folder of their own, and the checkouts that some tests want."""

import os
from pathlib import Path

import pytest

from mindspeed_mm_train_profiler import settings


@pytest.fixture(autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has a state folder of its own and default settings; nothing of the user's is read or written."""
    folder = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("MINDSPEED_MM_TRAIN_PROFILER_STATE", str(folder))
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
