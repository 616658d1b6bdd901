"""How the time of learners grows with the rows, beside what theory says of it.

``python -m benchmarks growth`` fits a line to the logarithms of the best times over four sizes. The
expected slope is that of the stated cost over the same sizes, so that n log n is a little above 1.
"""

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from benchmarks._timing import Work, best_time, duration
from verulam import measures
from verulam.ensemble import RandomForestClassifier
from verulam.kernel import OneClassMachine, SupportVectorClassifier
from verulam.linear import LogisticDiscriminant, Perceptron
from verulam.nonparametric import (
    KNeighborsClassifier,
    LocalOutlierFactor,
    Loess,
    RunningMedian,
    SmoothingSpline,
)
from verulam.parametric import GaussianClassifier, LeastSquares, NaiveBayes
from verulam.rule import Ripper
from verulam.sequence import CategoricalEmission, HiddenMarkovModel, kalman_filter, linear_system
from verulam.tree import DecisionTreeClassifier, DecisionTreeRegressor

#: A slope may be so far from what theory says before it is marked.
TOLERANCE = 0.15
#: Each size is twice the one before.
N_SIZES = 4

Cost = Callable[[float], float]
MakeWork = Callable[[int], Work]
ROWS: Cost = float
SORTED: Cost = lambda n: n * math.log(n)  # noqa: E731
SQUARED: Cost = lambda n: n**2  # noqa: E731


@dataclass(frozen=True)
class Growth:
    """A learner at work on tables of four sizes.

    Attributes
    ----------
    work
        What is done.
    cost
        The number of steps that theory expects of so many rows, up to a factor.
    smallest
        Rows of the first size, so many that calls and checks take little of the time.
    make
        Draws the data of so many rows and returns the work on them.
    is_bound
        Whether theory knows the worst case only: what grows less is not marked.
    """

    work: str
    cost: Cost
    smallest: int
    make: MakeWork
    is_bound: bool = False

    @property
    def sizes(self) -> list[int]:
        """Rows of all sizes."""
        return [self.smallest * 2**step for step in range(N_SIZES)]


def slope(sizes: Sequence[int], values: Sequence[float]) -> float:
    """Return the slope of a line through the logarithms.

    Examples
    --------
    >>> round(slope([1, 2, 4, 8], [3.0, 12.0, 48.0, 192.0]), 6)
    2.0
    """
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def run() -> None:
    """Print for each learner its times, the slope and the expected one."""
    print(f"\nGrowth with rows ({N_SIZES} sizes, each twice the one before)")
    # Twenty passes are not enough for the perceptron to settle.
    warnings.simplefilter("ignore", ConvergenceWarning)
    off = []
    for growth in GROWTHS:
        times = [best_time(growth.make(size)) for size in growth.sizes]
        measured = slope(growth.sizes, times)
        expected = slope(growth.sizes, [growth.cost(size) for size in growth.sizes])
        excess = measured - expected
        is_off = excess > TOLERANCE or (excess < -TOLERANCE and not growth.is_bound)
        off += [growth.work] * is_off
        ends = f"{growth.sizes[0]:>6,} to {growth.sizes[-1]:>7,} rows"
        span = f"{duration(times[0]):>8} to {duration(times[-1]):>8}"
        theory = f"theory {'at most ' * growth.is_bound}{expected:.2f}{'  off' * is_off}"
        print(f"  {growth.work:<36} {ends}  {span}  {measured:.2f}, {theory}", flush=True)
    print(f"{len(GROWTHS)} measured, {len(off)} off by more than {TOLERANCE}")


def _classes(n_rows: int, n_columns: int = 20) -> tuple[Any, Any]:
    return make_classification(
        n_rows, n_columns, n_informative=n_columns // 2, n_redundant=0, flip_y=0.05, random_state=0
    )


def _integers(n_rows: int) -> tuple[Any, Any]:
    X, y = _classes(n_rows)
    return np.clip(np.round(X + 5), 0, 9), y


def _two_rules(n_rows: int) -> tuple[Any, Any]:
    """Return classes that two rules tell apart, as where they overlap more rows support more."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n_rows, 20))
    first, second = (X[:, 0] > 0.5) & (X[:, 1] > 0), (X[:, 2] > 1) & (X[:, 3] < 0.5)
    return X, ((first | second) ^ (random.random(n_rows) < 0.05)).astype(int)


def _numbers(n_rows: int, n_columns: int = 20) -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    X = random.normal(size=(n_rows, n_columns))
    return X, np.sin(X[:, 0]) + 0.3 * random.normal(size=n_rows)


def _curve(n_rows: int) -> tuple[Any, Any]:
    return _numbers(n_rows, 1)


def _moments(n_rows: int) -> tuple[Any, Any]:
    return np.arange(float(n_rows))[:, None], _curve(n_rows)[1]


def _tied(n_rows: int) -> tuple[Any, Any]:
    """Return points on a grid, 20 on each on average."""
    random = np.random.default_rng(0)
    side = int(np.sqrt(n_rows / 20))
    return random.integers(0, side, size=(n_rows, 2)).astype(float), np.zeros(n_rows)


def _fit(learner: Any, draw: Callable[..., tuple[Any, Any]], *columns: int) -> MakeWork:
    def make(n_rows: int) -> Work:
        X, y = draw(n_rows, *columns)
        return partial(learner.fit, X, y)

    return make


def _fit_predict(learner: Any, draw: Callable[..., tuple[Any, Any]], *columns: int) -> MakeWork:
    def make(n_rows: int) -> Work:
        X, y = draw(n_rows, *columns)
        return lambda: learner.fit(X, y).predict(X)

    return make


def _predict(learner: Any, draw: Callable[..., tuple[Any, Any]]) -> MakeWork:
    learner.fit(*draw(2_000))
    return lambda n_rows: partial(learner.predict, draw(n_rows)[0])


def _measure(measure: Callable[..., Any]) -> MakeWork:
    def make(n_rows: int) -> Work:
        random = np.random.default_rng(0)
        scores = random.random(n_rows)
        return partial(measure, (random.random(n_rows) < scores).astype(int), scores)

    return make


def _outliers(draw: Callable[..., tuple[Any, Any]], *columns: int) -> MakeWork:
    return lambda n_rows: partial(LocalOutlierFactor().fit, draw(n_rows, *columns)[0])


def _symbols(n_steps: int) -> Work:
    X = np.random.default_rng(0).integers(0, 10, n_steps)
    table = np.random.default_rng(1).dirichlet(np.ones(10), 8)
    model = HiddenMarkovModel(8, CategoricalEmission(probabilities=table), max_iter=3, tol=0.0)
    return partial(model.fit, X)


def _filter(n_steps: int) -> Work:
    system = linear_system(0.8 * np.eye(2), np.eye(2), np.ones((2, 2)), np.eye(2))
    return partial(kalman_filter, system, np.random.default_rng(0).normal(size=(n_steps, 2)))


GROWTHS = (
    Growth("naive Bayes: fit", ROWS, 80_000, _fit(NaiveBayes(), _classes)),
    Growth("naive Bayes: predict", ROWS, 20_000, _predict(NaiveBayes(), _classes)),
    Growth("shared covariance: fit", ROWS, 80_000, _fit(GaussianClassifier(), _classes)),
    Growth("shared covariance: predict", ROWS, 40_000, _predict(GaussianClassifier(), _classes)),
    Growth("least squares: fit", ROWS, 40_000, _fit(LeastSquares(), _numbers)),
    Growth("logistic discriminant: fit", ROWS, 20_000, _fit(LogisticDiscriminant(), _classes)),
    Growth(
        "perceptron, 20 passes",
        ROWS,
        10_000,
        _fit(Perceptron(max_iter=20, random_state=0), _classes),
    ),
    Growth("tree, continuous: fit", SORTED, 5_000, _fit(DecisionTreeClassifier(), _classes)),
    Growth("tree, integers: fit", SORTED, 5_000, _fit(DecisionTreeClassifier(), _integers)),
    Growth("regression tree: fit", SORTED, 5_000, _fit(DecisionTreeRegressor(), _numbers)),
    Growth("tree: predict", ROWS, 20_000, _predict(DecisionTreeClassifier(), _classes)),
    Growth(
        "forest of 10: fit",
        SORTED,
        2_000,
        _fit(RandomForestClassifier(10, random_state=0), _classes),
    ),
    Growth(
        "support vectors: fit",
        SQUARED,
        1_000,
        _fit(SupportVectorClassifier(), _classes),
        is_bound=True,
    ),
    Growth(
        "one class machine: fit", SQUARED, 1_000, _fit(OneClassMachine(), _classes), is_bound=True
    ),
    Growth("support vectors: predict", ROWS, 5_000, _predict(SupportVectorClassifier(), _classes)),
    Growth(
        "neighbours, 4 columns", SORTED, 2_000, _fit_predict(KNeighborsClassifier(), _classes, 4)
    ),
    Growth(
        "neighbours, 20 columns",
        SQUARED,
        2_000,
        _fit_predict(KNeighborsClassifier(), _classes),
        is_bound=True,
    ),
    Growth("outlier factors, 2 columns", SORTED, 5_000, _outliers(_numbers, 2)),
    Growth("outlier factors, 2 columns with ties", SORTED, 5_000, _outliers(_tied)),
    Growth("outlier factors, 20 columns", SQUARED, 2_000, _outliers(_numbers, 20), is_bound=True),
    Growth("loess", SORTED, 5_000, _fit_predict(Loess(span=0.1), _curve)),
    Growth("smoothing spline", SORTED, 50_000, _fit(SmoothingSpline(alpha=0.01), _curve)),
    # The moments come in order, and windows are of one size: there is nothing to sort.
    Growth(
        "running median of 101",
        ROWS,
        10_000,
        _fit_predict(RunningMedian(bandwidth=51.0), _moments),
    ),
    Growth("Ripper", SORTED, 4_000, _fit(Ripper(random_state=0), _two_rules)),
    Growth("hidden Markov model, 3 passes", ROWS, 80_000, _symbols),
    Growth("Kalman filter", ROWS, 5_000, _filter),
    Growth("ROC curve", SORTED, 50_000, _measure(measures.roc)),
    Growth("area under it", SORTED, 50_000, _measure(measures.auc)),
)
