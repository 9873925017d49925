"""Known vulnerabilities of what this interpreter's environment has installed, from a package index's JSON records.

`make audit` asks pip-audit first, which needs a record for every single version. Indexes that keep only the record of
a project's newest version (mirrors do) are asked here: that record speaks for an installed version that is the newest
one, and for no other. What could not be asked counts as not audited (exit 2), never as clean; an advisory is exit 1.
Source: the JSON API of PyPI, key `vulnerabilities`; the index is the first argument.
"""

import json
import sys
import urllib.request
from collections.abc import Iterator
from importlib.metadata import distributions

WAIT_S = 30.0


def record(index: str, name: str, version: str) -> dict[str, object] | None:
    """The record that speaks for this version, or None where the index has none."""
    for path in (f"{name}/{version}/json", f"{name}/json"):
        try:
            with urllib.request.urlopen(f"{index.rstrip('/')}/{path}", timeout=WAIT_S) as answer:
                found = json.load(answer)
        except (OSError, ValueError):  # URLError and HTTPError are OSErrors
            continue
        if isinstance(found, dict) and found.get("info", {}).get("version") == version and "vulnerabilities" in found:
            return found
    return None


def advisories(found: dict[str, object]) -> Iterator[str]:
    for row in found["vulnerabilities"]:  # type: ignore[attr-defined]
        if not row.get("withdrawn"):
            yield f"{row['id']} (fixed in: {', '.join(row.get('fixed_in') or []) or 'no version'})"


OURS = frozenset({"mindspeed-mm-train-profiler", "pip", "setuptools"})
"""The project itself, and what a virtual environment is made with: no installation brings them."""


def main(index: str) -> int:
    installed = sorted({(d.metadata["Name"], d.version) for d in distributions() if d.metadata["Name"] not in OURS})
    unasked, bad = [], []
    for name, version in installed:
        found = record(index, name, version)
        if found is None:
            unasked.append(f"{name} {version}")
        else:
            bad += [f"{name} {version}: {line}" for line in advisories(found)]
    for line in bad:
        print(line)
    for line in unasked:
        print(f"{line}: the index has no record of this version")
    print(f"{len(installed)} packages, {len(bad)} advisories, {len(unasked)} not audited")
    return 1 if bad else 2 if unasked else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
