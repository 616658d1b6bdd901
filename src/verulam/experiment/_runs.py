"""One run: a learner fitted and tested on one split. A failure is a row, not a crash."""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from verulam.base import clone
from verulam.experiment._learners import NamedLearner
from verulam.experiment._splits import Split, Splits
from verulam.measures import Measure

#: Methods that give what a measure needs, best first.
_METHODS = {
    "labels": ("predict",),
    "values": ("predict",),
    "probabilities": ("predict_proba",),
    "scores": ("decision_function", "predict_proba"),
}


@dataclass(frozen=True)
class Run:
    """What one run left behind.

    Attributes
    ----------
    learner, repeat, fold
        Which run it was.
    score
        Value of the measure on the test rows; NaN where the run failed.
    fit_seconds, predict_seconds
        Time taken; NaN where that stage was not completed.
    stage
        Where it failed: fit, predict or score; empty where it did not.
    error
        Type and message of the error.
    warning
        The first warning raised while fitting.
    """

    learner: str
    repeat: int
    fold: int
    score: float = np.nan
    fit_seconds: float = np.nan
    predict_seconds: float = np.nan
    stage: str = ""
    error: str = ""
    warning: str = ""


@dataclass(frozen=True, eq=False)
class Work:
    """What every run of a comparison shares."""

    inputs: pd.DataFrame
    targets: pd.Series
    measure: Measure
    seed: int


def carry_out(
    work: Work,
    learners: Iterable[NamedLearner],
    splits: Splits,
    *,
    n_jobs: int | None = None,
    finished: Callable[[Run], None] = lambda _: None,
) -> list[Run]:
    """Return every learner's run on every split, in the same order whatever `n_jobs`.

    Parameters
    ----------
    work
        Data, measure and seed.
    learners
        The learners, all run on the same splits.
    splits
        The shared splits.
    n_jobs
        Processes of joblib; None runs one after the other.
    finished
        Called with each run as it arrives.
    """
    tasks = (delayed(one_run)(work, learner, split) for learner in learners for split in splits)
    runs = []
    for run in Parallel(n_jobs=n_jobs, return_as="generator")(tasks):
        finished(run)
        runs.append(run)
    return runs


def one_run(work: Work, learner: NamedLearner, split: Split) -> Run:
    """Fit on the training rows, predict the test rows, score the prediction."""
    result: dict[str, Any] = {}
    stage = "fit"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            estimator = _seeded(learner, work.seed, split)
            start = perf_counter()
            estimator.fit(work.inputs.iloc[split.train], work.targets.iloc[split.train])
            result["fit_seconds"] = perf_counter() - start
            stage = "predict"
            start = perf_counter()
            prediction = _predict(estimator, work.inputs.iloc[split.test], work.measure)
            result["predict_seconds"] = perf_counter() - start
            stage = "score"
            result["score"] = _score(estimator, work, split, prediction)
        # Whatever a learner raises must not stop the other learners.
        except Exception as error:
            result |= {"stage": stage, "error": _one_line(error)}
    if caught:
        result["warning"] = f"{caught[0].category.__name__}: {str(caught[0].message).strip()}"
    return Run(learner.name, split.repeat, split.fold, **result)


def _seeded(learner: NamedLearner, seed: int, split: Split) -> Any:
    """Return a clone whose unset random states depend on the learner's name and split alone."""
    estimator = clone(learner.estimator)
    sequence = np.random.SeedSequence(
        [seed, crc32(learner.name.encode()), split.repeat, split.fold]
    )
    value = int(sequence.generate_state(1)[0] % (2**31))
    unset = [
        name
        for name, given in estimator.get_params(deep=True).items()
        if name.rpartition("__")[2] == "random_state" and given is None
    ]
    return estimator.set_params(**dict.fromkeys(unset, value))


def _predict(estimator: Any, inputs: pd.DataFrame, measure: Measure) -> np.ndarray:
    methods = _METHODS[measure.needs]
    for method in methods:
        if hasattr(estimator, method):
            return getattr(estimator, method)(inputs)
    raise TypeError(f"measure {measure.name!r} needs {' or '.join(methods)}")


def _score(estimator: Any, work: Work, split: Split, prediction: np.ndarray) -> float:
    labels = list(estimator.classes_) if work.measure.needs in ("probabilities", "scores") else None
    targets = work.targets.iloc[split.test].to_numpy()
    return float(work.measure(targets, prediction, labels=labels))


def _one_line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
