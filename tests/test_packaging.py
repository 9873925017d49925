"""What is installed: one import name, nothing generic, everything the product reads at run time."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import mindspeed_mm_train_profiler as package

ROOT = Path(package.__file__).parent
PYPROJECT = ROOT / "pyproject.toml"


@pytest.mark.parametrize(("venv", "mypy"), [(".venv", "../.venv/bin/mypy"), ("/opt/a/venv", " /opt/a/venv/bin/mypy")])
def test_types_are_checked_wherever_the_environment_lies(venv: str, mypy: str) -> None:
    if not (ROOT / "Makefile").exists() or shutil.which("make") is None:
        pytest.skip("no make, or not a source checkout")
    command = ["make", "--dry-run", "--always-make", "types", f"VENV={venv}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert mypy in done.stdout and "..//" not in done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    if not PYPROJECT.exists():
        pytest.skip("not a source checkout")
    folder = tmp_path_factory.mktemp("wheel")
    source = tmp_path_factory.mktemp("source") / "project"
    files = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=30,
    ).stdout.split("\n")
    for name in filter(None, files):  # a copy, so that no build folder of this checkout leaks into the wheel
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    done = subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(source)],
        capture_output=True,
        text=True,
        timeout=110,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "would be ignored" not in done.stdout + done.stderr  # a folder of data that no entry of `packages` names
    (built,) = folder.glob("*.whl")
    return zipfile.ZipFile(built).namelist()


def test_one_import_name_and_nothing_generic(wheel: list[str]) -> None:
    tops = {name.split("/")[0] for name in wheel}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"mindspeed_mm_train_profiler"}


def test_every_room_is_in_the_wheel(wheel: list[str]) -> None:
    rooms = {path.parent.relative_to(ROOT) for path in ROOT.glob("*/__init__.py") if path.parent.name not in {"tests"}}
    for room in rooms:
        for module in (ROOT / room).rglob("*.py"):
            relative = module.relative_to(ROOT).as_posix()
            assert f"mindspeed_mm_train_profiler/{relative}" in wheel, relative


def test_the_skill_and_the_data_files_are_in_the_wheel(wheel: list[str]) -> None:
    names = set(wheel)
    assert "mindspeed_mm_train_profiler/SKILL.md" in names
    assert "mindspeed_mm_train_profiler/py.typed" in names
    rooms = [path.parent for path in ROOT.glob("*/__init__.py") if path.parent.name != "tests"]
    for room in rooms:
        for data in [*room.rglob("*.json"), *room.rglob("*.md"), *room.glob("bin/*")]:
            if "__pycache__" not in data.parts:
                assert f"mindspeed_mm_train_profiler/{data.relative_to(ROOT).as_posix()}" in names


def test_no_tests_or_tooling_are_in_the_wheel(wheel: list[str]) -> None:
    assert not [name for name in wheel if "/tests/" in name or "/benchmarks/" in name or "/.types/" in name]


def test_the_installed_import_name_does_not_shadow_generic_ones() -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-c",
            "import importlib.util as u; print([n for n in ('tools','skill','server','runs','settings') if u.find_spec(n)])",
        ],
        capture_output=True,
        text=True,
        cwd="/",
        timeout=30,
    )
    assert done.stdout.strip() == "[]", done.stdout + done.stderr
