"""Progress: counted always, shown on a terminal only."""

import io

import rich.console

from verulam.experiment._execution import Outcome
from verulam.experiment._progress import show_progress


def test_failures_are_counted_without_a_display():
    with show_progress(3, 0, show=False) as progress:
        for status in ("done", "failed", "killed"):
            progress.advance(Outcome("a", status))
    assert progress.failed == 2
    assert progress.bar is None


def test_terminal_shows_done_and_failed(monkeypatch):
    stream = io.StringIO()
    terminal = rich.console.Console(file=stream, force_terminal=True, width=80)
    monkeypatch.setattr(rich.console, "Console", lambda stderr: terminal)
    with show_progress(4, 1, show=True) as progress:
        progress.advance(Outcome("a", "done"))
        progress.advance(Outcome("b", "failed"))
        progress.bar.refresh()
    text = stream.getvalue()
    assert "runs, 1 failed" in text
    assert "3/4" in text
