"""Copies that the product builds, trained on the simulated host: what was expected is what is captured."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from mindspeed_mm_train_profiler.launch_script import read_launch
from mindspeed_mm_train_profiler.options import ProfileOptions
from mindspeed_mm_train_profiler.profile_config import build, prepare
from mindspeed_mm_train_profiler.simulator.host import SimulatedHost
from mindspeed_mm_train_profiler.simulator.sample import RELEASES, make_checkout

OPTIONS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "everything": {
        "level": "level2",
        "with_memory": True,
        "with_stack": True,
        "record_shapes": True,
        "data_simplification": True,
        "aic_metrics_type": "ArithmeticUtilization",
    },
    "raw": {"analyse_flag": False, "level": "level0", "ranks": [1]},
}
CHAINS = [
    (release, chain)
    for release, has in RELEASES.items()
    for chain in ("tools_json", "msrun", *(("yaml", "fsdp2") if has.fsdp2 else ()))
]


@pytest.mark.slow
@pytest.mark.parametrize("asked", OPTIONS)
@pytest.mark.parametrize("release, chain", CHAINS)
def test_a_built_copy_captures_what_it_promises(
    release: str, chain: str, asked: str, host: SimulatedHost, tmp_path: Path
) -> None:
    checkout = make_checkout(tmp_path / "MindSpeed-MM", release, set_env=host.set_env)
    given = {"ranks": [0, 1], "start_step": 3, "end_step": 5, "train_iters": 8} | OPTIONS[asked]
    if not RELEASES[release].analyse_flag:
        given.pop("analyse_flag", None)  # these releases always parse
    options = ProfileOptions(**given, acknowledge=["all_ranks", "checkpoint_overwrite"])
    made = build(prepare(read_launch(checkout.scripts[chain]), options))
    done = subprocess.run(
        made["argv"],
        cwd=made["workdir"],
        env=host.environment(ms=4) | made["env"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0 and "Error" not in done.stdout, done.stdout[-3000:]
    sessions = sorted(Path(made["save_path"]).glob("*_ascend_pt"))
    infos = [json.loads(next(session.glob("profiler_info_*")).read_text()) for session in sessions]
    assert sorted(int(info["rank_id"]) for info in infos) == made["expected"]["ranks"]
    assert len(sessions) == made["expected"]["sessions"]
    for session, info in zip(sessions, infos, strict=True):
        (record,) = session.glob("PROF_*/host/simulated.json")
        captured = [step["number"] for step in json.loads(record.read_text())["steps"]]
        assert captured == made["expected"]["steps"]
        config = info["config"]["common_config"]
        assert (config["profile_memory"], config["with_stack"], config["record_shapes"]) == (
            options.with_memory,
            options.with_stack,
            options.record_shapes,
        )
        assert info["config"]["experimental_config"]["_profiler_level"].lower() == options.level
        assert (session / "ASCEND_PROFILER_OUTPUT").exists() is options.analyse_flag
