"""What a profile block must hold, by engine and release: the options in the engine's own spelling.

Sources: MindSpeed-MM ``mindspeed_mm/tools/profiler.py`` (attribute access without defaults: a missing key ends the
training), ``mindspeed_mm/training.py`` (``memory_profile`` from 2.0.0 on), ``mindspeed_mm/fsdp/tools/profiler.py`` and
``fsdp/params/tools_args.py`` (26.0.0: plain dataclasses, an unknown key ends the training; later: accepted silently).
"""

import difflib
from collections.abc import Mapping
from typing import Any

from mindspeed_mm_train_profiler.errors import CodedError, Note
from mindspeed_mm_train_profiler.launch_script.plan import Capabilities, LaunchPlan
from mindspeed_mm_train_profiler.options import ProfileOptions

TOP = ("enable", "profile_type", "ranks", "static_param", "dynamic_param")
STATIC = (
    "level",
    "with_stack",
    "with_memory",
    "record_shapes",
    "with_cpu",
    "save_path",
    "start_step",
    "end_step",
    "data_simplification",
    "aic_metrics_type",
    "analyse_flag",
)
DYNAMIC_DEFAULT = "./dynamic_profile_config"
MEMORY_PROFILE: Mapping[str, Any] = {
    "enable": False,
    "start_step": 0,
    "end_step": 2,
    "save_path": "./memory_snapshot",
    "dump_ranks": [0],
    "stacks": "all",
    "max_entries": None,
    "mem_info": False,
}
"""What ``memory_profiler.reset`` reads; disabled."""


def ranks(options: ProfileOptions, plan: LaunchPlan) -> list[int]:
    """The list as the trainer compares it: all ranks are exactly ``[-1]`` (in the DanceGRPO loop: ``[]``)."""
    if options.ranks == "all":
        return [] if plan.reason.code == "engine_dancegrpo" else [-1]
    return sorted(set(options.ranks))


def wanted_block(
    plan: LaunchPlan, options: ProfileOptions, save_path: str, dynamic_path: str | None, notes: list[Note]
) -> dict[str, Any]:
    """The profile block to merge into the file. Keys that this release does not know are left out with a note."""
    can, current = plan.capabilities, plan.current_profile or {}
    static: dict[str, Any] = {
        "level": options.level,
        "with_stack": options.with_stack,
        "with_memory": options.with_memory,
        "record_shapes": options.record_shapes,
        "with_cpu": options.with_cpu,
        "save_path": save_path,
        "start_step": options.start_step,
        "end_step": options.end_step,
        "data_simplification": options.data_simplification,
    }
    there = current.get("static_param")
    there = there if isinstance(there, Mapping) else {}
    for key, known, value in (
        ("aic_metrics_type", can.aic_metrics_type, options.aic_metrics_type),
        ("analyse_flag", can.analyse_flag, options.analyse_flag),
    ):
        if _takes(key, known, can, plan, there):
            static[key] = value
        elif value != ("PipeUtilization" if key == "aic_metrics_type" else True):
            notes.append(Note(f"{key}_not_known", {"value": value}))
    block: dict[str, Any] = {
        "enable": True,
        "profile_type": options.profile_type,
        "ranks": ranks(options, plan),
        "static_param": static,
    }
    if plan.engine == "megatron":
        dynamic = current.get("dynamic_param")
        has = isinstance(dynamic, Mapping) and "config_path" in dynamic
        if dynamic_path is not None:
            block["dynamic_param"] = {"config_path": dynamic_path}
        elif not has:
            block["dynamic_param"] = {"config_path": DYNAMIC_DEFAULT}
    return block


def _takes(key: str, known: bool | None, can: Capabilities, plan: LaunchPlan, there: Mapping[str, Any]) -> bool:
    """Whether to write a key that only some releases know."""
    if known is not None:
        return known or (key in there and can.unknown_keys != "error")
    # no checkout to look at: Megatron ignores what it does not know, a dataclass does not
    return plan.engine == "megatron" or key in there or key == "aic_metrics_type"


def check_neighbours(plan: LaunchPlan, loaded: Any, notes: list[Note]) -> None:
    """Point out misspelt keys and the decoy ``training.profile``.

    Error: ``profile_key_unknown`` where this release ends the training over an unknown key.
    """
    current = plan.current_profile or {}
    static = current.get("static_param")
    strict = plan.engine == "fsdp2" and plan.capabilities.unknown_keys == "error"
    known_top = [key for key in TOP if plan.engine == "megatron" or key != "dynamic_param"]
    places = [("", current, known_top)]
    if isinstance(static, Mapping):
        places.append(("static_param.", static, list(STATIC)))
    for prefix, mapping, known in places:
        for key in mapping:
            if key in known:
                continue
            close = difflib.get_close_matches(str(key), known, n=1, cutoff=0.7)
            name = f"{prefix}{key}"
            if strict:
                raise CodedError(
                    "profile_key_unknown", found=f"{plan.config_path}: {name}", expected=", ".join(close or known)
                )
            if close:
                notes.append(Note("did_you_mean", {"key": name, "close": f"{prefix}{close[0]}"}))
            elif key != "_comment":
                notes.append(Note("profile_key_ignored", {"key": name}))
    if isinstance(loaded, Mapping):
        _check_top(plan, loaded, notes)


def _check_top(plan: LaunchPlan, loaded: Mapping[str, Any], notes: list[Note]) -> None:
    training = loaded.get("training")
    decoy = plan.engine == "fsdp2" and plan.capabilities.profile_key != "training.profile"
    if decoy and isinstance(training, Mapping) and isinstance(training.get("profile"), Mapping):
        notes.append(Note("decoy_training_profile", {"path": plan.config_path}))
    holder = loaded.get("tools", {}) if plan.engine == "fsdp2" else loaded
    if not isinstance(holder, Mapping):
        return
    for key in holder:
        if key == "profile" or key == "memory_profile":
            continue
        if difflib.get_close_matches(str(key), ["profile"], n=1, cutoff=0.8):
            notes.append(Note("did_you_mean", {"key": key, "close": "profile"}))


def wrap(plan: LaunchPlan, block: dict[str, Any], loaded: Any) -> dict[str, Any]:
    """The block under the key where this engine and release reads it, with what else the trainer requires."""
    key = plan.capabilities.profile_key or ("tools.profile" if plan.engine == "fsdp2" else "profile")
    wanted: dict[str, Any] = block
    for part in reversed(key.split(".")):
        wanted = {part: wanted}
    if plan.engine != "megatron":
        return wanted
    if plan.capabilities.memory_profile_required and isinstance(loaded, Mapping) and "memory_profile" not in loaded:
        wanted["memory_profile"] = dict(MEMORY_PROFILE)
    if plan.chain[-1].path.suffix == ".yaml":
        return {"tool": wanted}
    return wanted
