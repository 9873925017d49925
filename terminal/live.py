"""A run as it goes: one line that renews itself in a terminal, one line a change elsewhere."""

import sys
from typing import Any

from mindspeed_mm_train_profiler.skill import wording
from mindspeed_mm_train_profiler.terminal.commands import say

LOG_LINES = 8
FRAME = 4
"""Columns that a panel takes; rows too, with the one that the cursor stands in and one to spare."""


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


class View:
    """What a terminal shows: the state, then as many of the log's newest lines as there is room for.

    Laid out each time it is drawn, so that a window may change its size. Lines of a log are cut and not wrapped: in a
    narrow window a few long ones would push out both the newest lines and the state."""

    def __init__(self, shown: str, tail: list[str]) -> None:
        self.shown = shown
        self.tail = tail

    def __rich_console__(self, console: Any, options: Any) -> Any:
        from rich.console import Group
        from rich.panel import Panel
        from rich.text import Text

        head = Text(self.shown)
        rows = len(head.wrap(console, max(1, options.max_width - FRAME)))
        room = max(0, console.height - rows - FRAME)
        tail = self.tail[-room:] if room else []
        yield Panel(Group(head, *(Text(row.strip(), no_wrap=True, overflow="ellipsis") for row in tail)))


class Live:
    """Shows polls. In a terminal a rich panel with the log's end; in a pipe a line when something changed."""

    def __init__(self, language: wording.Language) -> None:
        self.language = language
        self.last = ""
        self.view: Any = None
        self.width = 0
        self.tail: list[str] = []
        if sys.stdout.isatty():
            from rich.console import Console
            from rich.live import Live as RichLive

            console = Console()
            if not console.is_interactive:  # TERM=dumb can renew no line, and would show nothing until the end
                return
            self.width = console.width
            self.view = RichLive(console=console, auto_refresh=False, transient=True)
            self.view.start()
            # Left visible: who suspends this (Ctrl-Z) or kills it gets a terminal with its cursor back.
            console.show_cursor(True)

    def update(self, status: Any) -> None:
        shown = line(status, self.language)
        self.tail = [*self.tail, *status.log_tail][-LOG_LINES:]
        if self.view is not None:
            console = self.view.console
            if console.width < self.width:  # the terminal has broken the panel's lines anew: they cannot be counted
                console.clear()
            self.width = console.width
            self.view.update(View(shown, self.tail), refresh=True)
        elif shown != self.last:
            say(shown)
        self.last = shown

    def close(self) -> None:
        if self.view is not None:
            self.view.stop()
            self.view = None
