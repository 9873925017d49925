"""The sample tree's Python files of the FSDP2 engine; see ``sample_megatron`` for what they are."""

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
