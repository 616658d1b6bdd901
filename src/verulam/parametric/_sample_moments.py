"""Mean, covariance and correlation of a sample, with or without missing values."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from verulam.base import Chunk, DataError, OnePass, StrOptions, validate_data


@dataclass(frozen=True)
class PairSums:
    r"""Sums over the rows in which both columns of a pair are present.

    Numbers are taken relative to `origin`, a point among the data, so that a large mean does
    not swallow a small spread; adding records moves one to the other's origin.

    Attributes
    ----------
    origin : ndarray of shape (n_columns,)
        Subtracted from every row.
    weight : ndarray of shape (n_columns, n_columns)
        Total weight of the rows that have both columns.
    sums : ndarray of shape (n_columns, n_columns)
        Sum of the first column over those rows.
    squares : ndarray of shape (n_columns, n_columns)
        Sum of the first column's squares over those rows.
    products : ndarray of shape (n_columns, n_columns)
        Sum of the products.
    """

    origin: np.ndarray
    weight: np.ndarray
    sums: np.ndarray
    squares: np.ndarray
    products: np.ndarray

    def __add__(self, other: Self) -> "PairSums":
        # A column without values has no origin of its own.
        origin = np.where(np.diag(self.weight) > 0, self.origin, other.origin)
        mine, theirs = self.moved_to(origin), other.moved_to(origin)
        return PairSums(
            origin,
            mine.weight + theirs.weight,
            mine.sums + theirs.sums,
            mine.squares + theirs.squares,
            mine.products + theirs.products,
        )

    def moved_to(self, origin: np.ndarray) -> "PairSums":
        """Return the same sums relative to another origin."""
        shift = self.origin - origin
        products = (
            self.products
            + shift[:, None] * self.sums.T
            + self.sums * shift[None, :]
            + np.outer(shift, shift) * self.weight
        )
        shift = shift[:, None]
        squares = self.squares + 2.0 * shift * self.sums + shift**2 * self.weight
        return PairSums(origin, self.weight, self.sums + shift * self.weight, squares, products)


@dataclass(frozen=True)
class Moments:
    """The fitted parameters, named as the attributes of the estimator."""

    mean: np.ndarray
    covariance: np.ndarray
    correlation: np.ndarray
    weight: np.ndarray


def pair_sums(X: np.ndarray, weights: np.ndarray | None) -> PairSums:
    """Return the sums of one chunk, in which NaN marks what is missing."""
    present = ~np.isnan(X)
    counts = present.sum(axis=0)
    # Around their mean numbers do not cancel when squares are subtracted.
    origin = np.where(present, X, 0.0).sum(axis=0) / np.maximum(counts, 1)
    values = np.where(present, X - origin, 0.0)
    presence = present.astype(np.float64)
    weighted_presence = presence if weights is None else presence * weights[:, None]
    weighted_values = values if weights is None else values * weights[:, None]
    return PairSums(
        origin,
        weighted_presence.T @ presence,
        weighted_values.T @ presence,
        (weighted_values * values).T @ presence,
        weighted_values.T @ values,
    )


class SampleMoments(OnePass, BaseEstimator):
    r"""Estimate the mean vector, the covariance matrix and the correlations of a sample.

    Parameters
    ----------
    missing
        What to do with rows that have missing values: "pairwise" uses for each pair of columns
        the rows that have both, "complete" uses only rows without gaps, "error" refuses them.
    unbiased
        Divide by :math:`N - 1` instead of the maximum likelihood's :math:`N`.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features,)
        Mean of each column over the values that are present.
    covariance_ : ndarray of shape (n_features, n_features)
        Covariances; NaN where no row has both columns.
    correlation_ : ndarray of shape (n_features, n_features)
        Correlations over the same rows as the covariances; NaN for a constant column.
    weight_ : ndarray of shape (n_features, n_features)
        Total weight of the rows behind each covariance.
    statistics_ : PairSums
        Sums over the training data, to which `partial_fit` adds.

    Notes
    -----
    .. math:: s_{ij} = \frac1N \sum_t (x_i^t - m_i)(x_j^t - m_j), \qquad
              r_{ij} = \frac{s_{ij}}{s_i s_j}

    A pairwise matrix need not be positive semidefinite; where a Gaussian is fitted to gaps,
    `IncompleteGaussianDensity` is the better estimate. See SIT1305 II.

    Examples
    --------
    >>> from verulam.parametric import SampleMoments
    >>> moments = SampleMoments().fit([[1.0, 2.0], [2.0, 4.0], [3.0, float("nan")]])
    >>> moments.mean_
    array([2., 3.])
    >>> moments.correlation_.round(3)
    array([[1., 1.],
           [1., 1.]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "missing": [StrOptions({"pairwise", "complete", "error"})],
        "unbiased": ["boolean"],
    }
    _skipped_checks: ClassVar[dict[str, str]] = {}

    def __init__(self, *, missing: str = "pairwise", unbiased: bool = False) -> None:
        self.missing = missing
        self.unbiased = unbiased

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        return tags

    def _check_inputs(self, X: Any, reset: bool) -> np.ndarray:
        allowed: Any = True if self.missing == "error" else "allow-nan"
        return validate_data(
            self, X, reset=reset, dtype=np.float64, order="C", ensure_all_finite=allowed
        )

    def _statistics(self, chunk: Chunk, parameters: None) -> PairSums:
        inputs, weights = chunk.inputs, chunk.weights
        if self.missing == "complete":
            complete = ~np.isnan(inputs).any(axis=1)
            inputs = inputs[complete]
            weights = None if weights is None else weights[complete]
        return pair_sums(inputs, weights)

    def _update(self, statistics: PairSums) -> Moments:
        weight = statistics.weight
        if self.missing == "complete" and not weight.any():
            raise DataError("No row has all values present; use missing='pairwise'.")
        with np.errstate(invalid="ignore", divide="ignore"):
            means = statistics.sums / weight
            scatter = statistics.products - weight * means * means.T
            divisor = weight - (1.0 if self.unbiased else 0.0)
            covariance = np.where(divisor > 1e-9, scatter / divisor, np.nan)
            # Over the rows of the pair, not of the column: only then is a correlation at most one.
            squares = np.clip(statistics.squares - weight * means**2, 0.0, None)
            correlation = scatter / np.sqrt(squares * squares.T)
        np.clip(correlation, -1.0, 1.0, out=correlation)
        return Moments(
            mean=statistics.origin + np.diag(means),
            covariance=covariance,
            correlation=correlation,
            weight=weight,
        )
