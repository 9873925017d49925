"""The prohibitions, and what would defeat a collection, found before anything is written."""

import os

from mindspeed_mm_train_profiler.errors import CodedError, Note
from mindspeed_mm_train_profiler.launch_script.plan import LaunchPlan
from mindspeed_mm_train_profiler.options import ProfileOptions
from mindspeed_mm_train_profiler.profile_config.schedule import Arguments, Window

LONG_WINDOW = 3
"""Two or three steps tell what a thousand do; the data grow with every one."""
DISABLING = ("PROFILING_MODE", "PROFILER_SAMPLECONFIG")
"""torch_npu ``_utils.check_msprof_env``: set to anything, they switch the profiler off with one warning."""


def check_plan(plan: LaunchPlan, options: ProfileOptions, notes: list[Note], *, nodes: int | None = None) -> None:
    """What the launch itself must allow."""
    if plan.engine == "unsupported":
        raise CodedError("engine_unsupported", found=plan.script, reason=plan.reason.code)
    if len(plan.chain) < 2:
        raise CodedError("config_not_reached", found=plan.script)
    for link in plan.chain[1:]:
        if link.word is not None and not link.word.known:
            raise CodedError("config_not_reached", found=link.word.text)
    if plan.missing_paths and "missing_paths" not in options.acknowledge:
        shown = [f"{m.path} ({m.source})" for m in plan.missing_paths]
        more = f" (+{len(shown) - 12})" if len(shown) > 12 else ""
        raise CodedError("paths_missing", found="; ".join(shown[:12]) + more, count=len(shown))
    for link in plan.chain[1:]:
        if not link.path.is_file():
            raise CodedError("config_missing", found=link.path)
    if nodes is None and (plan.nnodes or 1) > 1 and "multi_node" not in options.acknowledge:
        raise CodedError("multi_node", found=plan.nnodes, expected=1)
    if plan.call is not None and not plan.call.certain:
        notes.append(Note("launcher_uncertain", {"line": plan.call.launcher_span.line}))
    spans = {call.launcher_span for call in plan.calls if call.launcher == (plan.call.launcher if plan.call else "")}
    if len(spans) > 1 and plan.call is not None and plan.call.launcher != "python":
        notes.append(Note("several_launches", {"count": len(spans), "line": plan.call.launcher_span.line}))


def check_options(plan: LaunchPlan, options: ProfileOptions) -> None:
    """Prohibitions on the options, each its own code."""
    if options.profile_type == "dynamic" and plan.engine == "fsdp2":
        raise CodedError("dynamic_not_supported_fsdp2", found="dynamic", expected="static")
    if options.profile_type == "dynamic" and plan.capabilities.dynamic is False:
        raise CodedError("dynamic_not_supported", found="dynamic", expected="static")
    everybody = options.ranks == "all"
    world = plan.world_size
    if isinstance(options.ranks, list):
        if not options.ranks:
            raise CodedError("ranks_empty", found="[]")
        outside = [rank for rank in options.ranks if world is not None and rank >= world]
        if outside:
            raise CodedError("rank_outside_world", found=outside, expected=f"0..{(world or 1) - 1}", world=world)
        everybody = world is not None and world > 1 and len(set(options.ranks)) == world
    if everybody and "all_ranks" not in options.acknowledge and (world is None or world > 1):
        raise CodedError("all_ranks_not_acknowledged", found=options.ranks, world=world or "?")
    if options.profile_type == "dynamic":
        return
    if options.end_step <= options.start_step:
        raise CodedError(
            "end_step_not_after_start",
            found=f"{options.start_step}..{options.end_step}",
            expected="end_step > start_step",
        )
    steps = options.end_step - options.start_step
    if steps > LONG_WINDOW and "long_window" not in options.acknowledge:
        raise CodedError("long_window_not_acknowledged", found=steps, expected=f"<= {LONG_WINDOW}", steps=steps)
    if steps >= options.train_iters - 1 and steps > 1 and "long_window" not in options.acknowledge:
        raise CodedError("every_step_not_acknowledged", found=steps, train_iters=options.train_iters)


def check_schedule(
    plan: LaunchPlan, options: ProfileOptions, seen: Window, arguments: Arguments, notes: list[Note]
) -> None:
    """Whether the run is long enough, and what would end it early or disturb the window."""
    if options.train_iters < seen.needed:
        code = "train_iters_too_small_resumed" if seen.offset else "train_iters_too_small"
        raise CodedError(
            code,
            found=options.train_iters,
            expected=f">= {seen.needed}",
            needed=seen.needed,
            offset=seen.offset,
            recommended=seen.needed + 1,
        )
    if options.train_iters == seen.needed and options.profile_type == "static":
        notes.append(Note("train_iters_just_enough", {"train_iters": seen.needed, "recommended": seen.needed + 1}))
    if seen.offset:
        notes.append(Note("resumes_from_checkpoint", {"path": plan.load, "iteration": seen.offset}))
    if seen.warmup and options.profile_type == "static":
        notes.append(Note("warmup_shifts_window", {"warmup": seen.warmup, "first": seen.first, "last": seen.last}))
    _check_warmup(options, arguments)
    exit_interval = arguments.integer("exit_interval")
    if exit_interval and options.profile_type == "static":
        stop = next(i for i in range(seen.offset + 1, seen.offset + exit_interval + 1) if i % exit_interval == 0)
        if stop <= (seen.last or 0):
            raise CodedError("exit_interval_too_early", found=exit_interval, expected=f"> {seen.last}", stop=stop)


def _check_warmup(options: ProfileOptions, arguments: Arguments) -> None:
    """Megatron ``OptimizerParamScheduler``: asserts lr_warmup_steps < lr_decay_steps."""
    warmup = arguments.integer("lr_warmup_iters")
    decay = arguments.integer("lr_decay_iters") or options.train_iters
    if warmup and warmup >= decay and not arguments.flag("lr_warmup_fraction"):
        raise CodedError("lr_warmup_too_long", found=warmup, expected=f"< {decay}", needed=warmup + 1)


def disabling_variables(plan: LaunchPlan, notes: list[Note]) -> tuple[str, ...]:
    """Variables that switch the profiler off, set by the script or around it: the copy's launcher runs without them."""
    script = plan.call.env if plan.call is not None else {}
    around = {**os.environ, **plan.env}
    found = [name for name in DISABLING if name in script or name in around]
    value = script.get("OOTB_OPTIMIZER_PROFILING", around.get("OOTB_OPTIMIZER_PROFILING", ""))
    if value == "TRUE":
        found.append("OOTB_OPTIMIZER_PROFILING")
    notes.extend(Note("variable_taken_out", {"name": name}) for name in found)
    return tuple(found)


def check_checkpoint(plan: LaunchPlan, options: ProfileOptions, notes: list[Note]) -> None:
    """A short run still saves: over the user's checkpoints, where the folder holds some."""
    save = plan.save
    if save is None:
        return
    try:
        kept = save.is_dir() and any(
            entry.name.startswith(("iter_", "latest_checkpointed", "release")) for entry in os.scandir(save)
        )
    except OSError:
        kept = False
    if kept and "checkpoint_overwrite" not in options.acknowledge:
        raise CodedError("checkpoint_overwrite", found=save)
    notes.append(Note("checkpoint_overwritten" if kept else "checkpoint_written", {"path": save}))


def check_overrides(plan: LaunchPlan) -> None:
    """``training.train_iters=50`` behind an FSDP2 YAML would win over the copy."""
    if plan.engine != "fsdp2" or plan.call is None:
        return
    for word in plan.call.entry_args[1:]:
        name = word.text.lstrip("-").partition("=")[0]
        if "=" in word.text and name.split(".")[0] in {"training", "tools"}:
            raise CodedError("yaml_override_conflicts", found=word.text, line=word.line)
