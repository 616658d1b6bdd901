"""From stored predictions to scores, reading the store from beginning to end.

Runs lie in the store by their hashes, that is at random: looking up a hundred thousand of them one
by one takes far longer than reading all and putting aside what is not asked for.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from verulam.base import DataError
from verulam.experiment._store.rows import unpack
from verulam.experiment._store.store import Store
from verulam.experiment._study.cost_matrix import stored_prediction
from verulam.measures import Measure, accuracy, error, measure

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


misses, hits = measure("error").rows, measure("accuracy").rows
#: The same for what each row contributes.
_ROWS_ON_POSITIONS: dict[Any, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    misses: lambda targets, predicted: (targets != predicted).astype(np.float64),
    hits: lambda targets, predicted: (targets == predicted).astype(np.float64),
}
RowValue = Literal["losses", "hits", "scores"]


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


@dataclass(frozen=True, eq=False)
class RowLosses:
    """The tested rows of a run, and what they contribute to a measure.

    Attributes
    ----------
    run, split
        Keys of the run and of its split.
    measure
        The measure, which must be a mean over rows.
    targets, prediction
        True labels or numbers, and what the measure compares them with.
    classes
        The labels.
    """

    run: str
    split: str
    measure: Measure
    targets: np.ndarray
    prediction: np.ndarray
    classes: list[Any]

    def of(self, targets: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        """Return the losses that these targets would have with the predictions of some rows."""
        prediction = self.prediction if rows is None else self.prediction[rows]
        return self.measure.row_losses(targets, prediction, labels=self.classes or None)

    @property
    def losses(self) -> np.ndarray:
        """The loss of each tested row."""
        return self.of(self.targets)


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
        return {
            run: self._one(measure, data, split, stored)
            for run, data, split, stored in self._finished(study, measure)
        }

    def row_losses(self, study: str, measure: Measure) -> Iterator[RowLosses]:
        """Yield what each tested row contributes to a measure, run by run.

        Runs whose learner does not give what the measure needs are left out.
        """
        for run, data, split, stored in self._finished(study, measure):
            if self._tasks[data] != measure.task:
                continue
            prediction = self._prediction(measure, data, stored)
            if prediction is not None:
                classes = self._classes[data]
                targets = self._true[split]
                true = targets if measure.task == "regression" else classes[targets]
                yield RowLosses(run, split, measure, true, prediction, classes.tolist())

    def row_values(
        self, study: str, measure: Measure, what: RowValue = "losses"
    ) -> Iterator[tuple[str, np.ndarray]]:
        """Yield each finished run with a number for each of its tested rows.

        Parameters
        ----------
        study
            Key of the study.
        measure
            What the numbers are for.
        what
            "losses": what the row contributes to the measure; "hits": whether its class was
            predicted; "scores": what speaks for the second of two classes. Runs whose learner
            does not give that are left out.
        """
        quick = _ROWS_ON_POSITIONS.get(hits if what == "hits" else measure.rows)
        if measure.options and what == "losses":
            quick = None
        for run, data, split, stored in self._finished(study, measure):
            if self._tasks[data] != measure.task:
                continue
            if quick is not None:
                assert stored[0] is not None
                yield run, quick(self._true[split], unpack(stored[0]))
                continue
            prediction = self._prediction(measure, data, stored)
            if prediction is None:
                continue
            if what == "scores":
                yield run, prediction[:, -1] if prediction.ndim == 2 else prediction
                continue
            targets, classes = self._true[split], self._classes[data]
            true = targets if measure.task == "regression" else classes[targets]
            yield run, measure.row_losses(true, prediction, labels=classes.tolist() or None)

    def targets_of(self, split: str) -> np.ndarray:
        """Return the targets of the tested rows of a split: numbers, or positions of classes."""
        return self._true[split]

    def classes_of(self, data: str) -> np.ndarray:
        """Return the labels of the classes of a data set; none where the target is a number."""
        return self._classes[data]

    def _finished(
        self, study: str, measure: Measure
    ) -> Iterator[tuple[str, str, str, list[bytes | None]]]:
        """Yield each finished run with its data, its split and its predictions as stored."""
        asked = {
            run: (data, split)
            for run, data, split in self._store.rows(
                "SELECT run, data, split FROM planned WHERE study = ?", (study,)
            )
        }
        wide = "NULL, NULL" if measure.needs in ("labels", "values") else "probabilities, scores"
        query = f"SELECT run, predicted, {wide} FROM runs WHERE status = 'done'"  # noqa: S608 (columns of our own)
        for run, *stored in self._store.rows(query):
            if run in asked:
                yield run, *asked[run], stored

    def _one(self, measure: Measure, data: str, split: str, stored: list[bytes | None]) -> float:
        if self._tasks[data] != measure.task:
            return np.nan
        targets = self._true[split]
        if measure.function in _ON_POSITIONS and not measure.options:
            assert stored[0] is not None
            return float(_ON_POSITIONS[measure.function](targets, unpack(stored[0])))
        prediction = self._prediction(measure, data, stored)
        if prediction is None:
            return np.nan
        if measure.task == "regression":
            return float(measure(targets, prediction))
        classes = self._classes[data]
        try:
            return float(measure(classes[targets], prediction, labels=classes.tolist()))
        except DataError:
            if len(np.unique(targets)) == len(classes):
                raise
            return np.nan  # a curve needs every class among the tested rows

    def _prediction(
        self, measure: Measure, data: str, stored: list[bytes | None]
    ) -> np.ndarray | None:
        predicted, *further = (None if each is None else unpack(each) for each in stored)
        assert predicted is not None
        if measure.task == "regression":
            return predicted
        return stored_prediction(measure, self._classes[data], predicted, *further)
