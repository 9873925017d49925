"""The corpus: what reading says, and what real bash launches behind a recorder, for every shape of script."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from mindspeed_mm_train_profiler.launch_script import read_launch
from mindspeed_mm_train_profiler.simulator.sample import make_checkout

from .corpus import CASES, Case

RECORDER = """#!/bin/bash
{ printf '%s\\0' "${0##*/}" "$@"; printf '\\n'; } >> "$RECORD"
"""
STANDINS = (
    "torchrun",
    "msrun",
    "accelerate",
    "python",
    "python3",
    "python3.10",
    "pip",
    "git",
    "ping",
    "nvidia-smi",
    "numactl",
    "taskset",
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus") / "MindSpeed-MM"
    make_checkout(folder, "26.1.0")
    return folder


def prepare(case: Case, root: Path) -> Path:
    script = root / case.at
    for name, text in {case.at: case.script, **case.files}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8", newline="")
    return script


def expected(case: Case, root: Path) -> list[str] | None:
    if case.argv is None:
        return None
    return [word.replace("{root}", str(root)).replace("{dir}", str((root / case.at).parent)) for word in case.argv]


def test_the_corpus_is_large_enough() -> None:
    assert len(CASES) >= 60
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_reading(case: Case, root: Path) -> None:
    script = prepare(case, root)
    plan = read_launch(script, script_args=case.args, env=case.env)
    assert plan.engine == case.engine
    argv = expected(case, root)
    if argv is None:
        assert plan.call is None or plan.unresolved
    else:
        assert plan.call is not None
        assert [word.text for word in plan.call.words] == argv
        assert all(word.known for word in plan.call.words)
    assert [os.path.relpath(link.path, root) for link in plan.chain[1:]] == list(case.chain)
    assert plan.train_iters.value == case.iters
    assert plan.train_iters.key == case.key
    assert plan.world_size == (case.world if case.engine != "unsupported" else plan.world_size)
    if case.reason:
        assert plan.reason.code == case.reason
    assert set(case.notes) <= {note.code for note in plan.notes}


BROKEN = {"script_has_crlf", "script_has_bom", "exits_before_launch", "placeholder_breaks_bash", "script_syntax_error"}
"""Bash itself stumbles over these, which the notes say; what it would launch is what the author meant."""


@pytest.mark.parametrize("case", [case for case in CASES if not BROKEN & set(case.notes)], ids=lambda case: case.name)
def test_bash_launches_the_same(case: Case, root: Path, tmp_path: Path) -> None:
    """Real bash, with every launcher replaced by a recorder on PATH."""
    script = prepare(case, root)
    if case.argv is None:
        return
    if case.argv[0].startswith("/"):
        pytest.skip("an absolute launcher cannot be replaced on PATH")
    standins = tmp_path / "bin"
    standins.mkdir()
    for name in STANDINS:
        body = (
            RECORDER
            if name not in {"numactl", "taskset"}
            else '#!/bin/bash\nwhile [[ $1 == -* || $1 == 0-3 ]]; do shift; done\nexec "$@"\n'
        )
        (standins / name).write_text(body, encoding="utf-8")
        (standins / name).chmod(0o755)
    record = tmp_path / "record"
    record.touch()
    (root / "logs").mkdir(exist_ok=True)
    plan = read_launch(script, script_args=case.args, env=case.env)
    subprocess.run(
        ["bash", str(script), *case.args],
        cwd=plan.workdir,
        env={"PATH": f"{standins}:/usr/bin:/bin", "HOME": str(tmp_path), "RECORD": str(record), **case.env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
        check=False,
    )
    deadline = time.monotonic() + 10
    while not record.stat().st_size and time.monotonic() < deadline:  # a launch in the background ends after its script
        time.sleep(0.02)
    launches = [line.split("\0")[:-1] for line in record.read_text(encoding="utf-8").split("\n") if line]
    assert plan.call is not None
    assert [word.text for word in plan.call.words] in launches
