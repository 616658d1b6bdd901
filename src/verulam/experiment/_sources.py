"""Where the data of a comparison comes from: a name, a file, a table or a data set."""

from dataclasses import replace
from pathlib import Path

import pandas as pd

from verulam.base import DataError, UnknownNameError
from verulam.data import Dataset, dataset, read


def open_data(
    data: str | Path | pd.DataFrame | Dataset,
    *,
    target: str | None = None,
    drop_missing_target: bool = False,
) -> Dataset:
    """Return the data set behind whatever the caller has.

    Parameters
    ----------
    data
        A data set, a DataFrame, the name of a bundled data set, or the path of a file.
    target
        The column to predict, where it is not the data set's own.
    drop_missing_target
        Leave out the rows whose target is missing, instead of refusing them.

    Examples
    --------
    >>> open_data("iris").n_rows
    150
    """
    if isinstance(data, Dataset):
        return _for_target(data, target, drop_missing=drop_missing_target)
    if isinstance(data, pd.DataFrame) or _is_path(data):
        return read(data, target=target, drop_missing_target=drop_missing_target)
    try:
        found = dataset(str(data))
    except UnknownNameError as error:
        raise UnknownNameError(f"{error} No file has that name either.") from None
    return _for_target(found, target, drop_missing=drop_missing_target)


def with_target(data: Dataset) -> Dataset:
    """Return the data set, or say that a target has to be chosen."""
    if data.target is None:
        raise DataError(
            f"Data set {data.name!r} has no target; pass target=, the column to predict. "
            f"Its columns: {', '.join(data.table.columns)}."
        )
    return data


def _for_target(data: Dataset, target: str | None, *, drop_missing: bool) -> Dataset:
    if target is None:
        return data
    if drop_missing and target in data.table and data.table[target].isna().any():
        complete = data.table[data.table[target].notna()]
        dropped = data.dropped_rows + len(data.table) - len(complete)
        data = replace(data.with_table(complete), dropped_rows=dropped)
    return data.with_target(target)


def _is_path(data: str | Path) -> bool:
    # A dot or a slash means a file, so that a mistyped path is not searched among the names.
    return isinstance(data, Path) or Path(data).exists() or any(sign in data for sign in "./\\")
