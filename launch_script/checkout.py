"""What the checkout beside the script can do: read from its files, not from its version.

Sources: MindSpeed-MM ``mindspeed_mm/tools/profiler.py`` (warm-up, keys), ``mindspeed_mm/training.py`` (memory_profile),
``mindspeed_mm/fsdp/tools/profiler.py``, ``fsdp/params/tools_args.py``, ``fsdp/train/train_engine.py``.
"""

import re
from functools import lru_cache
from pathlib import Path

from mindspeed_mm_train_profiler.launch_script.plan import Capabilities, Engine

MAX_BYTES = 2 * 1024 * 1024


def find_checkout(start: Path) -> Path | None:
    """The nearest folder at or above ``start`` that holds ``mindspeed_mm/``."""
    for folder in (start, *start.parents):
        try:
            if (folder / "mindspeed_mm").is_dir():
                return folder
        except OSError:
            return None
    return None


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace") if path.stat().st_size < MAX_BYTES else None
    except OSError:
        return None


def reads_yaml(checkout: Path) -> bool:
    """Whether this release turns a YAML given first into arguments (26.0.0 and later)."""
    return (checkout / "mindspeed_mm/configs/read_yaml_config.py").is_file()


def _warmup(text: str) -> int | None:
    found = re.search(r"\bwarmup\s*=\s*(\d+)", text)
    return int(found[1]) if found else None


def capabilities(checkout: Path | None, engine: Engine) -> Capabilities:
    """Capabilities for one engine; all unknown without a checkout."""
    if checkout is None or engine == "unsupported":
        return Capabilities(checkout=checkout)
    return _megatron(checkout) if engine == "megatron" else _fsdp2(checkout)


@lru_cache(maxsize=32)
def _cached(path: Path, stamp: float) -> str | None:
    return _text(path)


def _file(path: Path) -> str | None:
    try:
        return _cached(path, path.stat().st_mtime)
    except OSError:
        return None


def _megatron(checkout: Path) -> Capabilities:
    profiler = _file(checkout / "mindspeed_mm/tools/profiler.py")
    training = _file(checkout / "mindspeed_mm/training.py") or ""
    if profiler is None:
        return Capabilities(checkout=checkout, profile_key="profile")
    analyse = "static_param.analyse_flag" in profiler
    return Capabilities(
        checkout=checkout,
        dynamic="dynamic_profile" in profiler,
        analyse_flag=analyse,
        offline_cli="mindspeed_mm/tools/profiler.py" if "--profiler-path" in profiler else None,
        warmup_steps=_warmup(profiler),
        profile_key="profile",
        aic_metrics_type="static_param.aic_metrics_type" in profiler,
        memory_profile_required="args.mm.tool.memory_profile" in training,
        unknown_keys="ignored",
    )


def _fsdp2(checkout: Path) -> Capabilities:
    profiler = _file(checkout / "mindspeed_mm/fsdp/tools/profiler.py")
    arguments = _file(checkout / "mindspeed_mm/fsdp/params/tools_args.py")
    engine = (
        _file(checkout / "mindspeed_mm/fsdp/train/train_engine.py")
        or _file(checkout / "mindspeed_mm/fsdp/train/trainer.py")
        or ""
    )
    if profiler is None:
        return Capabilities(checkout=checkout, profile_key="tools.profile", dynamic=False)
    key = "tools.profile"
    if "args.tools.profile" not in engine and re.search(r"args\.training\.profile|train_args\.profile", engine):
        key = "training.profile"
    return Capabilities(
        checkout=checkout,
        dynamic=False,
        analyse_flag="static_param.analyse_flag" in profiler,
        offline_cli="mindspeed_mm/fsdp/tools/profiler.py" if "--profiler-path" in profiler else None,
        warmup_steps=_warmup(profiler),
        profile_key=key,
        aic_metrics_type="static_param.aic_metrics_type" in profiler,
        memory_profile_required=False,
        unknown_keys="error" if arguments is not None and "@dataclass" in arguments else "warned",
    )
