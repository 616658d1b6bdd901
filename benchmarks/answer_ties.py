"""Learners that are truly level, or differ by a known amount: what `compare` would claim of them.

Two classes shift every column by the same amount, so columns are exchangeable and learners that
see different columns have the same expected risk. Nearest means of one column are stable; full
trees on two columns are not.
"""

import math
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeRegressor

from verulam.statistics import joint_posterior

Array = NDArray[np.float64]

FOLDS, MOST_REPEATS = 10, 10
#: Distance of the class means in every column of level learners.
SHIFT = 1.0
#: True error rates of two nearest means that differ by 8.2 points, with endlessly many rows.
WORSE, BETTER = 0.300, 0.218
#: Studies of level learners: kind, rows, contestants, and their share of the number asked for.
TIES = (
    ("stable", 200, 2, 1.0),
    ("stable", 200, 4, 1.0),
    ("stable", 200, 8, 1.0),
    ("unstable", 100, 4, 1.0),
    ("unstable", 200, 2, 1.0),
    ("unstable", 200, 4, 1.0),
    ("unstable", 200, 8, 0.5),
    ("unstable", 500, 4, 0.5),
    ("unstable", 500, 8, 0.25),
    ("unstable", 2000, 4, 0.125),
)


class NearestMeanOfColumn(ClassifierMixin, BaseEstimator):
    """Predict the class whose mean of one column is nearer.

    Parameters
    ----------
    column
        Position of the column.
    """

    #: Read by the catalogue: a few numbers for each class.
    _complexity = 1

    def __init__(self, column: int = 0) -> None:
        self.column = column

    def fit(self, X: Any, y: Any) -> Self:
        """Store the means of both classes."""
        values = np.asarray(X, dtype=np.float64)[:, self.column]
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.means_ = np.bincount(codes, values) / np.bincount(codes)
        self.n_features_in_ = np.shape(X)[1]
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of the nearer mean."""
        values = np.asarray(X, dtype=np.float64)[:, self.column]
        return self.classes_[np.abs(values[:, None] - self.means_).argmin(axis=1)]


def known_difference(n_rows: int, random: np.random.Generator) -> tuple[pd.DataFrame, dict]:
    """Return a set, and two learners for it of which "better" is truly 8.2 points better."""
    positive = random.random(n_rows) < 0.5
    shifts = -2.0 * norm.ppf([BETTER, WORSE])
    X = random.normal(size=(n_rows, 2)) + np.where(positive[:, None], shifts / 2, -shifts / 2)
    frame = pd.DataFrame(X, columns=["x0", "x1"]).assign(y=np.where(positive, "yes", "no"))
    labels = ["better", "worse"]
    places = random.permutation(2)
    return frame, {labels[place]: NearestMeanOfColumn(int(place)) for place in places}


def tie_record(kind: str, n_rows: int, count: int, random: np.random.Generator) -> dict[str, Any]:
    """Return whether any difference of level learners was claimed, at each number of repeats."""
    width = 1 if kind == "stable" else 2
    positive = random.random(n_rows) < 0.5
    X = random.normal(size=(n_rows, width * count))
    X += np.where(positive, SHIFT / 2, -SHIFT / 2)[:, None]
    y = positive.astype(np.float64)
    predict = _nearest_means if kind == "stable" else _trees
    losses = np.stack(
        [_losses(X, y, count, predict, random) for _ in range(MOST_REPEATS)],
    )
    claimed = {}
    for repeats in range(2, MOST_REPEATS + 1):
        claims = joint_posterior(losses[:repeats]).claims(looks=range(2, MOST_REPEATS + 1))
        claimed[str(repeats)] = bool(claims["claimed"].any())
    return {"claimed": claimed}


def stratified_folds(y: Array, random: np.random.Generator) -> NDArray[np.intp]:
    """Return the fold of each row, every class spread evenly over the folds."""
    folds = np.empty(len(y), dtype=np.intp)
    # Each class goes on in the fold where the one before it stopped, so folds are level in size.
    order = np.concatenate([random.permutation(np.flatnonzero(y == value)) for value in (0, 1)])
    folds[order] = np.arange(len(y)) % FOLDS
    return folds


def _losses(X: Array, y: Array, count: int, predict: Any, random: np.random.Generator) -> Array:
    """Return whether each row was misclassified out of fold: rows x contestants."""
    folds = stratified_folds(y, random)
    losses = np.empty((len(y), count))
    for fold in range(FOLDS):
        test = folds == fold
        predicted = predict(X[~test], y[~test], X[test], count, random)
        losses[test] = predicted != y[test, None]
    return losses


def _nearest_means(X: Array, y: Array, queries: Array, count: int, random: Any) -> Array:
    del count, random
    means = np.stack([X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)])
    nearer_second = np.abs(queries - means[1]) < np.abs(queries - means[0])
    return nearer_second.astype(np.float64)


def _trees(X: Array, y: Array, queries: Array, count: int, random: np.random.Generator) -> Array:
    """Return predictions of full trees, one for each pair of columns.

    For two classes the variance of 0 and 1 splits as Gini's index does; the regression tree has
    less to prepare, which is most of the time of small fits.
    """
    predicted = np.empty((len(queries), count))
    for place in range(count):
        columns = slice(2 * place, 2 * place + 2)
        tree = DecisionTreeRegressor(random_state=int(random.integers(2**31)))
        tree.fit(np.ascontiguousarray(X[:, columns], dtype=np.float32), y, check_input=False)
        rows = np.ascontiguousarray(queries[:, columns], dtype=np.float32)
        predicted[:, place] = tree.predict(rows, check_input=False)
    return (predicted > 0.5).astype(np.float64)


def tie_counts(sets: int) -> list[tuple[str, int, int, int]]:
    """Return kind, rows, contestants and number of sets of every study of level learners."""
    return [(kind, n_rows, count, math.ceil(share * sets)) for kind, n_rows, count, share in TIES]
