"""Copies that follow an allocation: by hand as the original, in an allocation as that says, in every plain shape."""

import subprocess
from pathlib import Path

import pytest

from mindspeed_mm_train_profiler import profile_config
from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.launch_script import read_launch
from mindspeed_mm_train_profiler.options import ProfileOptions
from mindspeed_mm_train_profiler.profile_config.cluster_copy import SAMPLE, VARIABLES
from mindspeed_mm_train_profiler.simulator.sample import Checkout, make_checkout

REST = "pretrain_vlm.py --mm-tool ./mindspeed_mm/tools/tools.json --train-iters 50"
SHAPES = {
    "variables": "NNODES=1\nNODE_RANK=0\nMASTER_ADDR=localhost\nMASTER_PORT=6000\ntorchrun --nproc_per_node 2 "
    f"--nnodes $NNODES --node_rank $NODE_RANK --master_addr $MASTER_ADDR --master_port $MASTER_PORT {REST}\n",
    "literals": f"torchrun --nproc_per_node 2 --nnodes 1 --node_rank=0 --master_addr 127.0.0.1 --master_port 6000 {REST}\n",
    "none": f"torchrun --nproc_per_node 2 {REST}\n",
    "some": f"torchrun --nnodes=1 --nproc_per_node=2 {REST}\n",
    "defaulted": 'N="${NNODES:-1}"\nR=${NODE_RANK:-0}\ntorchrun --nproc_per_node 2 --nnodes $N --node_rank $R '
    f'--master_addr "${{MASTER_ADDR:-localhost}}" --master_port 6000 {REST}\n',
    "one string": 'NNODES=1\nARGS="--nproc_per_node 2 --nnodes $NNODES --node_rank 0 --master_addr x --master_port 1"\n'
    f"torchrun $ARGS {REST}\n",
    "array with comments": "ARGS=(  # of the launcher\n  --nproc_per_node 2\n  --nnodes 1  # all of them\n  # --node_rank 7\n"
    "  --node_rank 0 # 从节点为1\n  --master_addr x\n  --master_port 1\n)\n"
    f'torchrun "${{ARGS[@]}}" {REST}\n',
    "module": f"python -m torch.distributed.run --nproc_per_node 2 --nnodes 1 {REST}\n",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return make_checkout(tmp_path / "mm")


def built(checkout: Checkout, text: str, nodes: int | None = 2) -> Path:
    script = checkout.scripts["tools_json"].parent / "mine.sh"
    script.write_text("#!/bin/bash\n" + text, encoding="utf-8")
    options = ProfileOptions(acknowledge=["missing_paths", "checkpoint_overwrite"], train_iters=60)
    manifest = profile_config.build(profile_config.prepare(read_launch(script), options, nodes=nodes))
    assert manifest["nodes"] == nodes and manifest["world_size"] == 2 * (nodes or 1)
    return next(Path(copy["copy"]) for copy in manifest["copies"] if copy["role"] == "script")


def launched(copy: Path, folder: Path, env: dict[str, str]) -> list[str]:
    """What real bash passes to the launcher."""
    for name in ("torchrun", "python"):
        standin = folder / name
        standin.write_text('#!/bin/bash\nprintf "%s\\n" "$@" > "$RECORD"\n', encoding="utf-8")
        standin.chmod(0o755)
    record = folder / "record"
    subprocess.run(
        ["bash", str(copy)],
        cwd=folder,
        env={"PATH": f"{folder}:/usr/bin:/bin", "RECORD": str(record), **env},
        stdin=subprocess.DEVNULL,
        timeout=20,
        check=True,
    )
    return record.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("shape", SHAPES)
def test_real_bash_passes_the_allocations_values(checkout: Checkout, tmp_path: Path, shape: str) -> None:
    copy = built(checkout, SHAPES[shape])
    by_hand = launched(copy, tmp_path, {})
    original = launched(copy.with_name("mine.sh"), tmp_path, {})
    assert [word for word in by_hand if "profile_2" not in word and word != "60"] == [
        word for word in original if not word.endswith("tools.json") and word != "50"
    ]
    words = launched(copy, tmp_path, dict(SAMPLE))
    for option, variable in VARIABLES:
        value = SAMPLE[variable]
        assert f"--{option}={value}" in words or words[words.index(f"--{option}") + 1] == value, words


HOSTFILES = {
    "substitutions": "HOSTFILE=\"nodes.txt\"\nMASTER_ADDR=$(head -n1 $HOSTFILE | awk '{print $1;}')\nNNODES=$(cat $HOSTFILE | wc -l)\n"
    "NODE_RANK=$(awk '{r[$1]=(FNR-1);}END{print r[\"'$MASTER_ADDR'\"];}' $HOSTFILE)\n",
    "backticks and quotes": 'HOST_FILE=\'nodes.txt\'\nMASTER_ADDR="$(head -n1 $HOST_FILE)"\nNNODES=`cat $HOST_FILE | wc -l`\nNODE_RANK="`echo 0`"\n',
}


@pytest.mark.parametrize("shape", HOSTFILES)
def test_what_a_hostfile_tells_comes_from_the_allocation(checkout: Checkout, tmp_path: Path, shape: str) -> None:
    """In an allocation the file is not asked, and what is derived from its length follows."""
    text = HOSTFILES[shape] + (
        "GBS=$((2 * NNODES * 4))\ntorchrun --nproc_per_node 2 --nnodes $NNODES --node_rank $NODE_RANK "
        f"--master_addr $MASTER_ADDR --master_port 6000 {REST} --global-batch-size $GBS\n"
    )
    copy = built(checkout, text)
    words = launched(copy, tmp_path, dict(SAMPLE))
    for option, variable in VARIABLES:
        assert words[words.index(f"--{option}") + 1] == SAMPLE[variable]
    assert words[-1] == str(2 * int(SAMPLE["MM_PROFILER_NNODES"]) * 4)
    (tmp_path / "nodes.txt").write_text("one\ntwo\nthree\nfour\n", encoding="utf-8")
    by_hand = launched(copy, tmp_path, {})
    assert by_hand[by_hand.index("--nnodes") + 1] == "4" and by_hand[-1] == "32"
    assert by_hand[by_hand.index("--master_addr") + 1] == "one"
    made = tmp_path / "made"
    made.write_text("a\nb\n", encoding="utf-8")
    from_ours = launched(copy, tmp_path, {"MM_PROFILER_HOSTFILE": str(made)})
    assert from_ours[from_ours.index("--nnodes") + 1] == "2"


@pytest.mark.parametrize(
    "text",
    [
        f"msrun --worker_num=2 --local_worker_num=2 {REST}\n",
        f"torchrun --standalone --nproc_per_node 2 {REST}\n",
        f"torchrun --nproc_per_node 2 --rdzv_backend c10d --rdzv_endpoint x:1 {REST}\n",
        f"bash -c 'torchrun --nproc_per_node 2 {REST}'\n",
        f"export PET_RDZV_BACKEND=c10d\ntorchrun --nproc_per_node 2 {REST}\n",
        # each node of the allocation would start all nodes
        f"srun -N 2 torchrun --nproc_per_node 2 {REST}\n",
        f"ssh n2 'torchrun --nproc_per_node 2 --node_rank 1 {REST}' &\ntorchrun --nproc_per_node 2 --node_rank 0 {REST}\n",
        f"for h in n2 n3; do nohup ssh $h <<END &\nbash run.sh 1\nEND\ndone\ntorchrun --nproc_per_node 2 {REST}\n",
        f"for i in 0 1; do torchrun --nproc_per_node 2 --node_rank $i {REST} & done; wait\n",
    ],
)
def test_what_cannot_be_led_is_refused(checkout: Checkout, text: str) -> None:
    with pytest.raises(CodedError, match="cluster_launcher_not_supported"):
        built(checkout, text)


SET_AGAIN = {
    "address by rank": "NNODES=2\nNODE_RANK=${NODE_RANK:-0}\nif [ $NODE_RANK -eq 0 ]; then MASTER_ADDR=localhost; "
    "else MASTER_ADDR=10.0.0.1; fi\n",
    "address of rank 0": 'NNODES=2\nNODE_RANK=0\nif [ "$NODE_RANK" = "0" ]; then MASTER_ADDR=$(echo a); fi\n',
    "one number for two things": "NNODES=2\nNODE_RANK=0\nMASTER_ADDR=x\n",
}


@pytest.mark.parametrize("shape", SET_AGAIN)
def test_where_a_definition_does_not_do_the_use_follows(checkout: Checkout, tmp_path: Path, shape: str) -> None:
    nproc = "$NNODES" if shape.startswith("one number") else "2"
    text = SET_AGAIN[shape] + (
        f"torchrun --nproc_per_node {nproc} --nnodes $NNODES --node_rank $NODE_RANK --master_addr $MASTER_ADDR "
        f"--master_port 6000 {REST}\n"
    )
    words = launched(built(checkout, text), tmp_path, dict(SAMPLE))
    for option, variable in VARIABLES:
        assert words[words.index(f"--{option}") + 1] == SAMPLE[variable]
    assert words[words.index("--nproc_per_node") + 1] == "2"


def test_an_address_that_nobody_filled_in_is_the_allocations(checkout: Checkout, tmp_path: Path) -> None:
    """``MASTER_ADDR=<master_ip_address>`` (qwen3omni) is a redirection to bash: the copy must not keep it."""
    text = f"MASTER_ADDR=<master_ip_address>\ntorchrun --nproc_per_node 2 --master_addr $MASTER_ADDR {REST}\n"
    words = launched(built(checkout, text), tmp_path, dict(SAMPLE))
    assert words[words.index("--master_addr") + 1] == SAMPLE["MM_PROFILER_MASTER_ADDR"]


def test_a_command_on_another_host_that_starts_nothing_is_no_reason(checkout: Checkout) -> None:
    built(checkout, f"ssh n2 mkdir -p logs || true\ntorchrun --nproc_per_node 2 {REST}\n")


def test_nodes_must_be_positive(checkout: Checkout) -> None:
    with pytest.raises(CodedError, match="nodes_not_positive"):
        built(checkout, SHAPES["none"], nodes=0)


def test_a_value_that_is_not_known_is_told_where_it_is_used(checkout: Checkout, tmp_path: Path) -> None:
    """Both branches are possible: the copy's number stands at the place of use."""
    text = f"if ls /nowhere-at-all; then TI=5; else TI=9; fi\ntorchrun --nproc_per_node 2 {REST.replace('50', '$TI')}\n"
    copy = built(checkout, text, nodes=None)
    assert launched(copy, tmp_path, {})[-1] == "60"
