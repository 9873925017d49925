"""Segments of dead jobs: who holds them is told, and nothing is removed that somebody may hold."""

import mmap
import os
from pathlib import Path

import pytest

from mindspeed_mm_train_profiler.dynamic_profile import shared_memory
from mindspeed_mm_train_profiler.errors import CodedError

NAME = "DynamicProfileNpuShm2026010203"


@pytest.fixture
def segment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(shared_memory, "_sees_all", lambda: True)
    path = tmp_path / NAME
    path.write_bytes(b"\0" * 4096)
    (tmp_path / "another").write_bytes(b"x")
    return path


def test_a_held_segment_stays(segment: Path) -> None:
    with segment.open("r+b") as file, mmap.mmap(file.fileno(), 4096):
        (found,) = shared_memory.find_segments(segment.parent)
        assert (found.path, found.holders, found.owner_dead) == (segment, (os.getpid(),), False)
        with pytest.raises(CodedError, match="dynamic_segment_held"):
            shared_memory.remove_segment(segment, segment.parent)
    assert segment.exists()


def test_only_what_is_a_segment_goes(segment: Path) -> None:
    with pytest.raises(CodedError, match="dynamic_segment_absent"):
        shared_memory.remove_segment(segment.parent / "another", segment.parent)
    link = segment.with_name("DynamicProfileNpuShm2026010204")
    link.symlink_to(segment.parent / "another")
    with pytest.raises(CodedError, match="dynamic_segment_absent"):
        shared_memory.remove_segment(link, segment.parent)
    assert (segment.parent / "another").exists()


def test_in_a_container_nobody_is_proven_dead(segment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_memory, "_sees_all", lambda: False)
    (found,) = shared_memory.find_segments(segment.parent)
    assert found.owner_dead is None
    with pytest.raises(CodedError, match="dynamic_segment_held"):
        shared_memory.remove_segment(segment, segment.parent)
    assert segment.exists()


@pytest.mark.parametrize(("name", "sees"), [("pid:[4026531836]", True), ("pid:[4026532999]", False)])
def test_the_first_pid_namespace_is_told_from_others(monkeypatch: pytest.MonkeyPatch, name: str, sees: bool) -> None:
    monkeypatch.setattr(shared_memory.os, "readlink", lambda path: name)
    assert shared_memory._sees_all() is sees
