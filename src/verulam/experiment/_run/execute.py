"""Carrying out one run: fit, predict, and a record of what happened, whatever happened."""

import contextlib
import ctypes
import os
import pickle
import sys
import warnings
from collections.abc import Callable
from time import perf_counter, time
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from verulam.base import clone
from verulam.experiment._identity import unseeded_parameters
from verulam.experiment._plan.data import PlannedData
from verulam.experiment._plan.records import Outcome, Plan, PlannedRun, training_rows
from verulam.experiment._tuning.learner import TunedLearner, tuning_record

#: Rows that a learner is warmed up on, at most.
WARM_UP_ROWS = 60
#: Classes of learners that this process has used.
_WARM: set[type] = set()


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
            estimator.fit(
                _inputs_of(plan, run, rows),
                planned.targets[rows],
                **_fit_groups(planned, estimator, rows),
            )
            outcome["fit_seconds"] = perf_counter() - start
            if isinstance(estimator, TunedLearner):
                outcome["tuning"] = tuning_record(estimator)
                estimator = estimator.best_estimator_
            outcome["stage"] = "predict"
            start = perf_counter()
            outcome["predictions"] = _predictions(estimator, plan, run)
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


def _fit_groups(planned: PlannedData, estimator: Any, rows: np.ndarray) -> dict[str, np.ndarray]:
    """Return the argument `groups` of a tuned learner: those of the data, or copies of a row."""
    if not isinstance(estimator, TunedLearner):
        return {}
    if planned.groups is not None:
        return {"groups": planned.groups[rows]}
    return {"groups": rows} if len(np.unique(rows)) < len(rows) else {}


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
    inputs = _inputs_of(plan, run, few)
    with contextlib.suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clone(estimator).fit(inputs, plan.data[run.data].targets[few]).predict(inputs)
    return True


def _predictions(estimator: Any, plan: Plan, run: PlannedRun) -> dict[str, np.ndarray]:
    planned = plan.data[run.data]
    inputs = _inputs_of(plan, run, run.split.test)
    if isinstance(estimator, Pipeline) and len(estimator) > 1:
        # One preparation serves labels and probabilities.
        estimator, inputs = estimator[-1], estimator[:-1].transform(inputs)
    values = np.asarray(estimator.predict(inputs))
    n_rows = len(run.split.test)
    if values.shape != (n_rows,):
        raise ValueError(f"predict gave shape {values.shape} for {n_rows} rows.")
    if planned.data.task != "classification":
        values = values.astype(np.float64)
        if not np.isfinite(values).all():
            raise ValueError("predict gave NaN or infinity.")
        return {"values": values}
    if pd.isna(values).any():
        raise ValueError("predict gave NaN.")
    classes = np.unique(planned.targets)
    places = np.searchsorted(classes, values)
    if (places >= len(classes)).any() or (classes[places] != values).any():
        raise ValueError("predict gave labels that the data set does not have.")
    predictions: dict[str, np.ndarray] = {"values": places.astype(_code_type(len(classes)))}
    if hasattr(estimator, "predict_proba"):
        # A class that the training rows lack gets probability zero, and its column stays in place.
        known = np.searchsorted(classes, estimator.classes_)
        probabilities = np.zeros((n_rows, len(classes)))
        probabilities[:, known] = estimator.predict_proba(inputs)
        if not np.isfinite(probabilities).all():
            raise ValueError("predict_proba gave NaN or infinity.")
        predictions["probabilities"] = probabilities
    elif hasattr(estimator, "decision_function") and len(estimator.classes_) == len(classes):
        predictions["scores"] = np.asarray(estimator.decision_function(inputs), dtype=np.float64)
    return predictions


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
