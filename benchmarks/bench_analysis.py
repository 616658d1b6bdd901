"""Analysis and report of a study with a hundred thousand stored runs, timed part by part."""

import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from verulam.experiment import DataChoice, LearnerChoice, Results, Store, Study, make_plan
from verulam.experiment._plan.records import Outcome, Plan

DATA = (
    "breast_cancer",
    "election",
    "german_credit",
    "iris",
    "penguins",
    "seattle_weather",
    "titanic",
    "travel_mode",
    "wine",
    "digits",
)
LEARNERS = ("majority class", "naive bayes", "nearest mean", "logistic regression", "decision tree")
#: Settings of one learner with two factors.
FACTORS = {"n_neighbors": [1, 3, 5, 9, 15], "p": [1, 2, 3]}
REPEATS = 50
BATCH = 2000


def run() -> None:
    """Print how long it takes to open, score, analyse and report."""
    from verulam.experiment._report.report import render

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "many.sqlite"
        count = _make_store(path)
        print(f"\nAnalysis of {count:,} stored runs, {path.stat().st_size / 1e6:.0f} MB")
        results = Results(path)
        analysis = _timed("analyse", lambda: _analysed(results))
        _timed("scores by another measure", lambda: results.scores("accuracy"))
        _timed("text", lambda: str(analysis))
        _timed("JSON", analysis.to_json)
        page = _timed("report", lambda: render(analysis))
        print(f"  report: {len(page.encode()) / 1e6:.2f} MB")


def _analysed(results: Results) -> Any:
    from verulam.experiment import analyse

    return analyse(results)


def _timed(what: str, work: Callable[[], Any]) -> Any:
    start = time.perf_counter()
    found = work()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  {what}: {time.perf_counter() - start:.2f} s, at most {peak:.0f} MB so far")
    return found


def _make_store(path: Path) -> int:
    """Write the plan of a large study, and made-up outcomes of its runs."""
    nearest = LearnerChoice("k-nearest neighbours", factors=FACTORS)
    study = Study(
        "many runs",
        [DataChoice(name) for name in DATA],
        [*(LearnerChoice(name) for name in LEARNERS), nearest],
        resampling=f"{REPEATS}x10-fold",
    )
    plan = make_plan(study)
    with Store(path) as store:
        store.add_plan(plan)
        batch: list[Outcome] = []
        for outcome in _outcomes(plan):
            batch.append(outcome)
            if len(batch) == BATCH:
                store.add_outcomes(batch)
                batch = []
        store.add_outcomes(batch)
    return len(plan)


def _outcomes(plan: Plan) -> Iterator[Outcome]:
    """Yield predictions that are right with a probability of each contestant's own."""
    rng = np.random.default_rng(0)
    codes = [np.unique(each.targets, return_inverse=True) for each in plan.data]
    for each in plan.runs:
        labels, targets = codes[each.data]
        true = targets[each.split.test]
        level = 0.6 + 0.015 * each.contestant
        right = rng.random(len(true)) < level
        predicted = np.where(right, true, rng.integers(len(labels), size=len(true)))
        probabilities = np.full((len(true), len(labels)), (1.0 - level) / len(labels))
        probabilities[np.arange(len(true)), predicted] += level
        costs = rng.random(4)
        yield Outcome(
            each.run_id,
            "done",
            started=1.7e9,
            fit_seconds=0.01 * costs[0] * (1 + each.contestant),
            predict_seconds=0.001 * costs[1],
            peak_memory=costs[2],
            model_size=1000.0 * (1 + each.contestant),
            predictions={"values": predicted.astype(np.int64), "probabilities": probabilities},
        )
