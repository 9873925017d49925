"""The worker of an offline parse: one child process per session, judged by its outputs, never by its exit code.

    python -m mindspeed_mm_train_profiler.profile_data.parse_worker FOLDER

``torch_npu.profiler.profiler.analyse`` never raises, ends with 0, prints "All profiling data parsed" and writes
analyse.done whatever happened, and deletes the earlier results before it begins (facts of torch_npu 6.0 to 26.1,
profiler/profiler.py and analysis/_profiling_parser.py). So results that were good are set aside and put back where the
new ones are not. FOLDER/job.json says what to do; FOLDER/progress.json is written after each session.
"""

import os
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.profile_data import layout
from mindspeed_mm_train_profiler.profile_data.verdict import RankVerdict, verify
from mindspeed_mm_train_profiler.state import read_json, write_json

# paths and numbers come as arguments; 97: there is no analyse to call
PROGRAM = """
import sys
try:
    from torch_npu.profiler.profiler import analyse
except BaseException as error:
    sys.stdout.write(type(error).__name__ + ": " + str(error) + "\\n")
    sys.exit(97)
if __name__ == "__main__":
    analyse(profiler_path=sys.argv[1], max_process_number=int(sys.argv[2]))
"""
NO_ANALYSE = 97
CHECKOUT_COMMANDS = ("mindspeed_mm/fsdp/tools/profiler.py", "mindspeed_mm/tools/profiler.py")
KEPT = ".ASCEND_PROFILER_OUTPUT.kept"
TICK_S = 0.5
LEAST_FREE = 256 * 2**20


def main(argv: list[str] | None = None) -> int:
    """0: every session is valid now; 1: some are not, or could not be parsed."""
    words = sys.argv[1:] if argv is None else argv
    folder = Path(words[0])
    job = read_json(folder / "job.json") or {}
    rows: list[dict[str, Any]] = [dict(row) for row in job.get("sessions") or []]

    def tell(current: int | None) -> None:
        write_json(folder / "progress.json", {"sessions": rows, "current": current, "at": time.time()})

    for number, row in enumerate(rows):
        row["state"] = "parsing"
        tell(number)
        try:
            parse_session(Path(row["session"]), job, row)
        except Exception as error:  # one session must not lose the others
            row.update(state="failed", problems=["parse_not_run"], error=str(error)[:300])
    tell(None)
    return 0 if rows and all(row["state"] == "valid" for row in rows) else 1


def parse_session(session: Path, job: dict[str, Any], row: dict[str, Any]) -> None:
    """Parse one session and write into ``row`` what came of it."""
    restore(session)  # a parse that died in the middle
    before = judge(session)
    kept = session / KEPT
    if before is not None and before.files:
        (session / layout.OUTPUT).rename(kept)
    error = run(session, job)
    after = judge(session)
    if after is not None and not _worse(after, before):
        shutil.rmtree(kept, ignore_errors=True)
    elif kept.exists():
        shutil.rmtree(session / layout.OUTPUT, ignore_errors=True)
        restore(session)
        row["kept_earlier"] = True
        after = judge(session)
        error = error or "parse_gave_less"
    problems = [problem.code for problem in after.problems if not problem.remark] if after else ["session_gone"]
    row["problems"] = ([error] if error else []) + problems
    row["state"] = "failed" if error or after is None else after.state
    if row["state"] == "unparsed":
        row["state"] = "failed"


def _worse(after: RankVerdict, before: RankVerdict | None) -> bool:
    """Whether the results that were there have to be put back."""
    if before is None or not before.files or after.good_results:
        return False
    return before.good_results or len(after.files) < len(before.files)


def restore(session: Path) -> None:
    """Put earlier results back where the new ones are missing."""
    kept = session / KEPT
    if kept.is_dir() and not kept.is_symlink():
        shutil.rmtree(session / layout.OUTPUT, ignore_errors=True)
        kept.rename(session / layout.OUTPUT)


def judge(session: Path) -> RankVerdict | None:
    """What the session is by itself, whatever a run had asked for."""
    try:
        return next(iter(verify(session).ranks), None)
    except Exception:
        return None


def run(session: Path, job: dict[str, Any]) -> str | None:
    """Run the parser; None, or the code of why it was not run to its end: parse_disk_full, parse_no_analyse, ..."""
    processes = str(max(1, (os.cpu_count() or 2) // 2))
    code = _child([job["python"], "-c", PROGRAM, str(session), processes], job, session)
    if code == NO_ANALYSE:
        command = next(
            (Path(job["checkout"]) / c for c in CHECKOUT_COMMANDS if _is_there(job.get("checkout"), c)), None
        )
        if command is None:
            return "parse_no_analyse"
        sys.stdout.write(f"falling back to {command}\n")
        sys.stdout.flush()
        code = _child([job["python"], str(command), "--profiler-path", str(session)], job, session)
        if code:
            return "parse_no_analyse"
    if code is None:
        return "parse_disk_full"
    return "parse_killed" if code < 0 else None


def _is_there(checkout: str | None, command: str) -> bool:
    return bool(checkout) and (Path(str(checkout)) / command).is_file()


def _child(argv: list[str], job: dict[str, Any], session: Path) -> int | None:
    """The exit code; None where the disk ran full and the parser was ended before it wrote nonsense."""
    environment = dict(job["environment"])
    if job.get("checkout"):
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [environment.get("PYTHONPATH"), job["checkout"]]))
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, env=environment, cwd=session.parent) as process:
        while True:
            with suppress(subprocess.TimeoutExpired):
                return process.wait(timeout=TICK_S)
            if shutil.disk_usage(session).free < LEAST_FREE:
                _end_tree(process)
                return None


def _end_tree(process: "subprocess.Popen[bytes]") -> None:
    """The parser and the processes that it started (it parses in several)."""
    import psutil

    with suppress(psutil.Error):
        for child in psutil.Process(process.pid).children(recursive=True):
            with suppress(psutil.Error):
                child.kill()
    process.kill()


if __name__ == "__main__":
    sys.exit(main())
