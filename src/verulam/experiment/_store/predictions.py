"""Predictions that a store holds, put together over the splits of a data set."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from verulam.experiment._store.damage import stored_array, stored_arrays, stored_json
from verulam.experiment._store.scoring import Scorer
from verulam.experiment._store.store import Store
from verulam.experiment._tasks.tasks import CONTROL, TASKS

if TYPE_CHECKING:
    from verulam.experiment._store.results import Results
    from verulam.measures import Measure

_PLACES = """
SELECT p.label, p.learner, p.setting, p.data, p.split, p.run FROM planned p
JOIN splits s ON s.split = p.split
JOIN (SELECT learner, setting, max(share) AS largest FROM planned WHERE study = ?1
      GROUP BY learner, setting) q
ON q.learner = p.learner AND q.setting = p.setting AND q.largest = p.share
WHERE p.study = ?1
ORDER BY p.label, p.learner, p.setting, s.repeat, s.fold
"""
_DATA = "SELECT task, classes, targets FROM data WHERE data = ?"
_RUN = "SELECT predicted, probabilities, scores FROM runs WHERE run = ? AND status = 'done'"
_CURVE = "SELECT scores FROM runs WHERE run = ? AND status = 'done'"
_TEST = "SELECT test FROM splits WHERE split = ?"
_TARGETS = """
SELECT d.task, d.targets FROM data d
JOIN (SELECT DISTINCT data FROM planned WHERE study = ? AND label = ?) p ON p.data = d.data
"""
_BY_SPLIT = """
SELECT p.run, r.predicted, s.test FROM planned p JOIN runs r ON r.run = p.run
JOIN splits s ON s.split = p.split
WHERE p.study = ? AND p.label = ? AND p.learner = ? AND p.setting = ? AND r.status = 'done'
"""


@dataclass(frozen=True, eq=False)
class PooledPredictions:
    """What a contestant predicted for every validated row, one split after the other.

    Attributes
    ----------
    classes
        Labels of the classes; none where the target is a number.
    targets, predicted
        True and predicted labels or numbers.
    probabilities
        One column per class; None where the learner gives none.
    scores
        What a learner without probabilities decides by; None where there is none.
    rows
        Number of each validated row in the data set, from 0; a row comes once in every repeat.
    """

    classes: tuple[str, ...]
    targets: np.ndarray
    predicted: np.ndarray
    probabilities: np.ndarray | None
    scores: np.ndarray | None = None
    rows: np.ndarray | None = None

    @property
    def row_shares(self) -> np.ndarray:
        """What each prediction counts, so that every row counts once, however often validated."""
        if self.rows is None:
            return np.ones(len(self.targets))
        return 1.0 / np.bincount(self.rows)[self.rows]

    def support(self, place: int = 1) -> np.ndarray | None:
        """Return what speaks for one of two classes: its probability, or else a score."""
        if len(self.classes) != 2:
            return None
        if self.probabilities is not None:
            return self.probabilities[:, place]
        if self.scores is None or self.scores.ndim != 1:
            return None
        return self.scores if place == 1 else -self.scores

    def share_of(self, place: int) -> float:
        """Return the share of the validated rows that are of a class."""
        return float(np.mean(self.targets == self.classes[place]))


class SplitPredictions(NamedTuple):
    """What one run predicted for its tested rows: numbers, or positions among the classes."""

    run: str
    predicted: np.ndarray
    rows: np.ndarray


class StoredTargets(NamedTuple):
    """The target of a data set: its task, and numbers or positions among the classes."""

    task: str
    values: np.ndarray


class StoredPredictions:
    """Reads the predictions of a study, each contestant's once.

    Parameters
    ----------
    results
        The study.
    """

    def __init__(self, results: "Results") -> None:
        self._path, self._study = results.path, results.study
        self._known: dict[tuple[str, str, str], PooledPredictions | None] = {}
        self._tests: dict[str, np.ndarray] = {}
        self._losses: dict[str, dict[str, np.ndarray]] = {}

    def pooled(self, data: str, learner: str, setting: str = "") -> PooledPredictions | None:
        """Return the predictions of a contestant on a data set; None where no run has finished."""
        key = (data, learner, setting)
        if key not in self._known:
            with Store(self._path, read_only=True) as store:
                self._known[key] = self._read(store, *self._places.get(key, ("", [])))
        return self._known[key]

    def row_losses(
        self, measure: "Measure", data: str, learner: str, setting: str = ""
    ) -> np.ndarray | None:
        """Return what each validated row contributes to a measure; None where it has no value."""
        if measure.name not in self._losses:
            with Store(self._path, read_only=True) as store:
                runs = Scorer(store).row_losses(self._study, measure)
                self._losses[measure.name] = {run.run: run.losses for run in runs}
        losses = self._losses[measure.name]
        # In the order of repeats and folds: losses of two contestants are of the same rows.
        _, places = self._places.get((data, learner, setting), ("", []))
        known = [losses[run] for _, run in places if run in losses]
        return np.concatenate(known) if known else None

    def learning_curves(self, data: str, learner: str, setting: str = "") -> np.ndarray | None:
        """Return the returns of an agent while learning, by seed and episode; None for others."""
        _, places = self._places.get((data, learner, setting), ("", []))
        if self.targets(data).task != CONTROL:
            return None
        with Store(self._path, read_only=True) as store:
            curves = [
                stored_arrays(store, run, [content])[0]
                for _, run in places
                for (content,) in store.rows(_CURVE, (run,))
            ]
        return np.array([curve[0] for curve in curves]) if curves else None

    def by_split(self, data: str, learner: str, setting: str = "") -> list[SplitPredictions]:
        """Return what each finished run of a contestant on a data set predicted."""
        key = (self._study, data, learner, setting)
        with Store(self._path, read_only=True) as store:
            return [
                SplitPredictions(
                    run,
                    stored_arrays(store, run, [predicted])[0],
                    stored_array(store, test, f"tested rows of run {run}"),
                )
                for run, predicted, test in store.rows(_BY_SPLIT, key)
            ]

    def targets(self, data: str) -> StoredTargets:
        """Return the target of a data set, all rows of it."""
        with Store(self._path, read_only=True) as store:
            task, values = next(store.rows(_TARGETS, (self._study, data)))
            return StoredTargets(task, stored_array(store, values, f"targets of {data}"))

    @cached_property
    def _places(self) -> dict[tuple[str, str, str], tuple[str, list[tuple[str, str]]]]:
        """For each contestant on a data set the key of the data, and its splits and runs."""
        places: dict[tuple[str, str, str], tuple[str, list[tuple[str, str]]]] = {}
        with Store(self._path, read_only=True) as store:
            for label, learner, setting, data, split, run in store.rows(_PLACES, (self._study,)):
                places.setdefault((label, learner, setting), (data, []))[1].append((split, run))
        return places

    def _read(
        self, store: Store, data: str, places: list[tuple[str, str]]
    ) -> PooledPredictions | None:
        read = [
            (split, *stored_arrays(store, run, content))
            for split, run in places
            for content in store.rows(_RUN, (run,))
        ]
        if not read:
            return None
        ((task, classes_text, target_bytes),) = store.rows(_DATA, (data,))
        if task in TASKS:  # which predict nothing
            return None
        labels = stored_json(store.path, classes_text, f"classes of data set {data}")
        classes = np.array([str(label) for label in labels])
        stored = stored_array(store, target_bytes, f"targets of data set {data}")
        if stored.ndim == 2:  # several outputs, of which a figure of one has no place
            return None
        rows = np.concatenate([self._test(store, split) for split, *_ in read])
        targets = stored[rows]
        predicted = np.concatenate([np.atleast_1d(array) for _, array, *_ in read])
        probabilities = _joined([array for *_, array, _ in read])
        scores = _joined([array for *_, array in read])
        if len(classes):
            targets, predicted = classes[targets], classes[predicted]
        return PooledPredictions(
            tuple(classes.tolist()), targets, predicted, probabilities, scores, rows
        )

    def _test(self, store: Store, split: str) -> np.ndarray:
        if split not in self._tests:
            ((content,),) = store.rows(_TEST, (split,))
            self._tests[split] = stored_array(store, content, f"rows of split {split}")
        return self._tests[split]


def _joined(parts: list[np.ndarray | None]) -> np.ndarray | None:
    """Return the arrays of several splits as one; None where some split has none."""
    arrays = [part for part in parts if part is not None]
    return np.concatenate(arrays) if len(arrays) == len(parts) else None


@dataclass(frozen=True)
class HardRow:
    """A row that a contestant predicts badly.

    Attributes
    ----------
    row
        Its number in the data set, from 1.
    target
        What it is.
    predicted
        What it is mostly predicted to be, or the mean prediction.
    wrong
        Share of its predictions that are wrong; None for numbers.
    loss
        One less the mean probability of its class, or else the share of wrong predictions; for
        numbers the mean absolute error.
    """

    row: int
    target: str | float
    predicted: str | float
    wrong: float | None
    loss: float


def hardest_rows(pooled: PooledPredictions, count: int = 10) -> tuple[HardRow, ...]:
    """Return the rows with the largest loss, the worst first; rows without any loss are none.

    Parameters
    ----------
    pooled
        The predictions of a contestant.
    count
        How many.

    Examples
    --------
    >>> targets, predicted = np.array([1.0, 2.0, 3.0]), np.array([1.5, 2.0, 9.0])
    >>> pooled = PooledPredictions((), targets, predicted, None, rows=np.array([0, 1, 2]))
    >>> [(row.row, row.loss) for row in hardest_rows(pooled)]
    [(3, 6.0), (1, 0.5)]
    """
    if pooled.rows is None:
        return ()
    rows, first, places = np.unique(pooled.rows, return_index=True, return_inverse=True)
    times = np.bincount(places)
    if not pooled.classes:
        wrong = np.full(len(rows), np.nan)
        errors = np.abs(pooled.predicted - pooled.targets)
        loss = np.bincount(places, weights=errors) / times
        predicted = np.bincount(places, weights=pooled.predicted) / times
    else:
        wrong = np.bincount(places, weights=pooled.predicted != pooled.targets) / times
        loss = wrong
        labels = {label: code for code, label in enumerate(pooled.classes)}
        if pooled.probabilities is not None:
            codes = np.array([labels[label] for label in pooled.targets])
            chances = pooled.probabilities[np.arange(len(codes)), codes]
            loss = 1.0 - np.bincount(places, weights=chances) / times
        votes = np.zeros((len(rows), len(pooled.classes)))
        predictions = np.array([labels[label] for label in pooled.predicted])
        np.add.at(votes, (places, predictions), 1)
        predicted = np.array(pooled.classes)[votes.argmax(axis=1)]
    # A row that is never wrong is no error, however unsure its prediction is.
    mistaken = loss > 0 if not pooled.classes else wrong > 0
    order = np.argsort(-loss, kind="stable")
    order = order[mistaken[order]][:count]
    return tuple(
        HardRow(
            int(rows[place]) + 1,
            pooled.targets[first[place]].item(),
            predicted[place].item(),
            float(wrong[place]) if pooled.classes else None,
            float(loss[place]),
        )
        for place in order
    )


def pooled_predictions(
    results: "Results", data: str, learner: str, setting: str = ""
) -> PooledPredictions | None:
    """Return the predictions of a contestant on a data set; None where no run has finished.

    Parameters
    ----------
    results
        The study.
    data
        Label of the data set.
    learner, setting
        The contestant.
    """
    return StoredPredictions(results).pooled(data, learner, setting)
