"""The complete parameter table of both engines, by release; ``render`` gives it as Markdown.

Facts: MindSpeed-MM ``mindspeed_mm/tools/profiler.py`` and ``tools.json`` (Megatron), ``mindspeed_mm/fsdp/params/
tools_args.py`` and ``fsdp/tools/profiler.py`` (FSDP2), branches core_r0.8.0_dev to 26.1.0 and master.
"""

from dataclasses import dataclass

from mindspeed_mm_train_profiler.skill.wording import Language, text


@dataclass(frozen=True, slots=True)
class Parameter:
    """One key. ``megatron``/``fsdp2``: its path below ``profile`` and ``tools.profile``; None: the engine lacks it.

    ``shipped``: the value in the checkout's own tools.json; ``fsdp2_default``: what an absent key means in FSDP2. An
    absent key has no default in Megatron. ``since``: first release that reads it; None: every release of the engine.
    """

    name: str
    values: str
    megatron: str | None
    shipped: str
    fsdp2: str | None
    fsdp2_default: str
    since: str | None = None


def _static(name: str, values: str, shipped: str, fsdp2: str, since: str | None = None) -> Parameter:
    return Parameter(name, values, f"static_param.{name}", shipped, f"static_param.{name}", fsdp2, since)


PARAMETERS: tuple[Parameter, ...] = (
    Parameter("enable", "true, false", "enable", "false", "enable", "false"),
    Parameter("profile_type", "static, dynamic", "profile_type", "static", "profile_type", "static"),
    Parameter("ranks", "[0, 1, ...], [-1]", "ranks", "[0, 1, 2, 3]", "ranks", "[0]"),
    _static("level", "level0, level1, level2", "level1", "level1"),
    _static("with_stack", "true, false", "false", "false"),
    _static("with_memory", "true, false", "false", "false"),
    _static("record_shapes", "true, false", "false", "false"),
    _static("with_cpu", "true, false", "true", "false"),
    _static("save_path", "path", "./npu_profiling", "./profiling"),
    _static("start_step", ">= 1", "10", "10"),
    _static("end_step", "> start_step", "11", "11"),
    _static("data_simplification", "true, false", "false", "false"),
    _static(
        "aic_metrics_type", "PipeUtilization, ArithmeticUtilization", "PipeUtilization", "PipeUtilization", "1.0.0"
    ),
    _static("analyse_flag", "true, false", "true", "true", "26.0.0"),
    Parameter("config_path", "directory", "dynamic_param.config_path", "path to dynamic config folder", None, ""),
)


@dataclass(frozen=True, slots=True)
class Release:
    """What the profiler of one generation of MindSpeed-MM can do."""

    branches: str
    warmup: int
    aic_metrics_type: bool
    analyse_flag: bool
    offline_command: bool
    fsdp2: bool


RELEASES: tuple[Release, ...] = (
    Release("core_r0.8.0_dev, 1.0.RC3", 1, False, False, False, False),
    Release("1.0.0, 2.0.0, 2.1.0", 1, True, False, False, False),
    Release("2.2.0, 2.3.0", 0, True, False, False, False),
    Release("26.0.0, 26.1.0, master", 0, True, True, True, True),
)

DYNAMIC_KEYS: tuple[tuple[str, str, str], ...] = (
    ("start_step", "0", "all"),
    ("active", "1", "all"),
    ("warmup", "0", "7.0.0"),
    ("prof_dir", "./", "all"),
    ("analyse", "false", "all"),
    ("activities", '["CPU", "NPU"]', "all"),
    ("record_shapes, profile_memory, with_stack, with_modules, with_flops", "false", "all"),
    ("is_rank, rank_list", "false, []", "6.0.rc3"),
    ("async_mode", "false", "7.0.0"),
    ("experimental_config.profiler_level", "Level0", "all"),
    ("experimental_config.aic_metrics", "AiCoreNone", "all"),
    ("experimental_config.data_simplification", "true", "all"),
)
"""profiler_config.json as torch_npu writes it: key, value of the template, first torch_npu release."""

NOTES = ("merge", "required", "order", "values", "dynamic", "decoy", "duplicate", "strict")


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return lines + ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]


def render(language: Language) -> str:
    """The reference in one language, as Markdown."""

    def say(key: str) -> str:
        return text(language, f"parameters.{key}")

    def place(path: str | None) -> str:
        return f"`{path}`" if path else say("absent")

    rows = [
        [
            f"`{item.name}`",
            item.values,
            f"{place(item.megatron)} ({item.shipped})",
            f"{place(item.fsdp2)} ({item.fsdp2_default})" if item.fsdp2 else place(None),
            item.since or say("all"),
            say(f"meaning.{item.name}"),
        ]
        for item in PARAMETERS
    ]
    mark = {True: say("yes"), False: say("no")}
    releases = [
        [
            item.branches,
            str(item.warmup),
            *(mark[flag] for flag in (item.aic_metrics_type, item.analyse_flag, item.offline_command, item.fsdp2)),
        ]
        for item in RELEASES
    ]
    dynamic = [[f"`{key}`", value, since if since != "all" else say("all")] for key, value, since in DYNAMIC_KEYS]
    lines = [f"# {say('title')}", "", say("intro"), ""]
    lines += _table([say(f"head.{key}") for key in ("name", "values", "megatron", "fsdp2", "since", "meaning")], rows)
    lines += ["", *(f"- {say(f'note.{key}')}" for key in NOTES)]
    lines += ["", f"## {say('releases')}", ""]
    lines += _table(
        [say(f"head.{key}") for key in ("release", "warmup", "aic", "analyse", "offline", "engine")], releases
    )
    lines += ["", say("warmup_note"), "", f"## {say('dynamic')}", "", say("dynamic_intro"), ""]
    lines += _table([say(f"head.{key}") for key in ("name", "template", "torch_npu")], dynamic)
    lines += ["", say("dynamic_note"), "", f"## {say('iterations')}", "", say("iterations_note"), ""]
    return "\n".join(lines)
