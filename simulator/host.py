"""Builds a simulated NPU host in a folder: what to put on PATH and PYTHONPATH, a CANN to source, and the environment.

    host = make_host(folder)
    subprocess.run(["bash", script], env=host.environment())

Everything is written at run time, so that it works the same from a checkout and from an installed wheel (which may lose
the executable bits of ``simulator/bin``), and so that the interpreter is the one that made the host.
"""

import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mindspeed_mm_train_profiler.simulator.generations import TABLE, generation
from mindspeed_mm_train_profiler.simulator.switches import PREFIX
from mindspeed_mm_train_profiler.simulator.switches import TABLE as SWITCHES

NOTE = "part of a simulated NPU host: no device is used"
COMMANDS = {
    "npu-smi": "npu_smi",
    "torchrun": "launcher torchrun",
    "msrun": "launcher msrun",
}


@dataclass(frozen=True, slots=True)
class SimulatedHost:
    """Where its parts lie. ``env``: variables to set; PATH and PYTHONPATH are joined to the caller's own."""

    folder: Path
    path_dir: Path
    site_dir: Path
    cann_dir: Path
    env: dict[str, str]

    @property
    def set_env(self) -> Path:
        """The script that real launch scripts source."""
        return self.cann_dir / "set_env.sh"

    def environment(self, base: Mapping[str, str] | None = None, **switches: object) -> dict[str, str]:
        """``base`` (default: this process's) with the host in it. ``switches``: ``crash_at=7`` and the like."""
        merged = dict(os.environ if base is None else base)
        merged |= self.env
        merged["PATH"] = os.pathsep.join(filter(None, [str(self.path_dir), merged.get("PATH", "/usr/bin:/bin")]))
        merged["PYTHONPATH"] = os.pathsep.join(filter(None, [str(self.site_dir), merged.get("PYTHONPATH", "")]))
        for name, value in switches.items():
            if name.upper() not in SWITCHES:
                raise ValueError(f"no such switch: {name}")
            merged[PREFIX + name.upper()] = "1" if value is True else str(value)
        return merged


def make_host(folder: Path, *, torch_npu: str = "26.0.0", python: str = sys.executable) -> SimulatedHost:
    """Write the host under ``folder`` (created if missing). ``python`` runs its commands; it needs PyYAML for YAML."""
    folder = folder.absolute()
    path_dir, site_dir, cann_dir = folder / "bin", folder / "site", folder / "Ascend" / "ascend-toolkit"
    run = Path(__file__).with_name("run.py").resolve()
    for name, words in COMMANDS.items():
        _write(path_dir / name, f'exec {shlex.quote(python)} {shlex.quote(str(run))} {words} "$@"\n', shell=True)
    _cann(cann_dir, generation(torch_npu).cann)
    _site(site_dir, run, generation(torch_npu).package)
    env = {PREFIX + "HOME": str(folder), PREFIX + "PYTHON": python, PREFIX + "TORCH_NPU": torch_npu}
    return SimulatedHost(folder, path_dir, site_dir, cann_dir, env)


def _write(path: Path, text: str, *, shell: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    head = f"#!/bin/sh\n# {NOTE}\n" if shell else ""
    path.write_text(head + text, encoding="utf-8")
    if shell:
        path.chmod(0o755)


def _cann(root: Path, version: str) -> None:
    """set_env.sh, the files that name the version, and msprof, where CANN's installer puts them."""
    latest = root / "latest"
    _write(
        root / "set_env.sh",
        f"export ASCEND_TOOLKIT_HOME={shlex.quote(str(latest))}\n"
        f"export ASCEND_HOME_PATH={shlex.quote(str(latest))}\n"
        f"export PATH={shlex.quote(str(latest / 'bin'))}:$PATH\n",
        shell=True,
    )
    _write(latest / "version.cfg", f"# {NOTE}\ntoolkit_installed_version=[{version}:{version}]\n")
    for machine in ("aarch64-linux", "x86_64-linux"):
        _write(
            latest / machine / "ascend_toolkit_install.info",
            f"package_name=Ascend-cann-toolkit\nversion={version}\ninnerversion=simulated\n"
            f"arch={machine.partition('-')[0]}\nos=linux\npath={latest / machine}\n",
        )
    _write(latest / "bin" / "msprof", 'echo "msprof (simulated NPU host): nothing to do"\n', shell=True)


TORCH = '''"""torch as environment probes see it. Part of a simulated NPU host: no device is used."""
import types

import torch_npu as _npu

__version__ = _npu.__version__.partition("+")[0].partition(".post")[0] + "+simulated"
version = types.SimpleNamespace(__version__=__version__, cuda=None, hip=None)
npu = _npu.npu
cuda = types.SimpleNamespace(is_available=lambda: False, device_count=lambda: 0)
'''
TORCH_RUN = '''"""python -m torch.distributed.run. Part of a simulated NPU host: no device is used."""
import os
import sys

os.execv(sys.executable, [sys.executable, {run!r}, "launcher", "torchrun", *sys.argv[1:]])
'''
TORCH_NPU = '''"""torch_npu as environment probes see it. Part of a simulated NPU host: no device is used."""
import importlib.util
import types

_spec = importlib.util.spec_from_file_location("_simulated_npu_run", {run!r})
_run = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_run)
_run.make_importable()
from mindspeed_mm_train_profiler.simulator import fake_torch_npu as _answers

__version__ = _answers.version()
npu = types.ModuleType("torch_npu.npu")
npu.is_available = _answers.is_available
npu.device_count = _answers.device_count
npu.get_device_name = _answers.get_device_name
npu.current_device = lambda: 0
'''
PROFILER = '''"""torch_npu.profiler of a simulated NPU host: the offline parser only."""
from mindspeed_mm_train_profiler.simulator.fake_torch_npu import analyse
'''


def _site(root: Path, run: Path, torch_version: str) -> None:
    """``torch`` and ``torch_npu`` for probes and for offline parsing, with the metadata of installed distributions."""
    _write(root / "torch" / "__init__.py", TORCH)
    for name in ("run", "launch"):
        _write(root / "torch" / "distributed" / f"{name}.py", TORCH_RUN.format(run=str(run)))
    _write(root / "torch" / "distributed" / "__init__.py", "")
    _write(root / "torch_npu" / "__init__.py", TORCH_NPU.format(run=str(run)))
    _write(root / "torch_npu" / "profiler" / "__init__.py", PROFILER)
    _write(root / "torch_npu" / "profiler" / "profiler.py", PROFILER)
    for name in ("torch", "torch_npu"):
        _write(
            root / f"{name}-{torch_version}+simulated.dist-info" / "METADATA",
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {torch_version}+simulated\nSummary: {NOTE}\n",
        )


__all__ = ["TABLE", "SimulatedHost", "make_host"]
