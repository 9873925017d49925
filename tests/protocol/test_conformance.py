"""The public conformance scenarios for servers, with an honest list of those that do not apply."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

import mindspeed_mm_train_profiler as package

ROOT = Path(package.__file__).parent
HERE = Path(__file__).parent
REVISIONS = ["2025-11-25", "2026-07-28"]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    file = ROOT / "scripts" / "conformance.py"
    if not file.is_file():
        pytest.skip("not a source checkout")
    spec = importlib.util.spec_from_file_location("conformance_script", file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("revision", REVISIONS)
def test_every_scenario_passes_or_is_listed(script: ModuleType, revision: str) -> None:
    try:
        code = script.run(revision)
    except script.Missing as error:
        pytest.skip(str(error))
    assert code == 0


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_listed_scenario_has_its_reason(revision: str) -> None:
    """An entry stands under a comment that says why; nothing is listed twice."""
    text = (HERE / f"conformance-{revision}.yml").read_text(encoding="utf-8")
    entries = re.findall(r"^  - (\S+)$", text, re.MULTILINE)
    assert entries and len(entries) == len(set(entries))
    assert re.search(r"^  # ", text, re.MULTILINE)
    assert not re.search(r"^  - \S+$\n\n  - ", text, re.MULTILINE), "a group of entries without a reason"
