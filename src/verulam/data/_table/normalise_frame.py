"""From whatever table the caller has to the form that a data set keeps."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from verulam.base import DataError, nearest_names, refuse_duplicate_names
from verulam.data._table.columns import as_category, kind_of, normalised
from verulam.data._table.written_values import Reading

Task = Literal["classification", "regression"]

#: An integer target with at most this many distinct values holds class numbers.
MAX_INTEGER_CLASSES = 20


def as_pandas(table: Any) -> pd.DataFrame | None:
    """Return a table of Arrow, polars or any library that speaks Arrow; None for other things.

    Parameters
    ----------
    table
        Anything.

    Examples
    --------
    >>> import pyarrow
    >>> as_pandas(pyarrow.table({"a": [1, 2]})).shape
    (2, 1)
    """
    if isinstance(table, pd.DataFrame):
        return table
    # A lazy table of polars is one as soon as it is collected.
    if hasattr(table, "collect") and hasattr(table, "collect_schema"):
        table = table.collect()
    if not hasattr(table, "__arrow_c_stream__"):
        return None
    import pyarrow as pa

    try:
        return pa.table(table).to_pandas()
    except pa.ArrowInvalid:
        raise DataError(f"{type(table).__name__} is no table; pass one with columns.") from None


def normalised_frame(
    frame: Any,
    named: Mapping[str, Sequence[str]],
    levels: Mapping[str, Sequence[Any]],
) -> tuple[pd.DataFrame, dict[str, Reading]]:
    """Return a copy of `frame` with every column in the form of its kind, and how it was read.

    Parameters
    ----------
    frame
        The caller's table.
    named
        Argument to the columns that it names; all of them must exist.
    levels
        Column to ordered levels.
    """
    frame = _checked_frame(frame)
    for argument, names in named.items():
        for name in names:
            if name not in frame.columns:
                raise missing_column(argument, name, list(frame.columns))
    special = {*levels, *named["categorical"], *named["text"]}
    # Plain numbers stay as they are: column by column takes long in a wide table.
    table, readings, dtypes = frame.copy(), dict[str, Reading](), list(frame.dtypes)
    for place, name in enumerate(frame.columns):
        if name not in special and _is_plain_number(dtypes[place]):
            continue
        column = frame[name]
        if name in levels:
            values = as_category(column, levels[name], ordered=True)
        elif name in named["categorical"]:
            values = as_category(column)
        elif name in named["text"]:
            values = column.map(str, na_action="ignore")
        else:
            reading = normalised(column)
            values = reading.values
            if reading.note:
                readings[name] = reading
        table.isetitem(place, values.array)
    readings |= _perhaps_thousands(frame, readings)
    return table, readings


def _perhaps_thousands(frame: pd.DataFrame, readings: Mapping[str, Reading]) -> dict[str, Reading]:
    """Return a remark on numbers that may have been 1.234 for 1234, since others have a comma."""
    if not any(reading.form.startswith(",") for reading in readings.values()):
        return {}
    remarks = {}
    for name, column in frame.select_dtypes("float").items():
        values = column.to_numpy(np.float64, na_value=np.nan)
        thousandths = 1000 * values[np.isfinite(values)]
        whole = np.round(thousandths)
        if np.allclose(thousandths, whole, rtol=1e-12, atol=1e-6) and (whole % 10 != 0).any():
            note = (
                "its points were read as decimal points, though other columns have decimal commas"
            )
            remarks[str(name)] = Reading(column, note)
    return remarks


def _is_plain_number(dtype: Any) -> bool:
    """Tell whether a column of that type is kept as it is."""
    return (
        isinstance(dtype, np.dtype)
        and dtype.kind in "iuf"
        and dtype.itemsize <= 8
        and dtype.isnative
    )


def task_of(target: pd.Series) -> Task:
    """Return the task that a column stands for: few integers and all labels are classes."""
    kind = kind_of(target)
    if kind == "date":
        raise DataError(
            f"Column {target.name!r} holds dates; a target is a number or a label. "
            "Convert it, for instance to a number of days."
        )
    if kind != "numeric":
        return "classification"
    if not pd.api.types.is_integer_dtype(target.dtype):
        return "regression"
    n_distinct = target.nunique()
    few = n_distinct <= min(MAX_INTEGER_CLASSES, max(2, len(target) // 2))
    return "classification" if few else "regression"


def complete_target(table: pd.DataFrame, target: str, *, drop_missing: bool) -> pd.DataFrame:
    """Return the rows whose target is known; refuse missing ones unless they may be dropped."""
    missing = np.flatnonzero(table[target].isna())
    if not len(missing):
        return table
    if not drop_missing:
        raise missing_target(target, missing)
    if len(missing) == len(table):
        raise DataError(f"Target {target!r} is missing in every row.")
    table = table[table[target].notna()].reset_index(drop=True)
    return table.assign(**{target: _whole_numbers(table[target])})


def typed_target(table: pd.DataFrame, target: str, task: Task) -> pd.DataFrame:
    """Return the table with the target as a category for classes, else as numbers."""
    column = table[target]
    if task == "classification":
        is_category = isinstance(column.dtype, pd.CategoricalDtype)
        return table if is_category else table.assign(**{target: as_category(column)})
    if task != "regression":
        raise ValueError(f"task={task!r}; accepted are 'classification' and 'regression'.")
    if kind_of(column) not in {"numeric", "boolean"}:
        raise DataError(
            f"Target {target!r} is {kind_of(column)}, and a regression target is numeric. "
            "Convert it to numbers or pass task='classification'."
        )
    return table.assign(**{target: column.astype("float64")})


def missing_target(target: str, rows: Sequence[int] | np.ndarray) -> DataError:
    """Return the error for a target with missing values in those rows."""
    shown = ", ".join(str(row) for row in rows[:5]) + (", ..." if len(rows) > 5 else "")
    count = "1 row" if len(rows) == 1 else f"{len(rows)} rows"
    return DataError(
        f"Target {target!r} is missing in {count}: {shown} (counted from 0). "
        "Fill them in, or drop those rows: drop_missing_target=True in Python and as a key of the "
        "data in a study file, --drop-missing-target for a command."
    )


def missing_column(argument: str, column: str, known: Sequence[str]) -> DataError:
    """Return the error for an argument that names a column which is not there."""
    shown = ", ".join(known[:20]) + (f", ... ({len(known)} in all)" if len(known) > 20 else "")
    nearest = ", ".join(nearest_names(str(column), known))
    return DataError(
        f"{argument}: no column {column!r}. Nearest: {nearest}. The columns are: {shown}."
    )


def arrays_to_frame(
    X: ArrayLike, y: ArrayLike | None, feature_names: Sequence[str] | None, target_name: str
) -> pd.DataFrame:
    """Return inputs and target side by side."""
    values = np.asarray(X)
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2:
        raise DataError(f"X has {values.ndim} dimensions; a table has 2.")
    n_rows, n_columns = values.shape
    names = feature_names or [f"x{number + 1}" for number in range(n_columns)]
    if len(names) != n_columns:
        raise DataError(f"feature_names has {len(names)} names for {n_columns} columns of X.")
    frame = pd.DataFrame(values, columns=list(names))
    if y is None:
        return frame
    targets = np.asarray(y)
    if targets.shape != (n_rows,):
        raise DataError(
            f"y has shape {targets.shape}; expected ({n_rows},), one target per row of X."
        )
    if target_name in frame.columns:
        raise DataError(f"target_name={target_name!r} is the name of an input; choose another.")
    frame[target_name] = targets
    return frame


def _checked_frame(source: Any) -> pd.DataFrame:
    """Return the frame with string names and a plain index, or say why that cannot be."""
    frame = as_pandas(source)
    if frame is None:
        raise TypeError(
            f"Expected a DataFrame of pandas, polars or Arrow, got {type(source).__name__}."
        )
    if isinstance(frame.columns, pd.MultiIndex):
        raise DataError("The columns have several levels of names; join them into one first.")
    names = [str(name) for name in frame.columns]
    refuse_duplicate_names(names)
    if not names:
        raise DataError("The table has no columns.")
    if frame.empty:
        raise DataError(f"The table has no rows, only the columns {', '.join(names)}.")
    return frame.set_axis(names, axis=1).reset_index(drop=True)


def _whole_numbers(column: pd.Series) -> pd.Series:
    """Return integers that pandas had to store as floats next to missing values."""
    if pd.api.types.is_float_dtype(column.dtype) and (column == column.round()).all():
        return column.astype("int64")
    return column
