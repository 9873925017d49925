"""The texts of the sample tree. ``$name`` is filled by ``sample.make_checkout``; a shell dollar is written ``$$``.

They stand in for MindSpeed-MM's files of the same names and are written for this project: each says what its original
is for, and carries only what detection by content looks for and what the simulated trainer reads.
"""

README = """# A sample tree for a simulated NPU host

It has the shape of a MindSpeed-MM checkout and none of its code. Nothing here trains anything.
"""

TRAINING = '''"""Stands in for the training loop of the Megatron engine."""
from mindspeed_mm.tools.profiler import Profiler


def pretrain(args):
    memory = args.mm.tool.memory_profile
    prof = Profiler(args.mm.tool.profile)
    prof.start()
    for _ in range(args.train_iters):
        prof.step()
    prof.stop()
    return memory
'''

CONFIG = '''"""Stands in for the reader of model, data and tool configurations."""


class ConfigReader:
    pass


class MMConfig:
    pass


def mm_extra_args_provider(parser):
    parser.add_argument("--mm-data")
    parser.add_argument("--mm-model")
    parser.add_argument("--mm-tool")
    return parser
'''

PROFILER = '''"""Stands in for the Profiler of the Megatron engine: reads the block, builds torch_npu's profiler."""
import torch
import torch_npu


class Profiler:
    def __init__(self, config):
        self.enable = config.enable
        self.profile_type = config.profile_type
        self.ranks = config.ranks
        self.sp_level = config.static_param.level
        self.sp_with_stack = config.static_param.with_stack
        self.sp_with_memory = config.static_param.with_memory
        self.sp_record_shapes = config.static_param.record_shapes
        self.sp_with_cpu = config.static_param.with_cpu
        self.sp_save_path = config.static_param.save_path
        self.sp_start_step = config.static_param.start_step
        self.sp_end_step = config.static_param.end_step
        self.sp_data_simplification = config.static_param.data_simplification
        $analyse
        self.dp_config_path = config.dynamic_param.config_path
        self.aic_metrics_type = config.static_param.aic_metrics_type
        if self.profile_type == "static":
            skip_first = self.sp_start_step
            active = self.sp_end_step - self.sp_start_step
            self.prof = torch_npu.profiler.profile(
                schedule=torch_npu.profiler.schedule(
                    wait=0, warmup=$warmup, active=active, repeat=1, skip_first=skip_first),
                on_trace_ready=torch_npu.profiler.tensorboard_trace_handler(self.sp_save_path$analyse_argument))
        elif self.profile_type == "dynamic":
            from torch_npu.profiler import dynamic_profile as dp
            self.prof = dp
        else:
            raise ValueError("profile_type only supports static and dynamic")

    def _enable_profile(self):
        if not self.enable:
            return False
        return self.ranks == [-1] or torch.distributed.get_rank() in self.ranks

    def start(self):
        if self._enable_profile():
            if self.profile_type == "static":
                self.prof.start()
            else:
                self.prof.init(self.dp_config_path)

    def step(self):
        if self._enable_profile():
            self.prof.step()

    def stop(self):
        if self._enable_profile() and self.profile_type == "static":
            self.prof.stop()
$offline'''

OFFLINE = """

if __name__ == "__main__":
    import argparse

    from torch_npu.profiler.profiler import analyse

    parser = argparse.ArgumentParser(description="parse collected data offline")
    parser.add_argument("--mm-tool", default="./mindspeed_mm/tools/tools.json")
    parser.add_argument("--profiler-path")
    parser.add_argument("--max-process-number", type=int)
    parser.add_argument("--export-type", action="append", choices=["text", "db"])
    given = parser.parse_args()
    analyse(profiler_path=given.profiler_path, max_process_number=given.max_process_number)
"""

PRETRAIN_VLM = '''"""Stands in for an entry of the Megatron engine."""
import mindspeed.megatron_adaptor
from mindspeed_mm.configs.config import mm_extra_args_provider
from mindspeed_mm.training import pretrain

if __name__ == "__main__":
    pretrain(mm_extra_args_provider)
'''

PRETRAIN_TRANSFORMERS = '''"""Stands in for the entry of the Megatron engine that takes a YAML."""
import importlib.util

spec = importlib.util.spec_from_file_location("config_loader", "mindspeed_mm/configs/read_yaml_config.py")
spec.loader.exec_module(importlib.util.module_from_spec(spec))
import mindspeed.megatron_adaptor
from mindspeed_mm.configs.config import mm_extra_args_provider
from mindspeed_mm.training import pretrain

if __name__ == "__main__":
    pretrain(mm_extra_args_provider)
'''

READ_YAML = '''"""Stands in for what rebuilds sys.argv from the gpt_args of a YAML given as the first argument."""
import sys

import yaml


def get_sys_args_from_yaml():
    if not sys.argv[1].endswith(".yaml"):
        return
    with open(sys.argv[1]) as f:
        config = yaml.safe_load(f)
    sys.argv = [sys.argv[0], "--mm-tool", config["MM_TOOL_PATH"]]


get_sys_args_from_yaml()
'''

INFERENCE = '''"""Stands in for an inference entry: no training."""
from mindspeed_mm.tasks.inference.pipeline import vlm_pipeline_dict

if __name__ == "__main__":
    print(vlm_pipeline_dict)
'''

TRAINER = '''"""Stands in for the entry of the FSDP2 engine."""
from mindspeed_mm.config.config_manager import ConfigManager
from mindspeed_mm.fsdp.params.argument import Arguments
from mindspeed_mm.fsdp.train.train_engine import TrainEngine


class Trainer:
    def __init__(self, args):
        if args.training.train_epochs is not None:
            args.training.train_iters = args.training.train_epochs * args.data.iters_per_epoch
        self.trainer = TrainEngine(args)

    def train(self):
        self.trainer.train()


if __name__ == "__main__":
    arguments = ConfigManager(config_class=Arguments).load_and_parse()
    Trainer(args=arguments).train()
'''

TRAIN_ENGINE = '''"""Stands in for the training loop of the FSDP2 engine."""
from mindspeed_mm.fsdp.tools.profiler import Profiler


class TrainEngine:
    def __init__(self, args):
        self.args, self.iteration = args, 0
        self.profiler = Profiler(args.tools.profile)
        self.profiler.start()

    def train(self):
        while self.iteration < self.args.training.train_iters:
            self.iteration += 1
            self.profiler.step()
        self.profiler.stop()
'''

FSDP2_PROFILER = '''"""Stands in for the Profiler of the FSDP2 engine: static only."""
import torch
from mindspeed_mm.fsdp.utils.device import IS_NPU_AVAILABLE

if IS_NPU_AVAILABLE:
    import torch_npu
    from torch_npu.profiler.profiler import analyse


class Profiler:
    def __init__(self, config):
        self.enable = config.enable
        self.profile_type = config.profile_type
        self.ranks = config.ranks
        self.sp_start_step = config.static_param.start_step
        self.sp_end_step = config.static_param.end_step
        self.sp_save_path = config.static_param.save_path
        $analyse
        if self.profile_type == "static":
            skip_first = self.sp_start_step
            active = self.sp_end_step - self.sp_start_step
            self.prof = torch_npu.profiler.profile(
                schedule=torch_npu.profiler.schedule(
                    wait=0, warmup=0, active=active, repeat=1, skip_first=skip_first),
                on_trace_ready=torch_npu.profiler.tensorboard_trace_handler(self.sp_save_path$analyse_argument))
        else:
            raise ValueError(f"profile_type only supports static, but gets {self.profile_type}")

    def step(self):
        if self.enable and (self.ranks == [-1] or torch.distributed.get_rank() in self.ranks):
            self.prof.step()


if __name__ == "__main__":
    import argparse

    parser = argparse.ArgumentParser(description="parse collected data offline")
    parser.add_argument("--profiler-path", required=True)
    parser.add_argument("--max-process-number", type=int)
    parser.add_argument("--export-type", action="append", choices=["text", "db"])
    given = parser.parse_args()
    analyse(profiler_path=given.profiler_path, max_process_number=given.max_process_number)
'''

BASE_IMPORT = "from mindspeed_mm.config.arguments.base_args import BaseArguments\n"
DATACLASS_IMPORT = "from mindspeed_mm.fsdp.params.utils import allow_extra_fields\n"
TOOLS_ARGS = '''"""Stands in for the definition of the tools section of an FSDP2 YAML."""
from dataclasses import dataclass, field
from typing import List

$base_import

${decorator}class StaticParam$base_call:
    level: str = "level1"
    with_stack: bool = False
    with_memory: bool = False
    record_shapes: bool = False
    with_cpu: bool = False
    save_path: str = "./profiling"
    start_step: int = 10
    end_step: int = 11
    data_simplification: bool = False
    aic_metrics_type: str = "PipeUtilization"
    analyse_flag: bool = True


${decorator}class Profiler$base_call:
    enable: bool = False
    profile_type: str = "static"
    ranks: List[int] = field(default_factory=lambda: [0])
    static_param: StaticParam = field(default_factory=StaticParam)
'''

CONFIG_MANAGER = '''"""Stands in for the loader of FSDP2 YAML files: argv[1], then key=value words over it."""


class ConfigManager:
    def __init__(self, config_class):
        self.config_class = config_class
'''
BASE_ARGS = '''"""Stands in for the base of the argument classes: unknown keys are accepted."""
from pydantic import BaseModel, ConfigDict


class BaseArguments(BaseModel):
    model_config = ConfigDict(extra="allow", validate_assignment=True)
'''

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
