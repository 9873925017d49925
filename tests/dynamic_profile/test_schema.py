"""The written configuration against the table of each generation."""

from pathlib import Path
from typing import Any

import pytest

from mindspeed_mm_train_profiler.dynamic_profile import generations, schema
from mindspeed_mm_train_profiler.options import ProfileOptions

ROWS = [*generations.TABLE.values(), generations.UNKNOWN]


def config(row: generations.Generation, **values: Any) -> dict[str, Any]:
    made = schema.make_config(ProfileOptions(), row, start_step=20, steps=2, save_path="/out", ranks=[0])
    return made | values


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_made_configuration_is_taken_as_it_is(row: generations.Generation) -> None:
    made = config(row)
    assert schema.validate(made, row) == []
    assert made["active"] == 2 and "end_step" not in made
    assert made["experimental_config"]["profiler_level"] == "Level1"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_unknown_generation_is_understood_by_all(row: generations.Generation) -> None:
    assert schema.validate(config(generations.UNKNOWN), row) == []


@pytest.mark.parametrize(
    "values",
    [
        {"end_step": 12},
        {"start_step": 0},
        {"start_step": "5"},
        {"active": 0},
        {"is_rank": "true"},
        {"rank_list": []},
        {"rank_list": ["0"]},
        {"prof_dir": "./"},
        {"activities": []},
        {"experimental_config": {"profiler_level": "level1"}},
    ],
    ids=str,
)
def test_values_that_would_be_lost_are_told(values: dict[str, Any]) -> None:
    assert len(schema.validate(config(generations.G26_0, **values), generations.G26_0)) == 1


def test_instant_start_by_generation() -> None:
    told = {row.name for row in ROWS if not schema.validate(config(row, start_step=-1), row)}
    assert told == {"7.2.0", "7.3.0", "26.0.0", "26.1.0"}


def test_installed_generation(tmp_path: Path) -> None:
    import os
    import re

    assert generations.installed_generation(tmp_path) is generations.UNKNOWN
    root = os.environ.get("TORCH_NPU_ROOT")
    if not root:
        pytest.skip("TORCH_NPU_ROOT is not set")
    # the checkout itself, and others beside it that are named by their branch
    folders = [p for p in sorted(Path(root).parent.iterdir()) if (p / "torch_npu").is_dir()]
    known = [p for p in folders if p.name == "master" or re.fullmatch(r"v[\d.]+-\d+\.\d+\.\d+", p.name)]
    if not known:
        pytest.skip("TORCH_NPU_ROOT is not named by its branch (master, v2.7.1-26.1.0)")
    names = {p.name: generations.installed_generation(p / "torch_npu").name for p in known}
    # 7.3 and 26.0 have the same sources of the dynamic profiler
    for branch, name in names.items():
        wanted = "26.1.0" if branch == "master" else branch.split("-")[1]
        assert name == ("7.3.0" if wanted == "26.0.0" else wanted), branch


@pytest.mark.parametrize(
    ("release", "told"),
    [
        ("6.0.0", "6.0.0"),
        ("7.0.0", "7.0.0"),
        ("7.1.0", "7.1.0"),
        ("7.2.0", "7.2.0"),
        ("7.3.0", "7.2.0"),
        ("26.0.0", "7.2.0"),
        ("26.1.0", "26.1.0"),
    ],
)
def test_the_watchers_own_file_tells_the_generation(release: str, told: str) -> None:
    """Those with the same template are told as the oldest of them."""
    from mindspeed_mm_train_profiler.simulator import generations as simulated
    from mindspeed_mm_train_profiler.simulator import watch_config

    template = watch_config.template(simulated.generation(release))
    assert generations.template_generation(template).name == told
    assert generations.template_generation({"anything": 1}).name == "unknown"
