"""Kinds of problems whose truth is known, and the learners that compete on them.

A kind is a family: the coefficients of each problem are drawn anew, so no two sets are alike.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import clone
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

Array = NDArray[np.float64]
Random = np.random.Generator

INPUTS = 8
COLUMNS = tuple(f"x{place}" for place in range(INPUTS))
TARGET = "y"
CLASSES = np.array(["no", "yes"])
#: Fewer rows of a class than this and the set is drawn again: no learner can be validated.
LEAST_CLASS = 10
#: Label of the contestant that ignores the inputs.
BASELINE = {"classification": "majority class", "regression": "mean"}


@dataclass(frozen=True)
class Problem:
    """One problem of a kind.

    Attributes
    ----------
    kind
        Name of the kind.
    task
        "classification" or "regression".
    signal
        Inputs to the probability of "yes", or to the mean of the target.
    inputs
        Draws the inputs of a number of rows.
    noise
        Draws what is added to the mean; for regression only.
    variance
        Variance of the noise.
    """

    kind: str
    task: str
    signal: Callable[[Array], Array]
    inputs: Callable[[Random, int], Array]
    noise: Callable[[Random, int], Array] | None = None
    variance: float = 0.0

    def draw(self, n_rows: int, random: Random) -> tuple[Array, NDArray[Any]]:
        """Return inputs and targets of fresh rows."""
        while True:
            X = self.inputs(random, n_rows)
            signal = self.signal(X)
            if self.noise is not None:
                return X, signal + self.noise(random, n_rows)
            positive = random.random(n_rows) < signal
            if LEAST_CLASS <= positive.sum() <= n_rows - LEAST_CLASS:
                return X, CLASSES[positive.astype(int)]

    def risk(self, X: Array, predicted: NDArray[Any]) -> float:
        """Return the expected error rate, or root mean squared error, of predictions at rows.

        The targets of these rows are not drawn: the expectation over them is exact.
        """
        signal = self.signal(X)
        if self.task == "classification":
            return float(np.where(predicted == CLASSES[1], 1.0 - signal, signal).mean())
        return float(np.sqrt(np.mean((signal - predicted) ** 2) + self.variance))


def learners(task: str, random: Random) -> dict[str, Any]:
    """Return the contestants of a task in random order, so that their order means nothing."""
    contestants = _CLASSIFIERS if task == "classification" else _REGRESSORS
    labels = random.permutation(list(contestants))
    return {str(label): clone(contestants[label]) for label in labels}


def as_frame(X: Array, y: NDArray[Any]) -> pd.DataFrame:
    """Return a set as the table that `compare` takes."""
    return pd.DataFrame(X, columns=COLUMNS).assign(**{TARGET: y})


def true_risks(
    problem: Problem,
    contestants: dict[str, Any],
    X: Array,
    y: NDArray[Any],
    *,
    n_fresh: int,
    random: Random,
) -> dict[str, float]:
    """Return the risk of every contestant trained on all rows, on fresh rows."""
    fresh = problem.inputs(random, n_fresh)
    risks = {}
    for label, learner in contestants.items():
        model = clone(learner)
        if "random_state" in model.get_params():
            model.set_params(random_state=int(random.integers(2**31)))
        risks[label] = problem.risk(fresh, model.fit(X, y).predict(fresh))
    return risks


def make_problem(kind: str, random: Random) -> Problem:
    """Return a problem of a kind, its coefficients drawn at random."""
    return KINDS[kind](kind, random)


_CLASSIFIERS: dict[str, Any] = {
    BASELINE["classification"]: DummyClassifier(),
    "naive Bayes": GaussianNB(),
    "logistic regression": LogisticRegression(),
    "decision tree": DecisionTreeClassifier(max_depth=5),
    "quadratic discriminant": QuadraticDiscriminantAnalysis(reg_param=0.05),
    "nearest neighbours": KNeighborsClassifier(9),
    "support vector machine": SVC(),
    "random forest": RandomForestClassifier(10),
}
_REGRESSORS: dict[str, Any] = {
    BASELINE["regression"]: DummyRegressor(),
    "linear regression": LinearRegression(),
    "ridge regression": Ridge(10.0),
    "lasso": Lasso(0.1),
    "decision tree": DecisionTreeRegressor(max_depth=4),
    "nearest neighbours": KNeighborsRegressor(9),
    "support vector machine": SVR(C=3.0),
    "random forest": RandomForestRegressor(10, min_samples_leaf=3, max_features=0.5),
}


def _normal(random: Random, count: int) -> Array:
    return random.normal(size=(count, INPUTS))


def _direction(random: Random) -> Array:
    weights = random.normal(size=INPUTS)
    return weights / np.linalg.norm(weights)


def _classes(kind: str, logit: Callable[[Array], Array], inputs: Any = _normal) -> Problem:
    return Problem(kind, "classification", lambda X: expit(logit(X)), inputs)


def _linear(low: float, high: float, shift: float = 0.0) -> Callable[[str, Random], Problem]:
    """Return a kind with a linear logit whose slope lies between two values."""

    def make(kind: str, random: Random) -> Problem:
        weights = random.uniform(low, high) * _direction(random)
        return _classes(kind, lambda X: X @ weights + shift)

    return make


def _additive(kind: str, random: Random) -> Problem:
    slope = random.uniform(1.0, 2.0)
    return _classes(
        kind,
        lambda X: (
            slope * (np.sin(2 * X[:, 0]) + X[:, 1] ** 2 - 1 + np.abs(X[:, 2]) - 0.8 + 0.5 * X[:, 3])
        ),
    )


def _xor(kind: str, random: Random) -> Problem:
    slope = random.uniform(2.0, 5.0)
    return _classes(kind, lambda X: slope * X[:, 0] * X[:, 1])


def _ring(kind: str, random: Random) -> Problem:
    slope = random.uniform(1.0, 3.0)
    # Half of the rows lie within the square root of 2 log 2 of the centre.
    return _classes(kind, lambda X: slope * (X[:, 0] ** 2 + X[:, 1] ** 2 - 2 * np.log(2)))


def _correlated(kind: str, random: Random) -> Problem:
    weights = random.uniform(1.5, 4.0) * _direction(random)

    def inputs(random: Random, count: int) -> Array:
        common = random.normal(size=(count, 1))
        return np.sqrt(0.8) * common + np.sqrt(0.2) * _normal(random, count)

    return _classes(kind, lambda X: X @ weights, inputs)


def _noise_classes(kind: str, random: Random) -> Problem:
    share = random.uniform(0.3, 0.5)
    return Problem(kind, "classification", lambda X: np.full(len(X), share), _normal)


def _step_classes(kind: str, random: Random) -> Problem:
    corner = random.uniform(-0.8, 0.0, size=2)
    purity = random.uniform(0.75, 0.95)

    def signal(X: Array) -> Array:
        return np.where((X[:, :2] > corner).all(axis=1), purity, 1 - purity)

    return Problem(kind, "classification", signal, _normal)


def _two_clouds(kind: str, random: Random) -> Problem:
    """Return two round clouds: discriminants, logistic regression and naive Bayes all suit."""
    weights = random.uniform(1.0, 2.5) * _direction(random)

    def inputs(random: Random, count: int) -> Array:
        sides = random.choice([-0.5, 0.5], size=(count, 1))
        return sides * weights + _normal(random, count)

    return _classes(kind, lambda X: X @ weights, inputs)


def _numbers(
    kind: str, mean: Callable[[Array], Array], deviation: float, *, freedom: float | None = None
) -> Problem:
    """Return a regression with normal noise, or with that of Student's t."""

    def noise(random: Random, count: int) -> Array:
        if freedom is None:
            return deviation * random.normal(size=count)
        return deviation * random.standard_t(freedom, size=count)

    spread = 1.0 if freedom is None else freedom / (freedom - 2)
    return Problem(kind, "regression", mean, _normal, noise, deviation**2 * spread)


def _linear_numbers(kind: str, random: Random) -> Problem:
    weights, deviation = _direction(random), random.uniform(0.5, 1.5)
    return _numbers(kind, lambda X: X @ weights, deviation)


def _step_numbers(kind: str, random: Random) -> Problem:
    cuts, levels = random.uniform(-0.5, 0.5, size=2), random.uniform(0.8, 2.0, size=2)
    deviation = random.uniform(0.4, 1.0)

    def mean(X: Array) -> Array:
        above = X[:, 0] > cuts[0]
        return levels[0] * above + levels[1] * (~above & (X[:, 1] > cuts[1]))

    return _numbers(kind, mean, deviation)


def _smooth_numbers(kind: str, random: Random) -> Problem:
    deviation = random.uniform(0.4, 1.0)

    def mean(X: Array) -> Array:
        return np.sin(2 * X[:, 0]) + 0.7 * X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2 + 0.5 * X[:, 4]

    return _numbers(kind, mean, deviation)


def _noise_numbers(kind: str, random: Random) -> Problem:
    return _numbers(kind, lambda X: np.zeros(len(X)), random.uniform(0.5, 2.0))


def _heavy_tails(kind: str, random: Random) -> Problem:
    weights, deviation = _direction(random), random.uniform(0.3, 0.9)
    return _numbers(kind, lambda X: X @ weights, deviation, freedom=3)


KINDS: dict[str, Callable[[str, Random], Problem]] = {
    "linear": _linear(1.5, 4.0),
    "additive": _additive,
    "xor": _xor,
    "ring": _ring,
    "rare class": _linear(1.2, 2.2, shift=-3.0),
    "correlated": _correlated,
    "pure noise": _noise_classes,
    "weak signal": _linear(0.3, 0.7),
    "easy": _linear(8.0, 12.0),
    "step": _step_classes,
    "two clouds": _two_clouds,
    "linear numbers": _linear_numbers,
    "step numbers": _step_numbers,
    "smooth numbers": _smooth_numbers,
    "noise numbers": _noise_numbers,
    "heavy tails": _heavy_tails,
}
