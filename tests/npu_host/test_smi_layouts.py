"""``npu-smi info`` in every layout of its kind; unknown stays unknown."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindspeed_mm_train_profiler.npu_host import smi

ONE_DIE = """\
+-----------------------------------------------------------+
| npu-smi 24.9.1          Version: 24.9.1                   |
+---------------+---------------+---------------------------+
| NPU   Name    | Health        | Power(W)  Temp(C)  Hugepages-Usage(page)|
| Chip          | Bus-Id        | AICore(%) Memory-Usage(MB)  HBM-Usage(MB) |
+===============+===============+===========================+
| 4     910X7   | OK            | 88.1   40   0    / 0      |
| 0             | 0000:C1:00.0  | 7      0    / 0    1200 / 65536 |
+===============+===============+===========================+
| 5     910X7   | Warning       | -      41   0    / 0      |
| 0             | 0000:01:00.0  | 0      0    / 0    40000/ 65536 |
+===============+===============+===========================+
"""
PROCESSES = """\
+---------------+---------------+---------------------------+
| NPU     Chip  | Process id    | Process name | Process memory(MB) |
+===============+===============+===========================+
| No running processes found in NPU 4                       |
| 5       0     | 4242          |              | 38000      |
| 5       0     | 4243          | python3.11   | 120        |
+===============+===============+===========================+
"""
TWO_DIES = """\
| npu-smi 25.9                     Version: 25.9            |
| NPU   Name    | Health | Power(W) Temp(C) Hugepages-Usage(page) |
| Chip  Phy-ID  | Bus-Id | AICore(%) Memory-Usage(MB) HBM-Usage(MB) |
| 0     A9      | OK     | 200 50 0 / 0 |
| 0     0       | 0000:9D:00.0 | 17 0 / 0 100 / 65536 |
| 0     A9      | OK     | - 51 0 / 0 |
| 1     1       | 0000:9F:00.0 | 18 0 / 0 200 / 65536 |
"""
NO_HBM = """\
| npu-smi 25.0.x  Version: 25.0.x |
| NPU     Name | Health | Power(W) Temp(C) Hugepages-Usage(page) |
| Chip    Device | Bus-Id | AICore(%) Memory-Usage(MB) |
| 6       310Q | OK | NA 55 0 / 0 |
| 0       3    | 0000:83:00.0 | 0 1175 / 44280 |
"""


def test_what_npu_smi_says_around_its_table_is_kept() -> None:
    before = "Warning: the software package of this driver may not be completely installed.\n$ npu-smi info\n"
    assert smi.parse(before + ONE_DIE).said == [before.splitlines()[0]]
    assert smi.parse("Tue Dec 1 10:00:00 2026\n" + ONE_DIE + PROCESSES + "\n").said == []
    assert len(smi.parse("failed to get power\n" * 50 + ONE_DIE).said) == 3


def test_ids_that_do_not_start_at_zero_and_power_that_is_not_told() -> None:
    report = smi.parse("[user work]$ npu-smi info\n" + ONE_DIE)
    assert (report.status, report.version) == ("ok", "24.9.1")
    assert [(d.npu, d.chip, d.device, d.hbm_used_mb, d.hbm_total_mb) for d in report.dies] == [
        (4, 0, 0, 1200, 65536),
        (5, 0, 1, 40000, 65536),
    ]
    assert [d.health for d in report.dies] == ["OK", "Warning"]
    assert report.dies[0].aicore_percent == 7
    assert report.dies[0].memory_total_mb is None  # 0 / 0 says nothing
    assert not report.processes_known


def test_processes_with_blank_names() -> None:
    report = smi.parse(ONE_DIE + PROCESSES)
    assert report.processes_known
    assert report.dies[0].processes == []
    assert [(p.pid, p.name, p.memory_mb) for p in report.dies[1].processes] == [
        (4242, None, 38000),
        (4243, "python3.11", 120),
    ]


def test_two_dies_a_card() -> None:
    assert [(d.npu, d.chip, d.device, d.hbm_used_mb) for d in smi.parse(TWO_DIES).dies] == [
        (0, 0, 0, 100),
        (0, 1, 1, 200),
    ]


def test_a_card_without_hbm() -> None:
    (die,) = smi.parse(NO_HBM).dies
    assert (die.npu, die.device, die.memory_used_mb, die.hbm_used_mb) == (6, 3, 1175, None)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("DrvMngGetConsoleLogLevel failed. (ret=4)\ndcmi module initialize failed. ret is -8005\n", "driver_refuses"),
        ("dcmi model initialized failed, because the device is used. ret is -8020", "driver_refuses"),
        (
            "npu-smi: error while loading shared libraries: libdrvdsmi_host.so: cannot open shared object file: "
            "No such file or directory",
            "driver_refuses",
        ),
        ("bash: npu-smi: command not found", "unreadable"),
        ("", "unreadable"),
        ("| NPU   Name | Health |\n| Chip  | Bus-Id |\n", "unreadable"),
    ],
)
def test_outputs_without_a_table(text: str, status: str) -> None:
    report = smi.parse(text)
    assert report.status == status
    assert report.dies == []


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=300))
def test_any_text_is_survived(text: str) -> None:
    smi.parse(text)
    smi.parse(ONE_DIE.replace("910X7", text[:20]))


@given(st.integers(0, len(ONE_DIE + PROCESSES)), st.integers(0, 60))
def test_a_damaged_table_is_survived(at: int, size: int) -> None:
    text = ONE_DIE + PROCESSES
    for die in smi.parse(text[:at] + text[at + size :]).dies:
        assert die.npu >= 0 and (die.chip is None or die.chip >= 0)


def command(folder: Path, body: str) -> dict[str, str]:
    (folder / "npu-smi").write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    (folder / "npu-smi").chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin"}


def test_a_command_that_never_returns(tmp_path: Path) -> None:
    begin = time.monotonic()
    report = smi.query(command(tmp_path, "sleep 60"), timeout_s=0.5)
    assert report.status == "timeout"
    assert time.monotonic() - begin < 10


def test_a_driver_that_refuses_with_exit_code_0(tmp_path: Path) -> None:
    assert (
        smi.query(command(tmp_path, "echo 'dcmi module initialize failed. ret is -8005' >&2; exit 0")).status
        == "driver_refuses"
    )


def test_any_exit_code_with_a_table_is_a_table(tmp_path: Path) -> None:
    (tmp_path / "out").write_text(ONE_DIE, encoding="utf-8")
    assert len(smi.query(command(tmp_path, f"cat {tmp_path}/out; exit 3")).dies) == 2


def test_not_on_path(tmp_path: Path) -> None:
    assert smi.query({"PATH": str(tmp_path)}).status in {"not_found", "ok", "error"}


def test_the_real_outputs(profiler_shared: Path) -> None:
    """Every recorded output: a table has dies with a health, an error has none."""
    files = sorted((profiler_shared / "cases/npu-smi").glob("*.txt"))
    assert files
    for file in files:
        report = smi.parse(file.read_text(encoding="utf-8", errors="replace"))
        if any(word in file.name for word in ("ERR", "EDGE", "info-m")):
            assert report.dies == []
        else:
            assert report.dies and report.version, file.name
            for die in report.dies:
                assert die.health
                assert die.hbm_total_mb or die.memory_total_mb


@pytest.mark.parametrize("bus", ["", "N/A", "--", "NA", "00000000:C1:00.0", "c1:00.0", "xxxx:xx:xx.x", "****:**:**.*"])
def test_a_die_is_a_die_whatever_stands_for_its_bus(bus: str) -> None:
    report = smi.parse(ONE_DIE.replace("0000:C1:00.0", bus.ljust(12)))
    assert [(d.npu, d.health, d.hbm_used_mb) for d in report.dies] == [(4, "OK", 1200), (5, "Warning", 40000)]


def test_a_health_that_is_blank_is_not_a_bus() -> None:
    report = smi.parse(ONE_DIE.replace("| OK            |", "|               |", 1))
    assert [(d.npu, d.name, d.health) for d in report.dies] == [(4, "910X7", None), (5, "910X7", "Warning")]


def test_colours_do_not_hide_a_card() -> None:
    assert len(smi.parse(ONE_DIE.replace("| 4 ", "\x1b[32m| 4 ")).dies) == 2


@pytest.mark.parametrize("text", ["Failed to query device info. ret is -8006", "[ERROR] drvGetDevNum failed, ret=87"])
def test_other_refusals_of_the_driver(text: str) -> None:
    assert smi.parse(text).status == "driver_refuses"


@pytest.mark.parametrize("unknown", ["NA    / NA", "-     / -", "-3    / 0"])
def test_memory_that_is_not_told_is_not_read_from_the_next_column(unknown: str) -> None:
    die = smi.parse(ONE_DIE.replace("0    / 0    1200", f"{unknown}    1200")).dies[0]
    assert (die.memory_used_mb, die.memory_total_mb) == (None, None)
    assert (die.hbm_used_mb, die.hbm_total_mb) == (1200, 65536)


OWN_COLUMNS = """\
+--------+-------------+--------+-----------------------------------------------+
| npu-smi 29.1.rc7                Version: 29.1.rc7                             |
+--------+-------------+--------+-----------------------------------------------+
| NPU ID | Name        | Health | Power(W)    Temp(C)        Hugepages-Usage(page) |
|        |             | Bus-Id | NPU Util(%) Memory-Usage(MB) HBM-Usage(MB)    |
+========+=============+========+===============================================+
| 2      | Ascend9x0PR | OK     | 201.5       44             0     / 0          |
|        |             | NA     | 31          0     / 0      7001  / 90112      |
+========+=============+========+===============================================+
| 7      | Ascend9x0PR | Alarm  | -           48             0     / 0          |
|        |             | 0000:71:00.0 | 0     0     / 0      90000 / 90112      |
+========+=============+========+===============================================+
"""
OWN_COLUMNS_PROCESSES = """\
| NPU ID          | Process id    | Process name | Process memory(MB) | Process id in container |
+=================+===============+==============+====================+=========================+
| No running processes found in NPU 2                                                           |
| 7               | 5151          |              | 332                | NA                      |
| 7               | 5152          | python       | 80100              | 61                      |
"""


def test_an_id_and_a_name_with_a_column_each_and_no_chips() -> None:
    report = smi.parse(OWN_COLUMNS)
    assert (report.status, report.version, report.processes_known) == ("ok", "29.1.rc7", False)
    assert [(d.npu, d.chip, d.device, d.name, d.health) for d in report.dies] == [
        (2, None, 0, "Ascend9x0PR", "OK"),
        (7, None, 1, "Ascend9x0PR", "Alarm"),
    ]
    assert [(d.aicore_percent, d.memory_total_mb, d.hbm_used_mb, d.hbm_total_mb) for d in report.dies] == [
        (31, None, 7001, 90112),
        (0, None, 90000, 90112),
    ]
    assert [d.place for d in report.dies] == ["2", "7"]


def test_processes_of_a_card_without_chips() -> None:
    first, second = smi.parse(OWN_COLUMNS + OWN_COLUMNS_PROCESSES).dies
    assert first.processes == []
    assert [(p.pid, p.name, p.memory_mb) for p in second.processes] == [(5151, None, 332), (5152, "python", 80100)]


@pytest.mark.parametrize("unknown", ["NA", "N/A", "-"])
def test_a_chip_without_a_number_is_a_chip(unknown: str) -> None:
    text = (ONE_DIE + PROCESSES).replace("| 0             | 0000:01:00.0", f"| {unknown}            | 0000:01:00.0")
    dies = smi.parse(text).dies
    assert [(d.npu, d.chip, d.hbm_used_mb) for d in dies] == [(4, 0, 1200), (5, None, 40000)]
    assert [p.pid for p in dies[1].processes] == [4242, 4243]


def test_a_process_whose_chip_is_not_told_is_on_its_card() -> None:
    text = (ONE_DIE + PROCESSES).replace("| 5       0     |", "| 5       NA    |")
    assert [len(d.processes) for d in smi.parse(text).dies] == [0, 2]


def test_an_empty_row_is_no_die() -> None:
    assert (
        len(smi.parse(ONE_DIE.replace("| 0             | 0000:C1", "|   |   |   |\n| 0             | 0000:C1")).dies)
        == 2
    )


def test_a_total_without_its_use() -> None:
    die = smi.parse(NO_HBM.replace("1175 / 44280", "NA / 44280")).dies[0]
    assert (die.memory_used_mb, die.memory_total_mb) == (None, 44280)


@pytest.mark.parametrize("npu", [4, 5])
def test_a_card_whose_second_row_is_not_there(npu: int) -> None:
    bus = {4: "0000:C1", 5: "0000:01"}[npu]
    text = "\n".join(line for line in (ONE_DIE + PROCESSES).splitlines() if bus not in line)
    dies = {die.npu: die for die in smi.parse(text).dies}
    assert list(dies) == [4, 5] and [die.device for die in dies.values()] == [0, 1]
    assert (dies[npu].chip, dies[npu].hbm_used_mb, dies[npu].hbm_total_mb) == (None, None, None)
    assert dies[npu].health and [len(die.processes) for die in dies.values()] == [0, 2]


def test_a_second_row_alone_is_no_card() -> None:
    text = "\n".join(line for line in ONE_DIE.splitlines() if "4     910X7" not in line)
    assert [(die.npu, die.hbm_used_mb) for die in smi.parse(text).dies] == [(5, 40000)]
