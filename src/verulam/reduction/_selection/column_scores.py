"""How good subsets of columns are: by refitting, or by terms that add over columns."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB

from verulam.base import clone, safe_indexing
from verulam.reduction._selection.column_scores_loops import count_correct

#: A variance floor below this share of every variance makes no difference to any comparison.
IDLE_FLOOR = 1e-6
LOG_TWO_PI = float(np.log(2.0 * np.pi))

Split = tuple[np.ndarray, np.ndarray]


class SubsetScores(Protocol):
    """Scores of subsets of columns in each split."""

    def of_subsets(self, subsets: Sequence[tuple[int, ...]]) -> np.ndarray:
        """Return an array of shape (n_subsets, n_splits)."""

    def of_neighbours(
        self, subset: tuple[int, ...], columns: Sequence[int], *, add: bool
    ) -> np.ndarray:
        """Return the scores after each of `columns` by itself joins the subset, or leaves it."""


@dataclass(frozen=True)
class RefittedScores:
    """Scores by fitting the learner to every subset in every split.

    Attributes
    ----------
    estimator
        The learner.
    X, y
        All rows, and their targets.
    splits
        Training and test rows.
    scoring
        What `sklearn.model_selection.cross_val_score` takes.
    n_jobs
        Processes that subsets are shared among.
    """

    estimator: Any
    X: Any
    y: Any
    splits: list[Split]
    scoring: Any
    n_jobs: int | None

    def of_subsets(self, subsets: Sequence[tuple[int, ...]]) -> np.ndarray:
        """Return an array of shape (n_subsets, n_splits)."""
        rows = Parallel(n_jobs=self.n_jobs)(delayed(self._score)(subset) for subset in subsets)
        return np.array(rows)

    def of_neighbours(
        self, subset: tuple[int, ...], columns: Sequence[int], *, add: bool
    ) -> np.ndarray:
        """Return the scores after each of `columns` by itself joins the subset, or leaves it."""
        return self.of_subsets([changed(subset, column, add=add) for column in columns])

    def _score(self, subset: tuple[int, ...]) -> np.ndarray:
        inputs = safe_indexing(self.X, list(subset), axis=1)
        return cross_val_score(
            clone(self.estimator),
            inputs,
            self.y,
            scoring=self.scoring,
            cv=self.splits,
            error_score="raise",
        )


@dataclass(frozen=True)
class ColumnGaussians:
    """Gaussian naive Bayes of one split, of which any columns can be taken.

    Attributes
    ----------
    intercepts : ndarray of shape (n_classes,)
        Scores without any column: logarithms of the priors.
    means, variances : ndarray of shape (n_classes, n_columns)
        Parameters of the columns.
    spreads : ndarray of shape (n_columns,)
        What the largest of is taken, times `smoothing`, as an addition to all variances.
    smoothing
        Zero where variances do not depend on which columns are there.
    rows : ndarray of shape (n_rows, n_columns)
        Test rows.
    codes : ndarray of shape (n_rows,)
        True class of each row, -1 where training rows had none of it.
    classes : ndarray of shape (n_classes,)
        Labels.
    targets : ndarray of shape (n_rows,)
        True labels.
    cache
        Terms of all columns at the addition that was used last.
    """

    intercepts: np.ndarray
    means: np.ndarray
    variances: np.ndarray
    spreads: np.ndarray
    smoothing: float
    rows: np.ndarray
    codes: np.ndarray
    classes: np.ndarray
    targets: np.ndarray
    cache: dict[float, np.ndarray] = field(default_factory=dict)

    def addition(self, subset: tuple[int, ...]) -> float:
        """Return what is added to all variances if these columns are there."""
        return self.smoothing * float(self.spreads[list(subset)].max(initial=0.0))

    def terms(self, addition: float) -> np.ndarray:
        """Return what each column adds, of shape (n_columns, n_rows, n_classes)."""
        if addition not in self.cache:
            self.cache.clear()
            self.cache[addition] = self._terms_of(slice(None), addition)
        return self.cache[addition]

    def totals(self, subset: tuple[int, ...]) -> np.ndarray:
        """Return the scores of all rows with some of the columns."""
        addition, columns = self.addition(subset), list(subset)
        if addition in self.cache:
            return self.intercepts + self.cache[addition][columns].sum(axis=0)
        return self.intercepts + self._terms_of(columns, addition).sum(axis=0)

    def _terms_of(self, columns: Any, addition: float) -> np.ndarray:
        variances = (self.variances[:, columns] + addition).T[:, None, :]
        deviations = self.rows[:, columns].T[:, :, None] - self.means[:, columns].T[:, None, :]
        terms = -0.5 * (LOG_TWO_PI + np.log(variances) + deviations**2 / variances)
        # A missing value says nothing about the class.
        return np.where(np.isnan(terms), 0.0, terms) if np.isnan(self.rows).any() else terms


@dataclass(frozen=True)
class AddedScores:
    """Scores of naive Bayes, whose logarithms of probabilities add over columns: it is fitted once.

    Attributes
    ----------
    splits
        Terms of every split.
    scorer
        Takes a fitted classifier, inputs and targets; None for the share of right answers.
    """

    splits: list[ColumnGaussians]
    scorer: Any

    def of_subsets(self, subsets: Sequence[tuple[int, ...]]) -> np.ndarray:
        """Return an array of shape (n_subsets, n_splits)."""
        return np.array(
            [
                [self._score(split, split.totals(subset)) for split in self.splits]
                for subset in subsets
            ]
        )

    def of_neighbours(
        self, subset: tuple[int, ...], columns: Sequence[int], *, add: bool
    ) -> np.ndarray:
        """Return the scores after each of `columns` by itself joins the subset, or leaves it."""
        result = np.empty((len(columns), len(self.splits)))
        for place, split in enumerate(self.splits):
            result[:, place] = self._of_neighbours(split, subset, columns, add)
        return result

    def _of_neighbours(
        self, split: ColumnGaussians, subset: tuple[int, ...], columns: Sequence[int], add: bool
    ) -> np.ndarray:
        candidates = np.asarray(columns, dtype=np.int64)
        if split.smoothing == 0.0:
            return self._of_summed(split, subset, candidates, 0.0, 1 if add else -1)
        additions = np.array(
            [split.addition(changed(subset, column, add=add)) for column in columns]
        )
        # One addition serves all candidates but those that change which column spreads most.
        common = split.addition(subset)
        scores = np.empty(len(columns))
        summed = additions == common
        if summed.any():
            scores[summed] = self._of_summed(
                split, subset, candidates[summed], common, 1 if add else -1
            )
        for place in np.flatnonzero(~summed).tolist():
            totals = split.totals(changed(subset, columns[place], add=add))
            scores[place] = self._score(split, totals)
        return scores

    def _of_summed(
        self,
        split: ColumnGaussians,
        subset: tuple[int, ...],
        candidates: np.ndarray,
        addition: float,
        sign: int,
    ) -> np.ndarray:
        terms = split.terms(addition)
        totals = split.intercepts + terms[list(subset)].sum(axis=0)
        if self.scorer is None:
            correct = np.empty(len(candidates))
            count_correct(totals, terms, candidates, float(sign), split.codes, correct)
            return correct / len(split.codes)
        return np.array(
            [self._score(split, totals + sign * terms[column]) for column in candidates]
        )

    def _score(self, split: ColumnGaussians, totals: np.ndarray) -> float:
        if self.scorer is None:
            return float(np.mean(totals.argmax(axis=1) == split.codes))
        return float(self.scorer(_ScoredRows(totals, split.classes), totals, split.targets))


class _ScoredRows(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose rows are scores of classes already, for scikit-learn's scorers."""

    def __init__(self, totals: np.ndarray, classes: np.ndarray) -> None:
        self.totals = totals
        self.classes = classes
        self.classes_ = classes

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.classes_[X.argmax(axis=1)]

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return softmax(X, axis=1)


def changed(subset: tuple[int, ...], column: int, *, add: bool) -> tuple[int, ...]:
    """Return the subset with one column more, or one less, in order."""
    columns = {*subset, column} if add else set(subset) - {column}
    return tuple(sorted(columns))


def column_gaussians(
    estimator: Any, X: Any, y: Any, splits: list[Split]
) -> list[ColumnGaussians] | None:
    """Return the parts of a learner whose scores add over columns, or None for any other.

    These are Gaussian naive Bayes of scikit-learn and `verulam.parametric.NaiveBayes` on tables
    of numbers.
    """
    path = f"{type(estimator).__module__}.{type(estimator).__qualname__}"
    if type(estimator) is not GaussianNB and path != "verulam.parametric.NaiveBayes":
        return None
    if isinstance(X, pd.DataFrame) and not all(dtype.kind in "fiu" for dtype in X.dtypes):
        return None
    labels, rows = np.asarray(y), np.asarray(X, dtype=np.float64)
    parts = []
    for training, test in splits:
        learner = clone(estimator).fit(safe_indexing(X, training), labels[training])
        part = _gaussians(learner, rows[training], rows[test], labels[test])
        if part is None:
            return None
        parts.append(part)
    return parts


def _gaussians(
    learner: Any, training: np.ndarray, rows: np.ndarray, targets: np.ndarray
) -> ColumnGaussians | None:
    spreads, smoothing = np.zeros(rows.shape[1]), 0.0
    if isinstance(learner, GaussianNB):
        priors, means, variances = learner.class_prior_, learner.theta_, learner.var_
        raw = variances - learner.epsilon_
        # Its floor follows the widest of the columns that are there, where that can matter.
        if learner.epsilon_ > IDLE_FLOOR * raw.min():
            variances, smoothing = raw, learner.var_smoothing
            spreads = training.var(axis=0)
    else:
        priors, columns = learner.priors_, learner.gaussian_
        if len(columns.positions) < rows.shape[1]:
            return None
        means, variances = columns.means, columns.variances
    classes = learner.classes_
    places = np.minimum(np.searchsorted(classes, targets), len(classes) - 1)
    codes = np.where(classes[places] == targets, places, -1)
    with np.errstate(divide="ignore"):
        intercepts = np.log(priors)
    return ColumnGaussians(
        intercepts, means, variances, spreads, smoothing, rows, codes, classes, targets
    )
