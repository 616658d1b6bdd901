r"""Weighted means and scatters per class: records that add exactly, however the data is cut.

Two parts with weights :math:`a, b` and means that differ by :math:`\delta` have together the
scatter :math:`S_a + S_b + \frac{ab}{a+b}\,\delta\delta^T` [chan1979]_. Deviations are taken from
each chunk's own means, so that nothing is lost where the mean is large beside the spread.

.. [chan1979] T. F. Chan, G. H. Golub and R. J. LeVeque, "Updating formulae and a pairwise
   algorithm for computing sample variances", Stanford University, STAN-CS-79-773, 1979.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from verulam.base import spread_rows
from verulam.numerics._moments_loops import (
    class_means,
    column_moments_present,
    column_scatters,
    group_deviations,
)


@dataclass(frozen=True)
class ClassMoments(ABC):
    """Weight, mean and scatter of each class; zero for a class without rows."""

    weight: np.ndarray
    mean: np.ndarray
    scatter: np.ndarray

    def __add__(self, other: Self) -> Self:
        if type(other) is not type(self):
            raise ValueError(
                "These sums are of another kind: the parameters have changed since the first call "
                "of partial_fit. Fit again, or set them back."
            )
        weight = self.weight + other.weight
        # A class without rows in both parts has weight zero and keeps the mean zero.
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        delta = other.mean - self.mean
        moved = (share if share.ndim == 2 else share[:, None]) * delta
        between = self._between(self.weight * share, delta)
        return type(self)(weight, self.mean + moved, self.scatter + other.scatter + between)

    @staticmethod
    @abstractmethod
    def _between(cross: np.ndarray, delta: np.ndarray) -> np.ndarray:
        """Return the scatter that a difference of means adds, with its weight."""

    def spread(self, positions: np.ndarray, n_classes: int) -> Self:
        """Return the same moments among `n_classes` classes, the others empty."""
        parts = (self.weight, self.mean, self.scatter)
        return type(self)(*(spread_rows(part, positions, n_classes) for part in parts))


@dataclass(frozen=True)
class DiagonalMoments(ClassMoments):
    """Moments of each column by itself.

    Attributes
    ----------
    weight : ndarray of shape (n_classes, n_columns)
        Total weight of the entries that are present.
    mean : ndarray of shape (n_classes, n_columns)
        Their weighted mean.
    scatter : ndarray of shape (n_classes, n_columns)
        Weighted sum of squared deviations from the mean.
    """

    @staticmethod
    def _between(cross: np.ndarray, delta: np.ndarray) -> np.ndarray:
        return cross * delta**2


@dataclass(frozen=True)
class FullMoments(ClassMoments):
    """Moments of all columns together, one scatter matrix per class.

    Attributes
    ----------
    weight : ndarray of shape (n_classes,)
        Total weight of the rows.
    mean : ndarray of shape (n_classes, n_columns)
        Their weighted mean.
    scatter : ndarray of shape (n_classes, n_columns, n_columns)
        Weighted sum of outer products of the deviations from the mean.
    """

    @staticmethod
    def _between(cross: np.ndarray, delta: np.ndarray) -> np.ndarray:
        return np.einsum("k,ki,kj->kij", cross, delta, delta)


@dataclass(frozen=True)
class PooledMoments(ClassMoments):
    """Mean per class and one scatter matrix, summed over the classes.

    Attributes
    ----------
    weight, mean
        As in `FullMoments`.
    scatter : ndarray of shape (n_columns, n_columns)
        Sum over the classes of the scatter around the class's own mean.
    """

    @staticmethod
    def _between(cross: np.ndarray, delta: np.ndarray) -> np.ndarray:
        return (delta * cross[:, None]).T @ delta

    def spread(self, positions: np.ndarray, n_classes: int) -> Self:
        """Return the same moments among `n_classes` classes, the others empty."""
        weight, mean = (
            spread_rows(part, positions, n_classes) for part in (self.weight, self.mean)
        )
        return type(self)(weight, mean, self.scatter)


def diagonal_moments(
    X: np.ndarray, codes: np.ndarray, weights: np.ndarray | None, n_classes: int
) -> DiagonalMoments:
    """Return the moments of each column in each class.

    Missing entries (NaN) are skipped, entry by entry.

    Parameters
    ----------
    X
        Rows of float64 numbers.
    codes
        Class of each row.
    weights
        Weight of each row; None where all count alike.
    n_classes
        Number of classes.
    """
    weights = _weights(weights, len(X))
    weight, mean = _means(X, codes, weights, n_classes)
    scatter = np.zeros_like(mean)
    # The plain loops come first, so that only data with gaps pay for tests entry by entry.
    if np.isnan(mean).any():
        weight, mean = np.zeros_like(scatter), np.zeros_like(scatter)
        first = np.full_like(scatter, np.nan)
        column_moments_present(X, codes, weights, first, weight, mean, scatter)
        return DiagonalMoments(weight, mean, scatter)
    # A second pass around the means: the one-pass formula loses the digits that they share.
    column_scatters(X, codes, weights, mean, scatter)
    return DiagonalMoments(np.repeat(weight[:, None], X.shape[1], axis=1), mean, scatter)


def full_moments(
    X: np.ndarray, codes: np.ndarray, weights: np.ndarray | None, n_classes: int
) -> FullMoments:
    """Return the mean and scatter matrix of each class; arguments as in `diagonal_moments`."""
    deviations, ends, weight, mean = _grouped(X, codes, weights, n_classes)
    scatter = np.empty((n_classes, X.shape[1], X.shape[1]))
    start = 0
    for k, end in enumerate(ends):
        # Rows were grouped by class, so that each scatter is one matrix product of a slice.
        rows = deviations[start:end]
        scatter[k] = rows.T @ rows
        start = end
    return FullMoments(weight, mean, scatter)


def pooled_moments(
    X: np.ndarray, codes: np.ndarray, weights: np.ndarray | None, n_classes: int
) -> PooledMoments:
    """Return class means and the pooled scatter matrix; arguments as in `diagonal_moments`."""
    deviations, _, weight, mean = _grouped(X, codes, weights, n_classes)
    return PooledMoments(weight, mean, deviations.T @ deviations)


def overall_moments(weight: np.ndarray, mean: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of all classes together, and the scatter of the class means around it.

    Parameters
    ----------
    weight
        Of shape (n_classes, n_columns), or (n_classes, 1) where it is the same for all columns.
    mean
        Class means of shape (n_classes, n_columns).
    """
    # Differences from one class's mean vanish exactly where all classes have the same constant.
    total = np.maximum(weight.sum(axis=0), np.finfo(float).tiny)
    origin = np.take_along_axis(mean, np.broadcast_to(weight, mean.shape).argmax(axis=0)[None], 0)[
        0
    ]
    differences = mean - origin
    shift = (weight * differences).sum(axis=0) / total
    return origin + shift, (weight * (differences - shift) ** 2).sum(axis=0)


def _means(
    X: np.ndarray, codes: np.ndarray, weights: np.ndarray, n_classes: int
) -> tuple[np.ndarray, np.ndarray]:
    weight, mean = np.zeros(n_classes), np.zeros((n_classes, X.shape[1]))
    class_means(X, codes, weights, np.full(n_classes, -1), weight, mean)
    return weight, mean


def _grouped(
    X: np.ndarray, codes: np.ndarray, weights: np.ndarray | None, n_classes: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return weighted deviations grouped by class, where each class ends, weights and means."""
    weights = _weights(weights, len(X))
    weight, mean = _means(X, codes, weights, n_classes)
    counts = np.bincount(codes, minlength=n_classes)
    places, deviations = np.cumsum(counts) - counts, np.empty(X.shape)
    group_deviations(X, codes, weights, mean, places, deviations)
    return deviations, places, weight, mean


def _weights(weights: np.ndarray | None, n_rows: int) -> np.ndarray:
    return np.ones(n_rows) if weights is None else weights


def gap_patterns(X: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield for each pattern of gaps which columns are present, and the rows that have it.

    Rows with the same gaps share one factorisation of a covariance.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.numerics import gap_patterns
    >>> rows = np.array([[1.0, np.nan], [2.0, 3.0], [4.0, np.nan]])
    >>> [(present.tolist(), places.tolist()) for present, places in gap_patterns(rows)]
    [([True, False], [0, 2]), ([True, True], [1])]
    """
    patterns, which = np.unique(~np.isnan(X), axis=0, return_inverse=True)
    order = np.argsort(which, kind="stable")
    ends = np.cumsum(np.bincount(which, minlength=len(patterns)))
    yield from zip(patterns, np.split(order, ends[:-1]), strict=True)
