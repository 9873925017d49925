"""Writes a small tree that looks like a MindSpeed-MM checkout: enough of it to be detected, configured and "trained".

    checkout = make_checkout(folder, release="26.1.0", set_env=host.set_env)
    checkout.scripts["fsdp2"]

All text is our own; only names that tools look for are MindSpeed-MM's (files, imports, keys). Three chains:
``tools_json`` (script with MM_TOOL), ``yaml`` (script, YAML with MM_TOOL_PATH, tools.json), ``fsdp2`` (script, YAML).
"""

import json
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any

from mindspeed_mm_train_profiler.simulator import sample_fsdp2 as fsdp2
from mindspeed_mm_train_profiler.simulator import sample_megatron as megatron
from mindspeed_mm_train_profiler.simulator import sample_scripts as launch

DEFAULT_SET_ENV = "/usr/local/Ascend/cann/set_env.sh"


@dataclass(frozen=True, slots=True)
class Release:
    """What a release of MindSpeed-MM has; see the table of branches in the sources named beside each column."""

    warmup: int  # mindspeed_mm/tools/profiler.py
    analyse_flag: bool  # the same, and the offline command at its end
    yaml: bool  # mindspeed_mm/configs/read_yaml_config.py
    fsdp2: bool  # mindspeed_mm/fsdp/
    pydantic: bool  # mindspeed_mm/fsdp/params/tools_args.py: BaseArguments instead of plain dataclasses


RELEASES = {
    "2.1.0": Release(warmup=1, analyse_flag=False, yaml=False, fsdp2=False, pydantic=False),
    "26.0.0": Release(warmup=0, analyse_flag=True, yaml=True, fsdp2=True, pydantic=False),
    "26.1.0": Release(warmup=0, analyse_flag=True, yaml=True, fsdp2=True, pydantic=True),
}


@dataclass(frozen=True, slots=True)
class Checkout:
    """The tree and its launch scripts: ``tools_json``, ``msrun``, and from 26.0.0 on ``yaml`` and ``fsdp2``."""

    root: Path
    release: str
    scripts: dict[str, Path] = field(default_factory=dict)


def make_checkout(
    folder: Path,
    release: str = "26.1.0",
    *,
    set_env: Path | str = DEFAULT_SET_ENV,
    nproc: int = 2,
    train_iters: int = 5000,
) -> Checkout:
    """Write the tree under ``folder``. ``set_env``: what the scripts source; ``nproc``: NPUS_PER_NODE.

    KeyError for a release that RELEASES does not know.
    """
    has = RELEASES[release]
    root = folder.absolute()
    values = {
        "set_env": shlex.quote(str(set_env)),
        "nproc": str(nproc),
        "train_iters": str(train_iters),
        "warmup": str(has.warmup),
        "analyse": "self.sp_analyse_flag = config.static_param.analyse_flag" if has.analyse_flag else "",
        "analyse_argument": ", analyse_flag=self.sp_analyse_flag" if has.analyse_flag else "",
        "offline": megatron.OFFLINE if has.analyse_flag else "",
        "base": "BaseArguments" if has.pydantic else "",
        "base_import": fsdp2.BASE_IMPORT if has.pydantic else fsdp2.DATACLASS_IMPORT,
        "decorator": "" if has.pydantic else "@dataclass\n",
    }
    values["base_call"] = f"({values['base']})" if has.pydantic else ""

    def put(path: str, content: str, *, mode: int = 0o644) -> Path:
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(Template(content).safe_substitute(values), encoding="utf-8")
        target.chmod(mode)
        return target

    put("README.md", megatron.README)
    put("mindspeed_mm/__init__.py", "")
    put("mindspeed_mm/training.py", megatron.TRAINING)
    put("mindspeed_mm/configs/config.py", megatron.CONFIG)
    put("mindspeed_mm/tools/profiler.py", megatron.PROFILER)
    put("mindspeed_mm/tools/tools.json", json.dumps(_tools(has), indent=4) + "\n")
    put("pretrain_vlm.py", megatron.PRETRAIN_VLM)
    put("pretrain_sora.py", megatron.PRETRAIN_VLM)
    put("inference_vlm.py", megatron.INFERENCE)
    put("examples/vlm/inference.sh", launch.INFERENCE_SCRIPT, mode=0o755)
    for data in ("data/train.json", "examples/vlm/data.json", "examples/vlm/model.json"):
        put(data, "[]\n" if data.startswith("data/") else "{}\n")
    for weights in ("ckpt/vlm", "ckpt/hf"):
        put(f"{weights}/weights.txt", "no weights: made for a simulated NPU host\n")
    scripts = {
        "tools_json": put("examples/vlm/pretrain_vlm.sh", launch.TOOLS_JSON_SCRIPT, mode=0o755),
        "msrun": put("examples/mindspore/vlm/pretrain_vlm.sh", launch.MSRUN_SCRIPT, mode=0o755),
    }
    if has.yaml:
        put("mindspeed_mm/configs/read_yaml_config.py", megatron.READ_YAML)
        put("pretrain_transformers.py", megatron.PRETRAIN_TRANSFORMERS)
        put("examples/transformers/finetune.yaml", launch.MEGATRON_YAML)
        scripts["yaml"] = put("examples/transformers/finetune.sh", launch.YAML_SCRIPT, mode=0o755)
    if has.fsdp2:
        for package in ("fsdp", "fsdp/train", "fsdp/tools", "fsdp/params", "fsdp/utils"):
            put(f"mindspeed_mm/{package}/__init__.py", "")
        put("mindspeed_mm/fsdp/train/trainer.py", fsdp2.TRAINER)
        put("mindspeed_mm/fsdp/train/train_engine.py", fsdp2.TRAIN_ENGINE)
        put("mindspeed_mm/fsdp/tools/profiler.py", fsdp2.FSDP2_PROFILER)
        put("mindspeed_mm/fsdp/params/tools_args.py", fsdp2.TOOLS_ARGS)
        if has.pydantic:
            put("mindspeed_mm/config/config_manager.py", fsdp2.CONFIG_MANAGER)
            put("mindspeed_mm/config/arguments/base_args.py", fsdp2.BASE_ARGS)
        put("examples/fsdp2/finetune.yaml", launch.FSDP2_YAML)
        scripts["fsdp2"] = put("examples/fsdp2/finetune.sh", launch.FSDP2_SCRIPT, mode=0o755)
    return Checkout(root, release, scripts)


def _tools(has: Release) -> dict[str, Any]:
    """tools.json with the keys this release reads; profiling off, as shipped."""
    static: dict[str, Any] = {
        "level": "level1",
        "with_stack": False,
        "with_memory": False,
        "record_shapes": False,
        "with_cpu": True,
        "save_path": "./npu_profiling",
        "start_step": 10,
        "end_step": 11,
        "data_simplification": False,
        "aic_metrics_type": "PipeUtilization",
    }
    if has.analyse_flag:
        static["analyse_flag"] = True
    memory = {"enable": False, "start_step": 0, "end_step": 2, "save_path": "./memory_snapshot", "dump_ranks": [0]}
    return {
        "profile": {
            "enable": False,
            "profile_type": "static",
            "ranks": [0, 1, 2, 3],
            "static_param": static,
            "dynamic_param": {"config_path": "path to dynamic config folder"},
        },
        "memory_profile": memory | {"stacks": "all", "max_entries": None},
    }
