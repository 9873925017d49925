"""Renew the generated parts of ``docs/``: ``python -m mindspeed_mm_train_profiler.reference [--check]``."""

import argparse
import sys
from pathlib import Path

import mindspeed_mm_train_profiler as package
from mindspeed_mm_train_profiler.reference import pages


def main(argv: list[str] | None = None) -> int:
    """Exit code 1 with ``--check`` where a document is not current."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where a document is not current")
    parser.add_argument("--docs", type=Path, default=Path(package.__file__).parent / "docs", help="the docs folder")
    given = parser.parse_args(argv)
    if not given.docs.is_dir():
        parser.error(f"no such folder: {given.docs}")
    changed = pages.stale(given.docs)
    for path, text in changed.items():
        sys.stderr.write(f"{'stale' if given.check else 'written'}: {path}\n")
        if not given.check:
            path.write_text(text, encoding="utf-8")
    return 1 if given.check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
