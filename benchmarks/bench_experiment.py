"""The experiment engine beside a plain loop and scikit-learn's cross_validate, in one run."""

import tempfile
import warnings
from pathlib import Path

from sklearn.model_selection import cross_validate
from threadpoolctl import threadpool_limits

from benchmarks._timing import print_races, race
from verulam import experiment
from verulam.base import clone
from verulam.experiment import DataChoice, LearnerChoice, Plan, Study, make_plan

DATA = ("iris", "wine", "breast_cancer", "penguins")
LEARNERS = (
    "majority class",
    "parametric.NaiveBayes",
    "logistic regression",
    "k-nearest neighbours",
    "decision tree",
)


def _race(repeats: int) -> None:
    study = Study(
        "short fits",
        [DataChoice(name) for name in DATA],
        [LearnerChoice(name) for name in LEARNERS],
        resampling=f"{repeats}x10-fold",
    )
    plan = make_plan(study)
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
    """Print the races at two sizes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for repeats in (1, 2):
            _race(repeats)


def _carry_out(plan: Plan, engine: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        experiment.run(plan, Path(folder) / "runs.sqlite", engine=engine, progress=False)


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
