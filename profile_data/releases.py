"""Which release of torch_npu (TorchNPU 6.0 ... 26.1) wrote a session, from the package version in its record.

The package is numbered after torch (``2.7.1.post4``), the release is another number: several releases share one torch
and differ in ``.postN`` alone. Rows: torch version -> (first post number, release), rising. Source: Ascend/pytorch
COMPATIBILITY.md (master, 2026-08) and its branch names. Sessions of 6.0 and older carry no version at all.
"""

import re
from collections.abc import Mapping

Release = tuple[int, int]
RELEASES: Mapping[str, tuple[tuple[int, Release], ...]] = {
    "2.1.0": ((12, (7, 0)), (13, (7, 1)), (17, (7, 2))),
    "2.3.1": ((6, (7, 0)),),
    "2.4.0": ((4, (7, 0)),),
    "2.5.1": ((0, (7, 0)), (1, (7, 1))),
    "2.6.0": ((0, (7, 1)), (3, (7, 2)), (5, (7, 3))),
    "2.7.1": ((0, (7, 2)), (2, (7, 3)), (4, (26, 0)), (8, (26, 1))),
    "2.8.0": ((0, (7, 2)), (2, (7, 3)), (4, (26, 0))),
    "2.9.0": ((0, (7, 3)), (2, (26, 0)), (6, (26, 1))),
    "2.10.0": ((0, (26, 0)), (4, (26, 1))),
    "2.11.0": ((0, (26, 1)),),
    "2.12.0": ((0, (26, 1)),),
}
VERSION = re.compile(r"^(\d+\.\d+\.\d+)(?:\.post(\d+))?(\+.*)?$")
DONE_FILE_SINCE: Release = (26, 0)
"""From here on every analysis ends with ``analyse.done``, also one that failed (``analysis/_profiling_parser.py``)."""


def release(version: str | None) -> Release | None:
    """The release at least reached by a package version; None where it does not tell.

    A pre-release (``rc``, ``.dev``) and a build from source without ``.postN`` (``2.7.1+git1a2b``) do not tell.
    """
    found = VERSION.match(version or "")
    if found is None:
        return None
    torch, post, local = found[1], found[2], found[3]
    if local and post is None:
        return None
    known = None
    for first, name in RELEASES.get(torch, ()):
        if int(post or 0) >= first:
            known = name
    if known is None and _parts(torch) > max(map(_parts, RELEASES)):
        return max(rows[-1][1] for rows in RELEASES.values())
    return known


def _parts(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
