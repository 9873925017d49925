"""Which NPUs a launch would use, and whether they are free."""

from typing import Any

import pytest

from mindspeed_mm_train_profiler.npu_host.smi import Die, NpuProcess, SmiReport
from mindspeed_mm_train_profiler.runs import preflight


def host(count: int, busy: tuple[int, ...] = ()) -> SmiReport:
    dies = [Die(npu=index // 2, chip=index % 2, device=index, name="910B3", health="OK") for index in range(count)]
    for index in busy:
        dies[index].processes.append(NpuProcess(4000 + index, "python", 900))
    return SmiReport(path="npu-smi", status="ok", dies=dies, processes_known=True)


def codes(build: dict[str, Any], environment: dict[str, str], smi: SmiReport) -> dict[str, dict[str, Any]]:
    return {f.note.code: dict(f.note.params) for f in preflight.look_npus(build, environment, smi) if f.refuses}


@pytest.mark.parametrize(
    ("visible", "there", "busy", "expected"),
    [
        (None, 4, (3,), set()),
        (None, 4, (0,), {"npu_busy"}),
        (None, 1, (), {"too_few_npus"}),
        ("2,3", 4, (0, 1), set()),
        ("2,3", 4, (3,), {"npu_busy"}),
        ("2-3", 4, (3,), {"npu_busy"}),
        ("3,2", 4, (2,), {"npu_busy"}),
        ("3", 4, (), {"too_few_npus"}),
        ("6,7", 4, (), {"too_few_npus"}),
        ("all of them", 4, (0,), {"npu_busy"}),
    ],
)
def test_rank_i_uses_the_ith_visible_die(
    visible: str | None, there: int, busy: tuple[int, ...], expected: set[str]
) -> None:
    environment = {} if visible is None else {preflight.VISIBLE: visible}
    assert set(codes({"nproc_per_node": 2}, environment, host(there, busy))) == expected


def test_the_script_is_heard_before_the_environment() -> None:
    build = {"nproc_per_node": 1, "env": {preflight.VISIBLE: "1"}, "launch_env": {preflight.VISIBLE: "2"}}
    found = codes(build, {preflight.VISIBLE: "0"}, host(4, (2,)))
    assert found["npu_busy"]["npus"] == "1.0 (pid 4002)"


@pytest.mark.parametrize("value", ["", ",", "a", "1,-2", "3-1", "0-99999999999", "1.5", "0,x"])
def test_what_is_no_list_is_not_guessed(value: str) -> None:
    assert preflight.visible_devices(value) is None
