"""Checks that scikit-learn leaves to the learner: dates, words, huge numbers, gaps in labels."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.utils.validation import validate_data as _validate_data

from verulam.base._errors import DataError

#: Squares of larger numbers, summed over many rows, leave the range of float64.
LARGEST_INPUT = 1e150


def validate_data(
    estimator: Any,
    /,
    X: Any = "no_validation",
    y: Any = "no_validation",
    *,
    any_size: bool = False,
    **options: Any,
) -> Any:
    """Validate inputs and targets as scikit-learn does, and name what no formula can use.

    Columns of words or dates, numbers whose squares overflow and missing labels are refused with
    the column or row and the remedy; `any_size` lets huge numbers pass where only their order
    counts. Other options are those of `sklearn.utils.validation.validate_data`.
    """
    wants_numbers = options.get("dtype", "numeric") is not None
    if isinstance(X, pd.DataFrame):
        refuse_duplicate_names(X.columns)
    if not options.get("skip_check_array", False):
        if wants_numbers and isinstance(X, pd.DataFrame):
            for name in X.columns:
                _refuse_unusable(name, X[name])
        if y is not None and not isinstance(y, str):
            refuse_missing_labels(y)
    checked = _validate_data(estimator, X=X, y=y, **options)
    if wants_numbers and not (any_size or options.get("skip_check_array", False)):
        refuse_huge_numbers(checked[0] if isinstance(checked, tuple) else checked)
    return checked


def refuse_duplicate_names(names: Iterable[Any]) -> None:
    """Raise where two columns have the same name.

    Examples
    --------
    >>> refuse_duplicate_names(["size", "colour", "size"])
    Traceback (most recent call last):
        ...
    verulam.base.DataError: Duplicate column names: size. Each must be unique.
    """
    repeated = [str(name) for name, count in Counter(names).items() if count > 1]
    if repeated:
        more = f" and {len(repeated) - 5} more" if len(repeated) > 5 else ""
        raise DataError(
            f"Duplicate column names: {', '.join(repeated[:5])}{more}. Each must be unique."
        )


def refuse_huge_numbers(inputs: Any) -> None:
    """Raise where an input is so large that its square may be infinite."""
    values: Any = getattr(inputs, "data", inputs) if scipy.sparse.issparse(inputs) else inputs
    if not isinstance(values, np.ndarray) or values.dtype.kind != "f" or not values.size:
        return
    # One pass without temporary arrays: where this sum is finite, so is every square.
    flat = values.ravel(order="K")
    with np.errstate(over="ignore", invalid="ignore"):
        # Not by BLAS, whose threads would go on spinning while the learner's own begin.
        total = np.einsum("i,i->", flat, flat)
    if np.isfinite(total):
        return
    # Missing values and infinite ones, where they are allowed, end here too.
    sizes = np.where(np.isfinite(values), np.abs(values), 0.0)
    if sizes.max() > LARGEST_INPUT:
        place = np.unravel_index(int(sizes.argmax()), sizes.shape)
        where = f" in column {place[1]} (counted from 0)" if sizes.ndim == 2 else ""
        raise DataError(
            f"X holds numbers as large as {sizes.max():.3g}{where}, whose squares are beyond "
            "floating point; divide the column by a constant, or put "
            "sklearn.preprocessing.MaxAbsScaler in front."
        )


def refuse_missing_labels(y: Any) -> None:
    """Raise where an array of Python objects, such as strings, has gaps."""
    labels = y.to_numpy() if isinstance(y, pd.Series) else np.asarray(y)
    if labels.dtype != object or labels.ndim != 1:
        return
    missing = np.flatnonzero(pd.isna(labels))
    if len(missing):
        shown = ", ".join(map(str, missing[:5])) + (", ..." if len(missing) > 5 else "")
        raise DataError(
            f"Input y contains NaN: the label is missing in {len(missing)} of {len(labels)} rows "
            f"({shown}, counted from 0); leave those rows out."
        )


def refuse_dates(name: Any, column: pd.Series) -> None:
    """Raise where a column of a table holds points or spans of time."""
    if column.dtype.kind in "mM" or isinstance(column.dtype, pd.DatetimeTZDtype):
        raise DataError(f"Column {name!r} holds dates; derive numbers from it, such as a year.")


def _refuse_unusable(name: Any, column: pd.Series) -> None:
    """Raise where a column of a table holds dates or words, which scikit-learn does not name."""
    dtype = column.dtype
    if pd.api.types.is_numeric_dtype(dtype) or column.isna().all():
        return
    refuse_dates(name, column)
    values = dtype.categories if isinstance(dtype, pd.CategoricalDtype) else column.dropna()
    if not any(isinstance(value, str) and not _reads_as_number(value) for value in values):
        return
    example = next(value for value in values if isinstance(value, str))
    raise DataError(
        f"Column {name!r} holds words, such as {example[:40]!r}, and this learner uses numbers "
        "alone; put an encoder such as sklearn.preprocessing.OneHotEncoder in front."
    )


def _reads_as_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
