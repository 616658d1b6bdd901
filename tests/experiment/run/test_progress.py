"""Progress: counted always, shown on a terminal or in a notebook only."""

import io
import sys
from types import ModuleType

import pytest
import rich.console

from verulam.experiment._plan.outcome import Outcome
from verulam.experiment._run.progress import NotebookBar, show_progress


class Leader:
    """Says who leads."""

    def __init__(self):
        self.seen = []

    def add(self, outcome):
        self.seen.append(outcome.run_id)

    def words(self):
        return "best so far: <tree> [b]"


def test_failures_are_counted_without_a_display():
    with show_progress(3, 0, show=False, leaderboard=Leader()) as progress:
        for status in ("done", "failed", "killed"):
            progress.advance(Outcome("a", status))
    assert progress.failed == 2
    assert progress.bar is None


def test_terminal_shows_done_failed_and_the_leader(monkeypatch):
    stream = io.StringIO()
    terminal = rich.console.Console(
        file=stream, force_terminal=True, force_jupyter=False, width=100
    )
    monkeypatch.setattr(rich.console, "Console", lambda stderr: terminal)
    leader = Leader()
    with show_progress(4, 1, show=True, leaderboard=leader) as progress:
        progress.advance(Outcome("a", "done"))
        progress.advance(Outcome("b", "failed"))
        progress.bar.refresh()
    text = stream.getvalue()
    assert "runs, 1 failed" in text
    assert "3/4" in text
    assert "best so far: <tree> [b]" in text
    assert leader.seen == ["a", "b"]


def test_a_total_may_grow_while_repeats_are_added(monkeypatch):
    stream = io.StringIO()
    terminal = rich.console.Console(
        file=stream, force_terminal=True, force_jupyter=False, width=100
    )
    monkeypatch.setattr(rich.console, "Console", lambda stderr: terminal)
    with show_progress(2, 0, show=True) as progress:
        progress.advance(Outcome("a", "done"))
        progress.expect(4)
        progress.advance(Outcome("b", "done"))
        progress.bar.refresh()
    assert "2/4" in stream.getvalue()
    with show_progress(2, 0, show=False) as silent:
        silent.expect(4)


@pytest.fixture
def notebook(monkeypatch):
    """Return what a notebook was asked to show."""
    shown = []

    class Handle:
        def update(self, thing):
            shown.append(repr(thing))

    def display(thing, *, display_id):
        assert display_id
        shown.append(repr(thing))
        return Handle()

    module = ModuleType("IPython.display")
    module.display = display
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    console = rich.console.Console(file=io.StringIO(), force_jupyter=True)
    monkeypatch.setattr(rich.console, "Console", lambda stderr: console)
    return shown


def test_notebooks_see_the_first_and_the_last_picture(notebook):
    with show_progress(5, 2, show=True, leaderboard=Leader()) as progress:
        progress.advance(Outcome("a", "done"))
        progress.advance(Outcome("b", "failed"))
        progress.advance(Outcome("c", "done"))
    assert notebook[0] == "2/5 runs"
    assert notebook[-1] == "5/5 runs, 1 failed, best so far: <tree> [b]"


def test_notebooks_see_a_total_that_grows(notebook):
    with show_progress(2, 0, show=True) as progress:
        progress.advance(Outcome("a", "done"))
        progress.expect(6)
    assert notebook[-1].startswith("1/6 runs")


def test_notebooks_are_drawn_while_it_goes_on(notebook, monkeypatch):
    monkeypatch.setattr("verulam.experiment._run.progress.PAUSE", 0.0)
    with show_progress(3, 0, show=True) as progress:
        progress.advance(Outcome("a", "done"))
    assert any(text.startswith("1/3 runs, about ") for text in notebook)


def test_a_notebook_that_wants_none_gets_none(notebook):
    with show_progress(3, 0, show=False) as progress:
        progress.advance(Outcome("a", "done"))
    assert notebook == []


def test_markup_is_escaped():
    bar = NotebookBar(2, 0)
    bar.update(None, advance=1, description="runs", leader="best so far: <tree>")
    assert '<progress max="2" value="1"></progress>' in bar._repr_html_()
    assert "&lt;tree&gt;" in bar._repr_html_()
