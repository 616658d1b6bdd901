"""Progress: counted always, shown on a terminal or in a notebook only."""

import io
import sys
from types import ModuleType

import pytest
import rich.console

from verulam.experiment import DataChoice, LearnerChoice, Results, Study, make_plan, run
from verulam.experiment._plan.records import Outcome
from verulam.experiment._run.execute import execute
from verulam.experiment._run.progress import Leaderboard, NotebookBar, show_progress


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


LEARNERS = [LearnerChoice("majority class"), LearnerChoice("naive bayes")]


@pytest.mark.parametrize("measure", ["error", "accuracy", "log_loss", "kappa", "auc"])
def test_the_leader_has_the_best_mean_of_the_results(tmp_path, measure):
    study = Study(
        "cells", [DataChoice("breast_cancer")], LEARNERS, resampling="2-fold", measures=[measure]
    )
    plan = make_plan(study)
    leaderboard = Leaderboard(plan)
    assert leaderboard.words() == ""
    for each in plan.runs:
        leaderboard.add(execute(plan, each))
    results = run(study, tmp_path / "runs.sqlite", engine="serial", progress=False)
    mean = results.scores().groupby("learner")[measure].mean()["parametric.NaiveBayes"]
    assert leaderboard.words() == f"best so far: naive Bayes, {measure} {mean:.4f}"
    assert isinstance(results, Results)


def test_over_several_data_sets_by_ranks():
    plan = make_plan(
        Study("both", [DataChoice("iris"), DataChoice("wine")], LEARNERS, resampling="2-fold")
    )
    leaderboard = Leaderboard(plan)
    for each in plan.runs:
        leaderboard.add(execute(plan, each))
    assert leaderboard.words() == "best so far: naive Bayes, mean rank 1.00"


def test_numbers_and_what_does_not_count():
    learners = [LearnerChoice("mean predictor"), LearnerChoice("linear regression")]
    plan = make_plan(Study("numbers", [DataChoice("engel")], learners, resampling="2-fold"))
    leaderboard = Leaderboard(plan)
    leaderboard.add(Outcome("unknown", "done"))
    leaderboard.add(Outcome(plan.runs[0].run_id, "failed"))
    assert leaderboard.words() == ""
    for each in plan.runs:
        leaderboard.add(execute(plan, each))
    assert leaderboard.words().startswith(
        "best so far: linear regression, root_mean_squared_error "
    )


def test_a_measure_that_no_prediction_serves():
    study = Study(
        "iris", [DataChoice("iris")], [LearnerChoice("perceptron")], measures=["log_loss"]
    )
    plan = make_plan(study)
    leaderboard = Leaderboard(plan)
    leaderboard.add(execute(plan, plan.runs[0]))
    assert leaderboard.words() == ""
