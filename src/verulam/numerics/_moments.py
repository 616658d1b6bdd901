r"""Weighted means and scatters per class: records that add exactly, however the data is cut.

Two parts with weights :math:`a, b` and means that differ by :math:`\delta` have together the
scatter :math:`S_a + S_b + \frac{ab}{a+b}\,\delta\delta^T` [chan1979]_. Deviations are taken from
each chunk's own means, so that nothing is lost where the mean is large beside the spread.

.. [chan1979] T. F. Chan, G. H. Golub and R. J. LeVeque, "Updating formulae and a pairwise
   algorithm for computing sample variances", Stanford University, STAN-CS-79-773, 1979.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from verulam.base import spread_rows
from verulam.numerics._moments_loops import (
    column_moments,
    column_moments_present,
    group_deviations,
)


@dataclass(frozen=True)
class DiagonalMoments:
    """Moments of each column by itself.

    Attributes
    ----------
    weight : ndarray of shape (n_classes, n_columns)
        Total weight of the entries that are present.
    mean : ndarray of shape (n_classes, n_columns)
        Their weighted mean; 0 where there are none.
    scatter : ndarray of shape (n_classes, n_columns)
        Weighted sum of squared deviations from the mean.
    """

    weight: np.ndarray
    mean: np.ndarray
    scatter: np.ndarray

    def __add__(self, other: Self) -> "DiagonalMoments":
        weight, share, cross = _shares(self.weight, other.weight)
        delta = other.mean - self.mean
        return DiagonalMoments(
            weight, self.mean + share * delta, self.scatter + other.scatter + cross * delta**2
        )

    def spread(self, positions: np.ndarray, n_classes: int) -> "DiagonalMoments":
        """Return the same moments among `n_classes` classes, the others empty."""
        parts = (self.weight, self.mean, self.scatter)
        return DiagonalMoments(*(spread_rows(part, positions, n_classes) for part in parts))


@dataclass(frozen=True)
class FullMoments:
    """Moments of all columns together, one scatter matrix per class.

    Attributes
    ----------
    weight : ndarray of shape (n_classes,)
        Total weight of the rows.
    mean : ndarray of shape (n_classes, n_columns)
        Their weighted mean; 0 where there are none.
    scatter : ndarray of shape (n_classes, n_columns, n_columns)
        Weighted sum of outer products of the deviations from the mean.
    """

    weight: np.ndarray
    mean: np.ndarray
    scatter: np.ndarray

    def __add__(self, other: Self) -> "FullMoments":
        weight, share, cross = _shares(self.weight, other.weight)
        delta = other.mean - self.mean
        between = np.einsum("k,ki,kj->kij", cross, delta, delta)
        mean = self.mean + share[:, None] * delta
        return FullMoments(weight, mean, self.scatter + other.scatter + between)

    def spread(self, positions: np.ndarray, n_classes: int) -> "FullMoments":
        """Return the same moments among `n_classes` classes, the others empty."""
        parts = (self.weight, self.mean, self.scatter)
        return FullMoments(*(spread_rows(part, positions, n_classes) for part in parts))


@dataclass(frozen=True)
class PooledMoments:
    """Mean per class and one scatter matrix, summed over the classes.

    Attributes
    ----------
    weight : ndarray of shape (n_classes,)
        Total weight of the rows.
    mean : ndarray of shape (n_classes, n_columns)
        Their weighted mean; 0 where there are none.
    scatter : ndarray of shape (n_columns, n_columns)
        Sum over the classes of the scatter around the class's own mean.
    """

    weight: np.ndarray
    mean: np.ndarray
    scatter: np.ndarray

    def __add__(self, other: Self) -> "PooledMoments":
        weight, share, cross = _shares(self.weight, other.weight)
        delta = other.mean - self.mean
        between = (delta * cross[:, None]).T @ delta
        mean = self.mean + share[:, None] * delta
        return PooledMoments(weight, mean, self.scatter + other.scatter + between)

    def spread(self, positions: np.ndarray, n_classes: int) -> "PooledMoments":
        """Return the same moments among `n_classes` classes, the others empty."""
        return PooledMoments(
            spread_rows(self.weight, positions, n_classes),
            spread_rows(self.mean, positions, n_classes),
            self.scatter,
        )


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
    weight, mean, scatter = column_moments(X, codes, weights, n_classes)
    if np.isnan(mean).any():
        return DiagonalMoments(*column_moments_present(X, codes, weights, n_classes))
    return DiagonalMoments(np.repeat(weight[:, None], X.shape[1], axis=1), mean, scatter)


def full_moments(
    X: np.ndarray, codes: np.ndarray, weights: np.ndarray | None, n_classes: int
) -> FullMoments:
    """Return the mean and scatter matrix of each class; arguments as in `diagonal_moments`."""
    deviations, ends, weight, mean = group_deviations(
        X, codes, _weights(weights, len(X)), n_classes
    )
    scatter = np.empty((n_classes, X.shape[1], X.shape[1]))
    start = 0
    for k, end in enumerate(ends):
        rows = deviations[start:end]
        scatter[k] = rows.T @ rows
        start = end
    return FullMoments(weight, mean, scatter)


def pooled_moments(
    X: np.ndarray, codes: np.ndarray, weights: np.ndarray | None, n_classes: int
) -> PooledMoments:
    """Return class means and the pooled scatter matrix; arguments as in `diagonal_moments`."""
    deviations, _, weight, mean = group_deviations(X, codes, _weights(weights, len(X)), n_classes)
    return PooledMoments(weight, mean, deviations.T @ deviations)


def _weights(weights: np.ndarray | None, n_rows: int) -> np.ndarray:
    return np.ones(n_rows) if weights is None else weights


def _shares(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the total, the second's share of it, and the weight of the difference of means."""
    total = first + second
    share = np.divide(second, total, out=np.zeros_like(total), where=total > 0)
    return total, share, first * share
