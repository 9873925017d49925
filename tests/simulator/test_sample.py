"""The sample checkout: what the product finds in it, and what it carries."""

import subprocess
from pathlib import Path

import pytest

from mindspeed_mm_train_profiler.simulator.sample import RELEASES, make_checkout
from mindspeed_mm_train_profiler.tools.detect_engine import detect_engine

CHAINS = {
    "tools_json": ("megatron", "tools_json", "--train-iters"),
    "msrun": ("megatron", "tools_json", "--train-iters"),
    "yaml": ("megatron", "tools_json", "gpt_args.training.train_iters"),
    "fsdp2": ("fsdp2", "yaml", "training.train_iters"),
}


@pytest.mark.parametrize("release", RELEASES)
def test_every_chain_is_detected(release: str, tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "MindSpeed-MM", release)
    assert set(checkout.scripts) == (set(CHAINS) if RELEASES[release].fsdp2 else {"tools_json", "msrun"})
    for chain, script in checkout.scripts.items():
        found = detect_engine(str(script))
        engine, kind, key = CHAINS[chain]
        assert (found.engine, found.config_kind) == (engine, kind), chain
        assert found.train_iters is not None
        assert (found.train_iters.value, found.train_iters.key) == (5000, key)
        assert found.nproc_per_node == 2 and found.missing_paths == [], (chain, found.missing_paths)
        assert found.capabilities is not None
        assert found.capabilities.warmup_steps == RELEASES[release].warmup
        assert found.capabilities.analyse_flag is RELEASES[release].analyse_flag
        assert found.capabilities.dynamic is (engine == "megatron")


def test_inference_is_not_training(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "MindSpeed-MM")
    assert detect_engine(str(checkout.root / "examples/vlm/inference.sh")).engine == "unsupported"


@pytest.mark.parametrize("release", RELEASES)
def test_the_files_are_what_they_claim(release: str, tmp_path: Path) -> None:
    root = make_checkout(tmp_path / "MindSpeed-MM", release).root
    for script in root.rglob("*.sh"):
        assert subprocess.run(["bash", "-n", script], timeout=10).returncode == 0, script
        assert script.stat().st_mode & 0o111
    for module in root.rglob("*.py"):
        text = module.read_text()
        compile(text, str(module), "exec")
        assert "$" not in text, f"unfilled: {module}"
    assert "Nothing here trains anything" in (root / "README.md").read_text()


def test_an_unknown_release_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        make_checkout(tmp_path / "x", "1.2.3")
