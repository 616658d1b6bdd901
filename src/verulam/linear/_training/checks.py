"""Checks of what functions are given; learners have scikit-learn's."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from verulam.base import DataError
from verulam.linear._training.column_products import is_compressed


def check_rows(X: Any, *, sparse: bool = False) -> Any:
    """Return a table of finite numbers, or raise `DataError`.

    Parameters
    ----------
    X
        What should be one.
    sparse
        Whether it may be compressed, and is then returned as CSR.
    """
    if is_compressed(X):
        if not sparse:
            raise DataError("X is compressed, which cannot be used here; give X.toarray().")
        rows: Any = X.tocsr()
    else:
        rows = as_numbers(X, "X")
    if rows.ndim != 2:
        raise DataError(f"X must be a table with one row for each instance; got {rows.shape}.")
    if not np.isfinite(rows.data if is_compressed(rows) else rows).all():
        raise DataError("X has missing or infinite values; fill or drop them first.")
    return rows


def check_labels(y: ArrayLike, n_rows: int) -> np.ndarray:
    """Return one label for each row, none of them missing, or raise `DataError`."""
    labels = np.asarray(y)
    if labels.shape != (n_rows,):
        raise DataError(f"y must have {n_rows} entries, one for each row of X; got {labels.shape}.")
    missing = np.asarray(pd.isna(labels))
    if missing.any():
        raise DataError(
            f"the label is missing in {missing.sum()} of {n_rows} rows; leave those rows out."
        )
    return labels


def check_margins(margins: ArrayLike, n_rows: int) -> np.ndarray:
    """Return one positive number for each row, or raise `DataError`."""
    chosen = as_numbers(margins, "margins")
    if chosen.shape != (n_rows,):
        raise DataError(
            f"margins must be {n_rows} positive numbers, one for each row; got the shape "
            f"{chosen.shape}."
        )
    wrong = np.flatnonzero(~((chosen > 0) & np.isfinite(chosen)))
    if len(wrong):
        raise DataError(
            f"margins must be positive numbers; got {chosen[wrong[0]]:.4g} at row {wrong[0]}."
        )
    return chosen


def as_numbers(values: Any, name: str) -> np.ndarray:
    """Return an array of numbers, or raise `DataError` where some are none."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{name} must have numbers only ({error}); put an encoder such as "
            "sklearn.preprocessing.OneHotEncoder in front of categories."
        ) from error
