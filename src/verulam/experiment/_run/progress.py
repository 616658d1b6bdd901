"""The progress of a study: done, failed, left, time remaining, and the leaderboard."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from time import monotonic
from typing import Any

import numpy as np

from verulam.base import visible_text
from verulam.experiment._learning.outputs import output_scale
from verulam.experiment._plan.records import Outcome, Plan, PlannedRun
from verulam.experiment._store.results import DEFAULT_MEASURES
from verulam.experiment._store.scoring import task_prediction
from verulam.experiment._study.cost_matrix import stored_prediction
from verulam.experiment._text import number_text, setting_text, spoken_name
from verulam.measures import Measure, accuracy, as_measure, error

#: Seconds between two pictures in a notebook, and between two looks at who leads.
PAUSE = 0.25


class Leaderboard:
    """The mean response of each contestant so far, kept only for the display.

    Parameters
    ----------
    plan
        What is being run.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._runs = {run.run_id: run for run in plan.runs}
        self._sums: dict[tuple[int, str], list[float]] = {}
        self._classes: dict[int, np.ndarray] = {}
        measures = plan.study.measures or ()
        task = plan.data[0].task
        self.measure: Measure = as_measure(measures[0] if measures else DEFAULT_MEASURES[task])

    def add(self, outcome: Outcome) -> None:
        """Count one more run, if it succeeded and has what the measure needs."""
        run = self._runs.get(outcome.run_id)
        if run is None or outcome.status != "done":
            return
        score = self._score(outcome, run)
        if score == score:  # not NaN
            contestant = self._plan.contestants[run.data][run.contestant]
            setting = setting_text(contestant.setting)
            name = f"{contestant.label} ({setting})" if setting else contestant.label
            total = self._sums.setdefault((run.data, name), [0.0, 0.0])
            total[0] += score
            total[1] += 1.0

    def words(self) -> str:
        """Return who leads, by its mean or over several data sets by its mean rank."""
        means: dict[int, dict[str, float]] = {}
        for (data, name), (total, count) in self._sums.items():
            means.setdefault(data, {})[name] = total / count
        if not means:
            return ""
        sign = -1.0 if self.measure.greater_is_better else 1.0
        if len(self._plan.data) == 1:
            best, mean = min(means[0].items(), key=lambda pair: sign * pair[1])
            return f"best so far: {spoken_name(best)}, {self.measure.name} {number_text(mean)}"
        ranks: dict[str, list[int]] = {}
        for by_name in means.values():
            order = sorted(by_name, key=lambda name: sign * by_name[name])
            for rank, name in enumerate(order, start=1):
                ranks.setdefault(name, []).append(rank)
        best = min(ranks, key=lambda name: float(np.mean(ranks[name])))
        return f"best so far: {spoken_name(best)}, mean rank {np.mean(ranks[best]):.2f}"

    def _score(self, outcome: Outcome, run: PlannedRun) -> float:
        planned, predictions = self._plan.data[run.data], outcome.predictions
        if planned.task != self.measure.task:
            return float("nan")
        targets = planned.targets[run.split.test]
        weights = None if planned.weights is None else planned.weights[run.split.test]
        if self.measure.task != "classification":
            stored = [predictions.get(name) for name in ("probabilities", "scores")]
            taken = task_prediction(self.measure, predictions["values"], *stored)
            if planned.outputs and taken is not None:
                scale = output_scale(planned.targets)
                targets, taken = targets / scale, taken / scale
            return float("nan") if taken is None else self.measure.weighted(targets, taken, weights)
        if run.data not in self._classes:
            self._classes[run.data] = np.unique(planned.targets)
        classes = self._classes[run.data]
        predicted = classes[predictions["values"]]
        if self.measure.function in (error, accuracy) and weights is None:
            hits = float(np.mean(predicted == targets))
            return hits if self.measure.function is accuracy else 1.0 - hits
        prediction = stored_prediction(
            self.measure,
            classes,
            predictions["values"],
            predictions.get("probabilities"),
            predictions.get("scores"),
        )
        if prediction is None:
            return float("nan")
        return self.measure.weighted(targets, prediction, weights, labels=classes.tolist())


@dataclass(eq=False)
class Progress:
    """Counts what has come in, and shows it where there is a display."""

    failed: int = 0
    bar: Any = None
    task: Any = None
    leaderboard: Leaderboard | None = None
    total: int = 0
    _looked: float = 0.0
    _leader: str = ""

    def advance(self, outcome: Outcome) -> None:
        """Count one more run."""
        self.failed += outcome.status != "done"
        if self.bar is None:
            return
        words = f"runs, {self.failed} failed" if self.failed else "runs"
        if self.leaderboard is not None:
            self.leaderboard.add(outcome)
            if monotonic() - self._looked > PAUSE:
                self._looked, self._leader = monotonic(), visible_text(self.leaderboard.words())
        self.bar.update(self.task, advance=1, description=words, leader=self._leader)

    def expect(self, total: int) -> None:
        """Show how many runs there are in all, as far as is known by now."""
        if self.bar is not None and total != self.total:
            self.total = total
            self.bar.update(self.task, total=total)


@contextmanager
def show_progress(
    total: int, already: int, *, show: bool, leaderboard: Leaderboard | None = None
) -> Iterator[Progress]:
    """Give a `Progress` that is shown as a bar on a terminal or in a notebook, and nowhere else.

    Parameters
    ----------
    total
        Number of runs in the plan.
    already
        How many of them the store has.
    show
        Whether to show anything.
    leaderboard
        Who leads; None shows nothing of it.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    if show and console.is_jupyter:
        with NotebookBar(total, already) as notebook:
            yield Progress(bar=notebook, leaderboard=leaderboard, total=total)
        return
    if not show or not console.is_terminal:
        yield Progress()
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[leader]}", markup=False),
    )
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("runs", total=total, completed=already, leader="")
        yield Progress(bar=bar, task=task, leaderboard=leaderboard, total=total)


class NotebookBar:
    """A line in the output of a notebook cell that is drawn anew as runs come in.

    Parameters
    ----------
    total
        Number of runs in the plan.
    already
        How many of them the store has.
    """

    def __init__(self, total: int, already: int) -> None:
        self.total, self.already, self.done = total, already, already
        self.words, self.leader = "runs", ""
        self._begun = self._drawn = monotonic()
        self._handle: Any = None

    def __enter__(self) -> "NotebookBar":
        # By name: only a notebook has it.
        self._handle = import_module("IPython.display").display(self, display_id=True)
        return self

    def __exit__(self, *exception: object) -> None:
        self._draw()

    def update(
        self,
        task: Any,
        *,
        advance: int = 0,
        description: str | None = None,
        leader: str | None = None,
        total: int | None = None,
    ) -> None:
        """Count runs, and draw if the last picture is old enough."""
        self.done += advance
        self.words = self.words if description is None else description
        self.leader = self.leader if leader is None else leader
        self.total = self.total if total is None else total
        if monotonic() - self._drawn > PAUSE:
            self._draw()

    def _draw(self) -> None:
        self._drawn = monotonic()
        if self._handle is not None:
            self._handle.update(self)

    def __repr__(self) -> str:
        parts = [f"{self.done}/{self.total} {self.words}"]
        fresh, left = self.done - self.already, self.total - self.done
        if fresh and left:
            seconds = (self._drawn - self._begun) / fresh * left
            parts.append(f"about {seconds:.0f} s left")
        return ", ".join([*parts, *filter(None, [self.leader])])

    def _repr_html_(self) -> str:
        from html import escape

        return (
            f'<progress max="{max(self.total, 1)}" value="{self.done}"></progress> '
            f"{escape(repr(self))}"
        )
