"""Real launch scripts: the copy is run by bash behind stub launchers, and what it launches is read by the real loaders.

Wants ``MINDSPEED_MM_ROOT`` (any release), ``PROFILER_SHARED`` (the stub host and the loader harness), root on Linux (for
the throw-away namespaces) and ``REAL_STACK_PYTHON`` (torch on the CPU, PyYAML, pydantic). Samples every tenth script;
``PROFILER_FULL=1`` takes all.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mindspeed_mm_train_profiler import profile_config
from mindspeed_mm_train_profiler.launch_script import read_launch
from mindspeed_mm_train_profiler.launch_script.plan import LaunchPlan
from mindspeed_mm_train_profiler.options import ProfileOptions

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(1800)]

EVERYTHING = ["all_ranks", "long_window", "missing_paths", "multi_node", "world_changes", "checkpoint_overwrite"]
OPTIONS = ProfileOptions.model_validate(
    {
        "level": "level2",
        "start_step": 5,
        "end_step": 8,
        "train_iters": 2020,
        "with_memory": True,
        "data_simplification": True,
        "aic_metrics_type": "ArithmeticUtilization",
        "analyse_flag": False,
        "acknowledge": EVERYTHING,
    }
)
STUBS = {"_rec", "_noop", "_wrap"}


def _stub_host(shared: Path, folder: Path) -> Path:
    """A copy of the harness whose stubs are links again, where they were kept as small files naming their target."""
    shutil.copytree(shared / "tools" / "stub_host", folder / "stub_host")
    shutil.copy(shared / "tools" / "run_behind_stubs.py", folder)
    stubs = folder / "stub_host" / "stubs"
    for path in [stubs.parent, stubs, *stubs.iterdir()]:
        path.chmod(0o755)
    for path in stubs.iterdir():
        text = path.read_text(encoding="utf-8", errors="replace")
        if text.strip() in STUBS and not path.is_symlink():
            path.unlink()
            path.symlink_to(text.strip())
    return folder / "run_behind_stubs.py"


def _hashes(root: Path) -> dict[Path, tuple[str, int]]:
    return {
        path: (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in root.rglob("*")
        if path.suffix in {".sh", ".json", ".yaml"} and path.is_file()
    }


def _json(command: list[str], **kwargs: Any) -> Any:
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120, **kwargs)
    return json.loads(done.stdout.strip().splitlines()[-1] if "real_mm" in command[1] else done.stdout)


def _compare(manifest: dict[str, Any], seen: dict[str, Any]) -> list[str]:
    can, profile = manifest["capabilities"], seen["profile"]
    wanted: dict[str, Any] = {"level": "level2", "start_step": 5, "end_step": 8, "save_path": manifest["save_path"]}
    wanted |= {"with_cpu": True, "with_memory": True, "with_stack": False, "data_simplification": True}
    if can["aic_metrics_type"]:
        wanted["aic_metrics_type"] = "ArithmeticUtilization"
    if can["analyse_flag"]:
        wanted["analyse_flag"] = False
    wrong = [f"{k}: {profile['static_param'].get(k)}" for k, v in wanted.items() if profile["static_param"].get(k) != v]
    if (profile["enable"], profile["ranks"], profile["profile_type"]) != (True, [0], "static"):
        wrong.append(f"top: {profile}")
    if seen["train_iters"] != manifest["train_iters"]:
        wrong.append(f"train_iters: {seen['train_iters']}")
    if seen["captured_iterations"] != manifest["expected"]["iterations"]:
        wrong.append(f"captured: {seen['captured_iterations']}")
    return wrong


def _trainable(root: Path) -> list[tuple[Path, LaunchPlan]]:
    found = []
    for script in sorted(root.rglob("*.sh")):
        plan = read_launch(script, workdir=root)
        # its loop is its own: the harness drives MindSpeed-MM's Profiler
        own_loop = plan.reason.code == "engine_dancegrpo"
        if plan.engine != "unsupported" and len(plan.chain) > 1 and not own_loop:
            found.append((script, plan))
    return found if os.environ.get("PROFILER_FULL") else found[::10]


def test_the_real_loaders_see_what_was_confirmed(
    mindspeed_mm_root: Path, profiler_shared: Path, tmp_path: Path
) -> None:
    python = os.environ.get("REAL_STACK_PYTHON")
    if not python or os.geteuid() != 0:
        pytest.skip("wants REAL_STACK_PYTHON and root")
    root = tmp_path / "MindSpeed-MM"
    shutil.copytree(mindspeed_mm_root, root, symlinks=True, ignore=shutil.ignore_patterns(".git", "*.png", "*.gif"))
    runner = _stub_host(profiler_shared, tmp_path)
    before = _hashes(root)
    wrong, seen_well = {}, 0
    for script, plan in _trainable(root):
        manifest = profile_config.build(profile_config.prepare(plan, OPTIONS))
        try:
            copy = os.path.relpath(manifest["argv"][1], root)
            ran = _json([sys.executable, str(runner), str(root), copy])
            originals = {os.path.relpath(made["original"], root) for made in manifest["copies"]}
            assert not originals & set(ran["changed"]), script
            if not ran["launches"]:  # needs a world that is not here: weights, /workspace, a filled placeholder
                continue
            argv, cwd = ran["launches"][-1]["argv"], ran["launches"][-1]["cwd"]
            at = next(index for index, word in enumerate(argv) if word.endswith(".py"))
            command = [python, str(profiler_shared / "tools" / "real_mm.py"), str(root), *argv[at:]]
            env = {**os.environ, "RANK": "0", **({"MM_ENGINE": "fsdp2"} if plan.engine == "fsdp2" else {})}
            if any(note.code == "yaml_anchor_twice" for note in plan.notes):
                continue  # the trainer itself cannot read this release's example
            problems = _compare(manifest, _json(command, cwd=cwd, env=env))
            seen_well += not problems
            if problems:
                wrong[str(script)] = problems
        finally:
            profile_config.discard(manifest["config_id"])
    assert not wrong
    assert seen_well >= 2
    assert _hashes(root) == before
