"""MADALINE: a layer of ADALINE units whose signs vote, trained by least disturbance."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags

from verulam.base import (
    RANDOM_STATE,
    Classifier,
    Interval,
    Seed,
    check_is_fitted,
    checked_fit,
    generator,
    validate_data,
    warn_caller,
)
from verulam.linear._training.perceptrons import ITERATIONS, RECORD
from verulam.linear._training.scaling import warn_far_from_optimum
from verulam.linear._training.single_sample import MOST_STEPS
from verulam.linear._training.trainer import LinearTrainer, read_two_classes
from verulam.linear._training.two_class_problem import Trajectory


class Madaline(Classifier):
    r"""Let several threshold units vote, and correct those nearest to changing their mind.

    Parameters
    ----------
    n_units
        Number of units, odd so that there is a majority.
    learning_rate
        Part of the way to the target output of a corrected unit.
    max_iter
        Most passes over the rows.
    record
        "passes" or "steps" keeps the weights after each pass or correction in `trajectory_`.
    random_state
        Seed of first weights and orders.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Sorted class labels; the vote is positive for the second.
    coef_ : ndarray of shape (n_units, n_features)
        Weights of the units.
    intercept_ : ndarray of shape (n_units,)
        Their biases.
    n_iter_ : int
        Passes over the rows.
    converged_ : bool
        Whether a whole pass needed no correction.
    errors_ : int
        Misclassified training rows of the best pass, whose weights are kept.
    error_curve_ : ndarray of shape (n_iter + 1,)
        Misclassified rows at the start and after each pass.
    trajectory_ : Trajectory or None
        Weights of all units, of shape (n_recorded, n_units, n_features + 1), the summed size of
        wrong majorities, and the misclassified rows on the way.

    Notes
    -----
    On a wrong majority, as many units as are needed to turn it are corrected by the Widrow-Hoff
    rule, those whose output is nearest to zero first: the least disturbance of the rest. The
    majority of threshold units draws a boundary of several pieces, so XOR is within reach.
    See SIT1305 IV.

    Examples
    --------
    >>> from verulam.linear import Madaline
    >>> corners = [[-1, -1], [-1, 1], [1, -1], [1, 1]]
    >>> net = Madaline(n_units=3, random_state=1).fit(corners, [0, 1, 1, 0])
    >>> net.predict(corners).tolist()
    [0, 1, 1, 0]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_units": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, 2, closed="neither")],
        "max_iter": ITERATIONS,
        "record": RECORD,
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        *,
        n_units: int = 3,
        learning_rate: float = 0.5,
        max_iter: int = 200,
        record: str | None = None,
        random_state: Seed = None,
    ) -> None:
        self.n_units = n_units
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.record = record
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["Madaline"]:
        return [cls(max_iter=20, random_state=0)]

    @classmethod
    def _example_data(cls) -> tuple[np.ndarray, np.ndarray]:
        return LinearTrainer._example_data()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on rows `X` of two classes `y`."""
        problem = read_two_classes(self, X, y)
        inputs, signs = problem.inputs, problem.signs
        random = generator(self.random_state)
        rows = np.column_stack([np.ones(len(inputs)), inputs])
        weights = random.uniform(-0.5, 0.5, size=(self.n_units, rows.shape[1]))
        best, self.errors_ = weights, _wrong(rows, signs, weights)
        self.converged_, self.n_iter_ = self.errors_ == 0, 0
        curve, path = [self.errors_], [weights]
        while self.n_iter_ < self.max_iter and not self.converged_:
            self.n_iter_ += 1
            history = least_disturbance_pass(rows, signs, weights, self.learning_rate, random)
            weights = history[-1]
            path.extend(history[-1:] if self.record == "passes" else history[: self._room(path)])
            errors = _wrong(rows, signs, weights)
            # Least disturbance need not improve a pass, so the best one is remembered.
            if errors < self.errors_:
                best, self.errors_ = weights, errors
            self.converged_ = errors == 0
            curve.append(errors)
        self.coef_, self.intercept_ = best[:, 1:], best[:, 0]
        self.error_curve_ = np.array(curve)
        self.trajectory_ = _trajectory(rows, signs, np.array(path)) if self.record else None
        if not self.converged_:
            warn_caller(
                f"Madaline stopped after {self.n_iter_} passes with {self.errors_} rows wrong in "
                "the best of them, which is kept; more units or a higher max_iter may do better.",
                ConvergenceWarning,
            )
        warn_far_from_optimum(
            "Madaline",
            inputs,
            problem.targets(),
            _misses(rows, signs, best),
            remedy="raise max_iter",
        )
        return self

    def _room(self, path: list[np.ndarray]) -> int:
        return max(MOST_STEPS - len(path), 0) if self.record == "steps" else 0

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Return the majority, from -1 to 1 and positive for the second class."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, reset=False)
        outputs = inputs @ self.coef_.T + self.intercept_
        return np.where(outputs > 0, 1.0, -1.0).mean(axis=1)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the class with the majority."""
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(np.int64)]


def least_disturbance_pass(
    rows: np.ndarray,
    signs: np.ndarray,
    weights: np.ndarray,
    rate: float,
    random: np.random.Generator,
) -> list[np.ndarray]:
    """Return the weights after each correction of one pass, by least disturbance.

    Where none was needed, they are those of the start.

    Parameters
    ----------
    rows, signs
        Augmented rows and their signs.
    weights
        One row for each unit.
    rate
        Part of the way to the target output.
    random
        Draws the order.
    """
    history = []
    for place in random.permutation(len(rows)):
        row, sign = rows[place], signs[place]
        outputs = weights @ row
        votes = np.where(outputs > 0, 1, -1)
        majority = int(votes.sum())
        if sign * majority > 0:
            continue
        opposed = np.flatnonzero(votes != sign)
        # Each unit that turns changes the sum of the votes by two.
        needed = abs(majority) // 2 + 1
        # Units near zero change their mind for the least change of weights.
        turned = opposed[np.abs(outputs[opposed]).argsort()[:needed]]
        # The Widrow-Hoff rule, normalised by the length of the row.
        steps = rate * (sign - outputs[turned]) / (row @ row)
        weights = weights.copy()
        weights[turned] += steps[:, None] * row
        history.append(weights)
    return history or [weights]


def _trajectory(rows: np.ndarray, signs: np.ndarray, path: np.ndarray) -> Trajectory:
    majorities = np.array([signs * _votes(rows, weights) for weights in path])
    criterion = -np.minimum(majorities, 0).sum(axis=1).astype(np.float64)
    return Trajectory(np.arange(len(path)), path, criterion, (majorities <= 0).sum(axis=1))


def _votes(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return np.where(rows @ weights.T > 0, 1, -1).sum(axis=1)


def _misses(rows: np.ndarray, signs: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return signs * _votes(rows, weights) <= 0


def _wrong(rows: np.ndarray, signs: np.ndarray, weights: np.ndarray) -> int:
    return int(_misses(rows, signs, weights).sum())
