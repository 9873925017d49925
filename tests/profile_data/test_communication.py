"""Communication by kind and link: text and database tell the same, sums are left out, what was not measured is none."""

import json
import sqlite3
import tracemalloc
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mindspeed_mm_train_profiler.profile_data.communication import communication, kind
from mindspeed_mm_train_profiler.profile_data.numbers import SessionNumbers, StepNumbers
from mindspeed_mm_train_profiler.profile_data.spread import slow_rank, spreads

# operator, group, ms elapsed, ms in transit, ms waiting, {link: (MB, ms)}
ROWS = [
    ("hcom_allReduce__111_0_1", "g1", 4.0, 2.5, 1.0, {"HCCS": (50.0, 2.5), "SDMA": (50.0, 2.5), "RDMA": (0, 0)}),
    ("hcom_allReduce__111_1_1", "g1", 6.0, 5.0, 0.5, {"HCCS": (50.0, 2.5)}),
    ("hcom_allGather__222_0_1", "g2", 1.0, 0.5, 0.25, {"RDMA": (10.0, 1.0)}),
]


def write_json(folder: Path) -> None:
    step: dict[str, Any] = {}
    for name, group, elapsed, transit, wait, links in ROWS:
        step[f"{name}@{group}"] = {
            "Communication Time Info": {
                "Elapse Time(ms)": elapsed,
                "Transit Time(ms)": transit,
                "Wait Time(ms)": wait,
            },
            "Communication Bandwidth Info": {
                link: {"Transit Size(MB)": size, "Transit Time(ms)": ms} for link, (size, ms) in links.items()
            },
        }
    step["Total Op Info"] = {"Communication Time Info": {"Elapse Time(ms)": 1000}}
    (folder / "communication.json").write_text(json.dumps({"step7": {"p2p": {}, "collective": step}}))


def write_db(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "analysis.db")) as db:
        db.execute(
            "create table CommAnalyzerTime (hccl_op_name, group_name, start_timestamp, elapse_time, transit_time, "
            "wait_time, synchronization_time, idle_time, step, type)"
        )
        db.execute(
            "create table CommAnalyzerBandwidth (hccl_op_name, group_name, transport_type, transit_size, transit_time, "
            "bandwidth, large_packet_ratio, package_size, count, total_duration, step, type)"
        )
        for name, group, elapsed, transit, wait, links in ROWS:
            db.execute(
                "insert into CommAnalyzerTime values (?,?,0,?,?,?,0,0,'step7','collective')",
                (name, group, elapsed, transit, wait),
            )
            for link, (size, ms) in links.items():
                for package in (1, 2):  # a row for each package size, with the whole in both
                    db.execute(
                        "insert into CommAnalyzerBandwidth values (?,?,?,?,?,0,0,?,1,0,'step7','collective')",
                        (name, group, link, size, ms, package),
                    )
        db.commit()


@pytest.mark.parametrize("write", [write_json, write_db])
def test_kinds_and_links(tmp_path: Path, write: Any) -> None:
    write(tmp_path)
    found = communication(tmp_path)
    assert found is not None
    told = [(row.name, row.count, row.elapsed_us, row.transit_us, row.wait_us) for row in found.collectives]
    assert told == [("allReduce", 2, 10000.0, 7500.0, 1500.0), ("allGather", 1, 1000.0, 500.0, 250.0)]
    speeds = {row.name: (row.size_mb, row.bandwidth_gb_s) for row in found.links}
    assert speeds == {"HCCS": (100.0, 20.0), "SDMA": (50.0, 20.0), "RDMA": (10.0, 10.0)}
    assert Path(found.source).parent == tmp_path


def test_nothing_told_is_none(tmp_path: Path) -> None:
    assert communication(tmp_path) is None
    (tmp_path / "communication.json").write_text("{}")
    assert communication(tmp_path) is None
    (tmp_path / "communication.json").write_text('{"step1": {"collective": [1, 2]}, "x": 5}')
    assert communication(tmp_path) is None


@pytest.mark.parametrize(
    ("operator", "name"),
    [
        ("hcom_allReduce__586_0_1@17522688603477080586", "allReduce"),
        ("hcom_batchSendRecv__128_3_1", "batchSendRecv"),
        ("hccl_broadcast_3", "broadcast"),
        ("Something else@1", "Something else"),
    ],
)
def test_kind_of_an_operator(operator: str, name: str) -> None:
    assert kind(operator) == name


def test_text_and_database_agree_on_real_samples(profiler_shared: Path) -> None:
    session = profiler_shared / "cases" / "profiles" / "st-level2" / "rank_0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    text = communication(session)
    data = json.loads((session / "communication.json").read_text(encoding="utf-8"))
    elapsed: dict[str, float] = {}
    for groups in data.values():
        for operators in groups.values():
            for name, told in operators.items():
                if name != "Total Op Info":
                    key = name.split("_")[1]
                    elapsed[key] = elapsed.get(key, 0.0) + told["Communication Time Info"]["Elapse Time(ms)"] * 1000
    assert text is not None
    assert {row.name: row.elapsed_us for row in text.collectives} == pytest.approx(elapsed)
    with closing(sqlite3.connect(f"file:{session / 'analysis.db'}?mode=ro&immutable=1", uri=True)) as db:
        total = db.execute("select sum(elapse_time) * 1000 from CommAnalyzerTime").fetchone()[0]
    assert sum(row.elapsed_us for row in text.collectives) == pytest.approx(total)


def rank(number: int | None, *compute: float | None) -> SessionNumbers:
    rows = [StepNumbers(i, {"compute_us": value, "free_us": None}, "x") for i, value in enumerate(compute)]
    return SessionNumbers(Path("x"), number, steps=rows)


def test_the_slow_rank_and_the_spread() -> None:
    sessions = [rank(0, 100.0, 102.0), rank(1, 100.0, 100.0), rank(2, 130.0, 130.0), rank(3, None, None)]
    (told,) = spreads(sessions)
    assert (told.measure, told.least_rank, told.most_rank, told.most_us) == ("compute_us", 1, 2, 130.0)
    slow = slow_rank(sessions)
    assert slow is not None and slow[0] == 2 and slow[1] == pytest.approx(130 / 101)
    assert slow_rank(sessions[:2]) is None and slow_rank(sessions[:1]) is None and spreads(sessions[:1]) == []


def test_a_large_file_takes_little_more_than_its_own_bytes(tmp_path: Path) -> None:
    """As torch_npu writes it, with the distribution of package sizes; json.loads takes five times the bytes."""
    sizes = {f"{number / 7:.9f}": [number, number * 0.5] for number in range(12)}
    link = {"Transit Size(MB)": 2.0, "Transit Time(ms)": 0.5, "Bandwidth(GB/s)": 4.0, "Size Distribution": sizes}
    operator = {
        "Communication Time Info": {"Elapse Time(ms)": 1.0, "Transit Time(ms)": 0.5, "Wait Time(ms)": 0.25},
        "Communication Bandwidth Info": {"RDMA": {**link, "Transit Size(MB)": 0, "Transit Time(ms)": 0}, "HCCS": link},
    }
    operators = {f"hcom_allReduce__{number}_0_1@g": operator for number in range(8_000)}
    file = tmp_path / "communication.json"
    file.write_text(json.dumps({"step7": {"collective": operators}}), encoding="utf-8")
    operators.clear()
    tracemalloc.start()
    try:
        found = communication(tmp_path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found is not None and (found.collectives[0].count, found.links[0].size_mb) == (8_000, 16_000.0)
    assert [row.name for row in found.links] == ["HCCS"]
    assert peak < 2.5 * file.stat().st_size
