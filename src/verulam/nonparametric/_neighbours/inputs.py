"""Checks of what plain functions are given; learners have the protocol's own."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from verulam.base import DataError, encode_classes


def checked_rows(X: ArrayLike, name: str = "X", n_columns: int | None = None) -> np.ndarray:
    """Return a table of finite numbers with at least one row.

    Parameters
    ----------
    X
        One row per point.
    name
        What messages call it.
    n_columns
        Columns that it must have.
    """
    rows = check_array(X, dtype=np.float64, order="C", input_name=name)
    if n_columns is not None and rows.shape[1] != n_columns:
        raise DataError(f"{name} has {rows.shape[1]} columns, and {n_columns} are needed.")
    return rows


def checked_cases(X: ArrayLike, y: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, the class of each as a number from 0, and the sorted classes."""
    rows = checked_rows(X)
    codes, classes = encode_classes(None, y)
    if len(codes) != len(rows):
        raise DataError(f"y has {len(codes)} labels, but X has {len(rows)} rows.")
    return rows, codes.astype(np.int64), classes


def checked_targets(y: np.ndarray) -> np.ndarray:
    """Return a copy of targets whose squares can be summed."""
    targets = y.astype(np.float64)
    with np.errstate(over="ignore"):
        total = np.square(targets).sum()
    if not np.isfinite(total):
        raise DataError(
            f"y holds numbers as large as {np.abs(targets).max():.3g}, whose squares are beyond "
            "floating point; divide y by a constant."
        )
    return targets


def checked_column(values: ArrayLike, name: str = "values") -> np.ndarray:
    """Return one column of at least one finite number."""
    column = np.ascontiguousarray(values, dtype=np.float64)
    if column.ndim != 1 or not len(column):
        raise DataError(f"{name} must be one column of at least one number.")
    # A sum that is finite has finite entries only; it costs less than a mask of all entries.
    with np.errstate(over="ignore", invalid="ignore"):
        total = column.sum()
    if not np.isfinite(total) and not np.isfinite(column).all():
        raise DataError(f"{name} contains NaN or infinity.")
    return column


def checked_counts(weights: ArrayLike | None, n_rows: int, name: str = "weights") -> np.ndarray:
    """Return how often each row counts: once where nothing is said."""
    if weights is None:
        return np.ones(n_rows)
    counts = np.ascontiguousarray(weights, dtype=np.float64)
    if counts.shape != (n_rows,) or not np.isfinite(counts).all() or (counts < 0).any():
        raise DataError(f"{name} must be {n_rows} finite numbers of at least 0, one for each row.")
    if counts.sum() <= 0:
        raise DataError(f"{name}: all are zero; at least one must be above.")
    return counts


def check_at_least(value: Any, least: float, name: str) -> None:
    """Raise where a number is below the least that is accepted, or none at all."""
    if not value >= least:
        raise DataError(f"{name} must be at least {least}, not {value}.")
