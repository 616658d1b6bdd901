"""Distances between rows, or those that were given: checked, and of new rows to the known ones."""

from typing import Any

import numpy as np

from verulam.base import DataError, StrOptions, validate_data
from verulam.numerics import distances

#: What a `metric` may be: names of distances between rows, or that distances are given.
METRICS = StrOptions(
    {
        "euclidean",
        "sqeuclidean",
        "manhattan",
        "chebyshev",
        "hamming",
        "cosine",
        "precomputed",
    }
)
#: Entries of a distance matrix that differ from their mirror images by less, of the largest.
SYMMETRIC = 1e-8


def training_inputs(learner: Any, X: Any) -> np.ndarray:
    """Return the rows that a learner is fitted to, or the matrix of their distances."""
    inputs = validate_data(
        learner, X, dtype=np.float64, order="C", ensure_min_samples=2, any_size=False
    )
    return checked_distances(inputs) if learner.metric == "precomputed" else inputs


def training_distances(learner: Any, inputs: np.ndarray) -> np.ndarray:
    """Return the distances between all training rows."""
    if learner.metric == "precomputed":
        return inputs
    matrix = distances(inputs, inputs, learner.metric)
    if not np.isfinite(matrix).all():
        raise DataError(
            f"metric={learner.metric!r} gives missing or infinite distances between some rows; a "
            "row of zeros has no direction, for example."
        )
    # Rounding leaves some distances of a row to itself, as the cosine's.
    np.fill_diagonal(matrix, 0.0)
    return matrix


def new_distances(learner: Any, X: Any, training: np.ndarray) -> np.ndarray:
    """Return the distances of further rows to the training rows."""
    inputs = validate_data(learner, X, dtype=np.float64, order="C", reset=False)
    if learner.metric != "precomputed":
        return distances(inputs, training, learner.metric)
    if (inputs < 0.0).any():
        raise DataError("X holds distances to the training rows, and some are below zero.")
    return inputs


def checked_distances(matrix: np.ndarray) -> np.ndarray:
    """Return a matrix of distances, or raise with what makes it none."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise DataError(
            "metric='precomputed': X must be a square matrix of distances between all rows; got "
            f"shape {matrix.shape}."
        )
    if not np.isfinite(matrix).all():
        raise DataError("metric='precomputed': X has distances that are NaN or infinite.")
    largest = float(np.abs(matrix).max(initial=0.0))
    # What rounding leaves, as 1 - correlation does on the diagonal, is zero.
    small = np.abs(matrix) <= SYMMETRIC * largest
    matrix = np.where(small & ((matrix < 0.0) | np.eye(len(matrix), dtype=bool)), 0.0, matrix)
    if (matrix < 0.0).any():
        row, column = np.argwhere(matrix < 0.0)[0]
        raise DataError(
            f"metric='precomputed': the distance of rows {row} and {column} (counted from 0) is "
            f"{matrix[row, column]:.6g}; distances are not below zero."
        )
    if np.diag(matrix).any():
        row = int(np.flatnonzero(np.diag(matrix))[0])
        raise DataError(
            f"metric='precomputed': row {row} (counted from 0) is at distance "
            f"{matrix[row, row]:.6g} from itself; the diagonal must be zero. Similarities are no "
            "distances."
        )
    asymmetric = np.abs(matrix - matrix.T) > SYMMETRIC * largest
    if asymmetric.any():
        row, column = np.argwhere(asymmetric)[0]
        raise DataError(
            f"metric='precomputed': X is not symmetric: rows {row} and {column} (counted from 0) "
            f"have distances {matrix[row, column]:.6g} and {matrix[column, row]:.6g}."
        )
    return matrix


def refuse_coincidence(matrix: np.ndarray) -> None:
    """Raise where all rows are at the same place."""
    if not matrix.any():
        raise DataError("X does not vary: all distances are zero, and there is nothing to place.")
