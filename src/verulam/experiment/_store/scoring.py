"""Scores of stored predictions: measures, losses of rows, .632 and .632+ bootstrap estimates.

The store is read from beginning to end. Runs lie in it by their hashes, that is at random: looking
up a hundred thousand of them one by one takes far longer than reading all and putting aside what
is not asked for.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from verulam.base import DataError
from verulam.experiment._learning.outputs import output_scale
from verulam.experiment._store.damage import (
    damaged_store,
    stored_array,
    stored_arrays,
    stored_json,
)
from verulam.experiment._study.cost_matrix import stored_prediction
from verulam.measures import Measure, accuracy, error, measure
from verulam.statistics import bootstrap_error, resampled_losses

if TYPE_CHECKING:
    from verulam.experiment._store.store import Store

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
_MISSES, _HITS = measure("error").rows, measure("accuracy").rows
#: The same for what each row contributes, in one byte instead of eight.
_ROWS_ON_POSITIONS: dict[Any, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    _MISSES: lambda targets, predicted: targets != predicted,
    _HITS: lambda targets, predicted: targets == predicted,
}
RowValue = Literal["losses", "hits", "scores"]
_BOOTSTRAP_COLUMNS = [
    "data", "learner", "setting", "samples", "training", "out_of_bag", "no_information",
    "overfitting", "error_632", "error_632_plus",
]  # fmt: skip
_CONTESTANT_RUNS = """
SELECT p.run, p.label, p.learner, p.setting FROM planned p JOIN splits s ON s.split = p.split
WHERE p.study = ? AND p.share = 1.0 ORDER BY p.place, p.learner, p.setting, s.repeat
"""
_DRAWS = """
SELECT s.split, s.test, d.train FROM splits s JOIN draws d ON d.split = s.split
WHERE s.split IN (SELECT split FROM planned WHERE study = ?)
"""
#: Pairs of targets and predictions are made by as many shifts of one against the other at most.
MOST_SHIFTS = 100


def planned_runs(store: "Store", study: str) -> pd.DataFrame:
    """Return one row per planned run of a study: what it was, how it ended, what it cost.

    Parameters
    ----------
    store
        Where it is kept.
    study
        Key of the study.
    """
    runs = store.read(_PLANNED, (study,)).merge(store.read(_RUNS), on="run", how="left")
    runs["status"] = runs["status"].fillna("left")
    # Columns without any number have no type to tell that they are numbers.
    try:
        return runs[_ORDER].astype(dict.fromkeys(_COSTS, np.float64))
    except (ValueError, TypeError) as error:
        raise damaged_store(store.path, "what runs cost is not a number") from error


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

    Attributes
    ----------
    targets
        For each split the targets of its tested rows: numbers, or positions of classes.
    weights
        For each split what its tested rows weigh; none where all weigh the same.
    classes
        For each data set the labels of its classes; none where the target is a number.

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

    def __init__(self, store: "Store") -> None:
        self._store = store
        self._tasks: dict[str, str] = {}
        self.classes: dict[str, np.ndarray] = {}
        self._scales: dict[str, np.ndarray] = {}
        all_targets: dict[str, np.ndarray] = {}
        for data, task, classes, targets in store.rows(
            "SELECT data, task, classes, targets FROM data"
        ):
            self._tasks[data] = task
            self.classes[data] = np.asarray(stored_json(store.path, classes, f"classes of {data}"))
            all_targets[data] = stored_array(store, targets, f"targets of data set {data}")
            if all_targets[data].ndim == 2:
                # Outputs of different units are measured in standard deviations of each.
                self._scales[data] = output_scale(all_targets[data])
                all_targets[data] = all_targets[data] / self._scales[data]
        all_weights: dict[str, np.ndarray] = {}
        if store.has_table("row_weights"):
            for data, weights in store.rows("SELECT data, weights FROM row_weights"):
                all_weights[data] = stored_array(store, weights, f"weights of data set {data}")
        # Once for each split, which all contestants share.
        self.targets: dict[str, np.ndarray] = {}
        self.weights: dict[str, np.ndarray] = {}
        for split, data, test in store.rows("SELECT split, data, test FROM splits"):
            rows = stored_array(store, test, f"rows of split {split}")
            self.targets[split] = all_targets[data][rows]
            if data in all_weights:
                self.weights[split] = all_weights[data][rows]

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
                classes = self.classes[data]
                targets = self.targets[split]
                true = classes[targets] if measure.task == "classification" else targets
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
        quick = _ROWS_ON_POSITIONS.get(_HITS if what == "hits" else measure.rows)
        if measure.options and what == "losses":
            quick = None
        for run, data, split, stored in self._finished(study, measure):
            if self._tasks[data] != measure.task:
                continue
            if quick is not None:
                assert stored[0] is not None
                yield run, quick(self.targets[split], stored[0])
                continue
            prediction = self._prediction(measure, data, stored)
            if prediction is None:
                continue
            if what == "scores":
                yield run, prediction[:, -1] if prediction.ndim == 2 else prediction
                continue
            targets, classes = self.targets[split], self.classes[data]
            true = classes[targets] if measure.task == "classification" else targets
            yield run, measure.row_losses(true, prediction, labels=classes.tolist() or None)

    def _finished(
        self, study: str, measure: Measure
    ) -> Iterator[tuple[str, str, str, list[np.ndarray | None]]]:
        """Yield each finished run with its data, its split and its predictions."""
        places = {
            (data, split): (data, split)
            for data, split in self._store.rows(
                "SELECT DISTINCT data, split FROM planned WHERE study = ?", (study,)
            )
        }
        # Contestants share splits, so that a hundred thousand runs share few names.
        planned = {
            run: places[data, split]
            for run, data, split in self._store.rows(
                "SELECT run, data, split FROM planned WHERE study = ?", (study,)
            )
        }
        # Probabilities are most of a store: what a measure does not need is not read.
        wide = "NULL, NULL" if measure.needs in ("labels", "values") else "probabilities, scores"
        query = f"SELECT run, predicted, {wide} FROM runs WHERE status = 'done'"  # noqa: S608 (columns of our own)
        for run, *stored in self._store.rows(query):
            if run in planned:
                yield run, *planned[run], stored_arrays(self._store, run, stored)

    def _one(
        self, measure: Measure, data: str, split: str, stored: list[np.ndarray | None]
    ) -> float:
        if self._tasks[data] != measure.task:
            return np.nan
        targets, weights = self.targets[split], self.weights.get(split)
        if measure.function in _ON_POSITIONS and not measure.options and weights is None:
            assert stored[0] is not None
            return float(_ON_POSITIONS[measure.function](targets, stored[0]))
        prediction = self._prediction(measure, data, stored)
        if prediction is None:
            return np.nan
        if measure.task != "classification":
            return measure.weighted(targets, prediction, weights)
        classes = self.classes[data]
        try:
            labels = classes.tolist()
            return measure.weighted(classes[targets], prediction, weights, labels=labels)
        except DataError:
            if len(np.unique(targets)) == len(classes):
                raise
            return np.nan  # a curve needs every class among the tested rows

    def _prediction(
        self, measure: Measure, data: str, stored: list[np.ndarray | None]
    ) -> np.ndarray | None:
        predicted, *further = stored
        assert predicted is not None
        if data in self._scales:
            predicted = predicted / self._scales[data]
        if measure.task != "classification":
            return task_prediction(measure, predicted, *further)
        return stored_prediction(measure, self.classes[data], predicted, *further)


def task_prediction(
    measure: Measure,
    values: np.ndarray,
    probabilities: np.ndarray | None,
    scores: np.ndarray | None,
) -> np.ndarray | None:
    """Return what a measure of anything but classes takes; None where a run has not left it.

    Parameters
    ----------
    measure
        The measure.
    values, probabilities, scores
        What a run has left, as its task has it.
    """
    match measure.needs:
        case "intervals":
            return None if scores is None else np.column_stack([values, scores])
        case "predictive densities":
            if scores is None or np.isnan(scores[:, -1]).any():
                return None
            return np.column_stack([values, scores])
        case "learning curves" | "silhouettes":
            return scores
        case "two clusterings":
            return probabilities
        case _:
            return values


def bootstrap_errors(store: "Store", study: str, kind: str, measure: Measure) -> pd.DataFrame:
    """Return the .632 and .632+ estimates of each contestant on each data set.

    Parameters
    ----------
    store
        Where the study is kept.
    study
        Its key.
    kind
        Its kind of resampling.
    measure
        A measure that is a mean over rows.
    """
    if kind != "bootstrap":
        raise DataError(
            f"The .632 estimates need rows that were learnt from beside rows that were not: "
            f'resample by "bootstrap 100" instead of {kind}.'
        )
    if measure.rows is None:
        raise DataError(
            f"{measure.name} is not a mean over rows, as the .632 estimates need it; take the "
            "error, risk, log_loss, brier, or an error of numbers."
        )
    if not store.has_table("draws"):
        raise DataError(
            f"The store {store.path} does not say which rows were drawn; run the study once more "
            "with it, which writes that down and repeats no run."
        )
    places = {
        split: np.searchsorted(
            stored_array(store, test, f"rows of split {split}"),
            stored_array(store, train, f"drawn rows of split {split}"),
        )
        for split, test, train in store.rows(_DRAWS, (study,))
    }
    scorer = Scorer(store)
    if any(split in scorer.weights for split in places):
        raise DataError(
            "The .632 estimates count all rows the same, and the rows of this study have weights."
        )
    samples = {
        run.run: _sample(run, places[run.split])
        for run in scorer.row_losses(study, measure)
        if run.split in places
    }
    contestants = defaultdict(list)
    for run, *contestant in store.rows(_CONTESTANT_RUNS, (study,)):
        if run in samples:
            contestants[tuple(contestant)].append(samples[run])
    rows = [[*key, *_estimates(drawn, measure)] for key, drawn in contestants.items()]
    return pd.DataFrame(rows, columns=_BOOTSTRAP_COLUMNS)


class _Sample(NamedTuple):
    """One bootstrap sample: losses of the rows, how often each was drawn, no-information rate."""

    losses: np.ndarray
    draws: np.ndarray
    no_information: float


def _sample(run: RowLosses, drawn: np.ndarray) -> _Sample:
    """Return the bootstrap sample of a run from the places of the rows that it learnt from."""
    draws = np.bincount(drawn, minlength=len(run.targets))
    return _Sample(run.losses, draws, _no_information(run, drawn))


def _no_information(run: RowLosses, drawn: np.ndarray) -> float:
    """Return the no-information error rate: the mean loss of all pairs of target and prediction.

    Both are of the rows that were learnt from.
    """
    targets = run.targets[drawn]
    if run.classes:
        # All pairs at once: the loss depends on the target by its class alone, so that a mean per
        # class, weighted by its frequency, is the mean over all pairs.
        labels, counts = np.unique(targets, return_counts=True)
        means = [run.of(np.repeat(label, len(drawn)), drawn).mean() for label in labels]
        return float(np.average(means, weights=counts))
    count = min(len(drawn), MOST_SHIFTS)
    # The middles of equal parts: of few rows all shifts, of many not the one that pairs rows with
    # themselves, which would count too much.
    shifts = ((np.arange(count) + 0.5) * len(drawn) / count).astype(int)
    return float(np.mean([run.of(targets, np.roll(drawn, shift)).mean() for shift in shifts]))


def _estimates(samples: list[_Sample], measure: Measure) -> list[float]:
    sign = -1.0 if measure.greater_is_better else 1.0
    # Losses grow as learners get worse: a measure that is better when greater changes its sign.
    means = resampled_losses(
        sign * np.stack([sample.losses for sample in samples]),
        np.stack([sample.draws for sample in samples]),
    )
    chance = sign * float(np.mean([sample.no_information for sample in samples]))
    plain = bootstrap_error(means.training, means.out_of_bag)
    plus = bootstrap_error(means.training, means.out_of_bag, chance)
    mean_losses = (means.training, means.out_of_bag, chance, plain.value, plus.value)
    training, out_of_bag, no_information, *estimates = (
        measure.from_mean(sign * mean_loss) for mean_loss in mean_losses
    )
    return [len(samples), training, out_of_bag, no_information, plus.overfitting, *estimates]
