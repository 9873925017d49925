"""``prepare``: all checks and facts of a build, and the configuration copies in memory. Writes nothing."""

import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.errors import CodedError, Note
from mindspeed_mm_train_profiler.launch_script.plan import ConfigLink, LaunchPlan, WorldChange
from mindspeed_mm_train_profiler.options import ProfileOptions
from mindspeed_mm_train_profiler.profile_config import (
    checks,
    cluster_copy,
    estimate,
    intervals,
    settings_block,
    world,
    yaml_nodes,
)
from mindspeed_mm_train_profiler.profile_config.edits import merged
from mindspeed_mm_train_profiler.profile_config.proof import load
from mindspeed_mm_train_profiler.profile_config.schedule import Arguments, Window, window
from mindspeed_mm_train_profiler.trainer_files import read_config_bytes


@dataclass(frozen=True, slots=True)
class ConfigEdit:
    """What must hold in one configuration copy. ``points_to``: the key path that names the next copy."""

    link: ConfigLink
    data: bytes
    loaded: Any
    wanted: dict[str, Any]
    points_to: tuple[str, ...] = ()


@dataclass(slots=True)
class Proposal:
    """A build that may be made. ``configs`` in the order of the chain, script first left out."""

    plan: LaunchPlan
    options: ProfileOptions
    stamp: str
    save_path: Path
    dynamic_path: Path | None
    configs: list[ConfigEdit]
    window: Window
    expected: dict[str, Any]
    neutralise: list[WorldChange]
    unset: tuple[str, ...]
    script_iters: bool
    """The number of iterations stands in the script, and is set there."""
    moves: list[intervals.Move]
    """Intervals to change in the script."""
    nodes: int | None
    """The copy follows an allocation of so many nodes; None: the nodes are the script's own."""
    estimate: dict[str, Any] | None
    notes: list[Note] = field(default_factory=list)


def prepare(plan: LaunchPlan, options: ProfileOptions, *, nodes: int | None = None) -> Proposal:
    """Check a build and compute what it would make. ``nodes``: how many a cluster's allocation will have.

    ``options.save_path`` and ``dynamic_config_path``, where given, are absolute or taken from the launch's working
    directory. Errors: those of ``checks``, ``settings_block``, ``world`` and of the files in the chain.
    """
    notes = list(plan.notes)
    if nodes is not None:
        plan = _allocated(plan, nodes)
    elif (plan.nnodes or 1) > 1 and "multi_node" in options.acknowledge and plan.call is not None:
        # started by hand on every node: each gets its own rank through a variable, where the copy can take one
        nodes = plan.nnodes if cluster_copy.editable(plan) is None else None
    checks.check_plan(plan, options, notes, nodes=nodes)
    checks.check_options(plan, options)
    checks.check_overrides(plan)
    base = (plan.call.cwd if plan.call is not None else None) or plan.workdir
    stamp = time.strftime("%Y%m%d_%H%M%S")
    save = _save_path(base, options, stamp)
    dynamic = _dynamic_path(base, options, stamp)
    configs, arguments, script_iters = _configs(plan, options, save, dynamic, notes)
    seen = window(plan, options, arguments)
    checks.check_schedule(plan, options, seen, arguments, notes)
    moved = intervals.moves(plan, options, seen, arguments, notes)
    if keyed := [move for move in moved if move.key]:
        wanted = configs[0].wanted
        for move in keyed:
            wanted = merged(wanted, _nest(move.key, move.after))
        configs[0] = replace(configs[0], wanted=wanted)
    checks.check_checkpoint(plan, options, notes)
    originals = {link.path for link in plan.chain} | {file.path for file in plan.files}
    neutralise = world.check(plan, options, originals, notes)
    _earlier_sessions(save, options, notes)
    guess = estimate.volume(base, save, options, plan.world_size)
    estimate.check_space(guess, save, options, notes)
    return Proposal(
        plan=plan,
        options=options,
        stamp=stamp,
        save_path=save,
        dynamic_path=dynamic,
        configs=configs,
        window=seen,
        expected=_expected(plan, options, seen),
        neutralise=neutralise,
        unset=checks.disabling_variables(plan, notes),
        script_iters=script_iters,
        moves=[move for move in moved if move.word is not None and not move.key],
        nodes=nodes,
        estimate=guess,
        notes=notes,
    )


def _allocated(plan: LaunchPlan, nodes: int) -> LaunchPlan:
    """The plan as the allocation will make it. Errors: ``cluster_launcher_not_supported``, ``nodes_not_positive``."""
    if nodes < 1:
        raise CodedError("nodes_not_positive", found=nodes, expected=">= 1")
    if (error := cluster_copy.editable(plan)) is not None:
        raise error
    world = plan.nproc_per_node * nodes if plan.nproc_per_node else None
    return replace(plan, nnodes=nodes, world_size=world)


def _save_path(base: Path, options: ProfileOptions, stamp: str) -> Path:
    if options.save_path is not None:
        return base / Path(options.save_path).expanduser()
    return base / "npu_profiling" / f"run_{stamp}"


def _dynamic_path(base: Path, options: ProfileOptions, stamp: str) -> Path | None:
    """The folder that torch_npu watches: an existing or new folder of this run, never a file.

    Errors: ``dynamic_path_not_directory``, ``dynamic_path_in_use``.
    """
    if options.profile_type != "dynamic":
        return None
    if options.dynamic_config_path is None:
        return base / "dynamic_profile_config" / f"run_{stamp}"
    path = base / Path(options.dynamic_config_path).expanduser()
    if path.exists() and not path.is_dir():
        raise CodedError("dynamic_path_not_directory", found=path)
    if (path / "profiler_config.json").exists():
        raise CodedError("dynamic_path_in_use", found=path / "profiler_config.json")
    return path


def _expected(plan: LaunchPlan, options: ProfileOptions, seen: Window) -> dict[str, Any]:
    """What the run must leave behind. ``ranks`` None: all of an unknown world."""
    ranks: list[int] | None
    if options.ranks == "all":
        ranks = list(range(plan.world_size)) if plan.world_size else None
    else:
        ranks = sorted(set(options.ranks))
    per_rank = len(seen.steps) if plan.reason.code == "engine_dancegrpo" else 1
    sessions = None if ranks is None else len(ranks) * per_rank
    if options.profile_type == "dynamic":
        sessions = 0  # each trigger adds its own
    return {"ranks": ranks, "steps": seen.steps, "iterations": seen.iterations, "sessions": sessions}


def _nest(keys: tuple[str, ...], value: Any) -> dict[str, Any]:
    for key in reversed(keys):
        value = {key: value}
    return dict(value)


def _configs(
    plan: LaunchPlan, options: ProfileOptions, save: Path, dynamic: Path | None, notes: list[Note]
) -> tuple[list[ConfigEdit], Arguments, bool]:
    files = []
    for link in plan.chain[1:]:
        data = read_config_bytes(link.path)
        loaded = load(link.path, data)
        if link.path.suffix.lower() in {".yaml", ".yml"}:
            root = yaml_nodes.parse(data.decode("utf-8"))
            for key, line in yaml_nodes.duplicates(root)[:5] if root is not None else ():
                notes.append(Note("duplicate_key", {"path": link.path, "key": key, "line": line}))
        files.append((link, data, loaded))
    holder = files[-1]
    settings_block.check_neighbours(plan, holder[2], notes)
    block = settings_block.wanted_block(plan, options, str(save), str(dynamic) if dynamic else None, notes)
    if plan.engine == "megatron" and plan.current_profile is None:
        notes.append(Note("profile_block_added", {"path": holder[0].path}))
    wanted: dict[Path, dict[str, Any]] = {link.path: {} for link, _, _ in files}
    wanted[holder[0].path] = settings_block.wrap(plan, block, holder[2])
    iters = plan.train_iters
    script_iters = False
    if files[0][0].role == "yaml":
        path = files[0][0].path
        keys = tuple(str(k) for k in iters.key_path) or ("gpt_args", "train_iters")
        more = _nest(keys, options.train_iters)
        if iters.overridden_by == "training.train_epochs":
            more = merged(more, {"training": {"train_epochs": None}})
            notes.append(Note("train_epochs_taken_out", {"path": path}))
        wanted[path] = merged(wanted[path], more)
    elif iters.key in (None, "--train-iters"):
        script_iters = True
    else:
        notes.append(Note("train_iters_not_set", {"key": iters.key, "value": iters.value}))
    edits = []
    for index, (link, data, loaded) in enumerate(files):
        following = files[index + 1][0] if index + 1 < len(files) else None
        points = tuple(str(key) for key in following.key) if following is not None else ()
        edits.append(ConfigEdit(link, data, loaded, wanted[link.path], points))
    arguments = Arguments(plan, files[0][2] if files[0][0].role == "yaml" else None)
    return edits, arguments, script_iters


def _earlier_sessions(save: Path, options: ProfileOptions, notes: list[Note]) -> None:
    if options.save_path is None:
        return
    if save.exists() and not save.is_dir():
        raise CodedError("save_path_not_directory", found=save)
    try:
        count = sum(1 for entry in save.iterdir() if entry.name.endswith("_ascend_pt"))
    except OSError:
        return
    if count:
        notes.append(Note("earlier_sessions", {"path": save, "count": count}))
