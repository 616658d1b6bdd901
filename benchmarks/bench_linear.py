"""Linear trainers beside scikit-learn's, on the same rows."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron as TheirPerceptron
from sklearn.linear_model import SGDRegressor

from benchmarks._timing import Race, print_races, race
from verulam.linear import LeastMeanSquares, Perceptron, separability
from verulam.numerics import constant

PASSES = 20


def run() -> None:
    """Print the races."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        print_races("Linear trainers", [race_ for size in SIZES for race_ in _trainers(*size)])
    _separability_times()


SIZES = ((20_000, 20), (200_000, 50))


def _trainers(n_rows: int, n_columns: int) -> list[Race]:
    rows, classes = _overlapping(n_rows, n_columns)
    size = f"{n_rows:,} x {n_columns}"
    signs = np.where(classes == 1, 1.0, -1.0)
    rate = 0.1 / n_columns
    theirs = TheirPerceptron(max_iter=PASSES, tol=None, random_state=0)
    return [
        race(
            f"perceptron, {PASSES} passes, {size}",
            lambda: Perceptron(max_iter=PASSES, random_state=0).fit(rows, classes),
            "scikit-learn",
            lambda: theirs.fit(rows, classes),
        ),
        race(
            f"averaged perceptron, {PASSES} passes, {size}",
            lambda: Perceptron(average=True, max_iter=PASSES, random_state=0).fit(rows, classes),
            "scikit-learn's, not averaged",
            lambda: theirs.fit(rows, classes),
        ),
        race(
            f"least mean squares, one streamed pass, {size}",
            lambda: LeastMeanSquares(learning_rate=constant(rate)).partial_fit(rows, classes),
            "scikit-learn's SGDRegressor",
            lambda: SGDRegressor(
                learning_rate="constant", eta0=rate, penalty=None, random_state=0
            ).partial_fit(rows, signs),
        ),
    ]


def _separability_times() -> None:
    rows, classes = _overlapping(2_000, 20)
    plane = rows @ np.arange(1.0, 21.0) > 0
    for name, labels in (("separable", plane), ("not separable", classes)):
        done = race(
            f"linear program, 2,000 x 20, {name}",
            lambda labels=labels: separability(rows, labels),
            "itself",
            lambda labels=labels: separability(rows, labels),
        )
        print(f"  {done.work}: {done.ours:.3f} s")


def _overlapping(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    classes = np.arange(n_rows) % 2
    return random.normal(size=(n_rows, n_columns)) + 0.2 * classes[:, None], classes
