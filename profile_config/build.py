"""``build``: the copies on disk, proven, and their manifest. Order: configurations, sourced files, the script last."""

import shlex
import time
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.profile_config import cluster_copy, json_edit, shell_edit, store, yaml_edit
from mindspeed_mm_train_profiler.profile_config.edits import MISSING, Change, apply, dotted, merged, unified_diff
from mindspeed_mm_train_profiler.profile_config.proof import prove_config
from mindspeed_mm_train_profiler.profile_config.proposal import ConfigEdit, Proposal, _nest
from mindspeed_mm_train_profiler.profile_config.script_copy import ScriptCopy, ShellCopy, copy_text
from mindspeed_mm_train_profiler.profile_config.store import Draft, sha256, writable
from mindspeed_mm_train_profiler.state import new_id

MAX_NAMES = 50


def copy_name(original: Path, folder: Path, stamp: str) -> Path:
    """A free name beside the original: ``finetune_profile_20261201_101500.sh``."""
    for number in range(1, MAX_NAMES):
        tail = "" if number == 1 else f"_{number}"
        path = folder / f"{original.stem}_profile_{stamp}{tail}{original.suffix}"
        if not path.exists() and not path.is_symlink():
            return path
    raise CodedError("copy_exists", found=path)


def edited_config(edit: ConfigEdit, wanted: dict[str, Any]) -> bytes:
    """The configuration's bytes with ``wanted`` merged in."""
    text = edit.data.decode("utf-8")
    if edit.link.path.suffix.lower() in {".yaml", ".yml"}:
        return apply(edit.data, yaml_edit.set_keys(text, edit.loaded, wanted))
    return apply(edit.data, json_edit.set_members(text, wanted))


def _places(proposal: Proposal, draft: Draft) -> dict[Path, Path]:
    """Where each copy will lie: beside its original, or in the build's folder where that cannot be written to.

    Error: ``directory_not_writable`` for a script that looks at where it lies.
    """
    plan, places = proposal.plan, {}
    sources = shell_edit.Sources(plan.files)
    for path in [*(edit.link.path for edit in proposal.configs), *(file.path for file in plan.files)]:
        folder = path.parent
        if not writable(folder):
            if path in sources.files and shell_edit.depends_on_place(sources):
                raise CodedError("directory_not_writable", found=folder, detail="$0")
            folder = draft.folder / "copies"
            folder.mkdir(mode=0o700, exist_ok=True)
        places[path] = copy_name(path, folder, proposal.stamp)
    return places


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def build(proposal: Proposal) -> dict[str, Any]:
    """Make the copies and their manifest; returns the manifest. On any failure nothing stays behind.

    Errors: ``original_changed`` (since ``prepare``), ``proof_failed``, ``directory_not_writable``,
    ``copy_not_written``, ``copy_exists``.
    """
    store.clean_leftovers()
    plan = proposal.plan
    originals = {edit.link.path: edit.data for edit in proposal.configs}
    originals |= {file.path: file.data for file in plan.files}
    _unchanged(originals)
    config_id = new_id("build")
    with Draft(config_id) as draft:
        places = _places(proposal, draft)
        copies, changes = _write_configs(proposal, draft, places)
        script = ScriptCopy(proposal, {e.link.path: places[e.link.path] for e in proposal.configs}, places)
        shells = script.build(draft)
        for folder in (proposal.save_path, proposal.dynamic_path):
            if folder is not None:
                draft.mkdir(folder)
        changes += _script_changes(proposal, places)
        copies += [_shell_entry(shell, plan.script) for shell in shells]
        own = next(shell for shell in shells if shell.original == plan.script)
        draft.drop(store.hidden(own.copy))
        _unchanged(originals)
        draft.write(own.copy, own.after, _mode(plan.script))
        _complete(copies)
        manifest = _manifest(proposal, config_id, copies, changes, draft, own.copy, script)
        draft.finish(manifest)
    return manifest


def _unchanged(originals: dict[Path, bytes]) -> None:
    for path, data in originals.items():
        if store.read_file(path) != data:
            raise CodedError("original_changed", found=path)


def _complete(copies: list[dict[str, Any]]) -> None:
    for copy in copies:
        data = store.read_file(Path(copy["copy"]))
        if data is None or sha256(data) != copy["sha256_copy"]:
            raise CodedError("copy_not_written", found=copy["copy"], detail="content differs")


def _write_configs(
    proposal: Proposal, draft: Draft, places: dict[Path, Path]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    copies: list[dict[str, Any]] = []
    changes: list[dict[str, Any]] = []
    following: ConfigEdit | None = None
    for edit in reversed(proposal.configs):  # tools.json before the YAML that names it
        wanted = edit.wanted
        if edit.points_to and following is not None:
            old = edit.loaded
            for key in edit.points_to:
                old = old[key]
            target = following.link.path
            wanted = merged(wanted, _nest(edit.points_to, copy_text(proposal.plan, old, target, places[target])))
        after = edited_config(edit, wanted)
        path, copy = edit.link.path, places[edit.link.path]
        found = prove_config(path, edit.loaded, after, wanted)
        draft.write(copy, after, _mode(path))
        copies.insert(0, _entry(edit.link.role, path, copy, edit.data, after))
        changes = [_change(copy, change) for change in found] + changes
        following = edit
    return copies, changes


def _entry(role: str, original: Path, copy: Path, before: bytes, after: bytes) -> dict[str, Any]:
    return {
        "role": role,
        "original": str(original),
        "copy": str(copy),
        "sha256_original": sha256(before),
        "sha256_copy": sha256(after),
        "mode": _mode(original),
        "diff": unified_diff(before, after, str(original), str(copy)),
    }


def _shell_entry(shell: ShellCopy, script: Path) -> dict[str, Any]:
    role = "script" if shell.original == script else "sourced"
    return _entry(role, shell.original, shell.copy, shell.before, shell.after)


def _change(path: Path, change: Change) -> dict[str, Any]:
    before = None if change.before is MISSING else change.before
    return {"path": str(path), "key": dotted(change.key), "before": before, "after": change.after}


def _script_changes(proposal: Proposal, places: dict[Path, Path]) -> list[dict[str, Any]]:
    plan = proposal.plan
    changes: list[dict[str, Any]] = []
    copy = str(places[plan.script])
    for link in plan.chain[1:]:
        if link.word is not None:
            after = copy_text(plan, link.word.text, link.path, places[link.path])
            changes.append({"path": copy, "key": link.reached_by, "before": link.word.text, "after": after})
    if proposal.script_iters:
        value = plan.train_iters.value
        changes.append({"path": copy, "key": "--train-iters", "before": value, "after": proposal.options.train_iters})
    if proposal.nodes is not None and plan.call is not None:
        for option, variable in cluster_copy.VARIABLES:
            word = plan.call.options.get(option)
            before = word.text if word is not None else None
            changes.append({"path": copy, "key": f"--{option}", "before": before, "after": f"${{{variable}}}"})
    for move in proposal.moves:
        name = "--" + move.name.replace("_", "-")
        changes.append({"path": copy, "key": name, "before": move.before, "after": move.after})
    return changes


def _manifest(
    proposal: Proposal,
    config_id: str,
    copies: list[dict[str, Any]],
    changes: list[dict[str, Any]],
    draft: Draft,
    script: Path,
    solved: ScriptCopy,
) -> dict[str, Any]:
    plan, options = proposal.plan, proposal.options
    argv = ["bash", str(script), *plan.script_args]
    seen = proposal.window
    can = plan.capabilities
    capabilities = {name: getattr(can, name) for name in can.__dataclass_fields__}
    return {
        "version": 1,
        "config_id": config_id,
        "created": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "script": str(plan.script),
        "engine": plan.engine,
        "framework": plan.framework,
        "launcher": plan.call.launcher if plan.call else None,
        "workdir": str(plan.workdir),
        "argv": argv,
        "command": f"cd {shlex.quote(str(plan.workdir))} && {shlex.join(argv)}",
        "env": dict(plan.env),
        "launch_env": _devices(plan),
        "copies": copies,
        "created_dirs": [str(path) for path in draft.created_dirs],
        "changes": changes,
        "save_path": str(proposal.save_path),
        "dynamic_config_path": str(proposal.dynamic_path) if proposal.dynamic_path else None,
        "options": options.model_dump(mode="json"),
        "expected": proposal.expected,
        "window": {"first_iteration": seen.first, "last_iteration": seen.last} if seen.iterations else None,
        "offset": seen.offset,
        "train_iters": options.train_iters if not _iters_kept(proposal) else plan.train_iters.value,
        "nproc_per_node": plan.nproc_per_node,
        "nnodes": plan.nnodes,
        "nodes": proposal.nodes,
        "node_rank": plan.node_rank,
        "world_size": plan.world_size,
        "master_addr": plan.master_addr,
        "master_port": plan.master_port,
        "log_file": str(plan.call.log_file) if plan.call and plan.call.log_file else None,
        "capabilities": {k: str(v) if isinstance(v, Path) else v for k, v in capabilities.items()},
        "cann_set_env": [str(path) for path in plan.cann_set_env],
        "python": plan.python,
        "missing_paths": [str(missing.path) for missing in plan.missing_paths],
        "estimate": proposal.estimate,
        "notes": [
            {
                "code": note.code,
                "params": {k: v if isinstance(v, (int, list)) else str(v) for k, v in note.params.items()},
            }
            for note in [*proposal.notes, *solved.notes]
        ],
    }


def _devices(plan: Any) -> dict[str, str]:
    """What the script itself says of the devices its ranks see."""
    own = plan.call.env if plan.call else {}
    return {name: own[name] for name in ("ASCEND_RT_VISIBLE_DEVICES",) if name in own}


def _iters_kept(proposal: Proposal) -> bool:
    return not proposal.script_iters and proposal.configs[0].link.role != "yaml"
