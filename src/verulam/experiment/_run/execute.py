"""Carrying out one run: fit, predict, and a record of what happened, whatever happened."""

import contextlib
import ctypes
import os
import pickle
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter, time
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from verulam.base import clone, whole_trainings
from verulam.experiment._identity import unseeded_parameters
from verulam.experiment._learning.decisions import TunedThreshold
from verulam.experiment._learning.fitting import fit_learner
from verulam.experiment._learning.intervals import predicted_intervals
from verulam.experiment._plan.data import PlannedData
from verulam.experiment._plan.records import Outcome, Plan, PlannedRun, training_rows
from verulam.experiment._run.task_runs import TASK_RUNS
from verulam.experiment._tuning.learner import TunedLearner, tuning_record

#: Rows that a learner is warmed up on, at most.
WARM_UP_ROWS = 60
#: Share of the episodes of training that an agent is warmed up by.
SHORTEST = 1e-9
#: Classes whose `predict` is the largest of the probabilities, the first of equals: those that
#: define it, as dotted names, and what must hold of their parameters.
_LARGEST_PROBABILITY: dict[str, dict[str, tuple[Any, ...]]] = {
    "sklearn.dummy.DummyClassifier": {"strategy": ("prior", "most_frequent")},
    "sklearn.ensemble._bagging.BaggingClassifier": {},
    "sklearn.ensemble._forest.ForestClassifier": {},
    "sklearn.neighbors._classification.KNeighborsClassifier": {"weights": ("uniform",)},
    "sklearn.tree._classes.BaseDecisionTree": {},
    "verulam.ensemble.EnsembleClassifier": {},
    "verulam.ensemble.RandomForestClassifier": {},
    "verulam.kernel._LargeMargin": {},
    "verulam.nonparametric.AdaptiveNeighbours": {},
    "verulam.nonparametric.PrototypeClassifier": {},
    "verulam.tree.MultivariateTreeClassifier": {},
}
#: Classes that define both by the same scores, of which probabilities are an increasing function:
#: the larger is the same, unless rounding makes two of them equal.
_LARGER_SCORE: dict[tuple[str, str], dict[str, tuple[Any, ...]]] = {
    (
        "sklearn.linear_model._base.LinearClassifierMixin",
        "sklearn.linear_model._logistic.LogisticRegression",
    ): {},
    (
        "sklearn.linear_model._base.LinearClassifierMixin",
        "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
    ): {},
    ("verulam.numerics.PosteriorMixin", "verulam.numerics.PosteriorMixin"): {},
    (
        "verulam.nonparametric.KNeighborsClassifier",
        "verulam.nonparametric.KNeighborsClassifier",
    ): {},
    ("verulam.tree.DecisionTreeClassifier", "verulam.tree.DecisionTreeClassifier"): {
        "loss": (None,)
    },
}
#: Two probabilities that are nearer than this may have changed places by rounding.
_NEAR = 1e-6
#: Classes of learners that this process has used.
_WARM: set[type] = set()


@whole_trainings()
def execute(plan: Plan, run: PlannedRun, *, begin: Callable[[], None] | None = None) -> Outcome:
    """Carry out one run of a plan.

    Parameters
    ----------
    plan
        The plan.
    run
        One of its runs.
    begin
        Called when the learner has been warmed up and the run proper begins.
    """
    planned = plan.data[run.data]
    contestant = plan.contestants[run.data][run.contestant]
    outcome: dict[str, Any] = {"started": time()}
    memory = _PeakMemory()
    with warnings.catch_warnings(record=True) as caught:
        # Forests set all filters again for each tree, of which one is enough here.
        warnings.resetwarnings()
        warnings.simplefilter("always")
        try:
            estimator = seeded(contestant.estimator, run.seed)
            rows = training_rows(run)
            if _warm_up(estimator, plan, run, rows):
                memory = _PeakMemory()
            if begin is not None:
                begin()
            outcome["stage"] = "fit"
            start = perf_counter()
            special = TASK_RUNS.get(planned.task)
            if special is not None:
                estimator = special.fit(estimator, planned, run, rows)
            else:
                fit_learner(
                    estimator,
                    _inputs_of(plan, run, rows),
                    planned.targets[rows],
                    groups=_fit_groups(planned, estimator, rows),
                    weights=None if planned.weights is None else planned.weights[rows],
                )
            outcome["fit_seconds"] = perf_counter() - start
            if isinstance(estimator, TunedLearner):
                outcome["tuning"] = tuning_record(estimator)
                estimator = estimator.best_estimator_
            outcome["stage"] = "predict"
            start = perf_counter()
            outcome["predictions"] = (
                _predictions(estimator, plan, run)
                if special is None
                else special.predictions(estimator, planned, run)
            )
            outcome["predict_seconds"] = perf_counter() - start
            outcome |= {"stage": "", "model_size": _model_bytes(estimator)}
            status = "done"
        # Whatever a learner raises, the other runs go on; the row says what it was.
        except Exception as error:
            status = "failed"
            outcome["error"] = f"{type(error).__name__}: {' '.join(str(error).split())}"
    if caught:
        first = caught[0]
        outcome["warning"] = f"{first.category.__name__}: {' '.join(str(first.message).split())}"
    return Outcome(run.run_id, status, peak_memory=memory.growth(), **outcome)


def _inputs_of(plan: Plan, run: PlannedRun, rows: np.ndarray) -> Any:
    """Return some rows of the inputs, as an array where the learner needs no more."""
    planned = plan.data[run.data]
    if plan.contestants[run.data][run.contestant].uses_names or planned.numbers is None:
        return planned.inputs.iloc[rows]
    return planned.numbers[rows]


def _fit_groups(planned: PlannedData, estimator: Any, rows: np.ndarray) -> np.ndarray | None:
    """Return which rows belong together: by the groups of the data, or as copies of a row."""
    if planned.groups is not None:
        return planned.groups[rows]
    cuts_rows = isinstance(estimator, TunedLearner | TunedThreshold)
    return rows if cuts_rows and len(np.unique(rows)) < len(rows) else None


def seeded(estimator: Any, seed: int) -> Any:
    """Return a clone whose unset random states have the seed of the run."""
    estimator = clone(estimator)
    unset = unseeded_parameters(estimator)
    return estimator.set_params(**dict.fromkeys(unset, seed)) if unset else estimator


def _warm_up(estimator: Any, plan: Plan, run: PlannedRun, rows: np.ndarray) -> bool:
    """Use a learner once on a few rows, so that no run pays for imports and compilers.

    Returns whether this was the first use of the learner in this process.
    """
    if isinstance(estimator, TunedLearner):
        estimator = estimator.estimator
    last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if type(last) in _WARM:
        return False
    _WARM.add(type(last))
    few = rows[np.linspace(0, len(rows) - 1, min(len(rows), WARM_UP_ROWS)).astype(int)]
    planned = plan.data[run.data]
    with contextlib.suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        special = TASK_RUNS.get(planned.task)
        if special is not None:
            special.fit(clone(estimator), planned, replace(run, share=SHORTEST), few)
            return True
        inputs = _inputs_of(plan, run, few)
        fitted = clone(estimator).fit(inputs, plan.data[run.data].targets[few])
        fitted.predict(inputs)
        if hasattr(fitted, "predict_proba"):
            fitted.predict_proba(inputs)
    return True


def _predictions(estimator: Any, plan: Plan, run: PlannedRun) -> dict[str, np.ndarray]:
    planned = plan.data[run.data]
    inputs = _inputs_of(plan, run, run.split.test)
    if isinstance(estimator, Pipeline) and len(estimator) > 1:
        # One preparation serves labels and probabilities.
        estimator, inputs = estimator[-1], estimator[:-1].transform(inputs)
    n_rows = len(run.split.test)
    if planned.task != "classification":
        shape = planned.targets[run.split.test].shape
        values = _one_for_each(estimator.predict(inputs), shape).astype(np.float64)
        if not np.isfinite(values).all():
            raise ValueError("predict gave NaN or infinity.")
        if planned.outputs:
            return {"values": values}
        intervals = predicted_intervals(estimator, inputs, planned.targets[run.split.test])
        return {"values": values} | ({} if intervals is None else {"scores": intervals})
    classes = planned.classes
    probable = _asked_for_probabilities(estimator, inputs) if tells_labels(estimator) else None
    places = None if probable is None else clear_places(estimator, probable)
    if places is not None:
        codes = np.searchsorted(classes, estimator.classes_)[places]
    else:
        labels = _one_for_each(estimator.predict(inputs), (n_rows,))
        if pd.isna(labels).any():
            raise ValueError("predict gave NaN.")
        codes = np.searchsorted(classes, labels)
        if (codes >= len(classes)).any() or (classes[codes] != labels).any():
            raise ValueError("predict gave labels that the data set does not have.")
    predictions: dict[str, np.ndarray] = {"values": codes.astype(_code_type(len(classes)))}
    if probable is None:
        probable = _asked_for_probabilities(estimator, inputs)
    if probable is not None:
        # A class that the training rows lack gets probability zero, and its column stays in place.
        table = np.zeros((n_rows, len(classes)))
        table[:, np.searchsorted(classes, estimator.classes_)] = probable
        if not np.isfinite(table).all():
            raise ValueError("predict_proba gave NaN or infinity.")
        predictions["probabilities"] = table
    elif hasattr(estimator, "decision_function") and len(estimator.classes_) == len(classes):
        predictions["scores"] = np.asarray(estimator.decision_function(inputs), dtype=np.float64)
    return predictions


def _asked_for_probabilities(estimator: Any, inputs: Any) -> np.ndarray | None:
    if not hasattr(estimator, "predict_proba"):
        return None
    return np.asarray(estimator.predict_proba(inputs))


def _one_for_each(values: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return predictions as an array, one for each target."""
    values = np.asarray(values)
    if values.shape != shape:
        raise ValueError(f"predict gave shape {values.shape} for {shape[0]} rows.")
    return values


def tells_labels(estimator: Any) -> bool:
    """Tell whether the probabilities of a learner say what its `predict` would."""
    if not hasattr(estimator, "predict_proba"):
        return False
    # A class that overrides one of the two methods is another one, and is asked itself.
    predicts, gives = (_definer(estimator, name) for name in ("predict", "predict_proba"))
    needed = _LARGEST_PROBABILITY.get(predicts, _LARGER_SCORE.get((predicts, gives)))
    return needed is not None and all(
        # Tables and functions are none of the accepted, and cannot always be compared.
        isinstance(value := getattr(estimator, name), str | None) and value in accepted
        for name, accepted in needed.items()
    )


def clear_places(estimator: Any, probabilities: np.ndarray) -> np.ndarray | None:
    """Return the places of the predicted labels in `classes_`; None where two are too near."""
    if _definer(estimator, "predict") not in _LARGEST_PROBABILITY and len(estimator.classes_) > 1:
        second, first = np.partition(probabilities, -2, axis=1)[:, -2:].T
        if not (first - second > _NEAR).all():  # nor where some are NaN
            return None
    return probabilities.argmax(axis=1)


def _definer(estimator: Any, method: str) -> str:
    """Return the dotted name of the class that defines a method of a learner."""
    return next(
        f"{base.__module__}.{base.__qualname__}"
        for base in type(estimator).__mro__
        if method in vars(base)
    )


def _code_type(n_classes: int) -> type:
    return np.uint8 if n_classes <= 256 else np.int32


def _model_bytes(estimator: Any) -> float:
    try:
        return float(len(pickle.dumps(estimator, protocol=5)))
    # Learners may define how they are saved, and so raise anything; the run is done all the same.
    except Exception:
        return float("nan")


class _PeakMemory:
    """The growth of this process's memory since the object was made, where Linux tells it."""

    def __init__(self) -> None:
        self._before = float("nan")
        if sys.platform == "linux":
            # Memory that earlier runs gave back, but the allocator kept, would hide what this one
            # needs.
            if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
                trim(0)
            try:
                # Sets the high-water mark back to what is in use now.
                with open(f"/proc/{os.getpid()}/clear_refs", "w") as reset:
                    reset.write("5")
                self._before = _high_water_mark()
            except OSError:
                pass

    def growth(self) -> float:
        """Return megabytes, at least 0."""
        if np.isnan(self._before):
            return self._before
        return max(0.0, _high_water_mark() - self._before)


def _high_water_mark() -> float:
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return float(line.split()[1]) / 1024.0
    return float("nan")
