"""The recorder: stands before the launcher in the copy, runs it, and writes down how it ended.

A POSIX shell script of our own, so that it works under any PATH and Python. Besides the wall clock it notes when it
was forked and when it ended in the kernel's ticks since the boot (field 22 of /proc/PID/stat): a busy machine may run
the first of two launchers that the script started at once to its end before the second has read the clock, and clocks
are stepped. It waits for the launcher also when a
signal comes (the launcher gets the same one: they share a process group), and ends with the launcher's exit code.
"""

import os
import shlex
import tempfile
from pathlib import Path

SAFE = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+=@%")
PROGRAM = """#!/bin/sh
# mindspeed-mm-train-profiler: runs the launcher and records its exit code
folder={folder}
trap : TERM INT HUP QUIT USR1 USR2
now() {{
    moment=$(date +%s.%N)
    case $moment in *[!0-9.]*|*.) moment=$(date +%s) ;; esac # no fractions here
    echo "$moment"
}}
ticks() {{ # of the process that asks
    read -r stat < "/proc/$1/stat" || return
    set -- ${{stat##*) }}
    echo "${{20}}"
}}
name=launcher-$$-$(date +%s)
started=$(now)
born=$(ticks "$$" 2> /dev/null)
# earlier recorders that were killed: they cannot say any more that their launcher is over
over=
for file in "$folder"/launcher-*.json; do
    [ -f "$file" ] && read -r line < "$file" || continue
    case $line in *'"exit_code": null'*) ;; *) continue ;; esac
    pid=${{line#*'"pid": '}}
    pid=${{pid%%,*}}
    case $pid in ''|*[!0-9]*) continue ;; esac
    kill -0 "$pid" 2>/dev/null || over="$over${{over:+, }}$pid"
done
write() {{
    umask 077
    printf '{{"pid": %s, "started": %s, "ended": %s, "exit_code": %s, "born": %s, "died": %s, "over": [%s]}}\\n' \\
        "$$" "$started" "$1" "$2" "${{born:-null}}" "${{3:-null}}" "$over" > "$folder/.$name" \\
        && mv "$folder/.$name" "$folder/$name.json"
}}
write null null
"$@"
code=$?
write "$(now)" "$code" "$(ticks self 2> /dev/null)"
exit "$code"
"""


def install(folder: Path) -> Path:
    """Write the recorder into a run's folder; returns a path that a shell does not split.

    Where the folder's own path has blanks or glob characters, the recorder lies in a private folder elsewhere.
    """
    path = folder / "record"
    if not set(str(path)) <= SAFE:
        path = Path(tempfile.mkdtemp(prefix="mm-profiler-")) / "record"
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o700)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(PROGRAM.format(folder=shlex.quote(str(folder))))
    return path
