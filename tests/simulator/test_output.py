"""What a parse leaves: which file for which request, columns, and numbers that agree with each other."""

import csv
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mindspeed_mm_train_profiler.simulator.generations import TABLE, generation
from mindspeed_mm_train_profiler.simulator.parsing import analyse
from mindspeed_mm_train_profiler.simulator.workload import make_step, step_times

Train = Callable[..., Any]
ALWAYS = {"trace_view.json", "kernel_details.csv", "step_trace_time.csv", "analyse.done"}
LEVEL1 = {"op_statistic.csv", "api_statistic.csv"}
COMM = {"communication.json", "communication_matrix.json"}
MEMORY = {"memory_record.csv", "operator_memory.csv", "npu_module_mem.csv"}


def table(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    "profile, nproc, expected",
    [
        ({"level": "level0"}, 2, ALWAYS | {"operator_details.csv"}),
        ({"level": "level1"}, 1, ALWAYS | LEVEL1 | {"operator_details.csv"}),
        ({"level": "level1"}, 2, ALWAYS | LEVEL1 | COMM | {"operator_details.csv"}),
        ({"level": "level2", "with_cpu": False}, 2, ALWAYS | LEVEL1 | COMM),
        ({"with_memory": True}, 1, ALWAYS | LEVEL1 | MEMORY | {"operator_details.csv"}),
    ],
)
def test_which_files_appear(profile: dict[str, Any], nproc: int, expected: set[str], train: Train) -> None:
    output = train(profile=profile, nproc=nproc).session() / "ASCEND_PROFILER_OUTPUT"
    assert {path.name for path in output.iterdir()} == expected
    assert all(path.stat().st_size or path.name == "analyse.done" for path in output.iterdir())


def test_without_parsing_there_is_raw_data_only(train: Train) -> None:
    session = train(profile={"analyse_flag": False}).session()
    assert {path.name.split("_")[0] for path in session.iterdir()} == {"FRAMEWORK", "PROF", "profiler"}
    for payload in session.rglob("*"):
        twin = payload.with_name(payload.name + ".done")
        if twin.exists():
            assert twin.read_text() == f"filesize:{payload.stat().st_size}\n"


@pytest.mark.parametrize(
    "profile, names",
    [
        ({}, {"torch.op_range", "torch.op_mark"}),
        ({"with_memory": True}, {"torch.op_range", "torch.op_mark", "torch.memory_usage"}),
        (
            {"with_stack": True},
            {"torch.op_range", "torch.op_mark", "torch.python_tracer_func", "torch.python_tracer_hash"},
        ),
    ],
)
def test_framework_files_follow_the_request(profile: dict[str, Any], names: set[str], train: Train) -> None:
    session = train(profile=profile | {"analyse_flag": False}).session()
    assert {path.name for path in (session / "FRAMEWORK").iterdir()} == names


def test_numbers_of_one_session_agree(train: Train) -> None:
    output = train(nproc=2).session() / "ASCEND_PROFILER_OUTPUT"
    steps, kernels = table(output / "step_trace_time.csv"), table(output / "kernel_details.csv")
    communication = json.loads((output / "communication.json").read_text())
    for step in steps:
        mine = [row for row in kernels if row["Step Id"] == step["Step"]]
        computing = sum(float(row["Duration(us)"]) for row in mine if row["Accelerator Core"] != "COMMUNICATION")
        assert computing == pytest.approx(float(step["Computing"]), abs=0.1)
        parts = sum(float(step[name]) for name in ("Computing", "Communication(Not Overlapped)", "Free"))
        assert parts == pytest.approx(float(step["Stage"]), abs=0.1)
        exposed = float(step["Communication"]) - float(step["Overlapped"])
        assert exposed == pytest.approx(float(step["Communication(Not Overlapped)"]), abs=0.1)
        total = communication[f"step{step['Step']}"]["collective"]["Total Op Info"]["Communication Time Info"]
        assert total["Elapse Time(ms)"] * 1000 == pytest.approx(float(step["Communication"]), abs=0.1)
    operators = table(output / "op_statistic.csv")
    assert sum(float(row["Total Time(us)"]) for row in operators) == pytest.approx(
        sum(float(step["Computing"]) for step in steps), abs=0.1
    )
    assert sum(float(row["Ratio(%)"]) for row in operators) == pytest.approx(100, abs=0.1)
    events = json.loads((output / "trace_view.json").read_text())
    assert {e["name"] for e in events if e["name"].startswith("ProfilerStep#")} == {"ProfilerStep#2", "ProfilerStep#3"}
    lanes = {name: sum(e["dur"] for e in events if e["name"] == name) for name in ("Computing", "Free")}
    assert lanes["Computing"] == pytest.approx(sum(float(step["Computing"]) for step in steps), abs=0.1)
    assert lanes["Free"] == pytest.approx(sum(float(step["Free"]) for step in steps), abs=0.1)


def test_without_cpu_there_are_no_step_ids(train: Train) -> None:
    output = train(nproc=2, profile={"with_cpu": False}).session() / "ASCEND_PROFILER_OUTPUT"
    (row,) = table(output / "step_trace_time.csv")
    assert row["Step"] == ""
    assert "Step Id" not in table(output / "kernel_details.csv")[0]
    assert list(json.loads((output / "communication.json").read_text())) == ["step"]
    parts = sum(float(row[name]) for name in ("Computing", "Communication(Not Overlapped)", "Free"))
    assert parts == pytest.approx(float(row["Stage"]), abs=0.1)


@pytest.mark.parametrize(
    "metric, column", [("PipeUtilization", "aic_mac_ratio"), ("ArithmeticUtilization", "aic_mac_fp16_ratio")]
)
def test_metrics_show_in_the_columns(metric: str, column: str, train: Train) -> None:
    session = train(profile={"aic_metrics_type": metric}).session()
    row = table(session / "ASCEND_PROFILER_OUTPUT/kernel_details.csv")[0]
    assert column in row and None not in row and None not in row.values()


@pytest.mark.parametrize("name", TABLE)
def test_each_generation_writes_its_own_columns_and_keys(name: str, train: Train) -> None:
    row = generation(name)
    session = train(nproc=2, torch_npu=name).session()
    output = session / "ASCEND_PROFILER_OUTPUT"
    assert ("Device_id" in table(output / "step_trace_time.csv")[0]) is row.device_column
    assert (output / "analyse.done").exists() is row.done_file
    info = json.loads((session / "profiler_info_0.json").read_text())
    assert ("torch_npu_version" in info) is row.versions_in_info
    assert ("skip_first_wait" in info["config"]["common_config"]["schedule"]) is row.skip_first_wait
    assert row.block in table(output / "kernel_details.csv")[0]


def test_level0_resets_the_metrics_and_says_so(train: Train) -> None:
    done = train(profile={"level": "level0"})
    info = json.loads((done.session() / "profiler_info_0.json").read_text())
    assert info["config"]["experimental_config"]["_aic_metrics"] == "ACL_AICORE_NONE"
    assert "reset aic metrics to None!" in done.output


@pytest.mark.parametrize(
    "simplify, torch_npu, framework", [(True, "6.0.0", False), (True, "7.2.0", True), (False, "6.0.0", True)]
)
def test_data_simplification(simplify: bool, torch_npu: str, framework: bool, train: Train) -> None:
    session = train(profile={"data_simplification": simplify}, torch_npu=torch_npu).session()
    assert bool(list(session.glob("PROF_*/mindstudio_profiler_output"))) is not simplify
    assert (session / "FRAMEWORK").is_dir() is framework


def test_the_db_comes_with_the_text_where_cann_can(train: Train) -> None:
    output = train(nproc=2, db=True).session() / "ASCEND_PROFILER_OUTPUT"
    steps = table(output / "step_trace_time.csv")
    with closing(sqlite3.connect(output / "analysis.db")) as db:
        rows = db.execute("SELECT step, computing, free FROM StepTraceTime").fetchall()
        assert db.execute("SELECT count(*) FROM CommAnalyzerTime").fetchone()[0] == 6
    assert [(row["Step"], float(row["Computing"]), float(row["Free"])) for row in steps] == rows
    with closing(sqlite3.connect(output / "ascend_pytorch_profiler_0.db")) as db:
        assert [row[0] for row in db.execute("SELECT id FROM STEP_TIME")] == [2, 3]
        assert db.execute("SELECT * FROM RANK_DEVICE_MAP").fetchall() == [(0, 0)]
        kernels = db.execute("SELECT count(*) FROM TASK JOIN COMPUTE_TASK_INFO USING (globalTaskId)").fetchone()[0]
    assert kernels == len([row for row in table(output / "kernel_details.csv") if row["Name"][:5] != "hcom_"])


def test_old_generations_write_no_db_beside_the_text(train: Train) -> None:
    output = train(torch_npu="7.1.0", db=True).session() / "ASCEND_PROFILER_OUTPUT"
    assert not list(output.glob("*.db"))


def test_offline_parsing_to_a_db_writes_nothing_else(train: Train) -> None:
    done = train(profile={"analyse_flag": False})
    assert analyse(done.save, generation("26.0.0"), exports=frozenset({"db"})) == 1
    names = {path.name for path in (done.session() / "ASCEND_PROFILER_OUTPUT").iterdir()}
    assert names == {"ascend_pytorch_profiler_0.db", "analysis.db", "analyse.done"}


def test_offline_parsing_finds_sessions_one_level_down(train: Train, capsys: pytest.CaptureFixture[str]) -> None:
    done = train(nproc=2, profile={"analyse_flag": False})
    row = generation("26.0.0")
    assert analyse(done.save.parent, row) == 0  # two levels up: silently nothing
    assert analyse(done.save, row) == 2
    assert "All profiling data parsed" in capsys.readouterr().out
    assert len(list(done.save.glob("*/ASCEND_PROFILER_OUTPUT/kernel_details.csv"))) == 2


def test_everything_names_itself_simulated(train: Train) -> None:
    session = train(nproc=2).session()
    assert "simulated" in (session / "profiler_metadata.json").read_text()
    assert "simulated" in (session / "ASCEND_PROFILER_OUTPUT/trace_view.json").read_text()
    for info in session.glob("PROF_*/*/info.json*"):
        assert info.name.endswith(".done") or "simulated" in info.read_text()


def test_a_step_s_work_is_the_same_each_time_and_fits_into_it() -> None:
    first = make_step(7, 10**18, 10**18 + 50_000_000, rank=3, world_size=8)
    assert first == make_step(7, 10**18, 10**18 + 50_000_000, rank=3, world_size=8)
    times = step_times(first)
    assert times.preparing > 0
    assert times.preparing + times.stage <= first.duration
    assert 0 < times.overlapped < times.communication
