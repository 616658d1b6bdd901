"""Boosting of regressors: by draws and weighted medians, and by residuals."""

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verulam.base import (
    RANDOM_STATE,
    HasMethods,
    InSteps,
    Interval,
    Seed,
    StrOptions,
    checked_fit_with_parts,
    generator,
)
from verulam.ensemble._boosting.adaboost import LEAST_ERROR
from verulam.ensemble._fusion.rules import weighted_median
from verulam.ensemble._members.base import REPEATED_ROWS, EnsembleRegressor
from verulam.ensemble._members.members import FloatArray, check_weighted, fit_member, seeded
from verulam.ensemble._members.tables import prepared_member, take_rows
from verulam.tree import DecisionTreeRegressor


class AdaBoostRegressor(InSteps, EnsembleRegressor):
    r"""Teach one regressor after another, each with more draws of the rows that were missed.

    Parameters
    ----------
    estimator
        Regressor; None takes a tree of three levels.
    n_estimators
        Most members.
    loss
        "linear", "square" or "exponential" in the size of the error, relative to the largest
        (Drucker 1997); or "threshold": an error above `threshold` is a mistake, any other is none
        (Avnimelech and Intrator 1999).
    threshold
        Size of an error that is a mistake, in units of the target; None for the mean absolute
        error of the first member.
    rule
        How members are combined: weighted "median" or "mean".
    random_state
        Seed of the draws, and of members that have none.

    Attributes
    ----------
    estimators_ : list
        Fitted members.
    votes_ : ndarray of shape (n_members,)
        Vote of each.
    errors_ : ndarray of shape (n_rounds,)
        Weighted loss of each member in its round; with one more entry than members where the last
        was not good enough.
    threshold_ : float
        The threshold that was used.
    evaluations_ : float
        Members that a prediction asks.

    Notes
    -----
    .. math:: \bar L = \sum_t p^t L^t, \quad \beta = \frac{\bar L}{1 - \bar L}, \quad
              p^t \leftarrow p^t \beta^{1 - L^t}

    with votes :math:`\log (1 / \beta)`; training ends where :math:`\bar L \ge 1/2`. See
    Alpaydin 17.7.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import AdaBoostRegressor
    >>> mpg = dataset("auto_mpg")
    >>> boost = AdaBoostRegressor(n_estimators=20, random_state=0)
    >>> round(boost.fit(mpg.inputs, mpg.target_values).score(mpg.inputs, mpg.target_values), 2)
    0.89
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "loss": [StrOptions({"linear", "square", "exponential", "threshold"})],
        "threshold": [Interval(Real, 0, None, closed="left"), None],
        "rule": [StrOptions({"median", "mean"})],
        "random_state": RANDOM_STATE,
    }
    estimators = None
    _skipped_checks: ClassVar[dict[str, str]] = REPEATED_ROWS

    @classmethod
    def _example_learners(cls) -> list[Any]:
        return [cls(n_estimators=8)]

    def _takes_weights(self) -> bool:
        return True  # rows are drawn by their weight

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        loss: str = "linear",
        threshold: float | None = None,
        rule: str = "median",
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.loss = loss
        self.threshold = threshold
        self.rule = rule
        self.random_state = random_state

    @checked_fit_with_parts
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Teach the members one after another.

        `sample_weight` says how often each row counts; all learners must take it.
        """
        table, targets, counts = self._read_weighted(X, y, sample_weight)
        random = generator(self.random_state)
        base = DecisionTreeRegressor(max_depth=3) if self.estimator is None else self.estimator
        n_rows = len(targets)
        weights = np.full(n_rows, 1.0 / n_rows) if counts is None else counts / counts.sum()
        self.threshold_ = np.inf if self.threshold is None else float(self.threshold)
        self.estimators_: list[Any] = []
        votes: list[float] = []
        errors: list[float] = []
        for _ in self._steps(range(self.n_estimators), "member", self.n_estimators):
            rows = random.choice(n_rows, size=n_rows, p=weights)
            copy = seeded(prepared_member(base, table), int(random.integers(2**31 - 1)))
            member = fit_member((type(base).__name__, copy), take_rows(table, rows), targets[rows])
            sizes = np.abs(np.asarray(member.predict(table), dtype=np.float64) - targets)
            losses = self._losses(sizes, weights)
            error = float(weights @ losses)
            errors.append(error)
            if error >= 0.5 and self.estimators_:
                break
            bounded = min(max(error, LEAST_ERROR), 0.5)
            beta = bounded / (1.0 - bounded)
            self.estimators_.append(member)
            # A first member that is too weak is better than none.
            votes.append(float(np.log(1.0 / beta)) if error < 0.5 else 1.0)
            if error <= 0 or error >= 0.5:
                break
            weights = weights * beta ** (1.0 - losses)
            weights /= weights.sum()
        self.votes_ = np.array(votes)
        self.errors_ = np.array(errors)
        self.evaluations_ = float(len(votes))
        return self

    def _losses(self, sizes: FloatArray, weights: FloatArray) -> FloatArray:
        if self.loss == "threshold":
            if np.isinf(self.threshold_) and self.threshold is None:
                self.threshold_ = float(sizes @ weights)
            return (sizes > self.threshold_).astype(np.float64)
        largest = sizes.max()
        if not largest > 0:
            return np.zeros_like(sizes)
        relative = sizes / largest
        if self.loss == "square":
            return relative**2
        return 1.0 - np.exp(-relative) if self.loss == "exponential" else relative

    def predict(self, X: Any) -> FloatArray:
        """Return the weighted median, or mean, of the members' predictions."""
        table = self._checked(X)
        values = np.array([member.predict(table) for member in self.estimators_])
        if self.rule == "median":
            return weighted_median(values, self.votes_)
        return self.votes_ @ values / self.votes_.sum()


class ResidualBoostingRegressor(InSteps, EnsembleRegressor):
    r"""Teach one regressor after another, each with what is left over by those before it.

    Parameters
    ----------
    estimator
        Regressor of any kind; None takes a tree of three levels.
    n_estimators
        Most members.
    learning_rate
        Share of each member's prediction that is added.
    tol
        Training ends where the mean squared residual falls by less than this share of its
        beginning.
    random_state
        Seed of members that have none.

    Attributes
    ----------
    estimators_ : list
        Fitted members.
    intercept_ : float
        Mean of the targets, with which the sum begins.
    errors_ : ndarray of shape (n_members + 1,)
        Mean squared residual at the beginning and after each member.
    evaluations_ : float
        Members that a prediction asks.

    Notes
    -----
    .. math:: f_0 = \bar r, \qquad f_j(x) = f_{j-1}(x) + \eta\, d_j(x), \qquad
              d_j \text{ fitted to } r^t - f_{j-1}(x^t)

    Gradient boosting of squared loss, with any learner. A learner that is linear in the targets and
    repeats its fit, such as least squares, finds nothing in its own residuals. See Alpaydin 17.12.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import ResidualBoostingRegressor
    >>> mpg = dataset("auto_mpg")
    >>> boost = ResidualBoostingRegressor(n_estimators=30, learning_rate=0.2)
    >>> boost.fit(mpg.inputs, mpg.target_values).errors_[[0, 1, 10, 30]].round(1)
    array([60.9, 42.4,  6.1,  3. ])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, 1, closed="right")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": RANDOM_STATE,
    }
    estimators = None

    @classmethod
    def _example_learners(cls) -> list[Any]:
        return [cls(n_estimators=8)]

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        tol: float = 1e-8,
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.tol = tol
        self.random_state = random_state

    @checked_fit_with_parts
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Teach the members one after another.

        `sample_weight` says how often each row counts; all learners must take it.
        """
        table, targets, weights = self._read_weighted(X, y, sample_weight)
        random = generator(self.random_state)
        base = DecisionTreeRegressor(max_depth=3) if self.estimator is None else self.estimator
        if weights is not None:
            check_weighted([("estimator", base)])
        self.intercept_ = float(np.average(targets, weights=weights))
        residuals = targets - self.intercept_
        errors = [float(np.average(residuals**2, weights=weights))]
        self.estimators_: list[Any] = []
        for _ in self._steps(range(self.n_estimators), "member", self.n_estimators):
            copy = seeded(prepared_member(base, table), int(random.integers(2**31 - 1)))
            member = fit_member((type(base).__name__, copy), table, residuals, weights)
            residuals = residuals - self.learning_rate * np.asarray(member.predict(table))
            self.estimators_.append(member)
            errors.append(float(np.average(residuals**2, weights=weights)))
            if errors[-2] - errors[-1] <= self.tol * errors[0]:
                break
        self.errors_ = np.array(errors)
        self.evaluations_ = float(len(self.estimators_))
        return self

    def staged_predict(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the prediction after each member."""
        table = self._checked(X)
        total = np.full(len(table), self.intercept_)
        for member in self.estimators_:
            total = total + self.learning_rate * np.asarray(member.predict(table))
            yield total

    def predict(self, X: Any) -> FloatArray:
        """Return the sum of all members' predictions."""
        *_, total = self.staged_predict(X)
        return total
