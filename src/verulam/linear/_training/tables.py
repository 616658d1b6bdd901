"""Tables of numbers, dense or sparse: checks for functions, and Gram matrices."""

from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike

from verulam.base import DataError


def check_rows(X: Any, *, sparse: bool = False) -> Any:
    """Return a table of finite numbers, or raise `DataError`.

    Parameters
    ----------
    X
        What should be one.
    sparse
        Whether it may be sparse, and is then returned as CSR.
    """
    if is_sparse(X):
        if not sparse:
            raise DataError("X is compressed, which cannot be used here; give X.toarray().")
        rows: Any = X.tocsr()
    else:
        rows = as_numbers(X, "X")
    if rows.ndim != 2:
        raise DataError(f"X must be a table with one row for each instance; got {rows.shape}.")
    if not np.isfinite(rows.data if is_sparse(rows) else rows).all():
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
    numbers = as_numbers(margins, "margins")
    if numbers.shape != (n_rows,):
        raise DataError(
            f"margins must be {n_rows} positive numbers, one for each row; got the shape "
            f"{numbers.shape}."
        )
    wrong = np.flatnonzero(~((numbers > 0) & np.isfinite(numbers)))
    if len(wrong):
        raise DataError(
            f"margins must be positive numbers; got {numbers[wrong[0]]:.4g} at row {wrong[0]}."
        )
    return numbers


def as_numbers(values: Any, name: str) -> np.ndarray:
    """Return an array of numbers, or raise `DataError` where some are none."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{name} must have numbers only ({error}); put an encoder such as "
            "sklearn.preprocessing.OneHotEncoder in front of categories."
        ) from error


def weighted_gram(inputs: Any, weights: np.ndarray) -> np.ndarray:
    r"""Return the Gram matrix :math:`\sum_i v_i (1, x_i)(1, x_i)^T`; weights may be negative."""
    size = inputs.shape[1] + 1
    table = np.empty((size, size))
    table[0, 0] = weights.sum()
    table[0, 1:] = table[1:, 0] = weights @ inputs
    if is_sparse(inputs):
        table[1:, 1:] = (inputs.T @ (sp.diags_array(weights) @ inputs)).toarray()
    elif weights.min() >= 0:
        scaled = inputs * np.sqrt(weights)[:, None]
        # NumPy sees that both factors are the same, and computes half of the product only.
        table[1:, 1:] = scaled.T @ scaled
    else:
        table[1:, 1:] = inputs.T @ (inputs * weights[:, None])
    return table


def row_squares(inputs: Any) -> np.ndarray:
    r"""Return :math:`\|x_i\|^2` of each row."""
    if is_sparse(inputs):
        return np.asarray(inputs.multiply(inputs).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", inputs, inputs)


def is_sparse(table: Any) -> bool:
    """Whether a table leaves out its zeros."""
    # A plain bool, for type checkers narrow the class of their stubs to one without products.
    return bool(sp.issparse(table))
