"""One release's scripts, against what real bash and the real code did with each."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from mindspeed_mm_train_profiler.launch_script import read_launch

pytestmark = pytest.mark.real
OWN = re.compile(r"save|profil|snapshot|output|log|cache", re.I)
"""What the run itself writes is not missing."""


def rows() -> list[dict[str, Any]]:
    shared = os.environ.get("PROFILER_SHARED")
    file = Path(shared or "/nonexistent") / "cases/truth/master.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else []


@pytest.fixture(scope="module")
def checkout() -> Path:
    root = os.environ.get("MINDSPEED_MM_ROOT")
    if not root or not Path(root).is_dir():
        pytest.skip("MINDSPEED_MM_ROOT is not set to a folder")
    return Path(root)


@pytest.fixture(scope="module")
def truth(checkout: Path) -> list[dict[str, Any]]:
    found = rows()
    if not found:
        pytest.skip("PROFILER_SHARED is not set to a folder with cases/truth")
    same = [row for row in found if (checkout / row["script"]).is_file()]
    if len(same) < len(found) * 0.9:
        pytest.skip("MINDSPEED_MM_ROOT is another release than the recorded one")
    return same


def relative(path: Path | None, root: Path) -> str | None:
    return (
        os.path.relpath(path, root)
        if path is not None and root in path.parents
        else None
        if path is None
        else str(path)
    )


def test_engine_and_chain(truth: list[dict[str, Any]], checkout: Path) -> None:
    wrong = []
    for row in truth:
        plan = read_launch(checkout / row["script"])
        if plan.engine != row["category"]:
            wrong.append((row["script"], "engine", plan.engine, row["category"]))
        if row["category"] == "unsupported":
            continue
        found = {
            "entry": relative(plan.entry, checkout),
            "chain": [relative(link.path, checkout) for link in plan.chain],
            "launcher": plan.call.launcher if plan.call else None,
            "iters": plan.train_iters.value,
            "where": plan.train_iters.key,
            "nproc": plan.nproc_per_node,
            "nnodes": plan.nnodes,
            "world": plan.world_size,
            "dynamic": plan.capabilities.dynamic,
        }
        where = row["train_iters"]["where"]
        wanted = {
            "entry": row["entry"],
            "chain": row["config_chain"],
            "launcher": row["launcher"],
            "iters": row["train_iters"]["value"],
            "where": "--train-iters" if where == "cli" else where.removeprefix("yaml:"),
            "nproc": row["nproc"],
            "nnodes": row["nnodes"],
            "world": row["world_size"],
            "dynamic": row["dynamic_supported"],
        }
        wrong += [(row["script"], key, found[key], wanted[key]) for key in wanted if found[key] != wanted[key]]
    assert not wrong


def test_argv_is_what_bash_passed(truth: list[dict[str, Any]], checkout: Path) -> None:
    """Equal, or marked as not known; a row that was taken with something filled in is compared but for that."""
    wrong, compared = [], 0
    for row in truth:
        if "argv" not in row or row["category"] == "unsupported":
            continue
        plan = read_launch(checkout / row["script"], env={"HOME": "/mnt/home", "USER": "u"})
        assert plan.call is not None
        got = [word.text.replace(str(checkout), "<REPO>") for word in plan.call.words]
        if all(word.known for word in plan.call.words) and not plan.placeholders_in_call():
            compared += 1
            if [Path(got[0]).name, *got[1:]] != row["argv"]:
                wrong.append((row["script"], got, row["argv"]))
        else:
            assert plan.unresolved or plan.placeholders, row["script"]
    assert not wrong
    assert compared > 60


def test_missing_paths(truth: list[dict[str, Any]], checkout: Path) -> None:
    wrong = []
    for row in truth:
        if row["category"] == "unsupported":
            continue
        plan = read_launch(checkout / row["script"])
        told = {relative(missing.path, checkout) for missing in plan.missing_paths}
        told |= {os.path.normpath(hole.text) for hole in plan.placeholders}
        there = {os.path.normpath(item["value"]) for item in row["referenced_paths"] if item["exists"]}
        gone = {os.path.normpath(item["value"]) for item in row["referenced_paths"] if not item["exists"]}
        if told & there:
            wrong.append((row["script"], "told but there", told & there))
        if left := {path for path in gone - told if not OWN.search(path)}:
            # what the run writes itself is named by its key
            keys = {item["key"] for item in row["referenced_paths"] if os.path.normpath(item["value"]) in left}
            if not all(OWN.search(key) for key in keys):
                wrong.append((row["script"], "gone but not told", left))
    assert not wrong


def test_every_script_of_the_release_is_read(checkout: Path) -> None:
    """Whatever it is, a script gets an answer."""
    scripts = sorted(checkout.rglob("*.sh"))
    assert scripts
    for script in scripts:
        plan = read_launch(script)
        assert plan.engine in {"megatron", "fsdp2", "unsupported"}
        assert plan.reason.code
