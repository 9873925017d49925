"""Makes the world of one task: a simulated NPU host, a checkout, the record of how it looked, and what a client needs.

DIR/world.json      task, environment, hashes of the checkout before the task
DIR/prompt.txt      what the agent is told
DIR/.mcp.json       the server, with the simulated host in its environment
"""

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.simulator.host import make_host
from mindspeed_mm_train_profiler.simulator.sample import make_checkout
from mindspeed_mm_train_profiler.state import STATE_VARIABLE

HERE = Path(__file__).resolve().parent
NPROC = 2
SKIPPED = {"__pycache__"}


def tasks() -> dict[str, dict[str, Any]]:
    """All tasks by id."""
    data = json.loads((HERE / "evals.json").read_text(encoding="utf-8"))
    return {task["id"]: task for task in data["evals"]}


def fingerprint(root: Path) -> dict[str, str]:
    """Hash and mode of every file below ``root``, by relative path."""
    found = {}
    for path in sorted(root.rglob("*")):
        if path.is_file() and not SKIPPED & set(path.relative_to(root).parts):
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            found[path.relative_to(root).as_posix()] = f"{digest} {path.stat().st_mode:o}"
    return found


def prepare(task: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Write the task's world into the new folder ``folder``; returns what world.json holds."""
    folder = folder.absolute()
    folder.mkdir(parents=True)
    wish = task["world"]
    host = make_host(folder / "host")
    checkout = make_checkout(folder / "MindSpeed-MM", set_env=host.set_env, nproc=NPROC)
    for name in wish.get("remove", ()):
        (checkout.root / name).unlink()
    base = {key: os.environ[key] for key in ("PATH", "HOME", "LANG", "TMPDIR") if key in os.environ}
    base[STATE_VARIABLE] = str(folder / "state")
    environment = host.environment(base, **{"ms": 40, "devices": NPROC, **wish.get("switches", {})})
    prompt = task["prompt"].format(checkout=checkout.root)
    world = {
        "task": task["id"],
        "prompt": prompt,
        "checkout": str(checkout.root),
        "script": str(checkout.scripts[wish["chain"]]),
        "environment": environment,
        "before": fingerprint(checkout.root),
    }
    server = {"command": sys.executable, "args": ["-m", "mindspeed_mm_train_profiler.cli"], "env": environment}
    configuration = {"mcpServers": {"mindspeed-mm-train-profiler": server}}
    for name, content in (
        ("world.json", json.dumps(world, indent=2, ensure_ascii=False)),
        (".mcp.json", json.dumps(configuration, indent=2)),
        ("prompt.txt", prompt + "\n"),
    ):
        (folder / name).write_text(content, encoding="utf-8")
    return world


def load(folder: Path) -> dict[str, Any]:
    """The world that ``prepare`` wrote."""
    data: dict[str, Any] = json.loads((folder / "world.json").read_text(encoding="utf-8"))
    return data
