"""No sentence for a user stands in code: whatever is shown comes from the catalogues."""

import ast
import gc
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import mindspeed_mm_train_profiler as package

ROOT = Path(package.__file__).parent
ROOMS = (
    "dynamic_profile",
    "launch_script",
    "npu_host",
    "profile_config",
    "profile_data",
    "runs",
    "skill",
    "terminal",
    "tools",
)
# what people answer, and how logs name a secret or a failure, in both languages: data to understand by, never shown
UNDERSTANDING = {
    "runs/redact.py",
    "runs/signatures.py",
    "skill/answers.py",
    "skill/numbers.py",
    "skill/words.py",
    "terminal/ask.py",
    "terminal/speech.py",
}
CHINESE = re.compile(r"[\u4e00-\u9fff]")
REGULAR_EXPRESSION = re.compile(r"\\[sdwSDW.]")
# four words and a full stop, or a question
SENTENCE = re.compile(r"^[A-Z][a-z]+(?: [\w'`,()-]+){3,}.*[.?!]$", re.S)
# read by models and by people who read the schema, in the code's language
SCHEMA_TEXT = {"Field", "ToolSpec", "add_argument", "add_parser", "ArgumentParser", "append"}


def speaks(text: str) -> bool:
    if REGULAR_EXPRESSION.search(text):
        return False
    return CHINESE.search(text) is not None or SENTENCE.match(text) is not None


def modules() -> Iterator[Path]:
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            if "wording" not in path.parts and path.relative_to(ROOT).as_posix() not in UNDERSTANDING:
                yield path


def shown_texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """String constants that are no docstring and no text of a schema."""
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(id(node.value))
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in SCHEMA_TEXT:
            skipped |= {id(inner) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.lineno, node.value


@pytest.mark.parametrize("path", list(modules()), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_sentence_is_built_in_code(path: Path) -> None:
    """SK-37."""
    gc.disable()  # CPython before 3.11.9 can fail in ast.parse when the collector runs inside it (gh-106905)
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    finally:
        gc.enable()
    found = [(line, text) for line, text in shown_texts(tree) if speaks(text)]
    assert found == []


def test_the_search_finds_what_it_should() -> None:
    tree = ast.parse(
        '"""Doc."""\ny = Field(description="The launch script it is.")\nx = "The run has ended well."\nz = "运行"'
    )
    assert sorted(shown_texts(tree)) == [(3, "The run has ended well."), (4, "运行")]
    assert all(speaks(text) for _, text in shown_texts(tree))
