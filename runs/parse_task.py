"""One task of a Slurm array that parses: its session, under the training's environment as it is on this node.

python -m mindspeed_mm_train_profiler.runs.parse_task FOLDER NUMBER
"""

import os
import sys
from pathlib import Path

from mindspeed_mm_train_profiler.npu_host import cann, probe
from mindspeed_mm_train_profiler.profile_data import parse_worker
from mindspeed_mm_train_profiler.runs.folder import RunFolder


def main(argv: list[str] | None = None) -> int:
    """0: the session is valid now; 1: it is not."""
    place, number = sys.argv[1:3] if argv is None else argv
    folder = RunFolder(Path(place))
    job = folder.read("job")
    if job is None:
        sys.stderr.write(f"{place} cannot be seen here: no shared file system\n")
        return 1
    row = dict(job["sessions"][int(number)])
    host = cann.find(job.get("cann_set_env") or (), dict(os.environ))
    python = probe.find_python(job.get("asked_python"), host.environment)
    folder.write(f"progress-{number}", {**row, "state": "parsing"})
    try:
        if python is None:
            row.update(state="failed", problems=["parse_no_python"], error=str(job.get("asked_python") or "python3"))
        else:
            work = {**job, "environment": dict(host.environment), "python": python}
            parse_worker.parse_session(Path(row["session"]), work, row)
    except Exception as error:
        row.update(state="failed", problems=["parse_not_run"], error=str(error)[:300])
    folder.write(f"progress-{number}", row)
    return 0 if row["state"] == "valid" else 1


if __name__ == "__main__":
    sys.exit(main())
