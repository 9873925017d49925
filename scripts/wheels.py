#!/usr/bin/env python3
"""Wheels only, for every platform this product is meant for: check that it holds, and pack an offline bundle.

    python scripts/wheels.py check                              resolve for all Pythons and both architectures
    python scripts/wheels.py check --beside FILE                together with the pins of a training environment
    python scripts/wheels.py bundle --python 3.11 --arch aarch64 --out DIR

``uv`` resolves (pip evaluates environment markers for the Python it runs on, not for the one asked for: its answer
for another version would be wrong), ``pip download`` fetches. Both need a package index. Exit codes: 0 all good,
1 a platform does not resolve, 3 a tool is missing.
"""

import argparse
import importlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

# pytest brings tomli to Python 3.10
tomllib = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
ARCHITECTURES = ("x86_64", "aarch64")
# glibc 2.17: CentOS 7 and everything newer (openEuler, Kylin V10 and Ubuntu hosts have 2.28 and more)
GLIBC_MINOR = 17
# torch itself has no wheels below glibc 2.28 from 2.7 on
BESIDE_GLIBC_MINOR = 28
TIMEOUT_S = 600

INSTALL_SH = """\
#!/bin/sh
# Installs into an environment of its own, from this folder alone. Usage: sh install.sh [TARGET]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
target=${1:-"$HOME/mindspeed-mm-train-profiler"}
python=${PYTHON:-python@PYTHON@}
"$python" -m venv "$target"
"$target/bin/python" -m pip install --no-index --find-links "$here/wheels" --only-binary=:all: @PACKAGE@
"$target/bin/mindspeed-mm-train-profiler" doctor || true
echo "Installed: $target/bin/mindspeed-mm-train-profiler"
"""


class Missing(Exception):
    """A tool that this needs is not there."""


def project() -> dict[str, object]:
    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return dict(data["project"])


def version() -> str:
    text = (ROOT / "_version.py").read_text(encoding="utf-8")
    return text.split("__version__ = ")[1].split("\n")[0].strip("\"' ")


def uv() -> list[str]:
    """How uv is started here."""
    if found := shutil.which("uv"):
        return [found]
    probe = subprocess.run([sys.executable, "-m", "uv", "--version"], capture_output=True, timeout=60, check=False)
    if probe.returncode == 0:
        return [sys.executable, "-m", "uv"]
    raise Missing("uv is not installed: python -m pip install uv")


def resolve(
    requirements: list[str], python: str, arch: str, *, glibc: int = GLIBC_MINOR, binary: bool = True
) -> tuple[list[str], str]:
    """Pinned requirements (``name==version``) for one platform, and what uv said; no pins where it failed."""
    command = [
        *uv(), "pip", "compile", "-", "--quiet", "--no-header", "--no-annotate",
        "--python-version", python, "--python-platform", f"{arch}-manylinux_2_{glibc}",
    ]  # fmt: skip
    if binary:
        command += ["--only-binary", ":all:"]
    done = subprocess.run(
        command, input="\n".join(requirements), capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    pins = [line for line in done.stdout.splitlines() if "==" in line]
    return (pins if done.returncode == 0 else []), done.stderr.strip()


def check(beside: Path | None) -> int:
    """Resolve for every platform. With ``beside``: together with those requirements, which need not be wheels."""
    requirements = [str(item) for item in project()["dependencies"]]  # type: ignore[attr-defined]
    glibc = GLIBC_MINOR
    if beside:
        glibc = max(glibc, BESIDE_GLIBC_MINOR)
        requirements += [line for line in beside.read_text(encoding="utf-8").splitlines() if line.strip()]
    bad = 0
    for python in PYTHONS:
        for arch in ARCHITECTURES:
            pins, said = resolve(requirements, python, arch, glibc=glibc, binary=beside is None)
            bad += not pins
            print(f"Python {python} {arch:8} {f'{len(pins)} packages' if pins else 'DOES NOT RESOLVE'}")
            if not pins:
                print("  " + said[:400].replace("\n", "\n  "))
    return 1 if bad else 0


def platforms(arch: str, glibc: int) -> list[str]:
    """Every platform tag that a host with this glibc takes, for pip."""
    tags = [f"manylinux_2_{minor}_{arch}" for minor in range(glibc, 4, -1)]
    legacy = [f"manylinux2014_{arch}"] + ([f"manylinux2010_{arch}", f"manylinux1_{arch}"] if arch == "x86_64" else [])
    return [*tags, *legacy, "any"]


def bundle(python: str, arch: str, out: Path, glibc: int) -> int:
    """Write ``<name>-<version>-py<python>-<arch>.tar.gz`` into ``out``."""
    requirements = [str(item) for item in project()["dependencies"]]  # type: ignore[attr-defined]
    pins, said = resolve(requirements, python, arch, glibc=glibc)
    if not pins:
        print(said, file=sys.stderr)
        return 1
    name = f"mindspeed-mm-train-profiler-{version()}-py{python}-{arch}"
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / name
        wheels = folder / "wheels"
        wheels.mkdir(parents=True)
        (folder / "requirements.txt").write_text("\n".join(pins) + "\n", encoding="utf-8")
        pip = [sys.executable, "-m", "pip"]
        subprocess.run(
            [
                *pip, "download", "--quiet", "--no-deps", "--only-binary=:all:", "--implementation", "cp",
                "--python-version", python, *[f"--platform={tag}" for tag in platforms(arch, glibc)],
                "--requirement", str(folder / "requirements.txt"), "--dest", str(wheels),
            ],
            check=True,
            timeout=TIMEOUT_S,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        source = Path(temporary) / "source"  # a copy: building leaves folders behind
        shutil.copytree(
            ROOT, source, ignore=shutil.ignore_patterns(".*", "build", "*.egg-info", "__pycache__", "tests")
        )
        subprocess.run(
            [*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", str(wheels), str(source)],
            check=True,
            timeout=TIMEOUT_S,
            stdin=subprocess.DEVNULL,
        )
        script = INSTALL_SH.replace("@PYTHON@", python)
        script = script.replace("@PACKAGE@", f"mindspeed-mm-train-profiler=={version()}")
        (folder / "install.sh").write_text(script, encoding="utf-8")
        target = out / f"{name}.tar.gz"
        with tarfile.open(target, "w:gz") as archive:
            archive.add(folder, arcname=name)
    print(f"{target}  ({target.stat().st_size / 1e6:.1f} MB, {len(pins) + 1} wheels)")
    return 0


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    checking = commands.add_parser("check", help="resolve wheels-only for every platform")
    checking.add_argument("--beside", type=Path, metavar="FILE", help="requirements of the environment to share")
    packing = commands.add_parser("bundle", help="pack wheels and an installer for a host without internet")
    packing.add_argument("--python", choices=PYTHONS, required=True, help="the Python of the host")
    packing.add_argument("--arch", choices=ARCHITECTURES, required=True, help="uname -m of the host")
    packing.add_argument("--glibc", type=int, default=GLIBC_MINOR, metavar="MINOR", help="17 means glibc 2.17")
    packing.add_argument("--out", type=Path, default=Path.cwd(), help="where the archive goes")
    given = parser.parse_args(argv)
    try:
        if given.command == "check":
            return check(given.beside)
        return bundle(given.python, given.arch, given.out, given.glibc)
    except Missing as error:
        print(error, file=sys.stderr)
        return 3


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main())
