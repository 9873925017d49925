"""A simulated host and a sample checkout for each test, and a way to run one of its scripts."""

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mindspeed_mm_train_profiler.simulator.host import SimulatedHost, make_host
from mindspeed_mm_train_profiler.simulator.sample import Checkout, make_checkout


@dataclass
class Trained:
    """What one run of a launch script left."""

    checkout: Checkout
    code: int
    output: str
    save: Path

    def sessions(self) -> list[Path]:
        return sorted(self.save.glob("*_ascend_pt"))

    def session(self, rank: int = 0) -> Path:
        (found,) = [path for path in self.sessions() if (path / f"profiler_info_{rank}.json").exists()]
        return found

    def iterations(self) -> list[int]:
        lines = [line for line in self.output.splitlines() if "elapsed time per iteration" in line and "/" in line]
        return [int(line.split(" iteration ")[1].split("/")[0]) for line in lines]


@pytest.fixture
def host(tmp_path: Path) -> SimulatedHost:
    return make_host(tmp_path / "host")


Train = Callable[..., Trained]


@pytest.fixture
def train(host: SimulatedHost, tmp_path: Path) -> Train:
    """``train(chain, profile=..., release=..., iters=..., nproc=..., **switches)`` runs a script to its end."""

    def run(
        chain: str = "tools_json",
        *,
        profile: dict[str, Any] | None = None,
        release: str = "26.1.0",
        iters: int = 6,
        nproc: int = 1,
        enable: bool = True,
        **switches: object,
    ) -> Trained:
        checkout = make_checkout(
            tmp_path / "MindSpeed-MM", release, set_env=host.set_env, nproc=nproc, train_iters=iters
        )
        save = tmp_path / "collected"
        values = {"start_step": 2, "end_step": 4, "save_path": str(save)} | (profile or {})
        ranks = values.pop("ranks", [-1])
        if chain == "fsdp2":
            file = checkout.root / "examples/fsdp2/finetune.yaml"
            import yaml

            config = yaml.safe_load(file.read_text())
            block = config["tools"]["profile"]
        else:
            file = checkout.root / "mindspeed_mm/tools/tools.json"
            config = json.loads(file.read_text())
            block = config["profile"]
        block["enable"], block["ranks"] = enable, ranks
        block["static_param"].update(values)
        file.write_text(json.dumps(config))  # JSON is YAML as well
        done = subprocess.run(
            ["bash", str(checkout.scripts[chain])],
            cwd=checkout.root,
            env=host.environment(**{"ms": 4, "devices": nproc} | switches),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
        )
        return Trained(checkout, done.returncode, done.stdout, save)

    return run
