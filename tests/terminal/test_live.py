"""The live view in narrow, small and dumb terminals; what breaks a question off."""

import io
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from rich.console import Console

from mindspeed_mm_train_profiler.terminal.ask import Choice, Declined, Keys, Lines, make_asker
from mindspeed_mm_train_profiler.terminal.live import Live, View

SHOWN = "running/training  iteration 13/100  20.2 ms  ETA 1.8 s  window 11-12  sessions 1"
LOG = [f"iteration {number:>5}/ 100 | " + "loss: 4.166667E-01 | " * 12 for number in range(8)]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("width", [20, 40, 60, 80, 200])
@pytest.mark.parametrize("height", [6, 10, 24])
def test_state_and_newest_lines_are_seen_in_a_small_window(width: int, height: int) -> None:
    console = Console(file=io.StringIO(), width=width, height=height, force_terminal=True, color_system=None)
    with console.capture() as captured:
        console.print(View(SHOWN, LOG))
    rows = captured.get().splitlines()
    inside = [row[2:-2].strip() for row in rows[1:-1]]
    assert all(len(row) <= width for row in rows)
    assert " ".join(" ".join(inside).split()).startswith(" ".join(SHOWN.split()))
    if width >= 40 and height >= 10:
        assert len(rows) < height and "7/ 100"[:4] in inside[-1]
    if width >= 40 and height == 24:
        assert len(rows) <= 2 + 3 + len(LOG)


def status() -> Any:
    return SimpleNamespace(
        state="running", phase="training", iteration=1, train_iters=9, ms_per_iteration=1.0, eta_s=8.0, window=None,
        sessions_seen=[], log_tail=["one line"],
    )  # fmt: skip


def test_a_view_that_is_suspended_or_killed_leaves_the_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    live = Live("en")
    live.update(status())
    shown = screen.getvalue()
    live.close()
    assert "one line" in shown
    assert shown.rfind("\x1b[?25h") > shown.rfind("\x1b[?25l")


def test_a_window_made_smaller_is_cleared_of_broken_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "20")
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    live = Live("en")
    live.update(status())
    assert "\x1b[2J" not in screen.getvalue()
    live.view.console._width = 40
    live.update(status())
    live.close()
    assert "\x1b[2J" in screen.getvalue()


def test_a_terminal_that_renews_no_line_is_told_each_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setattr(sys, "stdin", Terminal())
    live = Live("en")
    live.update(status())
    live.close()
    assert "running/training" in screen.getvalue() and "\x1b" not in screen.getvalue()
    assert isinstance(make_asker("en"), Lines)


@pytest.mark.parametrize("key", ["\x03", "\x04"])
@pytest.mark.parametrize("kind", ["one", "several", "text", "yes"])
def test_a_question_that_is_broken_off_is_declined(
    key: str, kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asker = Keys("zh")
    choices = [Choice("a", "a", True), Choice("b", "b")]
    with create_pipe_input() as keyboard, create_app_session(input=keyboard, output=DummyOutput()):
        if kind == "text" or key == "\x03":
            keyboard.send_text(key)
        else:  # Ctrl-D is no key of these: the end of the keyboard is
            keyboard.close()
        with pytest.raises(Declined):
            getattr(asker, kind)("?", *([choices] if kind in {"one", "several"} else []))
    assert "Cancelled" not in capsys.readouterr().out
