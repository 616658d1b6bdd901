"""From stored predictions to scores, reading the store from beginning to end.

Runs lie in the store by their hashes, that is at random: looking up a hundred thousand of them one
by one takes far longer than reading all and putting aside what is not asked for.
"""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from verulam.base import DataError
from verulam.experiment._store import Store
from verulam.experiment._store_rows import unpack
from verulam.measures import Measure, accuracy, error

_PLANNED = """
SELECT p.position, p.label AS data, p.learner, p.setting, s.repeat, s.fold, p.share, p.run,
       p.preparation, p.seed
FROM planned p JOIN splits s ON s.split = p.split WHERE p.study = ?
ORDER BY p.data, p.label, p.learner, p.setting, p.share, s.repeat, s.fold
"""
_RUNS = """
SELECT run, status, stage, error, warning, fit_seconds, predict_seconds, peak_memory, model_size
FROM runs
"""
_ORDER = [
    "position", "data", "learner", "setting", "repeat", "fold", "share", "run", "status", "stage",
    "error", "warning", "fit_seconds", "predict_seconds", "peak_memory", "model_size",
    "preparation", "seed",
]  # fmt: skip
_COSTS = ["fit_seconds", "predict_seconds", "peak_memory", "model_size"]

#: Measures for which positions among the classes, as stored, do as well as labels; turning
#: each into words and back takes a hundred times as long as counting.
_ON_POSITIONS: dict[Any, Callable[[np.ndarray, np.ndarray], Any]] = {
    error: lambda targets, predicted: np.count_nonzero(targets != predicted) / len(targets),
    accuracy: lambda targets, predicted: np.count_nonzero(targets == predicted) / len(targets),
}


def planned_runs(store: Store, study: str) -> pd.DataFrame:
    """Return one row per planned run of a study: what it was, how it ended, what it cost.

    Parameters
    ----------
    store
        Where it is kept.
    study
        Key of the study.
    """
    found = store.read(_PLANNED, (study,)).merge(store.read(_RUNS), on="run", how="left")
    found["status"] = found["status"].fillna("left")
    # Columns without any number have no type to tell that they are numbers.
    return found[_ORDER].astype(dict.fromkeys(_COSTS, np.float64))


class Scorer:
    """Scores stored predictions against stored targets.

    Parameters
    ----------
    store
        Where both are kept.

    Examples
    --------
    >>> import tempfile
    >>> from verulam.experiment import DataChoice, LearnerChoice, Store, Study, run
    >>> from verulam.measures import measure
    >>> study = Study("flowers", [DataChoice("iris")], [LearnerChoice("majority class")])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = run(study, f"{folder}/runs.sqlite", engine="serial", progress=False)
    ...     with Store(results.path) as store:
    ...         scores = Scorer(store).score(results.study, measure("error"))
    >>> len(scores), round(sum(scores.values()) / len(scores), 3)
    (10, 0.667)
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._tasks: dict[str, str] = {}
        self._classes: dict[str, np.ndarray] = {}
        all_targets: dict[str, np.ndarray] = {}
        for data, task, classes, targets in store.rows(
            "SELECT data, task, classes, targets FROM data"
        ):
            self._tasks[data] = task
            self._classes[data] = np.asarray(json.loads(classes))
            all_targets[data] = unpack(targets)
        self._true = {
            split: all_targets[data][unpack(test)]
            for split, data, test in store.rows("SELECT split, data, test FROM splits")
        }

    def score(self, study: str, measure: Measure) -> dict[str, float]:
        """Return the measure of each finished run of a study."""
        asked = {
            run: (data, split)
            for run, data, split in self._store.rows(
                "SELECT run, data, split FROM planned WHERE study = ?", (study,)
            )
        }
        wide = "NULL, NULL" if measure.needs in ("labels", "values") else "probabilities, scores"
        query = f"SELECT run, predicted, {wide} FROM runs WHERE status = 'done'"  # noqa: S608 (columns of our own)
        return {
            run: self._one(measure, *asked[run], stored)
            for run, *stored in self._store.rows(query)
            if run in asked
        }

    def _one(self, measure: Measure, data: str, split: str, stored: list[bytes | None]) -> float:
        if self._tasks[data] != measure.task:
            return np.nan
        predicted, probabilities, scores = stored
        targets = self._true[split]
        assert predicted is not None
        if measure.task == "regression":
            return float(measure(targets, unpack(predicted)))
        if measure.function in _ON_POSITIONS and not measure.options:
            return float(_ON_POSITIONS[measure.function](targets, unpack(predicted)))
        classes = self._classes[data]
        if measure.needs == "labels":
            prediction = classes[unpack(predicted)]
        else:
            content = probabilities or (scores if measure.needs == "scores" else None)
            if content is None:
                return np.nan
            prediction = unpack(content)
        try:
            return float(measure(classes[targets], prediction, labels=classes.tolist()))
        except DataError:
            if len(np.unique(targets)) == len(classes):
                raise
            return np.nan  # a curve needs every class among the tested rows
