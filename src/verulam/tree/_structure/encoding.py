"""Encoding of tables of mixed columns as the one float64 matrix that trees work on."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from verulam.base import (
    DataError,
    TableSchema,
    as_frame,
    check_same_kinds,
    encode_table,
    read_schema,
    validate_data,
)


def read_rows(learner: Any, X: Any) -> tuple[TableSchema, NDArray[np.float64]]:
    """Return the schema of a training table and its encoded rows.

    Categories become their codes in the schema, missing entries NaN. A table of numbers is
    not copied.
    """
    if not _is_mixed(X):
        numbers = validate_data(
            learner,
            X,
            reset=True,
            dtype=np.float64,
            order="C",
            ensure_all_finite="allow-nan",
            any_size=True,
        )
        names = tuple(X.columns) if isinstance(X, pd.DataFrame) else tuple(range(numbers.shape[1]))
        return TableSchema(names, (None,) * len(names)), _writable(numbers)
    frame = as_frame(X)
    validate_data(learner, frame, reset=True, skip_check_array=True)
    _refuse_empty(frame)
    schema = read_schema(frame)
    return schema, _as_matrix(frame, schema, "error")


def encode_rows(
    learner: Any, X: Any, schema: TableSchema, *, unseen: str = "error"
) -> NDArray[np.float64]:
    """Return rows to predict, encoded by the schema found in training.

    Parameters
    ----------
    learner
        Fitted learner, which knows the number and names of its columns.
    X
        A table.
    schema
        Columns and categories found in training.
    unseen
        What to do with a category that was not there: "error", or "missing".
    """
    if not schema.categorical and not _is_mixed(X):
        numbers = validate_data(
            learner,
            X,
            reset=False,
            dtype=np.float64,
            order="C",
            ensure_all_finite="allow-nan",
            any_size=True,
        )
        return _writable(numbers)
    frame = as_frame(X)
    validate_data(learner, X, reset=False, skip_check_array=True)
    _refuse_empty(frame)
    # Names were compared above, where both have them; from here on positions count.
    frame = frame.set_axis(list(schema.names), axis=1)
    check_same_kinds(schema, frame)
    return _as_matrix(frame, schema, unseen)


def category_counts(schema: TableSchema) -> NDArray[np.int32]:
    """Return the number of categories of each column; 0 for numeric ones."""
    counts = [0 if known is None else len(known) for known in schema.categories]
    return np.array(counts, dtype=np.int32)


def _as_matrix(frame: pd.DataFrame, schema: TableSchema, unseen: str) -> NDArray[np.float64]:
    advice = ' unseen="missing" takes it for missing.'
    table = encode_table(frame, schema, unseen=unseen, advice=advice)
    matrix = np.empty(table.shape)
    kinds = np.array([known is None for known in schema.categories], dtype=bool)
    matrix[:, kinds] = table.numbers
    matrix[:, ~kinds] = np.where(table.codes < 0, np.nan, table.codes)
    return matrix


def _writable(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the numbers, copied if they are read-only: loops are compiled for either kind anew."""
    return np.require(numbers, requirements=["C", "W"])


def _is_mixed(X: Any) -> bool:
    """Tell whether a table has columns that are not plain numbers."""
    return isinstance(X, pd.DataFrame) and not all(
        isinstance(dtype, np.dtype) and dtype.kind in "iuf" for dtype in X.dtypes
    )


def _refuse_empty(frame: pd.DataFrame) -> None:
    if len(frame) == 0:
        raise DataError("Found array with 0 sample(s): X has no rows.")
