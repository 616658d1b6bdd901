"""The experiment engine beside a plain loop and scikit-learn's cross_validate, in one run."""

import os
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np
from sklearn.model_selection import cross_validate
from threadpoolctl import threadpool_limits

from benchmarks._timing import Race, close, print_races, race
from verulam import experiment
from verulam.base import clone
from verulam.experiment import DataChoice, LearnerChoice, Study, make_plan, read_study
from verulam.experiment._plan.records import Plan

DATA = ("iris", "wine", "breast_cancer", "penguins")
LEARNERS = (
    "majority class",
    "parametric.NaiveBayes",
    "logistic regression",
    "k-nearest neighbours",
    "decision tree",
)

ONE_THREAD = os.environ.get("VERULAM_THREADS") == "1"
#: Stores of runs, removed at the end of the process.
_FOLDER, _NUMBERS = tempfile.TemporaryDirectory(), count()
LARGE = Path(__file__).parents[1] / "examples" / "ten-data-sets.toml"


def _short_fits(repeats: int) -> Plan:
    return make_plan(
        Study(
            "short fits",
            [DataChoice(name) for name in DATA],
            [LearnerChoice(name) for name in LEARNERS],
            resampling=f"{repeats}x10-fold",
        )
    )


def _race_short_fits() -> None:
    """Race ten times ten folds, 2,000 short fits, on all cores against a plain loop on one."""
    plan = _short_fits(10)
    races = [
        race(
            "processes, everything stored",
            lambda: _carry_out(plan, "processes"),
            "plain loop",
            lambda: _plain_loop(plan),
            same=_as_accurate,
        )
    ]
    print_races(f"Experiment engine, {len(plan)} short fits", races)


def _race(repeats: int) -> None:
    plan = _short_fits(repeats)
    works = [("serial", "cross_validate", 1)]
    if not ONE_THREAD:
        works += [("processes", f"cross_validate, n_jobs={jobs}", jobs) for jobs in (1, 2)]
    races = [
        race(
            f"{engine}, everything stored",
            partial(_carry_out, plan, engine),
            peer,
            partial(_cross_validate, plan, jobs),
            same=_as_accurate,
        )
        for engine, peer, jobs in works
    ]
    print_races(f"Experiment engine, {len(plan)} short fits", races)


def run() -> None:
    """Print the races with scikit-learn's and with plain loops, and the cost of the engine itself.

    Processes are raced where there are two threads: with one, only this process's time counts.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for repeats in (1, 3):
            _race(repeats)
        _print_own_cost()
        if not ONE_THREAD:
            _race_short_fits()
            _race_large()


def _print_own_cost() -> None:
    """Print what a run costs beyond clone, fit and predict, in processor time on one core."""
    learners = [LearnerChoice(name) for name in LEARNERS[:2]]
    study = Study("own cost", [DataChoice("iris")], learners, resampling="20x10-fold")
    plan = make_plan(study)
    best = [float("inf"), float("inf")]
    for _ in range(3):
        for place, work in enumerate((_carry_out_serially, _bare_loop)):
            start = time.process_time()
            work(plan)
            best[place] = min(best[place], time.process_time() - start)
    own = (best[0] - best[1]) / len(plan)
    print(f"\nThe engine itself: {own * 1e3:.2f} ms a run, everything stored")


def _race_large() -> None:
    """Race the study of ten data sets, once: it is long enough to be told."""
    plan = make_plan(replace(read_study(LARGE), time_limit=None))
    ours = _seconds(lambda: _carry_out(plan, "processes"))
    races = [
        Race("processes", ours, f"cross_validate, n_jobs={jobs}", _seconds(theirs))
        for jobs in (1, 2)
        for theirs in (partial(_cross_validate, plan, jobs),)
    ]
    print_races(f"Ten data sets, {len(plan)} runs, once", races)


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _carry_out_serially(plan: Plan) -> None:
    _carry_out(plan, "serial")


def _carry_out(plan: Plan, engine: str) -> experiment.Results:
    path = Path(_FOLDER.name) / f"runs-{next(_NUMBERS)}.sqlite"
    return experiment.run(plan, path, engine=engine, progress=False)


def _as_accurate(ours: experiment.Results, theirs: list[float]) -> None:
    """Compare the mean accuracy of all runs, of which trees have seeds of their own."""
    close(0.0, 0.01)(ours.scores("accuracy")["accuracy"].mean(), np.mean(theirs))


def _bare_loop(plan: Plan) -> None:
    """Clone, fit and predict labels and probabilities, from arrays as the engine does."""
    with threadpool_limits(1):
        for each in plan.runs:
            inputs, targets = plan.data[each.data].numbers, plan.data[each.data].targets
            learner = clone(plan.contestants[each.data][each.contestant].estimator)
            learner.fit(inputs[each.split.train], targets[each.split.train])
            learner.predict(inputs[each.split.test])
            learner.predict_proba(inputs[each.split.test])


def _plain_loop(plan: Plan) -> list[float]:
    """Clone, fit, predict and count what is right, one after the other, and keep nothing else."""
    shares = []
    with threadpool_limits(1):
        for each in plan.runs:
            data = plan.data[each.data]
            learner = clone(plan.contestants[each.data][each.contestant].estimator)
            learner.fit(data.inputs.iloc[each.split.train], data.targets[each.split.train])
            predicted = learner.predict(data.inputs.iloc[each.split.test])
            shares.append(float((predicted == data.targets[each.split.test]).mean()))
    return shares


def _cross_validate(plan: Plan, n_jobs: int) -> list[float]:
    shares: list[float] = []
    for data, contestants in zip(plan.data, plan.contestants, strict=True):
        splits = [(split.train, split.test) for split in data.splits]
        for contestant in contestants:
            scores = cross_validate(
                contestant.estimator, data.inputs, data.targets, cv=splits, n_jobs=n_jobs
            )
            shares += scores["test_score"].tolist()
    return shares
