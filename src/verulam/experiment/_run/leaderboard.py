"""Who leads while a study is still running, from the outcomes as they come in."""

from typing import Any

import numpy as np

from verulam.experiment._plan.outcome import Outcome
from verulam.experiment._plan.plan import Plan, setting_text
from verulam.experiment._store.results import DEFAULT_MEASURES
from verulam.experiment._study.cost_matrix import stored_prediction
from verulam.experiment._text import number_text
from verulam.measures import Measure, accuracy, as_measure, error


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
        given = plan.study.measures or ()
        task = str(plan.data[0].data.task)
        self.measure: Measure = as_measure(given[0] if given else DEFAULT_MEASURES[task])

    def add(self, outcome: Outcome) -> None:
        """Count one more run, if it succeeded and has what the measure needs."""
        run = self._runs.get(outcome.run_id)
        if run is None or outcome.status != "done":
            return
        score = self._score(outcome, run)
        if score == score:
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
            return f"best so far: {best}, {self.measure.name} {number_text(mean)}"
        ranks: dict[str, list[int]] = {}
        for by_name in means.values():
            order = sorted(by_name, key=lambda name: sign * by_name[name])
            for rank, name in enumerate(order, start=1):
                ranks.setdefault(name, []).append(rank)
        best = min(ranks, key=lambda name: float(np.mean(ranks[name])))
        return f"best so far: {best}, mean rank {np.mean(ranks[best]):.2f}"

    def _score(self, outcome: Outcome, run: Any) -> float:
        planned, said = self._plan.data[run.data], outcome.predictions
        if planned.data.task != self.measure.task:
            return float("nan")
        targets = planned.targets[run.split.test]
        if self.measure.task == "regression":
            return float(self.measure(targets, said["values"]))
        if run.data not in self._classes:
            self._classes[run.data] = np.unique(planned.targets)
        classes = self._classes[run.data]
        predicted = classes[said["values"]]
        if self.measure.function in (error, accuracy):
            hits = float(np.mean(predicted == targets))
            return hits if self.measure.function is accuracy else 1.0 - hits
        given = stored_prediction(
            self.measure, classes, said["values"], said.get("probabilities"), said.get("scores")
        )
        if given is None:
            return float("nan")
        return float(self.measure(targets, given, labels=classes.tolist()))
