"""Installation from wheels alone, on both architectures and for every Python of ours."""

import importlib.util
import os
from pathlib import Path
from types import ModuleType

import pytest

import mindspeed_mm_train_profiler as package

ROOT = Path(package.__file__).parent
PYTHONS = ["3.10", "3.11", "3.12", "3.13"] if os.environ.get("PROFILER_FULL") else ["3.10", "3.13"]
"""Every one of them with PROFILER_FULL; the first and the last always."""


@pytest.fixture(scope="module")
def wheels() -> ModuleType:
    file = ROOT / "scripts" / "wheels.py"
    if not file.is_file():
        pytest.skip("not a source checkout")
    spec = importlib.util.spec_from_file_location("wheels_script", file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pythons_checked_are_the_pythons_promised(wheels: ModuleType) -> None:
    project = wheels.project()
    promised = [item.rpartition(" ")[2] for item in project["classifiers"] if item.startswith("Programming")]
    assert [item for item in promised if "." in item] == list(wheels.PYTHONS)
    assert project["requires-python"] == f">={wheels.PYTHONS[0]}"
    assert wheels.version() == package.__version__


def test_torch_is_nobodys_dependency(wheels: ModuleType) -> None:
    names = " ".join(wheels.project()["dependencies"]).lower()
    assert "torch" not in names and "numpy" not in names


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("arch", ["x86_64", "aarch64"])
@pytest.mark.parametrize("python", PYTHONS)
def test_dependencies_resolve_from_wheels_alone(wheels: ModuleType, python: str, arch: str) -> None:
    try:
        pins, said = wheels.resolve([str(item) for item in wheels.project()["dependencies"]], python, arch)
    except wheels.Missing as error:
        pytest.skip(str(error))
    if not pins and any(word in said for word in ("Connect", "connect", "dns", "network", "Could not connect")):
        pytest.skip(f"no package index: {said[:200]}")
    assert pins, said
    assert any(pin.startswith("mcp==2.") for pin in pins)


def test_platform_tags_cover_older_systems_than_asked_and_none_newer(wheels: ModuleType) -> None:
    tags = wheels.platforms("aarch64", 28)
    assert tags[0] == "manylinux_2_28_aarch64" and "manylinux_2_17_aarch64" in tags and "any" in tags
    assert not any("_2_29_" in tag or "x86" in tag for tag in tags)
    assert "manylinux1_x86_64" in wheels.platforms("x86_64", 17)


def test_the_offline_installer_uses_nothing_but_its_folder(wheels: ModuleType) -> None:
    assert "--no-index" in wheels.INSTALL_SH and "$here/wheels" in wheels.INSTALL_SH
    assert "set -eu" in wheels.INSTALL_SH and "http" not in wheels.INSTALL_SH
