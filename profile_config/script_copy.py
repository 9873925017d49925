"""The script copy: found by trying ways to write each value until reading the result again proves it."""

from dataclasses import dataclass
from pathlib import Path

from mindspeed_mm_train_profiler.errors import CodedError, Note
from mindspeed_mm_train_profiler.launch_script import read_launch
from mindspeed_mm_train_profiler.launch_script.plan import LauncherCall, LaunchPlan, Word
from mindspeed_mm_train_profiler.profile_config import cluster_copy, shell_edit, world
from mindspeed_mm_train_profiler.profile_config.edits import Edit, apply, joined
from mindspeed_mm_train_profiler.profile_config.proof import Request, script_problems
from mindspeed_mm_train_profiler.profile_config.proposal import Proposal
from mindspeed_mm_train_profiler.profile_config.store import Draft

MAX_TRIES = 16


@dataclass(slots=True)
class Target:
    """A word to change. ``kind`` is that of the problem which says that it did not hold."""

    kind: str
    word: Word
    value: str
    choice: int = 0


@dataclass(frozen=True, slots=True)
class ShellCopy:
    original: Path
    copy: Path
    before: bytes
    after: bytes


def copy_text(plan: LaunchPlan, word_text: str, original: Path, copy: Path) -> str:
    """How a word that named ``original`` names ``copy``: the same way where it lies beside it, else absolutely."""
    if copy.parent == original.parent and Path(word_text).name == original.name:
        return word_text[: len(word_text) - len(original.name)] + copy.name
    return str(copy)


def word_index(call: LauncherCall, word: Word) -> int | None:
    """Where a word (or the value part of ``--name=value``) stands in the launcher's argv."""
    for index, candidate in enumerate(call.words):
        if candidate is word:
            return index
    for index, candidate in enumerate(call.words):
        if candidate.line == word.line and candidate.text.startswith("--") and candidate.text.endswith(f"={word.text}"):
            return index
    return None


class ScriptCopy:
    """Works out and proves the script copy of one build."""

    def __init__(self, proposal: Proposal, paths: dict[Path, Path], names: dict[Path, Path]) -> None:
        """``paths``: configuration → copy. ``names``: shell file → where its copy would lie."""
        self.proposal, self.plan, self.names = proposal, proposal.plan, names
        assert self.plan.call is not None
        self.call = self.plan.call
        self.sources = shell_edit.Sources(self.plan.files)
        self.request = Request(paths)
        self.targets: list[Target] = []
        self.fixed: list[tuple[Path, Edit]] = []
        self.where: dict[str, int] = {}
        """Node settings whose definition did not do, and where they are changed instead."""
        self.notes: list[Note] = []
        self._targets(paths)
        self._fixed()

    def _target(self, kind: str, word: Word, value: str) -> None:
        self.targets.append(Target(kind, word, value))
        index = word_index(self.call, word)
        if index is not None:
            full = self.call.words[index].text
            self.request.words[index] = full[: len(full) - len(word.text)] + value

    def _targets(self, paths: dict[Path, Path]) -> None:
        for index, link in enumerate(self.plan.chain[1:], 1):
            if link.word is not None:
                value = copy_text(self.plan, link.word.text, link.path, paths[link.path])
                self._target(f"chain:{index}", link.word, value)
        for move in self.proposal.moves:
            if move.word is not None:
                self._target(f"interval:{move.name}", move.word, str(move.after))
        iters = self.plan.train_iters
        if not self.proposal.script_iters:
            return
        self.request.train_iters = self.proposal.options.train_iters
        if iters.word is not None:
            self._target("train_iters", iters.word, str(self.proposal.options.train_iters))
        else:
            self.request.added = ("--train-iters", str(self.proposal.options.train_iters))

    def _fixed(self) -> None:
        recorder = shell_edit.recorder(self.sources, self.call, self.proposal.unset)
        if recorder is not None:
            self.fixed.append(recorder)
        else:
            self.notes.append(Note("recorder_not_placed", {"line": self.call.launcher_span.line}))
        if self.request.added:
            added = shell_edit.insert_argument(self.sources, self.call, " ".join(self.request.added))
            if added is None:
                raise CodedError("train_iters_not_editable", found=self.plan.script)
            self.fixed.append(added)
        for change in self.proposal.neutralise:
            self.fixed.append(shell_edit.neutralise(self.sources, change.span))
        self._followers()

    def _followers(self) -> None:
        """An in-place edit of a copied file may carry the path of another: its variables lead to the copies as well."""
        by_text = self.request.paths
        for change in self.plan.world_changes:
            if change.kind != "edits" or change in self.proposal.neutralise:
                continue
            for word in change.targets:
                for piece in word.pieces:
                    for binding in piece.bindings:
                        probe = world.resolved(self.plan, Word((type(piece)(binding.text),)))
                        if probe in by_text and binding.value is not None and probe is not None:
                            value = copy_text(self.plan, binding.text, probe, by_text[probe])
                            whole = tuple(p for p in word.pieces if binding in p.bindings)
                            self._follow(Word(whole, True), value)

    def _follow(self, word: Word, value: str) -> None:
        if any(t.word.text == word.text and t.value == value and t.kind == "follow" for t in self.targets):
            return
        self.targets.append(Target("follow", word, value))

    def _edits(self) -> dict[Path, list[Edit]]:
        edits: dict[Path, list[Edit]] = {}
        nodes = self.proposal.nodes is not None
        # a line of a node setting stands before the recorder of the launcher that follows it
        for path, edit in [*(cluster_copy.edits(self.sources, self.call, self.where) if nodes else ()), *self.fixed]:
            edits[path] = joined([*edits.get(path, ()), edit])
        for target in self.targets:
            found = list(shell_edit.candidates(self.sources, target.word, target.value))
            if target.choice >= len(found):
                raise CodedError("script_not_editable", found=f"{target.word.text} (line {target.word.line})")
            path, edit = found[target.choice][1]
            edits.setdefault(path, []).append(edit)
        return self._with_sources(edits)

    def _with_sources(self, edits: dict[Path, list[Edit]]) -> dict[Path, list[Edit]]:
        """Edited sourced files are copied too, and the lines that name them re-pointed, up to the script itself."""
        edits.setdefault(self.plan.script, [])
        waiting = [path for path in edits if path != self.plan.script]
        while waiting:
            path = waiting.pop()
            located = shell_edit.repoint_source(self.sources, self.sources.files[path], self.names[path])
            if located is None:
                raise CodedError("source_not_repointed", found=path)
            owner, edit = located
            if owner not in edits and owner != self.plan.script:
                waiting.append(owner)
            edits.setdefault(owner, [])
            if edit not in edits[owner]:
                edits[owner].append(edit)
        return edits

    def _advance(self, kind: str) -> bool:
        """Try the next way of writing what did not hold."""
        if kind.startswith("cluster:"):
            option = kind.partition(":")[2]
            self.where[option] = self.where.get(option, cluster_copy.DEFINITION) + 1
            return self.where[option] <= cluster_copy.USE
        order = [t for t in self.targets if t.kind == kind.removeprefix(cluster_copy.OTHERWISE)]
        if not order:  # another argument changed along: a shared variable
            order = [t for t in self.targets if t.kind != "follow"]
        for target in order:
            if target.choice + 1 < len(list(shell_edit.candidates(self.sources, target.word, target.value))):
                target.choice += 1
                return True
        return False

    def build(self, draft: Draft) -> list[ShellCopy]:
        """The shell copies, proven; the script's own is still under its hidden name.

        Errors: ``proof_failed``; ``cluster_nodes_differ``, where only some nodes would launch the copy.
        """
        problems: list[tuple[str, str]] = []
        for _ in range(MAX_TRIES):
            try:
                copies = self._write(draft)
            except CodedError as error:
                if error.code == "edits_overlap" and self._advance(self.targets[-1].kind if self.targets else ""):
                    continue
                raise
            problems = self._problems(draft, {})
            if not problems:
                if self.proposal.nodes is not None:
                    self.notes += cluster_copy.notes(self.sources, self.call, self.where)
                return self._against_environment(draft, copies)
            if not self._advance(problems[0][0]):
                break
        if other := [detail for kind, detail in problems if kind.startswith(cluster_copy.OTHERWISE)]:
            raise CodedError("cluster_nodes_differ", found="; ".join(other[:4]))
        shown = "; ".join(f"{kind}: {detail}" for kind, detail in problems[:4])
        raise CodedError("proof_failed", found=f"{self.plan.script}: {shown}")

    def _write(self, draft: Draft) -> list[ShellCopy]:
        edits = self._edits()
        copies = []
        for path, own in edits.items():
            before = self.sources.files[path].data
            copies.append(ShellCopy(path, self.names[path], before, apply(before, own)))
        for copy in copies:
            if copy.original == self.plan.script:
                draft.write_hidden(copy.copy, copy.after)
            else:
                draft.drop(copy.copy)
                draft.write(copy.copy, copy.after, copy.original.stat().st_mode & 0o7777)
        return copies

    def _read(self, env: dict[str, str]) -> LaunchPlan:
        from mindspeed_mm_train_profiler.profile_config.store import hidden

        return read_launch(
            hidden(self.names[self.plan.script]),
            workdir=self.plan.workdir,
            script_args=self.plan.script_args,
            env={**self.plan.env, **env},
        )

    def _problems(self, draft: Draft, env: dict[str, str]) -> list[tuple[str, str]]:
        after = self._read(env)
        found = script_problems(self.plan, after, self.request)
        for values in cluster_copy.ALLOCATIONS if self.proposal.nodes is not None else ():
            found = found or cluster_copy.problems(self.plan, after, self._read({**env, **values}), values)
        return found

    def _against_environment(self, draft: Draft, copies: list[ShellCopy]) -> list[ShellCopy]:
        """Variables that the script takes from its environment must not lead it back to the originals."""
        import re

        names: set[str] = set()
        for file in self.sources.files.values():
            names |= {n.decode() for n in re.findall(rb"\$\{([A-Za-z_]\w*):?[-=]", file.data)}
            names |= {n.decode() for n in re.findall(rb"-[zn]\s+\"?\$\{?([A-Za-z_]\w*)", file.data)}
        names -= {*self.plan.env, "MM_PROFILER_RECORD", "PATH", "HOME"}
        names = {name for name in names if not name.startswith("MM_PROFILER_")}
        if not names:
            return copies
        hostile = dict.fromkeys(sorted(names), "7")
        for _ in range(MAX_TRIES):
            wrong = self._drifts(hostile)
            if wrong is None:
                return copies
            saved = [target.choice for target in self.targets]
            if not self._advance(wrong):
                break
            try:
                attempt = self._write(draft)
                if self._problems(draft, {}):
                    raise CodedError("proof_failed", found=wrong)
                copies = attempt
            except CodedError:
                for target, choice in zip(self.targets, saved, strict=True):
                    target.choice = choice
                copies = self._write(draft)
                break
        self.notes.append(Note("environment_can_override", {"names": ", ".join(sorted(names)[:6])}))
        return copies

    def _drifts(self, env: dict[str, str]) -> str | None:
        """Which requested value another environment would change; None where none."""
        try:
            after = self._read(env)
        except CodedError:
            return None  # the script does not run at all there
        if after.call is None or len(after.chain) != len(self.plan.chain):
            return None
        for index, link in enumerate(self.plan.chain[1:], 1):
            if link.word is not None and after.chain[index].path != self.request.paths.get(link.path):
                return f"chain:{index}"
        if self.request.train_iters is not None and after.train_iters.value != self.request.train_iters:
            return "train_iters"
        return None
