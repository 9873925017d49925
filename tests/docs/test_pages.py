"""Documents: current, complete in both languages, and without a dead link."""

import re
from pathlib import Path

import pytest

import mindspeed_mm_train_profiler as package
from mindspeed_mm_train_profiler.reference import __main__ as command
from mindspeed_mm_train_profiler.reference import pages
from mindspeed_mm_train_profiler.skill.wording import LANGUAGES

ROOT = Path(package.__file__).parent
DOCS = ROOT / "docs"
pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="not a source checkout")
ALL = sorted(DOCS.rglob("*.md"))


def headings(text: str) -> set[str]:
    """Anchors of a Markdown document, as GitHub makes them."""
    found = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in found}


def test_generated_parts_are_current() -> None:
    stale = pages.stale(DOCS)
    assert not stale, f"run python -m mindspeed_mm_train_profiler.reference: {[path.name for path in stale]}"


def test_every_part_is_used_in_both_languages() -> None:
    for language in LANGUAGES:
        text = "".join(path.read_text(encoding="utf-8") for path, of in pages.documents(DOCS) if of == language)
        assert set(re.findall(r"<!-- generated:([a-z-]+) -->", text)) == set(pages.PARTS)


def test_both_languages_have_the_same_pages() -> None:
    names = [{path.name for path in (DOCS / language).glob("*.md")} for language in LANGUAGES]
    # the threat model is one document for reviewers, in English at the top of docs/
    assert names[0] | {"security.md"} == names[1] and (DOCS / "security.md").is_file()


def test_every_page_is_in_its_index() -> None:
    for language in LANGUAGES:
        index = (DOCS / language / "index.md").read_text(encoding="utf-8")
        for path in (DOCS / language).glob("*.md"):
            assert path.name == "index.md" or f"({path.name})" in index, path


@pytest.mark.parametrize("path", [ROOT / "README.md", *ALL], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path: Path) -> None:
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        goal = path.parent / file if file else path
        assert goal.exists(), f"{path.name}: {target}"
        if anchor:
            assert anchor in headings(goal.read_text(encoding="utf-8")), f"{path.name}: {target}"


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_code_blocks_are_closed(path: Path) -> None:
    assert path.read_text(encoding="utf-8").count("```") % 2 == 0


def test_a_changed_part_is_noticed_and_renewed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for language in LANGUAGES:
        (tmp_path / language).mkdir()
        page = tmp_path / language / "page.md"
        page.write_text("before\n\n<!-- generated:clients -->\nold\n<!-- /generated -->\nafter\n", encoding="utf-8")
    assert command.main(["--check", "--docs", str(tmp_path)]) == 1
    assert "old" in (tmp_path / "en" / "page.md").read_text(encoding="utf-8")
    assert command.main(["--docs", str(tmp_path)]) == 0
    assert command.main(["--check", "--docs", str(tmp_path)]) == 0
    text = (tmp_path / "zh" / "page.md").read_text(encoding="utf-8")
    assert text.startswith("before\n") and text.endswith("after\n") and "Cherry Studio" in text and "old" not in text
    assert capsys.readouterr().out == ""


def test_an_unknown_part_is_a_defect() -> None:
    with pytest.raises(KeyError, match="nosuch"):
        pages.fill("<!-- generated:nosuch -->\n<!-- /generated -->", "en")
