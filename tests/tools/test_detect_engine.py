"""detect_engine as a client meets it: engine, chain, iterations, what is missing, and what is no training of ours."""

from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from mindspeed_mm_train_profiler.server import build_server
from mindspeed_mm_train_profiler.simulator.sample import Checkout, make_checkout


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return make_checkout(tmp_path / "mm")


async def detect(**arguments: Any) -> dict[str, Any]:
    async with Client(build_server()) as client:
        result = await client.call_tool("detect_engine", arguments)
    assert result.structured_content is not None
    return {**result.structured_content, "_error": result.is_error, "_text": getattr(result.content[0], "text", "")}


@pytest.mark.parametrize(
    ("chain", "engine", "kind", "roles", "key"),
    [
        ("tools_json", "megatron", "tools_json", ["script", "tools_json"], "--train-iters"),
        ("yaml", "megatron", "tools_json", ["script", "yaml", "tools_json"], "gpt_args.training.train_iters"),
        ("fsdp2", "fsdp2", "yaml", ["script", "yaml"], "training.train_iters"),
    ],
)
async def test_the_three_chains(
    checkout: Checkout, chain: str, engine: str, kind: str, roles: list[str], key: str
) -> None:
    """SK-04, SK-06."""
    script = checkout.scripts[chain]
    before = {path: path.read_bytes() for path in checkout.root.rglob("*") if path.is_file()}
    found = await detect(script=str(script))
    assert (found["engine"], found["config_kind"], found["framework"]) == (engine, kind, "torch")
    assert [link["role"] for link in found["config_chain"]] == roles
    assert all(Path(link["path"]).is_absolute() for link in found["config_chain"])
    assert found["config_path"] == found["config_chain"][-1]["path"]
    assert found["train_iters"]["key"] == key and found["train_iters"]["value"] > 0
    assert found["workdir"] == str(checkout.root) and found["launcher"] == "torchrun"
    assert found["next_step"]["tool"] in {"check_env", "choose_options"}
    assert {path: path.read_bytes() for path in checkout.root.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("torchrun --nproc_per_node 2 train.py --lr 1\n", "pytorch-profiling-collection"),
        ("python -m vllm.entrypoints.api_server --model x\n", "pytorch-profiling-collection"),
        ("echo nothing is launched here\n", None),
    ],
)
async def test_other_scripts_are_a_normal_answer(tmp_path: Path, text: str, named: str | None) -> None:
    """SK-05."""
    script = tmp_path / "run.sh"
    script.write_text(text, encoding="utf-8")
    (tmp_path / "train.py").write_text("import torch\n", encoding="utf-8")
    found = await detect(script=str(script), language="zh")
    assert not found["_error"] and found["engine"] == "unsupported" and found["reason"]
    assert found["config_path"] is None and found["train_iters"]["value"] is None
    if named:
        assert named in (found["suggestion"] or "") + found["reason"]


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda path: None, "no_script"),
        (lambda path: path.mkdir(), "script_is_directory"),
        (lambda path: path.write_bytes(b""), "script_empty"),
        (lambda path: path.write_bytes(b"\x7fELF\0\0\1\2" * 99), "script_binary"),
    ],
)
async def test_bad_input_is_coded(tmp_path: Path, make: Any, code: str) -> None:
    path = tmp_path / "run.sh"
    make(path)
    found = await detect(script=str(path))
    assert found["_error"] and found["error"]["code"] == code
    assert str(path) in found["_text"] and found["error"]["hint"]


async def test_a_broken_configuration_is_told_with_its_place(checkout: Checkout) -> None:
    chain = (await detect(script=str(checkout.scripts["tools_json"])))["config_chain"]
    Path(chain[-1]["path"]).write_text('{\n  "profile": {\n    "enable": false,,\n', encoding="utf-8")
    found = await detect(script=str(checkout.scripts["tools_json"]))
    assert found["_error"] and "3" in found["error"]["message"]
    assert found["error"]["code"].startswith("config_")


async def test_what_is_missing_or_unknown_is_told_with_its_line(checkout: Checkout) -> None:
    script = checkout.scripts["tools_json"]
    text = script.read_text(encoding="utf-8")
    mine = script.parent / "mine.sh"
    mine.write_text(text.replace("torchrun", "X=$(hostname -I)\ntorchrun --rdzv_id $X", 1), encoding="utf-8")
    found = await detect(script=str(mine))
    (unknown,) = [row for row in found["unresolved"] if "hostname" in row["name"] or row["name"] == "X"]
    assert mine.read_text(encoding="utf-8").splitlines()[unknown["line"] - 1].startswith("X=") and unknown["why"]
    data = next(path for path in checkout.root.rglob("*.json") if "data" in path.name)
    data.unlink()
    missing = (await detect(script=str(script)))["missing_paths"]
    assert str(data) in [row["path"] for row in missing] and all(row["line"] for row in missing)
