"""What will make offline parsing fail: links, odd characters, owners, modes. By torch_npu release.

Up to 26.0 these are errors, from 26.1 on warnings (``prof_common_func/_path_manager.py``, ``_cann_export.py``).
"""

import os
import re
import stat
from pathlib import Path

from mindspeed_mm_train_profiler.profile_data import layout
from mindspeed_mm_train_profiler.profile_data.problems import Problem

ALLOWED = re.compile(r"^[A-Za-z0-9./_\-\s~一-龥]*$")
MAX_LOOKED = 5_000


def parsing_obstacles(session: Path) -> list[Problem]:
    """Remarks, one per kind, each with the first path of its kind."""
    found: dict[str, Problem] = {}

    def add(code: str, looked: str) -> None:
        found.setdefault(code, Problem(code, looked=looked, remark=True))

    for part in (session, *session.parents):
        if part.is_symlink():
            add("parse_link", str(part))
    if not ALLOWED.match(str(session)):
        add("parse_characters", str(session))
    if len(str(session)) > 4096 or any(len(part) > 255 for part in session.parts):
        add("parse_path_long", f"{len(str(session))}")
    if not os.access(session, os.R_OK | os.W_OK | os.X_OK):
        add("parse_permission", str(session))
    me = os.geteuid()
    looked = 0
    stack = list(layout.prof_folders(session))
    while stack and looked < MAX_LOOKED:
        folder = stack.pop()
        looked += 1
        try:
            info = folder.stat()
            stack += [folder / e.name for e in layout.entries(folder) if e.is_dir(follow_symlinks=False)]
        except OSError:
            continue
        if info.st_uid not in (0, me):
            add("parse_owner", f"{folder}: uid {info.st_uid}, not {me}")
        if info.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            add("parse_mode", f"{folder}: {stat.S_IMODE(info.st_mode):04o}")
    return list(found.values())
