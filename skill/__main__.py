"""``python -m mindspeed_mm_train_profiler.skill``: write the generated files of ``skill/references``."""

from pathlib import Path

from mindspeed_mm_train_profiler.skill import parameters, troubleshooting
from mindspeed_mm_train_profiler.skill.wording import LANGUAGES

FOLDER = Path(__file__).parent / "references"


def generated() -> dict[Path, str]:
    """The generated references, as they ought to be."""
    found: dict[Path, str] = {}
    for language in LANGUAGES:
        found[FOLDER / f"parameters.{language}.md"] = parameters.render(language)
        found[FOLDER / f"troubleshooting.{language}.md"] = troubleshooting.render(language)
    return found


if __name__ == "__main__":
    for path, content in generated().items():
        path.write_text(content, encoding="utf-8")
