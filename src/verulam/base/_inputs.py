"""Checks that scikit-learn leaves to the learner: dates, words, huge numbers, gaps in labels."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.utils.validation import validate_data as _validate_data

from verulam.base._errors import DataError

#: Options of `validate_data` under which a plain array may need nothing done to it.
_PLAIN_OPTIONS = frozenset(
    {
        "accept_sparse",
        "dtype",
        "ensure_all_finite",
        "ensure_min_features",
        "ensure_min_samples",
        "order",
        "reset",
        "y_numeric",
    }
)
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
    # For small data the general checks would take longer than most learners do.
    if (
        _is_plain(X, options)
        and (isinstance(y, str) or _is_plain_target(y, len(X)))
        and _fits_names(estimator, X, reset=options.get("reset", True))
    ):
        return X if isinstance(y, str) else (X, y)
    wants_numbers = options.get("dtype", "numeric") is not None
    if isinstance(X, pd.DataFrame):
        refuse_duplicate_names(X.columns)
    if not options.get("skip_check_array", False):
        if wants_numbers and isinstance(X, pd.DataFrame):
            for name in X.columns:
                _refuse_unusable(name, X[name])
        if y is not None and not isinstance(y, str):
            refuse_missing_labels(y)
    try:
        checked = _validate_data(estimator, X=X, y=y, **options)
    except ValueError as error:
        if str(error).startswith("Input X contains NaN"):
            raise _missing_values(estimator, X) from None
        raise
    if wants_numbers and not (any_size or options.get("skip_check_array", False)):
        refuse_huge_numbers(checked[0] if isinstance(checked, tuple) else checked, estimator)
    return checked


def _missing_values(estimator: Any, X: Any) -> DataError:
    """Return the error that says where the first gap is, and what to do about it."""
    gaps = pd.DataFrame(getattr(X, "toarray", lambda: X)()).isna().to_numpy()
    where = ""
    if gaps.any():  # not where a gap is the word "nan"
        row, column = np.argwhere(gaps)[0]
        name = repr(X.columns[column]) if isinstance(X, pd.DataFrame) else column
        where = f", first in row {row} of column {name} (counted from 0)"
    return DataError(
        f"Input X contains NaN{where}; {type(estimator).__name__} takes no missing values: fill "
        "them, for example with sklearn.impute.SimpleImputer in front, or leave those rows out."
    )


def _is_plain(X: Any, options: dict[str, Any]) -> bool:
    """Tell whether no check can object to inputs or change them; where in doubt, say no."""
    return (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and _PLAIN_OPTIONS.issuperset(options)
        and _is_double(options.get("dtype", "numeric"))
        and len(X) >= max(1, options.get("ensure_min_samples", 1))
        and X.shape[1] >= max(1, options.get("ensure_min_features", 1))
        and (X.flags.c_contiguous or (options.get("order") is None and X.flags.f_contiguous))
        and _has_finite_squares(X)
    )


def _is_double(dtype: Any) -> bool:
    if isinstance(dtype, list | tuple):
        return any(_is_double(item) for item in dtype)
    return isinstance(dtype, str | type) and dtype in ("numeric", "float64", float, np.float64)


def _is_plain_target(y: Any, n_rows: int) -> bool:
    return (
        type(y) is np.ndarray
        and y.shape == (n_rows,)
        and y.flags.c_contiguous
        and (y.dtype.kind in "iubUS" or (y.dtype == np.float64 and bool(np.isfinite(y).all())))
    )


def _fits_names(estimator: Any, X: np.ndarray, *, reset: bool) -> bool:
    """Note the number of columns in training, or compare it later; False where names matter."""
    attributes = vars(estimator)
    if reset:
        attributes.pop("feature_names_in_", None)
        estimator.n_features_in_ = X.shape[1]
        return True
    return (
        not hasattr(estimator, "feature_names_in_")
        and attributes.get("n_features_in_") == X.shape[1]
    )


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


def columns_text(learner: Any, places: Any) -> str:
    """Return how messages call some columns: by the names that a learner knows, or by position.

    Examples
    --------
    >>> columns_text(None, [0, 3])
    'columns 0, 3 (counted from 0)'
    """
    names = getattr(learner, "feature_names_in_", None)
    shown = ", ".join(str(place) if names is None else repr(names[place]) for place in places[:5])
    more = f" and {len(places) - 5} more" if len(places) > 5 else ""
    counted = " (counted from 0)" if names is None else ""
    return f"column{'s' if len(places) > 1 else ''} {shown}{more}{counted}"


def refuse_huge_numbers(inputs: Any, learner: Any = None) -> None:
    """Raise where an input is so large that its square may be infinite."""
    values: Any = getattr(inputs, "data", inputs) if scipy.sparse.issparse(inputs) else inputs
    if not isinstance(values, np.ndarray) or values.dtype.kind != "f" or not values.size:
        return
    if _has_finite_squares(values):
        return
    # Missing values and infinite ones, where they are allowed, end here too.
    sizes = np.where(np.isfinite(values), np.abs(values), 0.0)
    # A number that single precision does not reach is compared as one of double precision.
    if float(sizes.max()) > LARGEST_INPUT:
        place = np.unravel_index(int(sizes.argmax()), sizes.shape)
        where = f" in {columns_text(learner, place[1:])}" if sizes.ndim == 2 else ""
        raise DataError(
            f"X holds numbers as large as {sizes.max():.3g}{where}, whose squares are beyond "
            "floating point; divide the column by a constant, or put "
            "sklearn.preprocessing.MaxAbsScaler in front."
        )


def _has_finite_squares(values: np.ndarray) -> bool:
    # One pass without temporary arrays: where this sum is finite, so is every square.
    flat = values.ravel(order="K")
    with np.errstate(over="ignore", invalid="ignore"):
        # Not by BLAS, whose threads would go on spinning while the learner's own begin.
        return bool(np.isfinite(np.einsum("i,i->", flat, flat)))


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
