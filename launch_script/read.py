"""``read_launch``: a launch script in, a LaunchPlan out. Reads files, runs nothing, writes nothing."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from mindspeed_mm_train_profiler.errors import CodedError, Note
from mindspeed_mm_train_profiler.launch_script import chain as chains
from mindspeed_mm_train_profiler.launch_script import checkout, entries, paths, syntax
from mindspeed_mm_train_profiler.launch_script.entries import EntryKind
from mindspeed_mm_train_profiler.launch_script.plan import (
    ConfigLink,
    Framework,
    LauncherCall,
    LaunchPlan,
    SourceFile,
    Span,
)
from mindspeed_mm_train_profiler.launch_script.state import OutOfBudget, Record, Shell, Var
from mindspeed_mm_train_profiler.launch_script.statements import run
from mindspeed_mm_train_profiler.launch_script.topology import LOSES, integer, says_mindspore, topology
from mindspeed_mm_train_profiler.launch_script.values import plain

DISTRIBUTED = {"torchrun", "msrun", "deepspeed", "accelerate", "torch_npu_run"}


def evaluate(
    script: Path, data: bytes, cwd: Path, script_args: Sequence[str], env: Mapping[str, str]
) -> tuple[Record, syntax.Source]:
    """Read the script as bash would run it in ``cwd``."""
    source = syntax.parse(script, data)
    record = Record()
    record.notes.extend(source.notes)
    record.files[script] = SourceFile(script, data)
    record.sources[script] = source
    variables = {name: Var(plain(value), exported=True) for name, value in env.items()}
    shell = Shell(record, source, cwd, variables, arguments=tuple(plain(a) for a in script_args), zero=str(script))
    try:
        run(shell, source.tree.root_node)
    except (OutOfBudget, RecursionError):
        record.notes.append(Note("reading_cut_short", {"path": script}))
    return record, source


def _entry_path(call: LauncherCall, cwd: Path) -> Path | None:
    """The entry as a file; None for a module, or where it is not known."""
    if call.entry is None or not call.entry.known or not call.entry.text:
        return None
    base = call.cwd or cwd
    if "m" in call.options or "module" in call.options:
        return base.joinpath(*call.entry.text.split(".")).with_suffix(".py")
    return chains.resolve(call.entry.text, base)


def find_workdir(script: Path, record: Record, read_in: Path) -> Path:
    """The nearest ancestor of the script from which its entry resolves; else the nearest checkout, else its folder."""
    for call in sorted(record.calls, key=lambda c: c.launcher == "python"):
        if call.entry is None or not call.entry.known:
            continue
        text = call.entry.text
        if Path(text).is_absolute():
            continue
        moved = call.cwd is not None and call.cwd != read_in
        if moved and (call.cwd / text).is_file():  # type: ignore[operator]
            break
        for folder in script.parents:
            if (folder / text).is_file():
                return folder
    return checkout.find_checkout(script.parent) or script.parent


def _rank(call: LauncherCall, kind: EntryKind) -> tuple[int, int, int]:
    """Which call is the training: what it runs decides, then how it is started, then that it is certain."""
    return (kind.engine != "unsupported", call.launcher in DISTRIBUTED or "distributed" in call.launcher, call.certain)


def _without_launcher(record: Record) -> EntryKind:
    """A script that starts no training: what does it do instead?"""
    names = {command[0] for command in record.commands}
    joined = {" ".join(command[:3]) for command in record.commands}
    if any("install" in text or "clone" in text for text in joined) or names & {
        "docker",
        "apt",
        "apt-get",
        "yum",
        "conda",
    }:
        return EntryKind("unsupported", "kind_installation", None, "name")
    if any(text.startswith("ray ") for text in joined):
        return EntryKind("unsupported", "kind_cluster", None, "name")
    return EntryKind("unsupported", "kind_no_launcher", None, "name")


def read_launch(
    script: str | Path,
    *,
    workdir: str | Path | None = None,
    script_args: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
) -> LaunchPlan:
    """Read a launch script.

    ``workdir``: where the launch starts; default: the nearest ancestor of the script from which its entry resolves.
    ``env`` is added to this process's environment, as the launch will see it. Errors: those of ``syntax.read_script``,
    ``workdir_invalid``, and ``config_malformed``/``config_unreadable`` of the files in the chain.
    """
    path = Path(script)
    path = Path(os.path.normpath(path if path.is_absolute() else Path(workdir or Path.cwd()) / path))
    data = syntax.read_script(path)
    environment = {**os.environ, **(env or {})}
    for name in ("PWD", "OLDPWD", "_"):
        environment.pop(name, None)
    if workdir is not None:
        place = Path(os.path.normpath(Path(workdir).absolute()))
        if not place.is_dir():
            raise CodedError("workdir_invalid", found=place)
        record, source = evaluate(path, data, place, script_args, environment)
    else:
        guess = checkout.find_checkout(path.parent) or path.parent
        record, source = evaluate(path, data, guess, script_args, environment)
        place = find_workdir(path, record, guess)
        if place != guess:
            record, source = evaluate(path, data, place, script_args, environment)
    return _assemble(path, place, record, source, script_args, env or {})


def _judge(call: LauncherCall, workdir: Path, record: Record) -> tuple[Path | None, EntryKind]:
    """(entry file, what it is) of one call."""
    entry = _entry_path(call, workdir)
    base = call.cwd or workdir
    root = checkout.find_checkout(entry.parent if entry and entry.exists() else base) or base
    if call.entry is None:
        return entry, _without_launcher(record)
    return entry, entries.classify(call.entry.text, entry, root)


def _assemble(
    script: Path,
    workdir: Path,
    record: Record,
    source: syntax.Source,
    script_args: Sequence[str],
    env: Mapping[str, str],
) -> LaunchPlan:
    judged = [(one, *_judge(one, workdir, record)) for one in record.calls]
    call: LauncherCall | None = None
    entry: Path | None = None
    kind = _without_launcher(record)
    if judged:
        call, entry, kind = max(reversed(judged), key=lambda item: _rank(item[0], item[2]))
    notes = list(record.notes) + _stray(script, call)
    base = (call.cwd if call else None) or workdir
    root = checkout.find_checkout(entry.parent) if entry and entry.exists() else None
    root = root or checkout.find_checkout(base)
    capabilities = checkout.capabilities(root, kind.engine)
    gone = root is not None and entry is not None and not entry.exists()
    if kind.reason == "engine_dancegrpo" or gone:
        # an own loop that reads a part of the block; a release that no longer has the entry
        capabilities = replace(capabilities, dynamic=False)
    if gone:
        notes.append(Note("entry_missing", {"entry": str(entry)}))
    chain = chains.Chain(links=[ConfigLink("script", script, "argument", None)])
    if call is not None and kind.engine == "megatron":
        yaml = kind.reads_yaml and (root is None or checkout.reads_yaml(root))
        chain = chains.megatron(script, call, base, reads_yaml=yaml)
    elif call is not None and kind.engine == "fsdp2":
        chain = chains.fsdp2(script, call, base)
    notes += chain.notes
    if kind.engine != "unsupported" and kind.how == "name":
        notes.append(Note("entry_not_read", {"entry": str(entry or "")}))
    nproc, nodes, rank, world = topology(call) if call else (None, None, None, None)
    missing, placeholders = _paths(chain, record, base, entry, kind)
    if call is not None and call.launcher == "python" and kind.engine == "unsupported":
        nproc = nodes = rank = world = None
    lost = [f"--{name}" for name, word in call.options.items() if word is None and name in LOSES] if call else []
    if lost:
        notes.append(Note("option_lost_value", {"options": ", ".join(lost)}))
    framework: Framework = "mindspore" if call and (call.launcher == "msrun" or says_mindspore(call)) else "torch"
    save, load = _place(chain, "save", base), _place(chain, "load", base)
    port = integer(call.options.get("master_port")) if call else None
    address = call.options.get("master_addr") if call else None
    return LaunchPlan(
        script=script,
        workdir=workdir,
        engine=kind.engine,
        framework=framework,
        reason=Note(kind.reason, {"entry": call.entry.text if call and call.entry else ""}),
        suggestion=Note(kind.suggestion, {}) if kind.suggestion else None,
        call=call,
        calls=tuple(record.calls),
        entry=entry,
        config_kind=None if kind.engine == "unsupported" else "yaml" if kind.engine == "fsdp2" else "tools_json",
        chain=tuple(chain.links),
        train_iters=chain.train_iters,
        current_profile=chain.profile,
        nproc_per_node=nproc,
        nnodes=nodes,
        node_rank=rank,
        world_size=world,
        master_addr=address.text if address is not None and address.known else None,
        master_port=port,
        save=save,
        load=load,
        capabilities=capabilities,
        files=tuple(record.files.values()),
        missing_paths=missing,
        placeholders=placeholders + _script_placeholders(record),
        unresolved=_unresolved(call, record),
        world_changes=tuple(record.world),
        notes=tuple(_unique(notes)),
        script_args=tuple(script_args),
        cann_set_env=tuple(record.set_env),
        python=record.python,
        env=dict(env),
    )


def _stray(script: Path, call: LauncherCall | None) -> list[Note]:
    """Arguments that nobody meant: a blank behind a backslash, or a backslash inside quotes at a line's end."""
    for word in call.words if call else ():
        if word.text in {" ", "\t", "\\"}:
            span = next((piece.span for piece in word.pieces if piece.span), word.span)
            where = (span.path, span.line) if span else (script, word.line)
            return [Note("stray_backslash", {"path": where[0], "line": where[1], "text": repr(word.text)[1:-1]})]
    return []


def _place(chain: chains.Chain, name: str, base: Path) -> Path | None:
    """Where checkpoints go or come from."""
    value, _, _ = chain.argument(f"--{name}")
    if value is None and isinstance(chain.yaml, dict) and isinstance(chain.yaml.get("training"), dict):
        value = chain.yaml["training"].get(name)
    return chains.resolve(value, base) if isinstance(value, str) and value and value != "None" else None


def _paths(chain: chains.Chain, record: Record, base: Path, entry: Path | None, kind: EntryKind):  # type: ignore[no-untyped-def]
    found: list[paths.Named] = []
    if kind.engine != "unsupported":
        found += [paths.Named(str(link.path), link.reached_by, link.line) for link in chain.links[1:]]
        if entry is not None:
            found.append(paths.Named(str(entry), "entry", None))
        found += paths.named_by(chain)
        if chain.yaml is not None:
            found += paths.named_in(chain.yaml, "yaml")
        found += paths.related(chain, base)
        found += [paths.Named(str(path), "source", line) for path, line in record.missing_sources]
    return paths.judge(found, base, record.generated)


def _script_placeholders(record: Record):  # type: ignore[no-untyped-def]
    from mindspeed_mm_train_profiler.launch_script.plan import Placeholder

    return tuple(
        Placeholder(str(note.params["text"]), "script", int(str(note.params["line"])))
        for note in record.notes
        if note.code == "placeholder_breaks_bash"
    )


def _unresolved(call: LauncherCall | None, record: Record):  # type: ignore[no-untyped-def]
    """Reasons for what is not known among the chosen call's words."""
    if call is None:
        return ()
    texts = [piece.text for word in call.words if not word.known for piece in word.pieces]
    return tuple(reason for name, reason in record.reasons.items() if any(name in text for text in texts))


def _unique(notes: list[Note]) -> list[Note]:
    seen: dict[str, Note] = {}
    for note in notes:
        seen.setdefault(f"{note.code}{sorted((k, str(v)) for k, v in note.params.items())}", note)
    return list(seen.values())


__all__ = ["Span", "evaluate", "read_launch"]
