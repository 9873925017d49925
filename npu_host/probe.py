"""torch, torch_npu and the device, asked in a child process: they print at import, load CANN and may not return."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mindspeed_mm_train_profiler.npu_host import child

MARK = "@mindspeed-mm-train-profiler "
PROGRAM = """
import json, sys
MARK = "@mindspeed-mm-train-profiler "
out = {"python": sys.version.split()[0], "executable": sys.executable}
def tell():
    sys.stdout.write("\\n" + MARK + json.dumps(out) + "\\n"); sys.stdout.flush()
try:
    import torch
    out["torch"] = torch.__version__
except BaseException as e:
    out["torch_error"] = type(e).__name__ + ": " + str(e)
tell()
try:
    import torch_npu
    out["torch_npu"] = torch_npu.__version__
except BaseException as e:
    out["torch_npu_error"] = type(e).__name__ + ": " + str(e)
tell()
if "torch_npu" in out:
    try:
        out["npu_available"] = bool(torch.npu.is_available())
        out["device_count"] = int(torch.npu.device_count())
    except BaseException as e:
        out["npu_error"] = type(e).__name__ + ": " + str(e)
tell()
"""
TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class PythonProbe:
    """None: not known. Errors are quoted as Python said them, cut to 500 characters."""

    executable: str | None
    version: str | None = None
    torch: str | None = None
    torch_npu: str | None = None
    npu_available: bool | None = None
    device_count: int | None = None
    error: str | None = None
    timed_out: bool = False


def find_python(asked: str | None, environment: Mapping[str, str]) -> str | None:
    """The interpreter the launch will use: the one asked for, else ``python3``/``python`` on its PATH."""
    for name in [asked] if asked else ["python3", "python"]:
        if "/" in name:
            return name if Path(name).is_file() else None
        if found := shutil.which(name, path=environment.get("PATH")):
            return found
    return None


def probe(
    python: str | None, environment: Mapping[str, str], *, cwd: Path | None = None, timeout_s: float = TIMEOUT_S
) -> PythonProbe:
    """Import torch and torch_npu in ``python``; what came before a time-out or a crash is kept."""
    executable = find_python(python, environment)
    if executable is None:
        return PythonProbe(None, error=f"no interpreter: {python or 'python3'}")
    error = None
    try:
        done = child.ask([executable, "-c", PROGRAM], environment, cwd=cwd, timeout_s=timeout_s)
    except OSError as failed:
        return PythonProbe(executable, error=str(failed))
    if done.code is None:
        error = f"no answer within {timeout_s:g} s"
    elif done.code:
        error = f"exit code {done.code}: " + done.err.decode("utf-8", "replace").strip()[-400:]
    facts: dict[str, object] = {}
    for line in done.out.decode("utf-8", "replace").splitlines():
        if line.startswith(MARK):
            try:
                facts = json.loads(line[len(MARK) :])
            except ValueError:
                continue
    said = facts.get("torch_error") or facts.get("torch_npu_error") or facts.get("npu_error") or error
    available, count = facts.get("npu_available"), facts.get("device_count")
    return PythonProbe(
        executable=str(facts.get("executable") or executable),
        version=_text(facts.get("python")),
        torch=_text(facts.get("torch")),
        torch_npu=_text(facts.get("torch_npu")),
        npu_available=available if isinstance(available, bool) else None,
        device_count=count if isinstance(count, int) else None,
        error=_text(said),
        timed_out=done.code is None,
    )


SPEC = "import importlib.util as u, sys; sys.exit(0 if u.find_spec('torch_npu') else 3)"


def has_torch_npu(
    python: str | None, environment: Mapping[str, str], *, cwd: Path | None = None, timeout_s: float = 1.0
) -> bool | None:
    """Whether ``python`` would find torch_npu, without importing it; None where it could not be told in time."""
    executable = find_python(python, environment)
    if executable is None:
        return None
    try:
        done = child.ask([executable, "-c", SPEC], environment, cwd=cwd, timeout_s=timeout_s)
    except OSError:
        return None
    return {0: True, 3: False}.get(done.code if done.code is not None else -1)


def _text(value: object) -> str | None:
    return str(value)[:500] if value else None
