"""What a script derives from its node settings follows the allocation, wherever and however they are set."""

import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from mindspeed_mm_train_profiler import profile_config
from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.launch_script import read_launch
from mindspeed_mm_train_profiler.options import ProfileOptions
from mindspeed_mm_train_profiler.simulator.sample import Checkout, make_checkout

NODES = "--nnodes $NNODES --node_rank $NODE_RANK --master_addr $MASTER_ADDR --master_port 29500"
TRAIN = "pretrain_vlm.py --mm-tool ./mindspeed_mm/tools/tools.json --train-iters 40"
DERIVED = "--batch=$((NNODES * 16)) --log=rank_$NODE_RANK --peer=$MASTER_ADDR"
PLACE = {"MM_PROFILER_NNODES": "5", "MM_PROFILER_MASTER_ADDR": "head.example", "MM_PROFILER_MASTER_PORT": "31000"}
SETTINGS = {
    "exported by name": "NNODES=1 NODE_RANK=0\nMASTER_ADDR=127.0.0.1\nexport NNODES NODE_RANK MASTER_ADDR\n",
    "set where unset": ': "${NNODES:=1}" ${NODE_RANK:=0}\n: ${MASTER_ADDR:=127.0.0.1}\n',
    "host's name": 'NNODES=2; MASTER_ADDR=alpha\ncase "$(hostname -s)" in\n  alpha) NODE_RANK=0 ;;\n  *) NODE_RANK=1 ;;\nesac # by name\n',
    "host's address": 'MASTER_ADDR=192.0.2.1\nNNODES=2\nif hostname -I | grep -q "$MASTER_ADDR"; then\n  NODE_RANK=0\nelse\n  NODE_RANK=1\nfi\n',
    "lines of a file": 'NNODES=0\nwhile IFS=" " read -r name slots; do\n  [ "$name" = "$(hostname)" ] && NODE_RANK=$NNODES\n'
    '  [ $NNODES -eq 0 ] && MASTER_ADDR=$name\n  NNODES=$((NNODES + 1))\ndone < /dev/null\n',
    "array of a file": 'mapfile -t ALL < /dev/null\nNNODES=${#ALL[@]}\nMASTER_ADDR=${ALL[0]}\nNODE_RANK=0\n'
    'for i in "${!ALL[@]}"; do [ "${ALL[$i]}" = "$(hostname)" ] && NODE_RANK=$i; done\n',
    "array of addresses": 'ALL=("192.0.2.1" "192.0.2.2")\nNNODES=${#ALL[*]}\nMASTER_ADDR="${ALL[0]}"\n'
    'for i in "${!ALL[@]}"; do if [ "${ALL[$i]}" == "$(hostname -i)" ]; then NODE_RANK=$i; break; fi; done\n',
    "list in a string": "IFS=',' read -ra ALL <<< \"192.0.2.1,192.0.2.2\"\nNNODES=${#ALL[@]}\nMASTER_ADDR=${ALL[0]}\nNODE_RANK=${NODE_RANK:-0}\n",
    "computed twice": 'NNODES=2\nMASTER_ADDR=alpha\nNODE_RANK=$(echo 1)\nNODE_RANK=$((NODE_RANK - 1))\n',
    "platform's list": "NNODES=${PLATFORM_HOSTS_COUNT:-1}\nNODE_RANK=${PLATFORM_INDEX:-0}\nMASTER_ADDR=${PLATFORM_HOSTS%%,*}\n",
    "in a function": 'settings() {\n  NNODES=1\n  NODE_RANK=$(id -u | tr -dc 0)\n  MASTER_ADDR=alpha\n}\nsettings\n',
    "counted in a loop": 'MASTER_ADDR=alpha\nNNODES=2\nNODE_RANK=0\nfor name in alpha beta; do\n  if [ "$name" == "$(hostname)" ]; then break; fi\n'
    '  ((NODE_RANK++))\ndone\n',
    "set by printf": 'printf -v NODE_RANK "%d" 0\nNNODES=1\nMASTER_ADDR=alpha\n',
    "in arithmetic": '((NNODES=1))\nlet NODE_RANK=0\nMASTER_ADDR=alpha\n',
}  # fmt: skip


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return make_checkout(tmp_path / "mm")


def copy_of(checkout: Checkout, text: str, **sourced: str) -> tuple[Path, list[str]]:
    """The copy, and the codes that the build told."""
    folder = checkout.scripts["tools_json"].parent
    for name, content in sourced.items():
        (folder / f"{name}.sh").write_text(content, encoding="utf-8")
    script = folder / "derived.sh"
    script.write_text("#!/bin/bash\n" + text, encoding="utf-8")
    options = ProfileOptions(acknowledge=["missing_paths", "checkpoint_overwrite"], train_iters=50)
    manifest = profile_config.build(profile_config.prepare(read_launch(script), options, nodes=5))
    copy = next(Path(row["copy"]) for row in manifest["copies"] if row["role"] == "script")
    return copy, [note["code"] for note in manifest["notes"]]


def passed(copy: Path, folder: Path, env: dict[str, str]) -> list[str]:
    """What real bash passes to torchrun."""
    (folder / "torchrun").write_text('#!/bin/bash\nprintf "%s\\n" "$@" > "$SEEN"\n', encoding="utf-8")
    (folder / "torchrun").chmod(0o755)
    seen = folder / "seen"
    subprocess.run(
        ["bash", str(copy)],
        cwd=folder,
        env={"PATH": f"{folder}:/usr/bin:/bin", "SEEN": str(seen), **env},
        stdin=subprocess.DEVNULL,
        timeout=20,
        check=True,
    )
    return seen.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("shape", SETTINGS)
def test_what_is_derived_follows(checkout: Checkout, tmp_path: Path, shape: str) -> None:
    copy, told = copy_of(checkout, SETTINGS[shape] + f"torchrun --nproc_per_node 2 {NODES} {TRAIN} {DERIVED}\n")
    for rank in ("0", "3"):
        words = passed(copy, tmp_path, {**PLACE, "MM_PROFILER_NODE_RANK": rank})
        assert words[words.index("--nnodes") + 1 :: 2][:3] == ["5", rank, "head.example"], words
        assert words[-3:] == ["--batch=80", f"--log=rank_{rank}", "--peer=head.example"]
        assert not any(
            here.startswith("--m") and there.startswith("--") for here, there in pairwise(words) if "=" not in here
        )
    assert "cluster_value_kept" not in told
    assert passed(copy, tmp_path, {})[-3:] == passed(copy.with_name("derived.sh"), tmp_path, {})[-3:], (
        "by hand as it was"
    )


def test_settings_of_a_sourced_file_follow_behind_it(checkout: Checkout, tmp_path: Path) -> None:
    settings = "NNODES=2\nMASTER_ADDR=alpha\nif [ -e /nowhere/rank ]; then NODE_RANK=1; else NODE_RANK=$(hostname | tr -d 'a-zA-Z.-'); fi\n"
    text = f'source "$(dirname "$0")/nodes.sh"\ntorchrun --nproc_per_node 2 {NODES} {TRAIN} {DERIVED}\n'
    copy, _ = copy_of(checkout, text, nodes=settings)
    words = passed(copy, tmp_path, {**PLACE, "MM_PROFILER_NODE_RANK": "4"})
    assert words[-3:] == ["--batch=80", "--log=rank_4", "--peer=head.example"]


def test_settings_that_only_several_nodes_pass_on(checkout: Checkout, tmp_path: Path) -> None:
    """By hand the launcher is given no nodes at all; in an allocation the script itself gives them."""
    text = (
        "NNODES=1\nNODE_RANK=0\nMASTER_ADDR=alpha\nARGS='--nproc_per_node 2'\n"
        f'if [ $NNODES -gt 1 ]; then ARGS="$ARGS {NODES}"; fi\ntorchrun $ARGS {TRAIN} {DERIVED}\n'
    )
    copy, _ = copy_of(checkout, text)
    words = passed(copy, tmp_path, {**PLACE, "MM_PROFILER_NODE_RANK": "1"})
    assert words[-3:] == ["--batch=80", "--log=rank_1", "--peer=head.example"]
    assert passed(copy, tmp_path, {})[-3:] == ["--batch=16", "--log=rank_0", "--peer=alpha"]


def test_a_variable_with_two_meanings_is_told(checkout: Checkout) -> None:
    text = f"NNODES=2\nNODE_RANK=0\nMASTER_ADDR=alpha\ntorchrun --nproc_per_node $NNODES {NODES} {TRAIN}\n"
    assert "cluster_value_kept" in copy_of(checkout, text)[1]


@pytest.mark.parametrize(
    "text",
    [
        # another command on all nodes but the first, on the last one, for more than one node
        f"NNODES=1\nNODE_RANK=0\nMASTER_ADDR=a\nif [ $NODE_RANK -eq 0 ]; then\n torchrun --nproc_per_node 2 {NODES} {TRAIN}\n"
        f"else\n torchrun --nproc_per_node 2 {NODES} {TRAIN}\nfi\n",
        f"NNODES=1\nNODE_RANK=0\nMASTER_ADDR=a\nif [ $((NODE_RANK + 1)) -eq $NNODES ]; then\n torchrun --nproc_per_node 2 {NODES} {TRAIN} | cat\n"
        f"else\n torchrun --nproc_per_node 2 {NODES} {TRAIN} > o\nfi\n",
    ],
)
def test_a_script_that_launches_something_else_on_other_nodes_is_refused(checkout: Checkout, text: str) -> None:
    """That command would train with the original configuration: its ranks would collect nothing."""
    with pytest.raises(CodedError, match="cluster_nodes_differ"):
        copy_of(checkout, text)


def test_a_platforms_variables_that_are_not_set_here_are_named(checkout: Checkout, tmp_path: Path) -> None:
    text = (
        "torchrun --nproc_per_node 2 --nnodes $WORLD_SIZE --node_rank $RANK --master_addr $MASTER_ADDR "
        f"--master_port $MASTER_PORT {TRAIN}\n"
    )
    with pytest.raises(CodedError, match="cluster_options_empty") as refused:
        copy_of(checkout, text)
    assert "--nnodes" in str(refused.value.found)
