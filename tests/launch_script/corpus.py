"""Scripts in every shape that real launch scripts take, written for these tests, with what bash would launch.

Each is put into ``examples/case/run.sh`` of the sample checkout (``simulator.sample``) unless ``at`` names another place.
``argv``: the launcher's words as the shell passes them ({root} is the checkout, {dir} the script's folder); None: not known by
reading, and said so. ``chain``: role by role, relative to the checkout.
"""

from dataclasses import dataclass, field

TOOLS = "mindspeed_mm/tools/tools.json"
FSDP = "mindspeed_mm/fsdp/train/trainer.py"
FSDP_YAML = "examples/fsdp2/finetune.yaml"
MM_YAML = "examples/transformers/finetune.yaml"


@dataclass(frozen=True)
class Case:
    name: str
    script: str
    argv: "list[str] | None"
    engine: str = "megatron"
    chain: tuple[str, ...] = (TOOLS,)
    iters: "int | None" = 9
    key: "str | None" = "--train-iters"
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    at: str = "examples/case/run.sh"
    reason: "str | None" = None
    world: "int | None" = 2
    notes: tuple[str, ...] = ()


TAIL = ["pretrain_vlm.py", "--train-iters", "9", "--mm-tool", "./" + TOOLS]
T2 = ["torchrun", "--nproc_per_node", "2", *TAIL]
BODY = f"pretrain_vlm.py --train-iters 9 --mm-tool ./{TOOLS}"


def plain(name: str, script: str, argv: "list[str] | None" = None, **more: object) -> Case:
    return Case(name, script, T2 if argv is None else argv, **more)  # type: ignore[arg-type]


CASES: tuple[Case, ...] = (
    plain("inline", f"torchrun --nproc_per_node 2 {BODY}\n"),
    plain("no final newline", f"torchrun --nproc_per_node 2 {BODY}"),
    plain("shebang and comments", f"#!/bin/bash\n# 训练脚本\ntorchrun --nproc_per_node 2 {BODY}  # end\n"),
    plain("continued lines", "torchrun --nproc_per_node 2 \\\n  pretrain_vlm.py \\\n  --train-iters 9 \\\n  --mm-tool ./" + TOOLS + "\n"),
    plain("tabs", "torchrun\t--nproc_per_node\t2\t" + BODY.replace(" ", "\t") + "\n"),
    plain("variables", f"N=2\nITERS=9\nMM_TOOL=./{TOOLS}\ntorchrun --nproc_per_node $N pretrain_vlm.py --train-iters $ITERS --mm-tool $MM_TOOL\n"),
    plain("double-quoted variable", f'MM_TOOL="./{TOOLS}"\ntorchrun --nproc_per_node 2 pretrain_vlm.py --train-iters 9 --mm-tool "$MM_TOOL"\n'),
    plain("single quotes", f"MM_TOOL='./{TOOLS}'\ntorchrun --nproc_per_node 2 pretrain_vlm.py --train-iters 9 --mm-tool ${{MM_TOOL}}\n"),
    plain("argument blob", f'MM_TOOL="./{TOOLS}"\nARGS="\n    --train-iters 9 \\\n    --mm-tool $MM_TOOL\n"\nDIST="--nproc_per_node 2"\ntorchrun $DIST pretrain_vlm.py $ARGS\n'),
    plain("blob with a backslash before its end", f'ARGS="--train-iters 9 \\\n --mm-tool ./{TOOLS} \\\n"\ntorchrun --nproc_per_node 2 pretrain_vlm.py \\\n $ARGS\n'),
    plain("quotes inside a blob", 'D="--nproc_per_node 2 --log_dir="logs" "\ntorchrun $D ' + BODY + "\n", ["torchrun", "--nproc_per_node", "2", "--log_dir=logs", *TAIL]),
    plain("dangling comment after a blob", f'ARGS="--train-iters 9 --mm-tool ./{TOOLS}"\n# --load $LOAD \\\ntorchrun --nproc_per_node 2 pretrain_vlm.py $ARGS\n'),
    plain("appended", f'ARGS="--train-iters 9"\nARGS+=" --mm-tool ./{TOOLS}"\ntorchrun --nproc_per_node 2 pretrain_vlm.py $ARGS\n'),
    plain("array", f'ARGS=(--train-iters 9)\nARGS+=(--mm-tool "./{TOOLS}")\ntorchrun --nproc_per_node 2 pretrain_vlm.py "${{ARGS[@]}}"\n'),
    plain("array element", f"N=(1 2 3)\ntorchrun --nproc_per_node ${{N[1]}} {BODY}\n"),
    plain("array length", f"N=(a b)\ntorchrun --nproc_per_node ${{#N[@]}} {BODY}\n"),
    plain("export and declare", f"export N=2\ndeclare -r I=9\nreadonly T=./{TOOLS}\ntorchrun --nproc_per_node $N pretrain_vlm.py --train-iters $I --mm-tool $T\n"),
    plain("default", f"torchrun --nproc_per_node ${{NPROC_X:-2}} pretrain_vlm.py --train-iters ${{ITERS_X:-9}} --mm-tool ${{MM_TOOL_X:-./{TOOLS}}}\n"),
    plain("default overridden by the environment", f"torchrun --nproc_per_node ${{NPROC_X:-8}} {BODY}\n", env={"NPROC_X": "2"}),
    plain("assigned default", f": ${{NPROC_X:=2}}\ntorchrun --nproc_per_node $NPROC_X {BODY}\n"),
    plain("alternative", f"A=x\ntorchrun --nproc_per_node 2 ${{A:+pretrain_vlm.py}} ${{B_X:+--none}} --train-iters 9 --mm-tool ./{TOOLS}\n"),
    plain("suffix and prefix taken off", f"F=pretrain_vlm.py.bak\nP=xx9\ntorchrun --nproc_per_node 2 ${{F%.bak}} --train-iters ${{P##x}} --mm-tool ./{TOOLS}\n", ["torchrun", "--nproc_per_node", "2", "pretrain_vlm.py", "--train-iters", "x9", "--mm-tool", "./" + TOOLS], iters=None),
    plain("replaced", f"F=pretrain_llm.py\ntorchrun --nproc_per_node 2 ${{F/llm/vlm}} --train-iters 9 --mm-tool ./{TOOLS}\n"),
    plain("substring and length", f"S=x29y\nW=ab\ntorchrun --nproc_per_node ${{#W}} pretrain_vlm.py --train-iters ${{S:2:1}} --mm-tool ./{TOOLS}\n"),
    plain("arithmetic", f"A=4\nB=2\ntorchrun --nproc_per_node $(($A/$B)) pretrain_vlm.py --train-iters $((A*B+1)) --mm-tool ./{TOOLS}\n"),
    plain("positional", f'torchrun --nproc_per_node "$1" pretrain_vlm.py --train-iters ${{2:-5}} --mm-tool ./{TOOLS}\n', args=("2", "9")),
    plain("positional default", f'torchrun --nproc_per_node "${{1:-2}}" {BODY}\n'),
    plain("all arguments", f'torchrun --nproc_per_node 2 pretrain_vlm.py "$@" --mm-tool ./{TOOLS}\n', args=("--train-iters", "9")),
    plain("shifted", f"N=$1\nshift\ntorchrun --nproc_per_node $N pretrain_vlm.py $@ --mm-tool ./{TOOLS}\n", args=("2", "--train-iters", "9")),
    plain("script folder", f'BASE=$(cd "$(dirname "$0")/../.."; pwd)\ncd $BASE\ntorchrun --nproc_per_node 2 $BASE/pretrain_vlm.py --train-iters 9 --mm-tool "$BASE/{TOOLS}"\n', ["torchrun", "--nproc_per_node", "2", "{root}/pretrain_vlm.py", "--train-iters", "9", "--mm-tool", "{root}/" + TOOLS]),
    plain("backticks and cd in a chain", f"BASE=$(cd `dirname $0`; cd ../..; pwd)\ntorchrun --nproc_per_node 2 $BASE/pretrain_vlm.py --train-iters 9 --mm-tool $BASE/{TOOLS}\n", ["torchrun", "--nproc_per_node", "2", "{root}/pretrain_vlm.py", "--train-iters", "9", "--mm-tool", "{root}/" + TOOLS]),
    plain("BASH_SOURCE and realpath", f'HERE="$(realpath "$(dirname "${{BASH_SOURCE[0]}}")")"\ntorchrun --nproc_per_node 2 "$HERE/../../pretrain_vlm.py" --train-iters 9 --mm-tool ./{TOOLS}\n', ["torchrun", "--nproc_per_node", "2", "{dir}/../../pretrain_vlm.py", "--train-iters", "9", "--mm-tool", "./" + TOOLS]),
    plain("cd and, or exit", f'cd "$(dirname "$0")/../.." && echo there || exit 1\ntorchrun --nproc_per_node 2 {BODY}\n'),
    plain("pushd-like subshell", f"(cd /; ls)\ntorchrun --nproc_per_node 2 {BODY}\n"),
    plain("if known", f'if [ -z "$UNSET_X" ]; then N=2; else N=4; fi\ntorchrun --nproc_per_node $N {BODY}\n'),
    plain("if double brackets", f'K=big\nif [[ $K == b* && -n "$K" ]]; then N=2; elif [[ $K == s* ]]; then N=4; fi\ntorchrun --nproc_per_node $N {BODY}\n'),
    plain("if on a file", f"if [ -f ./{TOOLS} ]; then N=2; fi\ntorchrun --nproc_per_node $N {BODY}\n"),
    plain("default by -z", f'if [[ -z "${{ITERS_X}}" ]]; then ITERS_X=9; fi\ntorchrun --nproc_per_node 2 pretrain_vlm.py --train-iters $ITERS_X --mm-tool ./{TOOLS}\n'),
    plain("short-circuit", f'[ -n "$NPROC_X" ] || NPROC_X=2\ntorchrun --nproc_per_node $NPROC_X {BODY}\n'),
    plain("numbers compared", f"G=8\nif [ $G -gt 4 ]; then N=2; fi\nif (( G > 4 )); then :; fi\ntorchrun --nproc_per_node $N {BODY}\n"),
    plain("case", f"case vlm in\n  sora) E=pretrain_sora.py ;;\n  v*|x) E=pretrain_vlm.py ;;\n  *) exit 1 ;;\nesac\ntorchrun --nproc_per_node 2 $E --train-iters 9 --mm-tool ./{TOOLS}\n"),
    plain("for", f'A=""\nfor x in --train-iters 9; do A="$A $x"; done\ntorchrun --nproc_per_node 2 pretrain_vlm.py $A --mm-tool ./{TOOLS}\n'),
    plain("while counting", f'i=0\nwhile [ $i -lt 2 ]; do i=$((i+1)); done\ntorchrun --nproc_per_node $i {BODY}\n'),
    plain("function", f'train() {{\n  local iters=$1\n  torchrun --nproc_per_node 2 pretrain_vlm.py --train-iters $iters --mm-tool ./{TOOLS}\n}}\ntrain 9\n'),
    plain("function keyword and globals", f"function setup {{ N=2; }}\nsetup\ntorchrun --nproc_per_node $N {BODY}\n"),
    plain("unknown condition keeps both branches", f'if ping -c1 host; then X=1; fi\ntorchrun --nproc_per_node 2 {BODY}\n'),
    plain("sourced file", f'source "$(dirname "$0")/env.sh"\ntorchrun --nproc_per_node $N {BODY}\n', files={"examples/case/env.sh": "N=2\n"}),
    plain("sourced with a dot", ". ./examples/case/conf.sh\ntorchrun --nproc_per_node $N pretrain_vlm.py $ARGS\n", files={"examples/case/conf.sh": f'N=2\nARGS="--train-iters 9 --mm-tool ./{TOOLS}"\n'}),
    plain("CANN sourced", f"source /usr/local/Ascend/ascend-toolkit/set_env.sh\ntorchrun --nproc_per_node 2 {BODY}\n"),
    plain("tee", f"torchrun --nproc_per_node 2 {BODY} 2>&1 | tee logs/train.log\n"),
    plain("tee the other way round", f"torchrun --nproc_per_node 2 {BODY} | tee logs/train.log 2>&1\nchmod 440 logs/train.log\n"),
    plain("statistics behind it", f"torchrun --nproc_per_node 2 {BODY} 2>&1 | tee t.log\nS=`grep elapsed t.log | awk '{{sum+=$1}} END {{print sum}}'`\necho \"$S\"\n"),
    plain("redirected and in the background", f"torchrun --nproc_per_node 2 {BODY} > out.log 2>&1 &\nwait\n"),
    plain("nohup", f"nohup torchrun --nproc_per_node 2 {BODY} >> out.log 2>&1 &\n"),
    plain("stdbuf", f"stdbuf -oL -eL torchrun --nproc_per_node 2 {BODY}\n"),
    plain("time, env and taskset", f"time env A=1 B=2 taskset -c 0-3 torchrun --nproc_per_node 2 {BODY}\n"),
    plain("numactl and timeout", f"numactl --cpunodebind=0 timeout -k 5 3600 torchrun --nproc_per_node 2 {BODY}\n"),
    plain("exec", f"exec torchrun --nproc_per_node 2 {BODY}\necho never\n"),
    plain("prefix assignment", f"PYTHONPATH=. HCCL_X=1 torchrun --nproc_per_node 2 {BODY}\n"),
    plain("set -x and set -euo pipefail", f"set -x\nset -euo pipefail\ntrap 'echo bye' EXIT\ntorchrun --nproc_per_node 2 {BODY}\n"),
    plain("launcher in a variable", f"LAUNCH=torchrun\n$LAUNCH --nproc_per_node 2 {BODY}\n"),
    plain("absolute launcher", f'VENV=/opt/venv\n"$VENV/bin/torchrun" --nproc_per_node 2 {BODY}\n', ["/opt/venv/bin/torchrun", "--nproc_per_node", "2", *TAIL]),
    plain("options with equals signs", f"torchrun --nproc_per_node=2 --nnodes=1 pretrain_vlm.py --train-iters=9 --mm-tool=./{TOOLS}\n", ["torchrun", "--nproc_per_node=2", "--nnodes=1", "pretrain_vlm.py", "--train-iters=9", "--mm-tool=./" + TOOLS]),
    plain("dashes for underscores", f"torchrun --nproc-per-node 2 --master-port 6001 {BODY}\n", ["torchrun", "--nproc-per-node", "2", "--master-port", "6001", *TAIL]),
    plain("standalone flag", f"torchrun --standalone --nproc_per_node 2 {BODY}\n", ["torchrun", "--standalone", "--nproc_per_node", "2", *TAIL]),
    plain("python -m torch.distributed.run", f"python -m torch.distributed.run --nproc_per_node 2 {BODY}\n", ["python", "-m", "torch.distributed.run", "--nproc_per_node", "2", *TAIL]),
    plain("python3.10 -u -m torch.distributed.launch", f"python3.10 -u -m torch.distributed.launch --nproc_per_node 2 --use_env {BODY}\n", ["python3.10", "-u", "-m", "torch.distributed.launch", "--nproc_per_node", "2", "--use_env", *TAIL]),
    plain("msrun", f"msrun --worker_num 2 --local_worker_num 2 --log_dir=msrun_log --join=True {BODY} --ai-framework mindspore\n", ["msrun", "--worker_num", "2", "--local_worker_num", "2", "--log_dir=msrun_log", "--join=True", *TAIL, "--ai-framework", "mindspore"]),
    plain("last of two train-iters wins", f"torchrun --nproc_per_node 2 pretrain_vlm.py --train-iters 5 --train-iters 9 --mm-tool ./{TOOLS}\n", ["torchrun", "--nproc_per_node", "2", "pretrain_vlm.py", "--train-iters", "5", "--train-iters", "9", "--mm-tool", "./" + TOOLS]),
    plain("other iters in the way", f"torchrun --nproc_per_node 2 pretrain_vlm.py --eval-iters 5 --lr-decay-iters 7 --train-iters 9 --mm-tool ./{TOOLS}\n", ["torchrun", "--nproc_per_node", "2", "pretrain_vlm.py", "--eval-iters", "5", "--lr-decay-iters", "7", *TAIL[1:]]),
    plain("called script", "bash examples/case/inner.sh 9\n", files={"examples/case/inner.sh": f"torchrun --nproc_per_node 2 pretrain_vlm.py --train-iters $1 --mm-tool ./{TOOLS}\n"}),
    plain("chain of exec", 'export ITERS=9\nexec bash "$(dirname "$0")/two.sh"\n', files={"examples/case/two.sh": f"torchrun --nproc_per_node 2 pretrain_vlm.py --train-iters $ITERS --mm-tool ./{TOOLS}\n"}),
    plain("program in quotes", f'CFG=./{TOOLS}\nnohup bash -c "torchrun --nproc_per_node 2 pretrain_vlm.py --train-iters 9 --mm-tool $CFG" &\n'),
    plain("several launches, the training chosen", f"torchrun --nproc_per_node 2 inference_vlm.py\ntorchrun --nproc_per_node 2 {BODY}\npython tools.py\n"),
    plain("decoy words", f"echo torchrun pretrain_sora.py --mm-tool x\n# torchrun no.py\ntorchrun --nproc_per_node 2 {BODY} --use-torch-fsdp2 --layerzero-config z.yaml\n", [*T2, "--use-torch-fsdp2", "--layerzero-config", "z.yaml"]),
    plain("CRLF", f"N=2\r\ntorchrun --nproc_per_node $N \\\r\n  {BODY}\r\n", notes=("script_has_crlf",)),
    plain("a comment between the options", f"torchrun --nproc_per_node 2 {BODY} \\\n  # --x 1 \\\n  --y 2\n", notes=("option_as_command",)),
    plain("a blank behind the backslash", f"torchrun --nproc_per_node 2 {BODY} \\ \n  --y 2\n", [*T2, " "], notes=("option_as_command", "stray_backslash")),
    plain("a backslash inside quotes", f'ARGS="{BODY} \\ \n  --y 2"\ntorchrun --nproc_per_node 2 $ARGS\n', [*T2, "\\", "--y", "2"], notes=("stray_backslash",)),
    plain("no blank around a line's end", f"torchrun --nproc_per_node 2 {BODY} --save a\\\n--load b\n", [*T2, "--save", "a--load", "b"], notes=("options_joined",)),
    plain("byte order mark", f"\ufefftorchrun --nproc_per_node 2 {BODY}\n", notes=("script_has_bom",)),
    plain("here-document", f"cat > conf.txt <<EOF\ntorchrun nothing.py\nEOF\ntorchrun --nproc_per_node 2 {BODY}\n"),
    plain("guard that ends the script today", f'if [ ! -f /nowhere/x ]; then\n  echo missing; exit 1\nfi\ntorchrun --nproc_per_node 2 {BODY}\n', notes=("exits_before_launch",)),
    plain("placeholder", f"MASTER_ADDR=<your master address>\nN=2\ntorchrun --nproc_per_node $N {BODY}\n", notes=("placeholder_breaks_bash",)),
    plain("syntax error behind the launch", f"torchrun --nproc_per_node 2 {BODY}\nif then fi )\n", notes=("script_syntax_error",)),
    Case("hostfile that is not there", f"H=./hostfile\nNN=$(cat $H | wc -l)\ntorchrun --nproc_per_node 2 --nnodes $NN {BODY}\n", None, world=None),
    Case("unset variable loses a value", f"torchrun --nproc_per_node 2 --node_rank $NODE_X --master_port 6000 {BODY}\n", ["torchrun", "--nproc_per_node", "2", "--node_rank", "--master_port", "6000", *TAIL], notes=("option_lost_value",)),
    Case("required parameter", f'torchrun --nproc_per_node "${{1:?give a number}}" {BODY}\n', None, world=None),
    Case("command output", f"torchrun --nproc_per_node $(nvidia-smi -L | wc -l) {BODY}\n", None, world=None),
    Case("yaml first", f"torchrun --nproc_per_node 2 pretrain_transformers.py {MM_YAML} --distributed-backend nccl\n", ["torchrun", "--nproc_per_node", "2", "pretrain_transformers.py", MM_YAML, "--distributed-backend", "nccl"], chain=(MM_YAML, TOOLS), iters=5000, key="gpt_args.training.train_iters", notes=("arguments_after_yaml_dropped",)),
    Case("yaml by variable", f'config_path="{MM_YAML}"\ntorchrun --nproc_per_node 2 pretrain_transformers.py \\\n  ${{config_path}}\n', ["torchrun", "--nproc_per_node", "2", "pretrain_transformers.py", MM_YAML], chain=(MM_YAML, TOOLS), iters=5000, key="gpt_args.training.train_iters"),
    Case("fsdp2", f"torchrun --nproc_per_node 2 {FSDP} {FSDP_YAML}\n", ["torchrun", "--nproc_per_node", "2", FSDP, FSDP_YAML], engine="fsdp2", chain=(FSDP_YAML,), iters=5000, key="training.train_iters"),
    Case("fsdp2 by variables", f'TRAINER={FSDP}\nCONFIG="{FSDP_YAML}"\ntorchrun --nproc_per_node 2 "$TRAINER" "$CONFIG"\n', ["torchrun", "--nproc_per_node", "2", FSDP, FSDP_YAML], engine="fsdp2", chain=(FSDP_YAML,), iters=5000, key="training.train_iters"),
    Case("inference", f"torchrun --nproc_per_node 2 inference_vlm.py --train-iters 9 --mm-tool ./{TOOLS}\n", ["torchrun", "--nproc_per_node", "2", "inference_vlm.py", "--train-iters", "9", "--mm-tool", "./" + TOOLS], engine="unsupported", chain=(), iters=None, key=None, reason="kind_inference"),
    Case("feature extraction", f"torchrun --nproc_per_node 2 mindspeed_mm/tools/feature_extraction/get_x_feature.py --mm-tool ./{TOOLS}\n", ["torchrun", "--nproc_per_node", "2", "mindspeed_mm/tools/feature_extraction/get_x_feature.py", "--mm-tool", "./" + TOOLS], engine="unsupported", chain=(), iters=None, key=None, reason="kind_preprocessing"),
    Case("plain torch_npu", "torchrun --nproc_per_node 2 my/train.py\n", ["torchrun", "--nproc_per_node", "2", "my/train.py"], engine="unsupported", chain=(), iters=None, key=None, reason="kind_not_mindspeed_mm", files={"my/train.py": "import torch\nimport torch_npu\n"}),
    Case("own wrapper around the training", f"torchrun --nproc_per_node 2 my/start.py --train-iters 9 --mm-tool ./{TOOLS}\n", ["torchrun", "--nproc_per_node", "2", "my/start.py", "--train-iters", "9", "--mm-tool", "./" + TOOLS], files={"my/start.py": "from inner import main\nmain()\n", "my/inner.py": "from mindspeed_mm.training import pretrain\n"}),
    Case("accelerate", "accelerate launch --multi_gpu --num_processes 2 train_dreambooth_lora.py --x 1\n", ["accelerate", "launch", "--multi_gpu", "--num_processes", "2", "train_dreambooth_lora.py", "--x", "1"], engine="unsupported", chain=(), iters=None, key=None, reason="kind_diffusers"),
    Case("verl", "python3 -m verl.trainer.main_ppo a=b\n", ["python3", "-m", "verl.trainer.main_ppo", "a=b"], engine="unsupported", chain=(), iters=None, key=None, reason="kind_verl", world=None),
    Case("reinforcement learning over ray", "python my/grpo.py --config x\n", ["python", "my/grpo.py", "--config", "x"], engine="unsupported", chain=(), iters=None, key=None, reason="kind_grpo", world=None, files={"my/grpo.py": "import ray\nfrom mindspeed_mm.training import train\n"}),
    Case("installation", "pip install -r requirements.txt\ngit clone https://example.invalid/x\n", None, engine="unsupported", chain=(), iters=None, key=None, reason="kind_installation", world=None),
)  # fmt: skip
