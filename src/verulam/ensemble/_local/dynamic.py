"""Dynamic selection: the member that did best among similar rows answers."""

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.neighbors import NearestNeighbors

from verulam.base import (
    RANDOM_STATE,
    Interval,
    Seed,
    StrOptions,
    Transformer,
    checked_fit_with_parts,
    spawn_seeds,
)
from verulam.ensemble._members.base import (
    REPEATED_ROWS,
    EnsembleClassifier,
    EnsembleRegressor,
    example_classifiers,
    example_regressors,
    unit_rows,
)
from verulam.ensemble._members.members import (
    FloatArray,
    class_outputs,
    cross_outputs,
    fit_members,
    fold_numbers,
    prepared_members,
)
from verulam.ensemble._members.tables import prepared_member, take_rows

_SHARED: dict[str, Any] = {
    "estimators": [list, tuple, None],
    "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    "folds": [Interval(Integral, 2, None, closed="left")],
    "random_state": RANDOM_STATE,
}


class Neighbourhood(Transformer):
    """The nearest training rows, in columns that were prepared as for any learner of numbers."""

    def __init__(self, n_neighbors: int = 7) -> None:
        self.n_neighbors = n_neighbors

    def fit(self, X: Any, y: Any = None) -> Self:
        """Store the rows, every column with deviation 1."""
        inputs = np.asarray(X, dtype=np.float64)
        self.centre_, spread = inputs.mean(axis=0), inputs.std(axis=0)
        self.spread_ = np.where(spread > 0, spread, 1.0)
        count = min(self.n_neighbors, len(inputs))
        self.index_ = NearestNeighbors(n_neighbors=count)
        self.index_.fit((inputs - self.centre_) / self.spread_)
        return self

    def transform(self, X: Any) -> NDArray[np.intp]:
        """Return the numbers of the nearest training rows."""
        inputs = np.asarray(X, dtype=np.float64)
        scaled = (inputs - self.centre_) / self.spread_
        return self.index_.kneighbors(scaled, return_distance=False)


class DynamicSelectionClassifier(EnsembleClassifier):
    r"""Let the classifier answer that does best among the nearest training rows.

    Parameters
    ----------
    estimators
        Classifiers, or pairs of name and classifier; None takes naive Bayes, a tree and nearest
        neighbours.
    n_neighbors
        Training rows around a row on which members are judged.
    rule
        "best" asks the most accurate one alone; "vote" lets all vote that are as accurate as the
        best; "faultless" lets those vote that get all neighbours right, or as many of the nearest
        as any does.
    folds
        Folds in which members are judged on rows that they were not taught with.
    random_state
        Seed of the folds, and of members that have none.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    estimators_ : list of tuple
        Name and learner of each member, taught with all rows.
    right_ : ndarray of shape (n_members, n_rows)
        Which member was right about which training row, held out.
    evaluations_ : float
        Members that the prediction of a training row asks, in the mean.

    Notes
    -----
    The members that are not competent near a row are not evaluated there. "best" is selection by
    overall local accuracy, "faultless" that of neighbours that an oracle would select from (Ko,
    Sabourin and Britto 2008). See Alpaydin 17.8.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import DynamicSelectionClassifier
    >>> titanic = dataset("titanic")
    >>> dynamic = DynamicSelectionClassifier(n_neighbors=15, random_state=0)
    >>> dynamic.fit(titanic.inputs, titanic.target_values).evaluations_
    1.0
    """

    _skipped_checks: ClassVar[dict[str, str]] = REPEATED_ROWS
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_SHARED,
        "rule": [StrOptions({"best", "vote", "faultless"})],
    }

    @classmethod
    def _example_learners(cls) -> list[Any]:
        return [cls(example_classifiers())]

    def __init__(
        self,
        estimators: list[Any] | None = None,
        *,
        n_neighbors: int = 7,
        rule: str = "best",
        folds: int = 5,
        random_state: Seed = None,
    ) -> None:
        self.estimators = estimators
        self.n_neighbors = n_neighbors
        self.rule = rule
        self.folds = folds
        self.random_state = random_state

    @checked_fit_with_parts
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Judge all members on held-out rows, and teach them with all.

        `sample_weight` says how often each row counts; all learners must take it.
        """
        table, codes, weights = self._read_weighted(X, y, sample_weight)
        labels = self.classes_[codes]
        seeds = spawn_seeds(self.random_state, 2)
        members = prepared_members(self._members(), table, seeds[1], weights)
        numbers = fold_numbers(codes, len(codes), self.folds, seeds[0])
        responses = cross_outputs(members, table, labels, numbers, self.classes_, "labels", weights)
        self.right_ = responses.values.argmax(axis=2) == codes
        self._neighbourhood = prepared_member(Neighbourhood(self.n_neighbors), table).fit(table)
        self._counts = np.ones(len(table)) if weights is None else weights
        self.estimators_ = fit_members(members, table, labels, weights)
        self.evaluations_ = float(np.average(self.evaluations(table), weights=weights))
        return self

    def _compares_rows(self) -> bool:
        return True

    def competent(self, X: Any) -> NDArray[np.bool_]:
        """Return which members answer for which row, of shape (n_members, n_rows)."""
        table = self._checked(X)
        # Nearest first: the first mistakes are what "faultless" goes by.
        places = self._neighbourhood.transform(table)
        right, counts = self.right_[:, places], self._counts[places]
        accuracies = (right * counts).sum(axis=2) / counts.sum(axis=1)
        if self.rule == "faultless":
            merits = np.cumprod(right, axis=2).sum(axis=2).astype(np.float64)
            # Where all fail at the nearest row, accuracy decides.
            merits += np.where(merits.max(axis=0) == 0, accuracies, 0.0)
        else:
            merits = accuracies
        if self.rule == "best":
            return np.arange(len(merits))[:, None] == merits.argmax(axis=0)
        # Sums of the same weights in another order differ in the last digit.
        return merits >= merits.max(axis=0) - 1e-12

    def evaluations(self, X: Any) -> NDArray[np.intp]:
        """Return how many members the prediction of each row asks."""
        return self.competent(X).sum(axis=0)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the mean of the competent members' votes."""
        table = self._checked(X)
        asked = self.competent(X)
        votes = np.zeros((len(table), len(self.classes_)))
        for (_, learner), rows in zip(self.estimators_, asked, strict=True):
            places = np.flatnonzero(rows)
            if len(places):
                votes[places] += class_outputs(learner, take_rows(table, places), self.classes_)
        return unit_rows(votes)


class DynamicSelectionRegressor(EnsembleRegressor):
    r"""Let the regressor answer that errs least among the nearest training rows.

    Parameters
    ----------
    estimators
        Regressors, or pairs of name and regressor; None takes least squares, a tree and a
        nearest-neighbour smoother.
    n_neighbors
        Training rows around a row on which members are judged.
    n_averaged
        How many of the best are averaged.
    folds
        Folds in which members are judged on rows that they were not taught with.
    random_state
        Seed of the folds, and of members that have none.

    Attributes
    ----------
    estimators_ : list of tuple
        Name and learner of each member, taught with all rows.
    squared_errors_ : ndarray of shape (n_members, n_rows)
        Squared error of each member on each training row, held out.
    evaluations_ : float
        Members that a prediction asks.

    Notes
    -----
    See Alpaydin 17.8 and exercise 5 of 17.13.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import DynamicSelectionRegressor
    >>> mpg = dataset("auto_mpg")
    >>> dynamic = DynamicSelectionRegressor(n_averaged=2, random_state=0)
    >>> dynamic.fit(mpg.inputs, mpg.target_values).evaluations_
    2.0
    """

    _skipped_checks: ClassVar[dict[str, str]] = REPEATED_ROWS
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_SHARED,
        "n_averaged": [Interval(Integral, 1, None, closed="left")],
    }

    @classmethod
    def _example_learners(cls) -> list[Any]:
        return [cls(example_regressors())]

    def __init__(
        self,
        estimators: list[Any] | None = None,
        *,
        n_neighbors: int = 7,
        n_averaged: int = 1,
        folds: int = 5,
        random_state: Seed = None,
    ) -> None:
        self.estimators = estimators
        self.n_neighbors = n_neighbors
        self.n_averaged = n_averaged
        self.folds = folds
        self.random_state = random_state

    @checked_fit_with_parts
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Judge all members on held-out rows, and teach them with all.

        `sample_weight` says how often each row counts; all learners must take it.
        """
        table, targets, weights = self._read_weighted(X, y, sample_weight)
        seeds = spawn_seeds(self.random_state, 2)
        members = prepared_members(self._members(), table, seeds[1], weights)
        numbers = fold_numbers(None, len(targets), self.folds, seeds[0])
        responses = cross_outputs(members, table, targets, numbers, None, weights=weights)
        self.squared_errors_ = (responses.values[:, :, 0] - targets) ** 2
        self._neighbourhood = prepared_member(Neighbourhood(self.n_neighbors), table).fit(table)
        self._counts = np.ones(len(table)) if weights is None else weights
        self.estimators_ = fit_members(members, table, targets, weights)
        self.evaluations_ = float(min(self.n_averaged, len(members)))
        return self

    def _compares_rows(self) -> bool:
        return True

    def competent(self, X: Any) -> NDArray[np.bool_]:
        """Return which members answer for which row, of shape (n_members, n_rows)."""
        table = self._checked(X)
        places = self._neighbourhood.transform(table)
        counts = self._counts[places]
        errors = (self.squared_errors_[:, places] * counts).sum(axis=2) / counts.sum(axis=1)
        # The order of an order is the rank; of equal errors the member named first is ahead.
        ranks = np.argsort(np.argsort(errors, axis=0, kind="stable"), axis=0, kind="stable")
        return ranks < self.n_averaged

    def predict(self, X: Any) -> FloatArray:
        """Return the mean prediction of the best members near each row."""
        table = self._checked(X)
        asked = self.competent(X)
        totals = np.zeros(len(table))
        for (_, learner), rows in zip(self.estimators_, asked, strict=True):
            places = np.flatnonzero(rows)
            if len(places):
                totals[places] += np.asarray(learner.predict(take_rows(table, places)))
        return totals / asked.sum(axis=0)
