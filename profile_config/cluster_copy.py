"""A copy that every node of a cluster can run: its node variables follow the allocation, and by hand stay as they were.

    NNODES=1                      NNODES=${MM_PROFILER_NNODES-1}
    --node_rank $NODE_RANK        (NODE_RANK=${MM_PROFILER_NODE_RANK-0} where it is defined)
    torchrun train.py             torchrun ${MM_PROFILER_NNODES:+--nnodes=$MM_PROFILER_NNODES} train.py

What the script derives from them (WORLD_SIZE, a batch size) follows by itself, because the definition is changed.
"""

import re
from collections.abc import Mapping
from itertools import pairwise

from mindspeed_mm_train_profiler.errors import CodedError, Note
from mindspeed_mm_train_profiler.launch_script import syntax
from mindspeed_mm_train_profiler.launch_script.plan import LauncherCall, LaunchPlan, Word
from mindspeed_mm_train_profiler.profile_config import cluster_follow
from mindspeed_mm_train_profiler.profile_config.edits import Edit
from mindspeed_mm_train_profiler.profile_config.shell_edit import Located, Sources, outer

VARIABLES: tuple[tuple[str, str], ...] = (
    ("nnodes", "MM_PROFILER_NNODES"),
    ("node_rank", "MM_PROFILER_NODE_RANK"),
    ("master_addr", "MM_PROFILER_MASTER_ADDR"),
    ("master_port", "MM_PROFILER_MASTER_PORT"),
)
"""Launcher option (torchrun's spelling) and the variable that carries the allocation's value."""
LAUNCHERS = frozenset({"torchrun", "python -m torch.distributed.run", "python -m torch.distributed.launch"})
CONFLICTS = ("standalone", "rdzv_backend", "rdzv_endpoint")
"""With these the launcher takes no notice of the four options."""
CONFLICTING_VARIABLES = tuple(f"PET_{name.upper()}" for name in CONFLICTS)
"""The same, from the environment (torchrun's own names for its options)."""
STARTERS = frozenset(b"srun sbatch salloc mpirun mpiexec ssh pdsh dsh clush pssh parallel-ssh".split())
"""Programs that start others elsewhere: every node of the allocation would do it again."""
STARTED = re.compile(rb"torchrun|torch\.distributed|python|\$\{?0\b|\.sh\b")
HOSTFILE = re.compile(rb"(?i)(?:\w*_)?hosts?_?file")
"""Names that scripts give the path of their hostfile (examples of 2.0.0 to 26.1.0: HOSTFILE)."""
HOSTFILE_VARIABLE = "MM_PROFILER_HOSTFILE"
SAMPLE: Mapping[str, str] = {
    "MM_PROFILER_NNODES": "3",
    "MM_PROFILER_NODE_RANK": "2",
    "MM_PROFILER_MASTER_ADDR": "node-0.cluster",
    "MM_PROFILER_MASTER_PORT": "23456",
}
"""An allocation that no script has: what the proof reads the copy with."""
ALLOCATIONS = tuple({**SAMPLE, "MM_PROFILER_NODE_RANK": rank} for rank in ("2", "0", "1"))
"""Its last, first and another node: scripts do something else on the first or the last one."""


def editable(plan: LaunchPlan) -> CodedError | None:
    """Why this launch cannot be led by an allocation; None where it can."""
    call = plan.call
    if call is None:
        return None
    empty = [f"--{option}" for option, _ in VARIABLES if option in call.options and call.options[option] is None]
    if call.launcher in LAUNCHERS and call.entry is None and empty:  # the entry was taken for the last one's value
        return CodedError("cluster_options_empty", found=", ".join(empty))
    if call.launcher not in LAUNCHERS or call.quoted or call.entry is None or call.entry.span is None:
        found = f"{call.launcher}, quoted" if call.quoted else call.launcher
        return CodedError("cluster_launcher_not_supported", found=found, expected=", ".join(sorted(LAUNCHERS)))
    clash = [f"--{name}" for name in CONFLICTS if name in call.options]
    clash += [name for name in CONFLICTING_VARIABLES if name in call.env]
    if clash:
        return CodedError("cluster_launcher_not_supported", found=clash[0], expected="--nnodes, --node_rank, ...")
    if (several := _starts_all(plan)) is not None:
        return CodedError("cluster_launcher_not_supported", found=several, expected="one launch a node")
    return None


def _starts_all(plan: LaunchPlan) -> str | None:
    """What shows that one run of the script starts more nodes than its own."""
    for file in plan.files:
        for start, end in syntax.commands_named(file.data, STARTERS):
            if STARTED.search(file.data, start, end):
                line = file.data.count(b"\n", 0, start) + 1
                return f"{file.path.name}:{line}: {syntax.decode(file.data[start:end].splitlines()[0])[:100]}"
    ranks = {word.text for call in plan.calls if (word := call.options.get("node_rank")) is not None}
    return f"--node_rank {', '.join(sorted(ranks))}" if len(ranks) > 1 else None


DEFINITION, LINE, USE = range(3)
"""Where a node setting is changed, in the order in which it is tried: where it is defined, in a line of its own behind
all that sets it, in the launcher's call alone (what is derived from it keeps the script's value)."""


def edits(sources: Sources, call: LauncherCall, where: Mapping[str, int]) -> list[Located]:
    """The edits of one copy of an ``editable`` launch. ``where``: options that are not changed at their definition.

    Error: ``cluster_not_editable`` for a value that stands nowhere it could be changed.
    """
    found: list[Located] = []
    added = []
    for option, variable in VARIABLES:
        word, level = call.options.get(option), where.get(option, DEFINITION)
        located = _led(sources, call, option, variable, level)
        if word is None and (located is None or cluster_follow.spelled(sources, option) is None):
            added.append(f"${{{variable}:+--{option}=${variable}}}")
        elif word is not None:
            located = located or _place(sources, word, variable)
            if located is None:
                raise CodedError("cluster_not_editable", found=f"--{option} {word.text}")
        if located is not None and located not in found:
            found.append(located)
    found += [located for located in _hostfiles(sources) if located not in found]
    if added:
        span = call.entry.span if call.entry is not None else None
        if span is None or span.path not in sources.files:
            raise CodedError("cluster_not_editable", found=" ".join(added))
        found.append((span.path, Edit(span.start, span.start, (" ".join(added) + " ").encode())))
    return found


def _led(sources: Sources, call: LauncherCall, option: str, variable: str, level: int) -> Located | None:
    """The edit after which the option's variable has the allocation's value, also for what is derived from it."""
    word = call.options.get(option)
    located = _definition(sources, word, variable) if word is not None and level == DEFINITION else None
    if located is None and level < USE:
        named = cluster_follow.spelled(sources, option)
        if named is None and word is None:
            named = cluster_follow.own_name(sources, call, option)
        located = cluster_follow.line(sources, named, variable) if named is not None else None
    return located


def notes(sources: Sources, call: LauncherCall, where: Mapping[str, int]) -> list[Note]:
    """Variables that keep the script's own value, for what uses them beside the launcher."""
    return [
        Note("cluster_value_kept", {"name": name, "option": f"--{option}"})
        for option, variable in VARIABLES
        if _led(sources, call, option, variable, where.get(option, DEFINITION)) is None
        and (name := cluster_follow.used_elsewhere(sources, option)) is not None
    ]


def _hostfiles(sources: Sources) -> list[Located]:
    """Assignments that name a hostfile: in an allocation, one of its nodes (an address a line) takes its place."""
    return [
        (path, Edit(start, end, new))
        for path, file in sources.files.items()
        for start, end in syntax.assigned_values(file.data, HOSTFILE)
        if (new := _wrapped(file.data[start:end], HOSTFILE_VARIABLE)) is not None
    ]


def _wrapped(raw: bytes, variable: str) -> bytes | None:
    """``raw`` as the default of the variable, in its own quotes; None for what cannot stand there."""
    if (command := _command(raw)) is not None:
        return command[0] + b"${" + variable.encode() + b"-" + command[1] + b"}" + command[0]
    if syntax.PLACEHOLDER.fullmatch(raw):  # a redirection to bash, which would not read the copy at all
        return b"${" + variable.encode() + b"-" + syntax.filled(raw) + b"}"
    mark = raw[:1] if raw[:1] in (b'"', b"'") and raw[-1:] == raw[:1] and len(raw) > 1 else b""
    inner = raw[1:-1] if mark else raw
    if any(char in inner for char in (b'"', b"'", b"`", b"\n", b"(", b" ", b"<", b">")):
        return None
    if inner.count(b"{") != inner.count(b"}") or (mark == b"'" and b"$" in inner):
        return None
    quote = b'"' if mark else b""
    return quote + b"${" + variable.encode() + b"-" + inner + b"}" + quote


def _command(raw: bytes) -> tuple[bytes, bytes] | None:
    """(quotes, text) of a value that is one command substitution, ``$(wc -l < $HOSTFILE)`` or in backticks.

    As the variable's default it is not run at all in an allocation: the hostfile need not be there. What bash itself
    takes for one substitution is decided by the parser, not by looking for brackets.
    """
    for quote in (b"", b'"'):
        inner = raw[len(quote) : len(raw) - len(quote)]
        if len(raw) <= 2 * len(quote) or not raw.startswith(quote) or not raw.endswith(quote):
            continue
        if inner.startswith(b"`") and inner.endswith(b"`") and inner.count(b"`") == 2 and b"\\" not in inner:
            inner = b"$(" + inner[1:-1] + b")"  # the same command, in the form that nests
        if inner.startswith(b"$(") and not inner.startswith(b"$((") and syntax.is_one_substitution(inner):
            return quote, inner
    return None


def _definition(sources: Sources, word: Word, variable: str) -> Located | None:
    """Where the variable that is this word's whole value gets it; None where something else may set it as well."""
    for piece in word.pieces[:1]:
        for binding in piece.bindings:
            if not cluster_follow.set_once(sources, binding.name):
                continue
            if binding.text == word.text and binding.value is not None and binding.value.path in sources.files:
                new = _wrapped(sources.raw(binding.value), variable)
                if new is not None:
                    return binding.value.path, Edit(binding.value.start, binding.value.end, new)
    return None


def _place(sources: Sources, word: Word, variable: str) -> Located | None:
    """Where the value stands in the call itself."""
    spans = [outer(piece, word) for piece in word.pieces if piece.text]
    if len(spans) != 1 or spans[0] is None or spans[0].path not in sources.files:
        return None
    span = spans[0]
    new = _wrapped(sources.raw(span), variable)
    return None if new is None else (span.path, Edit(span.start, span.end, new))


OTHERWISE = "otherwise:"
"""Before a kind of problem of the proof by hand: it holds there, and not on every node of an allocation."""


def problems(
    before: LaunchPlan, by_hand: LaunchPlan, allocated: LaunchPlan, values: Mapping[str, str]
) -> list[tuple[str, str]]:
    """What the copy would do otherwise on a node of an allocation than its ``values`` say, and than by hand.

    Kinds: ``cluster:<option>``, the option whose value does not follow; ``otherwise:chain:<n>`` and
    ``otherwise:train_iters``: a script may launch another command on some nodes, and that one is not changed.
    """
    found: list[tuple[str, str]] = []
    if by_hand.call is None or allocated.call is None or before.call is None:
        return [("cluster", "no launcher")]
    told = [word.text for word in allocated.call.words]
    for option, variable in VARIABLES:
        word = allocated.call.options.get(option)
        if word is None or not word.known or word.text != values[variable]:
            found.append((f"cluster:{option}", f"--{option} {word.text if word else None} != {values[variable]}"))
        elif any(
            name.replace("-", "_") == f"__{option}" and value.startswith("--") for name, value in pairwise(told)
        ):  # the launcher refuses an option without a value, whatever follows
            found.append((f"cluster:{option}", f"--{option} without a value"))
    nproc = before.nproc_per_node
    if nproc and allocated.world_size != nproc * int(values["MM_PROFILER_NNODES"]):
        found.append(("cluster:nnodes", f"world size {allocated.world_size}"))
    node = values["MM_PROFILER_NODE_RANK"]
    here, there = ([str(link.path) for link in plan.chain] for plan in (by_hand, allocated))
    for index in range(1, max(len(here), len(there))):
        if here[index : index + 1] != there[index : index + 1]:
            led = ", ".join(there[index : index + 1]) or "nowhere"
            found.append((f"{OTHERWISE}chain:{index}", f"node {node}: {led}"))
    if by_hand.train_iters.value != allocated.train_iters.value:
        found.append((f"{OTHERWISE}train_iters", f"node {node}: --train-iters {allocated.train_iters.value}"))
    return found
