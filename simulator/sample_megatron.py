"""The sample tree's Python files of the Megatron engine. ``$name`` is filled by ``sample.make_checkout``.

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
