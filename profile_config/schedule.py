"""Arithmetic before the run: which iterations are captured, how many the run must have, what would fall inside.

Sources: torch_npu ``profiler/scheduler.py``; MindSpeed-MM ``mindspeed_mm/tools/profiler.py`` (warmup=1 up to 2.1.0, 0
from 2.2.0 on), ``mindspeed_mm/training.py``, ``fsdp/train/train_engine.py``. The profiler counts the passes of this
process: a resumed run captures later iterations.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.launch_script.launcher import tail
from mindspeed_mm_train_profiler.launch_script.plan import LaunchPlan, Word
from mindspeed_mm_train_profiler.options import ProfileOptions

TRACKER = "latest_checkpointed_iteration.txt"


@dataclass(frozen=True, slots=True)
class Window:
    """What one collection captures. Steps: 0-based counter of the process; iterations: the log's 1-based number."""

    steps: list[int]
    iterations: list[int]
    offset: int
    warmup: int
    needed: int
    """The least train_iters that closes the window inside the loop."""

    @property
    def first(self) -> int | None:
        return self.iterations[0] if self.iterations else None

    @property
    def last(self) -> int | None:
        return self.iterations[-1] if self.iterations else None


def checkpoint_iteration(load: Path | None) -> int | None:
    """The iteration that a checkpoint folder resumes at; None where it holds none (or a release checkpoint)."""
    if load is None:
        return None
    try:
        text = (load / TRACKER).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return int(text) if text.isascii() and text.isdecimal() else None


class Arguments:
    """The trainer's settings by name, wherever this launch keeps them: command line, ``gpt_args``, ``training``."""

    def __init__(self, plan: LaunchPlan, loaded: Any) -> None:
        self.values: dict[str, Any] = {}
        self.keys: dict[str, tuple[str, ...]] = {}
        """Where a value stands in the YAML."""
        self.words: dict[str, Word] = {}
        """The word of the command line that is a value."""
        if plan.engine == "fsdp2":
            training = loaded.get("training") if isinstance(loaded, dict) else None
            self.values = dict(training) if isinstance(training, dict) else {}
            self.keys = {str(name): ("training", str(name)) for name in self.values}
        elif isinstance(loaded, dict) and ("gpt_args" in loaded or "lora_args" in loaded):
            for section in ("gpt_args", "lora_args"):
                self._flatten(loaded.get(section), (section,))
        elif plan.call is not None:
            self._command_line(list(plan.call.entry_args))

    def _flatten(self, section: Any, path: tuple[str, ...]) -> None:
        if isinstance(section, dict):
            for key, value in section.items():
                if isinstance(value, dict):
                    self._flatten(value, (*path, str(key)))
                else:
                    name = str(key).replace("-", "_")
                    self.values[name], self.keys[name] = value, (*path, str(key))

    def _command_line(self, words: list[Word]) -> None:
        for index, word in enumerate(words):
            if not word.text.startswith("--"):
                continue
            name, equals, value = word.text[2:].partition("=")
            key = name.replace("-", "_")
            following = words[index + 1] if index + 1 < len(words) else None
            if equals:
                self.values[key], self.words[key] = value, tail(word, len(name) + 3)
            elif following is not None and not following.text.startswith("--"):
                self.values[key], self.words[key] = following.text, following
            else:
                self.values[key] = True

    def integer(self, name: str) -> int | None:
        value = self.values.get(name)
        if isinstance(value, bool):
            return None
        if isinstance(value, int):
            return value
        return int(value) if isinstance(value, str) and re.fullmatch(r"\s*\d+\s*", value) else None

    def flag(self, name: str) -> bool:
        return self.values.get(name) not in (None, False, "")


def offset(plan: LaunchPlan, arguments: Arguments) -> int:
    """Iterations already done when the run starts."""
    if arguments.flag("finetune"):
        return 0  # Megatron starts again at 0
    return checkpoint_iteration(plan.load) or 0


def window(plan: LaunchPlan, options: ProfileOptions, arguments: Arguments) -> Window:
    """The captured steps and iterations of a static collection; empty ones for a dynamic one."""
    done = offset(plan, arguments)
    warmup = plan.capabilities.warmup_steps or 0
    if options.profile_type == "dynamic":
        return Window([], [], done, warmup, done + 1)
    if plan.reason.code == "engine_dancegrpo":  # its own loop counts from 1 and compares start <= step < end
        numbers = list(range(options.start_step, options.end_step))
        return Window([n - 1 for n in numbers], [done + n for n in numbers], done, 0, done + options.end_step - 1)
    steps = list(range(options.start_step + warmup, options.end_step + warmup))
    return Window(steps, [done + step + 1 for step in steps], done, warmup, done + options.end_step + warmup)


def inside(interval: int | None, seen: Window) -> list[int]:
    """Captured iterations at which something with this interval happens."""
    return [i for i in seen.iterations if interval and interval > 0 and i % interval == 0]
