"""The skill as installers take it: ``npx skills add`` on a clean copy of this repository."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import mindspeed_mm_train_profiler as package

ROOT = Path(package.__file__).parent
SKILLS = "skills@1.7.4"
Npx = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def clean_copy(tmp_path: Path) -> Path:
    """The tracked files, as a clone would have them."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, timeout=30, check=False
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    folder = tmp_path / "repository"
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


@pytest.mark.slow
def test_npx_skills_add_takes_it(npx: Npx, clean_copy: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    words = ("add", str(clean_copy), "--agent", "claude-code", "--yes", "--copy")
    done = npx(SKILLS, *words, HOME=str(home), DISABLE_TELEMETRY="1")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    (skill,) = home.rglob(".claude/skills/mindspeed-mm-train-profiler/SKILL.md")
    assert skill.read_bytes() == (ROOT / "SKILL.md").read_bytes()
    references = {path.name for path in (ROOT / "skill" / "references").glob("*.md")}
    assert {path.name for path in (skill.parent / "skill" / "references").glob("*.md")} == references
