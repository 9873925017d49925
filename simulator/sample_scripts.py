"""The sample tree's launch scripts and YAML files.

``$name`` is filled by ``sample.make_checkout``; a shell dollar is written ``$$``.
"""

HEAD = """#!/bin/bash
# a launch script of the sample tree: it runs on a simulated NPU host
source $set_env
export CUDA_DEVICE_MAX_CONNECTIONS=1
export HCCL_CONNECT_TIMEOUT=1200
export PYTORCH_NPU_ALLOC_CONF=expandable_segments:True
NPUS_PER_NODE=$nproc
MASTER_ADDR=localhost
MASTER_PORT=6000
NNODES=1
NODE_RANK=0
WORLD_SIZE=$$(($$NPUS_PER_NODE*$$NNODES))
"""

TORCHRUN_ARGS = """
DISTRIBUTED_ARGS="
    --nproc_per_node $$NPUS_PER_NODE \\
    --nnodes $$NNODES \\
    --node_rank $$NODE_RANK \\
    --master_addr $$MASTER_ADDR \\
    --master_port $$MASTER_PORT
"
"""

MEGATRON_ARGS = """
MBS=1
GRAD_ACC_STEP=2
GBS=$$(($$MBS*$$GRAD_ACC_STEP*$$WORLD_SIZE))
MM_DATA="./examples/vlm/data.json"
MM_MODEL="./examples/vlm/model.json"
MM_TOOL="./mindspeed_mm/tools/tools.json"
LOAD_PATH="./ckpt/vlm"
SAVE_PATH="./save_dir"

GPT_ARGS="
    --tensor-model-parallel-size 1 \\
    --micro-batch-size $${MBS} \\
    --global-batch-size $${GBS} \\
    --lr 1e-5 \\
    --train-iters $train_iters \\
    --bf16 \\
"

MM_ARGS="
    --mm-data $$MM_DATA \\
    --mm-model $$MM_MODEL \\
    --mm-tool $$MM_TOOL
"

OUTPUT_ARGS="
    --log-interval 1 \\
    --save-interval 10000 \\
    --load $$LOAD_PATH \\
    --save $$SAVE_PATH \\
"
"""

TAIL = """
chmod 440 logs/train_$${logfile}.log
STEP_TIME=`grep "elapsed time per iteration" logs/train_$${logfile}.log | awk -F ':' '{print$$5}' \\
    | awk -F '|' '{print$$1}' | head -n 200 | tail -n 100 \\
    | awk '{sum+=$$1} END {if (NR != 0) printf("%.1f",sum/NR)}'`
echo "Elapsed Time Per iteration: $$STEP_TIME"
"""

TOOLS_JSON_SCRIPT = (
    HEAD
    + TORCHRUN_ARGS
    + MEGATRON_ARGS
    + """
logfile=$$(date +%Y%m%d)_$$(date +%H%M%S)
mkdir -p logs
torchrun $$DISTRIBUTED_ARGS pretrain_vlm.py \\
    $$GPT_ARGS \\
    $$MM_ARGS \\
    $$OUTPUT_ARGS \\
    --distributed-backend nccl \\
    2>&1 | tee logs/train_$${logfile}.log
"""
    + TAIL
)

MSRUN_SCRIPT = (
    HEAD
    + """
LOG_PATH="msrun_log"
DISTRIBUTED_ARGS="
    --worker_num $$WORLD_SIZE \\
    --local_worker_num $$NPUS_PER_NODE \\
    --master_addr $$MASTER_ADDR \\
    --master_port $$MASTER_PORT \\
    --node_rank $$NODE_RANK \\
    --join True \\
    --log_dir=$$LOG_PATH
"
"""
    + MEGATRON_ARGS
    + """
logfile=$$(date +%Y%m%d)_$$(date +%H%M%S)
mkdir -p logs
msrun $$DISTRIBUTED_ARGS pretrain_vlm.py \\
    $$GPT_ARGS \\
    $$MM_ARGS \\
    $$OUTPUT_ARGS \\
    --distributed-backend nccl \\
    --ai-framework mindspore \\
    2>&1 | tee logs/train_$${logfile}.log
"""
)

YAML_SCRIPT = (
    HEAD
    + TORCHRUN_ARGS
    + """
logfile=$$(date +%Y%m%d)_$$(date +%H%M%S)
config_path=examples/transformers/finetune.yaml
mkdir -p logs
torchrun $$DISTRIBUTED_ARGS pretrain_transformers.py $${config_path} \\
    --distributed-backend nccl \\
    2>&1 | tee logs/train_$${logfile}.log
"""
    + TAIL
)

FSDP2_SCRIPT = (
    HEAD
    + """export NON_MEGATRON=true
"""
    + TORCHRUN_ARGS
    + """
logfile=$$(date +%Y%m%d)_$$(date +%H%M%S)
mkdir -p logs
torchrun $$DISTRIBUTED_ARGS mindspeed_mm/fsdp/train/trainer.py \\
    examples/fsdp2/finetune.yaml \\
    2>&1 | tee logs/train_$${logfile}.log
"""
)

INFERENCE_SCRIPT = (
    HEAD
    + TORCHRUN_ARGS
    + """
torchrun $$DISTRIBUTED_ARGS inference_vlm.py --mm-model ./examples/vlm/model.json --train-iters 5010
"""
)

MEGATRON_YAML = """HF_MODEL_LOAD_PATH: &HF_MODEL_LOAD_PATH ./ckpt/hf
DATASET_PATH: &DATASET_PATH ./data/train.json
SAVE_PATH: &SAVE_PATH save_dir
MM_TOOL_PATH: ./mindspeed_mm/tools/tools.json

### options of the trainer
gpt_args:
  ## parallel
  tensor_model_parallel_size: 1
  training:  # nested sections are flattened
    micro_batch_size: 1
    global_batch_size: 4
    lr: 1.0e-5
    train_iters: $train_iters  # replaced in the copy
  logging:
    log_interval: 1
    save_interval: 10000
    save: *SAVE_PATH
    load: *HF_MODEL_LOAD_PATH

data:
  dataset_param:
    basic_parameters:
      dataset: *DATASET_PATH

model:
  model_id: sample
  init_from_hf_path: *HF_MODEL_LOAD_PATH
"""

FSDP2_YAML = """# settings of the sample
parallel:
  fully_shard_parallel_size: auto

data:
  dataset_param:
    preprocess_parameters:
      model_name_or_path: &HF_MODEL_LOAD_PATH ./ckpt/hf  # weights
    basic_parameters:
      dataset: &DATASET_PATH ./data/train.json

model:
  model_id: sample
  model_name_or_path: *HF_MODEL_LOAD_PATH

training:
  micro_batch_size: 2
  gradient_accumulation_steps: 1
  lr: 1.0e-5
  train_iters: $train_iters
  save_interval: 10000
  load: *HF_MODEL_LOAD_PATH
  save: ./save_path

tools:
  profile:
    enable: false
    profile_type: static
    ranks: [0]
    static_param:
      level: level1
      with_stack: false
      with_memory: false
      record_shapes: false
      with_cpu: true
      save_path: ./profiling
      start_step: 10
      end_step: 11
      data_simplification: false
      aic_metrics_type: PipeUtilization
  memory_profile:
      enable: false
      start_step: 1
      end_step: 2
"""
