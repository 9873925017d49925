"""The option table: every choice, where each engine keeps it, and since which release.

Facts from MindSpeed-MM's code: ``mindspeed_mm/tools/profiler.py`` and ``tools.json`` (Megatron),
``mindspeed_mm/fsdp/params/tools_args.py`` (FSDP2), branches 1.0.0 to 26.1.0 and master.
"""

from dataclasses import dataclass
from typing import Any

from mindspeed_mm_train_profiler.options import ProfileOptions
from mindspeed_mm_train_profiler.reference.tables import table, type_word
from mindspeed_mm_train_profiler.skill.wording import Language, text


@dataclass(frozen=True, slots=True)
class Place:
    """Where an option is written. ``key``: below ``profile`` (Megatron) and ``tools.profile`` (FSDP2).

    ``since``: catalogue key of a remark on releases, None: in every release that has the engine.
    """

    key: str
    fsdp2: bool = True
    since: str | None = None


PLACES: dict[str, Place] = {
    "profile_type": Place("profile_type", since="options.since.dynamic"),
    "level": Place("static_param.level"),
    "start_step": Place("static_param.start_step", since="options.since.warmup"),
    "end_step": Place("static_param.end_step", since="options.since.warmup"),
    "ranks": Place("ranks"),
    "with_cpu": Place("static_param.with_cpu"),
    "with_memory": Place("static_param.with_memory"),
    "with_stack": Place("static_param.with_stack"),
    "record_shapes": Place("static_param.record_shapes"),
    "data_simplification": Place("static_param.data_simplification"),
    "aic_metrics_type": Place("static_param.aic_metrics_type", since="options.since.aic"),
    "analyse_flag": Place("static_param.analyse_flag", since="options.since.analyse"),
    "save_path": Place("static_param.save_path"),
    "dynamic_config_path": Place("dynamic_param.config_path", fsdp2=False),
}
OWN = ("train_iters", "acknowledge")


def _default(field: dict[str, Any]) -> str:
    value = field.get("default")
    return "-" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def render(language: Language) -> str:
    """One row an option, in the order of ``ProfileOptions``."""
    schema = ProfileOptions.model_json_schema()
    rows = []
    for name, field in schema["properties"].items():
        place = PLACES.get(name)
        if place is None:
            where = text(language, "options.own")
        else:
            where = f"`{place.key}`" + ("" if place.fsdp2 else " " + text(language, "options.megatron_only"))
        since = text(language, place.since) if place and place.since else text(language, "options.since.all")
        default = "[0]" if name == "ranks" else _default(field)
        kind = type_word(field, schema.get("$defs", {})).replace('"', "").replace(" or null", "")
        rows.append([f"`{name}`", kind, default, where, since, text(language, f"options.meaning.{name}")])
    head = [text(language, f"reference.{key}") for key in ("name", "value", "default", "key", "releases", "meaning")]
    return "\n".join(table(head, rows))
