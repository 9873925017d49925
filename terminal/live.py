"""A run as it goes: one line that renews itself in a terminal, one line a change elsewhere."""

import sys
from typing import Any

from mindspeed_mm_train_profiler.skill import wording
from mindspeed_mm_train_profiler.terminal.commands import say


def line(status: Any, language: wording.Language) -> str:
    """phase, iteration, milliseconds, ETA, window, sessions: what is not known is left out."""
    parts = [f"{status.state}/{status.phase}"]
    if status.iteration is not None:
        total = "?" if status.train_iters is None else status.train_iters
        parts.append(wording.text(language, "live.iteration", done=status.iteration, total=total))
    if status.ms_per_iteration is not None:
        parts.append(f"{status.ms_per_iteration:g} ms")
    if status.eta_s is not None:
        parts.append(wording.text(language, "live.eta", seconds=f"{status.eta_s:g}"))
    if status.window is not None:
        first, last = status.window.first_iteration, status.window.last_iteration
        parts.append(wording.text(language, "live.window", first=first, last=last))
    if status.sessions_seen:
        parts.append(wording.text(language, "live.sessions", count=len(status.sessions_seen)))
    return "  ".join(parts)


class Live:
    """Shows polls. In a terminal a rich panel with the log's end; in a pipe a line when something changed."""

    def __init__(self, language: wording.Language) -> None:
        self.language = language
        self.last = ""
        self.view: Any = None
        self.tail: list[str] = []
        if sys.stdout.isatty():
            from rich.live import Live as RichLive

            self.view = RichLive(refresh_per_second=4, transient=True)
            self.view.start()

    def update(self, status: Any) -> None:
        shown = line(status, self.language)
        self.tail = [*self.tail, *status.log_tail][-8:]
        if self.view is not None:
            from rich.panel import Panel
            from rich.text import Text

            self.view.update(Panel(Text("\n".join(self.tail)), title=Text(shown), title_align="left"))
        elif shown != self.last:
            say(shown)
        self.last = shown

    def close(self) -> None:
        if self.view is not None:
            self.view.stop()
            self.view = None
