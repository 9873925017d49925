"""The pictures of the documents, taken from a whole job on the simulated host: python scripts/pictures.py

terminal.svg   the live view of `collect` and what `verify` says (rich)
report.png     the page that `summarize` writes (Chromium or Chrome, headless)
summary.png    the picture that `summarize_profile` returns (matplotlib)

Made again whenever the look changes; the tests only ask that the pages show them.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"
PROGRAM = "mindspeed-mm-train-profiler"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars")


def command(folder: Path, words: str) -> str:
    """What a command prints on the demo's host."""
    program = f'source "{folder}/activate.sh"; cd "{folder}"; {PROGRAM} {words}'
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, timeout=200, check=False)
    return re.sub(rf"{re.escape(str(folder))}(?:/state/runs)?", "/data", done.stdout + done.stderr)


def terminal(folder: Path, run_id: str) -> None:
    """The live view as ``terminal/live.py`` draws it, inside the window, and the verdict below."""
    from mindspeed_mm_train_profiler.terminal.live import View, line
    from mindspeed_mm_train_profiler.tools.poll_result import PollStatusResult

    ended = PollStatusResult(**json.loads(command(folder, f"status {run_id} --json")))
    assert ended.window is not None and ended.train_iters is not None and ended.ms_per_iteration is not None
    now = ended.window.last_iteration - 1
    printed = (folder / "state/runs" / run_id / "output.log").read_text(encoding="utf-8").splitlines()
    reached = next(place for place, row in enumerate(printed) if re.search(rf"iteration +{now}/", row))
    log = printed[max(0, reached - 5) : reached + 1]
    left = (ended.train_iters - now) * ended.ms_per_iteration / 1000
    moment = {"state": "running", "phase": "profiling", "iteration": now, "eta_s": round(left, 1)}
    status = ended.model_copy(update=moment)
    console = Console(record=True, width=118, file=open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    console.print(f"$ {PROGRAM} collect examples/fsdp2/finetune.sh   [simulated NPU host]", markup=False)
    console.print(View(line(status, "en"), log))
    console.print(f"$ {PROGRAM} verify --run-id {run_id}", markup=False)
    console.print(command(folder, f"verify --run-id {run_id}").strip(), markup=False, highlight=False)
    svg = console.export_svg(title="mindspeed-mm-train-profiler (simulated)")
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)  # a picture asks no network for its letters
    (PICTURES / "terminal.svg").write_text(re.sub(r"<!--.*?-->", "", svg), encoding="utf-8")


def main() -> int:
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        sys.stderr.write(f"none of {', '.join(BROWSERS)} is here\n")
        return 1
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="simulated-npu-host-") as name:
        folder = Path(name) / "demo"
        words = [PROGRAM, "demo", "--chain", "fsdp2", "--folder", str(folder)]
        subprocess.run(words, stdout=subprocess.DEVNULL, timeout=300, check=True)
        run = next((folder / "state" / "runs").glob("run-*"))
        terminal(folder, run.name)
        report = run / "report"
        page = next(report.glob("*.html"))
        shutil.copyfile(next(report.glob("*.png")), PICTURES / "summary.png")
        shot = [browser, *FLAGS, f"--user-data-dir={name}/browser", "--window-size=1000,1150"]
        shot.append(f"--screenshot={PICTURES / 'report.png'}")
        subprocess.run([*shot, page.as_uri()], stderr=subprocess.DEVNULL, timeout=120, check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
