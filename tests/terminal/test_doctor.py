"""doctor tells the truth about a sound installation and about broken ones."""

import importlib
import importlib.metadata
import json
from pathlib import Path
from typing import Any

import pytest

from mindspeed_mm_train_profiler.terminal import doctor
from mindspeed_mm_train_profiler.terminal.main import run


def by_name() -> dict[str, doctor.Check]:
    return {check.name: check for check in doctor.examine()}


def test_this_installation_is_sound(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "--json"]) == 0, capsys.readouterr().out
    answer = json.loads(capsys.readouterr().out)
    assert answer["ok"] is True
    names = [check["name"] for check in answer["checks"]]
    assert {"python", "mcp", "pydantic", "server", "state folder", "bash"} <= set(names)


def test_a_package_that_is_too_old_or_absent_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.metadata.version

    def version(name: str) -> str:
        if name == "psutil":
            raise importlib.metadata.PackageNotFoundError(name)
        return "1.9" if name == "mcp" else real(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    found = {check.name: check for check in doctor.requirements()}
    assert found["mcp"].ok is False and "1.9" in found["mcp"].found
    assert found["psutil"].ok is False and found["psutil"].fix == "doctor.fix.install"
    assert found["anyio"].ok is True


def test_a_binary_for_another_platform_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.import_module

    def load(name: str, *rest: Any) -> Any:
        if name == "tree_sitter_bash":
            raise ImportError("wrong ELF class")
        return real(name, *rest)

    monkeypatch.setattr(importlib, "import_module", load)
    check = by_name()["import tree_sitter_bash"]
    assert check.ok is False and "wrong ELF class" in check.found


def test_a_state_folder_that_cannot_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("MINDSPEED_MM_TRAIN_PROFILER_STATE", str(tmp_path / "file" / "x"))
    assert run(["doctor", "--language", "zh"]) == 1
    printed = capsys.readouterr().out
    assert "MINDSPEED_MM_TRAIN_PROFILER_STATE" in printed and "有误" in printed


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh", "fish"])
def test_completion_knows_the_commands(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "doctor" in script and "completion" in script


def test_the_command_of_another_installation_is_no_proof_of_this_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, other, linked = (tmp_path / name for name in ("own", "other", "linked"))
    for folder in (own, other):
        folder.mkdir()
        command = folder / doctor.DISTRIBUTION
        command.write_text("#!/bin/sh\n", encoding="utf-8")
        command.chmod(0o755)
    linked.mkdir()
    (linked / doctor.DISTRIBUTION).symlink_to(own / doctor.DISTRIBUTION)
    monkeypatch.setattr(doctor.sys, "executable", str(own / "python"))
    for path, sound in ((own, True), (linked, True), (other, None)):
        monkeypatch.setenv("PATH", str(path))
        check = next(iter(doctor.command()))
        assert (check.name, check.ok) == ("command", sound)
        assert sound or (str(own) in check.found and str(other) in check.found and check.fix)
