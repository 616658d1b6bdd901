"""The best single learner, which every ensemble has to beat."""

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verulam.base import RANDOM_STATE, Interval, Seed, checked_fit_with_parts, spawn_seeds
from verulam.ensemble._members.base import (
    REPEATED_ROWS,
    EnsembleClassifier,
    EnsembleRegressor,
    example_classifiers,
    example_regressors,
)
from verulam.ensemble._members.members import (
    FloatArray,
    class_outputs,
    cross_outputs,
    fit_member,
    fold_numbers,
    prepared_members,
)

_CONSTRAINTS: dict[str, Any] = {
    "estimators": [list, tuple, None],
    "folds": [Interval(Integral, 2, None, closed="left")],
    "random_state": RANDOM_STATE,
}


class BestSingleClassifier(EnsembleClassifier):
    r"""Try several classifiers and take the one that errs least on held-out rows.

    Parameters
    ----------
    estimators
        Classifiers, or pairs of name and classifier; None takes naive Bayes, a tree and nearest
        neighbours.
    folds
        Folds of the cross-validation.
    random_state
        Seed of the folds, and of learners that have none.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    errors_ : ndarray of shape (n_members,)
        Share of held-out rows that each gets wrong.
    best_name_ : str
        Name of the best.
    best_estimator_ : learner
        The best, taught with all rows.
    evaluations_ : float
        Members that a prediction asks, which is 1.

    Notes
    -----
    No learner is the best for all data, and an ensemble costs more than one learner: it should be
    compared with the best of its members. See Alpaydin 17.1.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import BestSingleClassifier
    >>> wine = dataset("wine")
    >>> best = BestSingleClassifier(random_state=0).fit(wine.inputs, wine.target_values)
    >>> best.best_name_, best.errors_.round(3).tolist()
    ('naive_bayes', [0.028, 0.096, 0.028])
    """

    _skipped_checks: ClassVar[dict[str, str]] = REPEATED_ROWS
    _parameter_constraints: ClassVar[dict[str, Any]] = _CONSTRAINTS

    @classmethod
    def _example_learners(cls) -> list[Any]:
        return [cls(example_classifiers())]

    def __init__(
        self, estimators: list[Any] | None = None, *, folds: int = 5, random_state: Seed = None
    ) -> None:
        self.estimators = estimators
        self.folds = folds
        self.random_state = random_state

    @checked_fit_with_parts
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Compare the learners and teach the best with all rows.

        `sample_weight` says how often each row counts; all learners must take it.
        """
        table, codes, weights = self._read_weighted(X, y, sample_weight)
        labels = self.classes_[codes]
        seeds = spawn_seeds(self.random_state, 2)
        members = prepared_members(self._members(), table, seeds[1], weights)
        numbers = fold_numbers(codes, len(codes), self.folds, seeds[0])
        outputs = cross_outputs(members, table, labels, numbers, self.classes_, "labels", weights)
        wrong = outputs.values.argmax(axis=2) != codes
        self.errors_ = np.average(wrong, axis=1, weights=weights)
        self.best_name_, best = members[int(self.errors_.argmin())]
        self.best_estimator_ = fit_member((self.best_name_, best), table, labels, weights)
        self.evaluations_ = 1.0
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the best, or its whole vote where it has none."""
        table = self._checked(X)
        return class_outputs(self.best_estimator_, table, self.classes_)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the answer of the best."""
        table = self._checked(X)
        return np.asarray(self.best_estimator_.predict(table))


class BestSingleRegressor(EnsembleRegressor):
    r"""Try several regressors and take the one with the least squared error on held-out rows.

    Parameters
    ----------
    estimators
        Regressors, or pairs of name and regressor; None takes least squares, a tree and a
        nearest-neighbour smoother.
    folds
        Folds of the cross-validation.
    random_state
        Seed of the folds, and of learners that have none.

    Attributes
    ----------
    errors_ : ndarray of shape (n_members,)
        Mean squared error of each on held-out rows.
    best_name_ : str
        Name of the best.
    best_estimator_ : learner
        The best, taught with all rows.
    evaluations_ : float
        Members that a prediction asks, which is 1.

    Notes
    -----
    See Alpaydin 17.1.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import BestSingleRegressor
    >>> mpg = dataset("auto_mpg")
    >>> BestSingleRegressor(random_state=0).fit(mpg.inputs, mpg.target_values).best_name_
    'neighbours'
    """

    _skipped_checks: ClassVar[dict[str, str]] = REPEATED_ROWS
    _parameter_constraints: ClassVar[dict[str, Any]] = _CONSTRAINTS

    @classmethod
    def _example_learners(cls) -> list[Any]:
        return [cls(example_regressors())]

    def __init__(
        self, estimators: list[Any] | None = None, *, folds: int = 5, random_state: Seed = None
    ) -> None:
        self.estimators = estimators
        self.folds = folds
        self.random_state = random_state

    @checked_fit_with_parts
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Compare the learners and teach the best with all rows.

        `sample_weight` says how often each row counts; all learners must take it.
        """
        table, targets, weights = self._read_weighted(X, y, sample_weight)
        seeds = spawn_seeds(self.random_state, 2)
        members = prepared_members(self._members(), table, seeds[1], weights)
        numbers = fold_numbers(None, len(targets), self.folds, seeds[0])
        outputs = cross_outputs(members, table, targets, numbers, None, weights=weights)
        squares = (outputs.values[:, :, 0] - targets) ** 2
        self.errors_ = np.average(squares, axis=1, weights=weights)
        self.best_name_, best = members[int(self.errors_.argmin())]
        self.best_estimator_ = fit_member((self.best_name_, best), table, targets, weights)
        self.evaluations_ = 1.0
        return self

    def predict(self, X: Any) -> FloatArray:
        """Return the prediction of the best."""
        table = self._checked(X)
        return np.asarray(self.best_estimator_.predict(table), dtype=np.float64)
