"""A launch script on the simulated host: engines, iteration lines, windows, and every switch."""

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Train = Callable[..., Any]
NAME = re.compile(r"^.+_\d+_\d{17}_ascend_pt$")


def rows(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def steps(session: Path) -> list[str]:
    return [row["Step"] for row in rows(session / "ASCEND_PROFILER_OUTPUT/step_trace_time.csv")]


@pytest.mark.parametrize("chain", ["tools_json", "yaml", "fsdp2", "msrun"])
def test_each_chain_trains_and_profiles(chain: str, train: Train) -> None:
    done = train(chain, nproc=2)
    assert done.code == 0, done.output
    assert done.iterations() == [1, 2, 3, 4, 5, 6]
    assert "simulated NPU host" in done.output
    assert len(done.sessions()) == 2
    for rank in (0, 1):
        session = done.session(rank)
        assert NAME.match(session.name)
        assert steps(session) == ["2", "3"]
        (device,) = session.glob("PROF_*/device_*")
        assert device.name == f"device_{rank}"


def test_the_lines_are_the_engine_s(train: Train) -> None:
    assert re.search(
        r"^ \[[-\d: ]{19}\] iteration        1/       6 \| consumed samples:            2 \|", train().output, re.M
    )


def test_fsdp2_lines_come_from_rank_0_with_the_logger_s_head(train: Train) -> None:
    output = train("fsdp2", nproc=2).output
    assert re.search(r"^\[Rank 0 \| Local Rank 0\] [-\d: ]{19} INFO =>  .*iteration        1/       6 \|", output, re.M)
    assert not re.search(r"^\[Rank 1 .*iteration ", output, re.M)


@pytest.mark.parametrize("release, expected", [("2.1.0", ["3", "4"]), ("26.0.0", ["2", "3"]), ("26.1.0", ["2", "3"])])
def test_the_checkout_decides_on_warm_up(release: str, expected: list[str], train: Train) -> None:
    assert steps(train(release=release).session()) == expected


def test_train_epochs_override_train_iters(train: Train) -> None:
    done = train("fsdp2")
    file = done.checkout.root / "examples/fsdp2/finetune.yaml"
    assert json.loads(file.read_text())["training"]["train_iters"] == 6
    config = json.loads(file.read_text())
    config["training"] |= {"train_epochs": 1, "simulated_samples": 8}
    from mindspeed_mm_train_profiler.simulator.engines import read_fsdp2

    file.write_text(json.dumps(config))
    assert read_fsdp2([str(file)], done.checkout.root).train_iters == 4


@pytest.mark.parametrize(
    "iters, captured, said",
    [
        (1, None, None),  # never opened
        (2, [], "current state is RECORD which may"),  # opened after the last pass
        (3, ["2"], "current state is RECORD_AND_SAVE"),
        (4, ["2", "3"], None),
    ],
)
def test_a_run_shorter_than_the_window(iters: int, captured: list[str] | None, said: str | None, train: Train) -> None:
    done = train(iters=iters)
    assert done.code == 0
    if captured is None:
        assert not done.save.exists()
    else:
        table = done.session() / "ASCEND_PROFILER_OUTPUT/step_trace_time.csv"
        assert (steps(done.session()) if table.exists() else []) == captured
    assert ("Stop profiler" in done.output) is bool(said)
    assert (said or "") in done.output


def test_a_crash_ends_as_torchrun_ends(train: Train) -> None:
    done = train(nproc=2, crash_at=2)
    assert "RuntimeError: simulated failure at iteration 2" in done.output
    assert "ChildFailedError" in done.output and re.search(r"exitcode  : 1 \(pid: \d+\)", done.output)
    assert "rank      : 0 (local_rank: 0)" in done.output
    assert max(done.iterations()) == 1
    assert done.code == 0  # the script's statistics hide it, as real ones do
    assert not done.save.exists()


def test_a_kill_inside_the_window_leaves_an_unfinished_session(train: Train) -> None:
    done = train(nproc=2, kill_at="window", fault_rank=1, profile={"ranks": [1]})
    assert "exitcode  : -9" in done.output and "Signal 9 (SIGKILL)" in done.output
    (session,) = done.sessions()
    assert not list(session.glob("profiler_info*")) and not (session / "ASCEND_PROFILER_OUTPUT").exists()
    assert list(session.glob("PROF_*/host/start_info")) and not list(session.rglob("end_info*"))


def test_a_worker_s_failure_ends_msrun(train: Train) -> None:
    done = train("msrun", nproc=2, crash_at=3)
    assert "Worker process" in done.output and "Distributed job exited with exception" in done.output
    logs = done.checkout.root / "msrun_log"
    assert "simulated failure" in (logs / "worker_0.log").read_text()
    assert "simulated failure" in done.output  # the terminal shows the workers' logs


def test_no_device_data_is_silent(train: Train) -> None:
    done = train(no_device_data=True)
    session = done.session()
    assert not list(session.glob("PROF_*/device_*")) and list(session.glob("PROF_*/host"))
    assert "ERROR" not in done.output
    output = session / "ASCEND_PROFILER_OUTPUT"
    assert not (output / "kernel_details.csv").exists() and (output / "trace_view.json").exists()


@pytest.mark.parametrize("generation, done_file", [("7.2.0", False), ("26.0.0", True)])
def test_a_failed_parse_claims_success(generation: str, done_file: bool, train: Train) -> None:
    done = train(parse_fails=True, torch_npu=generation)
    assert "'msprof' command not found!" in done.output and "All profiling data parsed in a total time" in done.output
    names = [path.name for path in (done.session() / "ASCEND_PROFILER_OUTPUT").iterdir()]
    assert names == (["analyse.done"] if done_file else [])


def test_a_rank_can_be_missing(train: Train) -> None:
    done = train(nproc=2, missing_rank=1)
    assert [json.loads(next(s.glob("profiler_info*")).read_text())["rank_id"] for s in done.sessions()] == ["0"]


def test_a_failure_while_saving_comes_after_the_last_iteration(train: Train) -> None:
    done = train(save_fails=True)
    assert max(done.iterations()) == 6 and "error code:507018" in done.output and "ChildFailedError" in done.output
    assert steps(done.session()) == ["2", "3"]


def test_a_checkpoint_shifts_the_log_and_not_the_profiler(train: Train) -> None:
    done = train(checkpoint=100, iters=106)
    assert done.iterations() == [101, 102, 103, 104, 105, 106]
    assert steps(done.session()) == ["2", "3"]


def test_training_can_end_early(train: Train) -> None:
    done = train(stop_at=3)
    assert done.iterations() == [1, 2, 3] and done.code == 0
    assert steps(done.session()) == ["2"]


def test_fewer_ranks_can_be_started_than_the_launch_asks_for(train: Train) -> None:
    done = train(nproc=8, max_ranks=2)
    assert done.iterations() == [1, 2, 3, 4, 5, 6] and len(done.sessions()) == 2
    (kernel,) = (done.session() / "ASCEND_PROFILER_OUTPUT").glob("communication_matrix.json")
    assert '"0-7"' in kernel.read_text()  # the world is as large as asked


def test_disabled_means_no_folder(train: Train) -> None:
    done = train(enable=False)
    assert done.code == 0 and not done.save.exists()


@pytest.mark.parametrize(
    "change, error",
    [
        ({"level": "level9"}, "ValueError: profiler_level only supports"),
        ({"aic_metrics_type": "Memory"}, "ValueError: aic_metrics_type only supports"),
        ({"start_step": "10"}, "TypeError: unsupported operand"),
    ],
)
def test_wrong_settings_fail_as_in_training(change: dict[str, Any], error: str, train: Train) -> None:
    done = train(profile=change)
    assert error in done.output and "ChildFailedError" in done.output


def test_a_profile_without_its_dynamic_part_crashes(train: Train) -> None:
    done = train()
    file = done.checkout.root / "mindspeed_mm/tools/tools.json"
    config = json.loads(file.read_text())
    del config["profile"]["dynamic_param"]
    file.write_text(json.dumps(config))
    from mindspeed_mm_train_profiler.simulator.engines import EngineError, read_megatron

    with pytest.raises(EngineError, match="no attribute 'dynamic_param'"):
        read_megatron(["--mm-tool", str(file), "--train-iters", "5"], done.checkout.root)


def test_a_profiling_mode_variable_disables_torch_npu(train: Train, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROFILING_MODE", "false")
    done = train()
    assert "torch_npu profiler api is not effective" in done.output and not done.save.exists()
