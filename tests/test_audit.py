"""Every start and stop leaves one line that nobody's text can forge."""

import json
import logging
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mindspeed_mm_train_profiler import audit


def lines(state: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (state / "audit.log").read_bytes().splitlines()]


def test_a_line_says_who_when_what(own_state: Path) -> None:
    audit.record("launch", run_id="run-1", script=Path("/a/b.sh"))
    (line,) = lines(own_state)
    assert line["action"] == "launch" and line["script"] == "/a/b.sh"
    assert {"time", "uid", "pid", "run_id"} <= line.keys()
    assert (own_state / "audit.log").stat().st_mode & 0o777 == 0o600


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text())
def test_no_text_can_forge_a_line(own_state: Path, name: str) -> None:
    before = len(lines(own_state)) if (own_state / "audit.log").exists() else 0
    audit.record("stop", name=name)
    after = lines(own_state)
    assert len(after) == before + 1
    assert after[-1]["name"] == name.encode("utf-8", "surrogatepass").decode("utf-8", "surrogatepass")


def test_a_state_folder_that_cannot_be_written_refuses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("MINDSPEED_MM_TRAIN_PROFILER_STATE", str(tmp_path / "file" / "state"))
    with caplog.at_level(logging.WARNING):
        audit.record("launch")
    assert "could not be written" in caplog.text


def test_a_link_in_its_place_is_not_followed(own_state: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    target = tmp_path / "target"
    target.write_text("untouched", encoding="utf-8")
    (own_state / "audit.log").symlink_to(target)
    with caplog.at_level(logging.WARNING):
        audit.record("launch")
    assert target.read_text(encoding="utf-8") == "untouched"
    assert caplog.records
