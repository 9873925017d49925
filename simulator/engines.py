"""How a rank learns what to do, as MindSpeed-MM's two engines read it.

Megatron (``mindspeed_mm/configs/read_yaml_config.py``, ``configs/config.py``, ``tools/profiler.py``): options of the
entry, or, where argv[1] ends in ``.yaml``, options rebuilt from ``gpt_args`` and ``lora_args`` alone.
FSDP2 (``mindspeed_mm/fsdp/train/trainer.py``, ``fsdp/params/tools_args.py``): argv[1] is the YAML.
Everything a release decides (warmup, keys it wants) is read from the profiler.py of the checkout the entry belongs to.
"""

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from mindspeed_mm_train_profiler.simulator.request import LEVELS

MEGATRON_MARKS = re.compile(r"mindspeed_mm\.training|mindspeed_mm\.configs\.config|megatron_adaptor")
METRICS = ("PipeUtilization", "ArithmeticUtilization")
FSDP2_DEFAULTS: dict[str, Any] = {
    "level": "level1",
    "with_stack": False,
    "with_memory": False,
    "record_shapes": False,
    "with_cpu": False,
    "save_path": "./profiling",
    "start_step": 10,
    "end_step": 11,
    "data_simplification": False,
    "aic_metrics_type": "PipeUtilization",
    "analyse_flag": True,
}


class EngineError(Exception):
    """The exception that training would end in: ``kind`` is its class, the text its message."""

    def __init__(self, kind: str, text: str) -> None:
        self.kind = kind
        super().__init__(text)


@dataclass(frozen=True)
class ProfileSettings:
    """The profile block in force. Steps and flags as the trainer hands them to torch_npu."""

    enable: bool
    profile_type: str
    ranks: list[int]
    static: dict[str, Any]
    config_path: str | None
    warmup: int
    active: Any


@dataclass(frozen=True)
class Job:
    """What one rank trains."""

    engine: Literal["megatron", "fsdp2"]
    train_iters: int
    global_batch_size: int
    save: str | None
    save_interval: int
    log_interval: int
    exit_interval: int | None
    profile: ProfileSettings


def find_engine(entry: Path) -> Literal["megatron", "fsdp2"] | None:
    """Which engine an entry file starts; None for any other Python program."""
    if entry.as_posix().endswith("mindspeed_mm/fsdp/train/trainer.py"):
        return "fsdp2"
    text = entry.read_text(encoding="utf-8", errors="replace")
    if "mindspeed_mm.fsdp" in text:
        return "fsdp2"
    return "megatron" if MEGATRON_MARKS.search(text) else None


def checkout_of(entry: Path) -> Path | None:
    """The MindSpeed-MM tree the entry's imports come from: PYTHONPATH, the entry's folder, or one above it."""
    folders = [Path(part) for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
    for folder in [entry.absolute().parent, Path.cwd(), *folders, *entry.absolute().parents]:
        if (folder / "mindspeed_mm").is_dir():
            return folder
    return None


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def load_yaml(path: Path) -> Any:
    try:
        import yaml
    except ImportError:
        raise SystemExit(
            "simulated NPU host: this Python has no PyYAML; set SIMULATED_NPU_PYTHON to one that has"
        ) from None
    try:
        with open(path, encoding="utf-8") as file:
            return yaml.safe_load(file)
    except OSError as error:
        raise EngineError("FileNotFoundError", f"[Errno {error.errno}] {error.strerror}: '{path}'") from None
    except yaml.YAMLError as error:
        raise EngineError("yaml.YAMLError", str(error)) from None


def option(argv: list[str], name: str) -> str | None:
    """The last value given for an option, argparse fashion."""
    value = None
    for index, word in enumerate(argv):
        if word == name and index + 1 < len(argv):
            value = argv[index + 1]
        elif word.startswith(name + "="):
            value = word[len(name) + 1 :]
    return value


def flatten(section: Any) -> dict[str, Any]:
    """Nested sections to one level, ``_`` to ``-``; a later key wins."""
    flat: dict[str, Any] = {}
    for key, value in (section or {}).items():
        if isinstance(value, dict):
            flat |= flatten(value)
        else:
            flat[str(key).replace("_", "-")] = value
    return flat


def argv_from_yaml(path: str) -> list[str]:
    """The options that a Megatron YAML becomes; nothing else of the command line survives."""
    config = load_yaml(Path(path)) or {}
    if "gpt_args" not in config:
        raise EngineError("KeyError", "'gpt_args'")
    words: list[str] = []
    for key, value in (flatten(config["gpt_args"]) | flatten(config.get("lora_args"))).items():
        if value is True:
            words.append(f"--{key}")
        else:
            for single in value if isinstance(value, list) else [value]:
                words += [f"--{key}", str(single)]
    if "MM_TOOL_PATH" not in config:
        raise EngineError("KeyError", "\"The required keyword 'MM_TOOL_PATH' is missing from the configuration file.\"")
    return [*words, "--mm-data", path, "--mm-model", path, "--mm-tool", str(config["MM_TOOL_PATH"])]


def _attribute(section: Any, key: str) -> Any:
    if not isinstance(section, dict) or key not in section:
        raise EngineError("AttributeError", f"'ConfigReader' object has no attribute '{key}'")
    return section[key]


def _steps(static: dict[str, Any], code: str) -> tuple[int, Any]:
    """(warmup, active) by the checkout's own formula."""
    found = re.search(r"warmup=(\d+)", code)
    start, end = static["start_step"], static["end_step"]
    if isinstance(start, str) or isinstance(end, str):
        raise EngineError("TypeError", "unsupported operand type(s) for -: 'str' and 'str'")
    backwards = re.search(r"active = self\.sp_start_step - self\.sp_end_step", code)
    return int(found.group(1)) if found else 0, (start - end if backwards else end - start)


def _settings(
    block: dict[str, Any], static: dict[str, Any], config_path: str | None, code: str, kinds: str
) -> ProfileSettings:
    kind = block["profile_type"]
    warmup, active = 0, 1
    if kind == "static":
        if static["level"] not in LEVELS:
            raise EngineError(
                "ValueError", f"profiler_level only supports level0, 1, and 2, but gets {static['level']}"
            )
        if static.get("aic_metrics_type", "PipeUtilization") not in METRICS:
            raise EngineError("ValueError", "aic_metrics_type only supports PipeUtilization and ArithmeticUtilization")
        warmup, active = _steps(static, code)
    elif kind != "dynamic" or kinds == "static":
        raise EngineError("ValueError", f"profile_type only supports {kinds}, but gets {kind}")
    return ProfileSettings(block["enable"], kind, block["ranks"], static, config_path, warmup, active)


def read_megatron(argv: list[str], checkout: Path | None) -> Job:
    """argv: the words after the entry file."""
    has_reader = checkout is None or (checkout / "mindspeed_mm/configs/read_yaml_config.py").is_file()
    if argv and argv[0].endswith(".yaml") and has_reader:
        argv = argv_from_yaml(argv[0])
    tool = option(argv, "--mm-tool")
    if not tool:
        raise EngineError("AttributeError", "'ConfigReader' object has no attribute 'tool'")
    try:
        if tool.endswith(".yaml"):
            config = (load_yaml(Path(tool)) or {})["tool"]
        else:
            with open(tool, encoding="utf-8") as file:
                config = json.load(file)
    except OSError as error:
        raise EngineError("FileNotFoundError", f"[Errno {error.errno}] {error.strerror}: '{tool}'") from None
    except json.JSONDecodeError as error:
        raise EngineError("json.decoder.JSONDecodeError", str(error)) from None
    root = checkout / "mindspeed_mm" if checkout else Path("mindspeed_mm")
    code = _text(root / "tools/profiler.py")
    profile = _attribute(config, "profile")
    block = {key: _attribute(profile, key) for key in ("enable", "profile_type", "ranks")}
    param = _attribute(profile, "static_param")
    wanted = re.findall(r"config\.static_param\.(\w+)", code) or list(FSDP2_DEFAULTS)
    static = {key: _attribute(param, key) for key in dict.fromkeys(wanted)}
    if "analyse_flag" not in wanted:
        static["analyse_flag"] = True  # releases before 26.0.0 always parse online
    config_path = _attribute(_attribute(profile, "dynamic_param"), "config_path")
    if "memory_profile" in _text(root / "training.py"):
        _attribute(config, "memory_profile")
    iters = option(argv, "--train-iters")
    if iters is None:
        raise EngineError("TypeError", "'<' not supported between instances of 'int' and 'NoneType'")
    exit_interval = option(argv, "--exit-interval")
    return Job(
        engine="megatron",
        train_iters=int(iters),
        global_batch_size=int(option(argv, "--global-batch-size") or os.environ.get("WORLD_SIZE", "1")),
        save=option(argv, "--save"),
        save_interval=int(option(argv, "--save-interval") or 0),
        log_interval=int(option(argv, "--log-interval") or 100),
        exit_interval=int(exit_interval) if exit_interval else None,
        profile=_settings(block, static, str(config_path), code, "static and dynamic"),
    )


def read_fsdp2(argv: list[str], checkout: Path | None) -> Job:
    """argv: the words after the entry file; words after the YAML are not read."""
    if not argv or not argv[0].endswith((".yaml", ".yml")):
        raise EngineError("ValueError", "the first argument must be a .yaml or .yml configuration file")
    config = load_yaml(Path(argv[0])) or {}
    training = config.get("training") or {}
    tools = config.get("tools") or {}
    profile = tools.get("profile") or {}
    root = checkout / "mindspeed_mm/fsdp" if checkout else Path("mindspeed_mm/fsdp")
    code, params = _text(root / "tools/profiler.py"), _text(root / "params/tools_args.py")
    defaults = {key: value for key, value in FSDP2_DEFAULTS.items() if not params or re.search(rf"\b{key}\b", params)}
    given = profile.get("static_param") or {}
    if params and "BaseArguments" not in params:  # plain dataclasses refuse what they do not know
        known = ("enable", "profile_type", "ranks", "static_param")
        for key in [*(key for key in profile if key not in known), *(key for key in given if key not in defaults)]:
            raise EngineError("TypeError", f"__init__() got an unexpected keyword argument '{key}'")
    static = defaults | given
    static.setdefault("analyse_flag", True)
    block = {"enable": False, "profile_type": "static", "ranks": [0]} | {
        key: profile[key] for key in ("enable", "profile_type", "ranks") if key in profile
    }
    iters = int(training.get("train_iters", 10000))
    samples = int(training.get("simulated_samples", 40))  # the simulated data set's length
    batch = int(training.get("micro_batch_size", 1)) * int(training.get("gradient_accumulation_steps", 1))
    batch *= int(os.environ.get("WORLD_SIZE", "1"))
    if training.get("train_epochs") is not None:
        iters = int(training["train_epochs"]) * max(samples // batch, 1)
    return Job(
        engine="fsdp2",
        train_iters=iters,
        global_batch_size=batch,
        save=training.get("save"),
        save_interval=int(training.get("save_interval") or 0),
        log_interval=int(training.get("log_interval") or 1),
        exit_interval=None,
        profile=_settings(block, static, None, code, "static"),
    )


def read_job(engine: Literal["megatron", "fsdp2"], argv: list[str], checkout: Path | None) -> Job:
    return read_megatron(argv, checkout) if engine == "megatron" else read_fsdp2(argv, checkout)
