"""The experiment engine beside a plain loop and scikit-learn's cross_validate, in one run."""

import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from sklearn.model_selection import cross_validate
from threadpoolctl import threadpool_limits

from benchmarks._timing import Race, print_races, race
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
        )
    ]
    print_races(f"Experiment engine, {len(plan)} short fits", races)


def _race(repeats: int) -> None:
    plan = _short_fits(repeats)
    engines = {
        f"{engine}, everything stored": lambda engine=engine: _carry_out(plan, engine)
        for engine in ("processes", "serial")
    }
    races = [
        race(name, ours, peer, theirs)
        for name, ours in engines.items()
        for peer, theirs in (
            ("plain loop", lambda: _plain_loop(plan)),
            ("cross_validate", lambda: _cross_validate(plan, 1)),
            ("cross_validate, n_jobs=2", lambda: _cross_validate(plan, 2)),
        )
    ]
    print_races(f"Experiment engine, {len(plan)} short fits", races)


def run() -> None:
    """Print the races at two sizes, the cost of the engine itself, and the study of 800 runs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _race(1)
        _race_short_fits()
        _print_own_cost()
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


def _carry_out(plan: Plan, engine: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        experiment.run(plan, Path(folder) / "runs.sqlite", engine=engine, progress=False)


def _bare_loop(plan: Plan) -> None:
    """Clone, fit and predict labels and probabilities, from arrays as the engine does."""
    with threadpool_limits(1):
        for each in plan.runs:
            inputs, targets = plan.data[each.data].numbers, plan.data[each.data].targets
            learner = clone(plan.contestants[each.data][each.contestant].estimator)
            learner.fit(inputs[each.split.train], targets[each.split.train])
            learner.predict(inputs[each.split.test])
            learner.predict_proba(inputs[each.split.test])


def _plain_loop(plan: Plan) -> None:
    """Clone, fit and predict, one after the other, and keep nothing."""
    with threadpool_limits(1):
        for each in plan.runs:
            data = plan.data[each.data]
            learner = clone(plan.contestants[each.data][each.contestant].estimator)
            learner.fit(data.inputs.iloc[each.split.train], data.targets[each.split.train])
            learner.predict(data.inputs.iloc[each.split.test])


def _cross_validate(plan: Plan, n_jobs: int) -> None:
    for data, contestants in zip(plan.data, plan.contestants, strict=True):
        splits = [(split.train, split.test) for split in data.splits]
        for contestant in contestants:
            cross_validate(
                contestant.estimator, data.inputs, data.targets, cv=splits, n_jobs=n_jobs
            )
