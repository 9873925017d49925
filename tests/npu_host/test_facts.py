"""The kernel's own counters: cgroup v1 and v2, and what is not told."""

from pathlib import Path

import pytest

from mindspeed_mm_train_profiler.npu_host import facts


@pytest.mark.parametrize(
    ("own", "file", "text"),
    [
        ("0::/job/7\n", "job/7/memory.events", "low 0\noom 3\noom_kill 2\n"),
        ("0::/\n", "memory.events", "oom_kill 2\n"),
        ("4:cpu:/x\n3:memory:/docker/abc\n", "memory/docker/abc/memory.oom_control", "under_oom 0\noom_kill 2\n"),
        ("3:memory:/gone\n", "memory/memory.oom_control", "oom_kill_disable 0\noom_kill 2\n"),
    ],
)
def test_counts_of_both_cgroup_versions(tmp_path: Path, own: str, file: str, text: str) -> None:
    (tmp_path / "cgroup").write_text(own)
    (tmp_path / "fs" / file).parent.mkdir(parents=True)
    (tmp_path / "fs" / file).write_text(text)
    assert facts.oom_kills(tmp_path / "cgroup", tmp_path / "fs") == 2


@pytest.mark.parametrize("text", ["", "0::/x\n", "nonsense", "3:memory:/x\n"])
def test_not_told_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "cgroup").write_text(text)
    (tmp_path / "fs").mkdir()
    assert facts.oom_kills(tmp_path / "cgroup", tmp_path / "fs") is None
    assert facts.oom_kills(tmp_path / "absent", tmp_path / "fs") is None


def test_free_space_of_a_folder_that_is_not_there_yet(tmp_path: Path) -> None:
    assert facts.free_bytes(tmp_path / "a" / "b") == pytest.approx(facts.free_bytes(tmp_path), rel=0.05)
    found = facts.snapshot(str(tmp_path))
    assert found["disk_free"] > 0 and set(found) == {"oom_kills", "shm_free", "port_holder", "disk_free", "load"}
