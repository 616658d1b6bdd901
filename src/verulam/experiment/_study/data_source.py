"""Where the data of a study come from: a name, a file, a table or a data set."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from verulam.base import DataError, UnknownNameError, unknown_name
from verulam.data import Dataset, as_pandas, dataset, read
from verulam.experiment._study.target_checks import target_problem
from verulam.experiment._text import counted

if TYPE_CHECKING:
    from verulam.experiment._study.choices import DataChoice


def open_data(
    data: str | Path | pd.DataFrame | Dataset,
    *,
    target: str | None = None,
    drop_missing_target: bool = False,
    leave_out: Sequence[str] = (),
    categorical: Sequence[str] = (),
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
    leave_out
        Columns that are no inputs, such as the number of a customer.
    categorical
        Columns of numbers that are codes.

    Examples
    --------
    >>> open_data("iris").n_rows
    150
    """
    if not isinstance(data, str | Path | Dataset):
        frame = as_pandas(data)
        if frame is None:
            raise DataError(f"data: {_type_problem(data)}")
        data = frame
    opened = _opened(data, None if categorical else target, drop_missing=drop_missing_target)
    if categorical:
        opened = _for_target(
            _with_codes(opened, categorical), target, drop_missing=drop_missing_target
        )
    return _without_columns(opened, leave_out)


def _opened(
    data: str | Path | pd.DataFrame | Dataset, target: str | None, *, drop_missing: bool
) -> Dataset:
    if isinstance(data, Dataset):
        return _for_target(data, target, drop_missing=drop_missing)
    if isinstance(data, pd.DataFrame) or _is_path(data):
        return read(data, target=target, drop_missing_target=drop_missing)
    try:
        bundled = dataset(str(data))
    except UnknownNameError as error:
        raise UnknownNameError(f"{error} No file has that name either.") from None
    return _for_target(bundled, target, drop_missing=drop_missing)


def _type_problem(data: Any) -> str:
    """Return what to do about data of a type that is not accepted."""
    words = f"got {type(data).__name__}; expected a name, a file, a DataFrame or a Dataset."
    if isinstance(data, list | tuple) and data and all(isinstance(source, str) for source in data):
        return f"{words} For several data sets, make a Study and carry it out with run."
    if isinstance(data, np.ndarray | list | tuple):
        return (
            f"{words} Make a data set of arrays with verulam.data.Dataset.from_arrays(X, y), or "
            "put them into a DataFrame and name the target."
        )
    return words


def _with_codes(data: Dataset, categorical: Sequence[str]) -> Dataset:
    """Return the data set with some columns as categories, the target among them as classes."""
    for name in categorical:
        if name not in data.table:
            problem = unknown_name("column", name, data.table.columns)
            raise UnknownNameError(f"categorical: {problem}")
    coded = data.table.assign(**{name: data.table[name].astype("category") for name in categorical})
    if data.target in categorical:
        return data.with_target(None).with_table(coded).with_target(data.target)
    return data.with_table(coded)


def _without_columns(data: Dataset, leave_out: Sequence[str]) -> Dataset:
    """Return the data set with some columns that are no inputs."""
    for name in leave_out:
        if name not in data.table:
            raise UnknownNameError(f"leave_out: {unknown_name('column', name, data.table.columns)}")
        if name == data.target:
            raise DataError(f"leave_out: {name!r} is the target.")
    return data.with_roles(dict.fromkeys(leave_out, "ignored")) if leave_out else data


def open_choice(choice: "DataChoice") -> Dataset:
    """Return the data set of a study; where its target is incomplete, say all that is wrong.

    Parameters
    ----------
    choice
        The data set as the study has it.
    """
    if choice.outputs:
        return _with_outputs(choice)
    opened = partial(
        open_data,
        choice.source,
        target=choice.target,
        leave_out=choice.leave_out,
        categorical=choice.categorical,
    )
    if choice.drop_missing_target:
        return opened(drop_missing_target=True)
    try:
        return opened()
    except DataError as error:
        try:
            complete = opened(drop_missing_target=True)
        except DataError:
            raise error from None
        # Only the gaps stood in the way so far; what comes next is said now.
        problem = target_problem(complete) if choice.rare == "keep" else ""
        raise DataError(f"{error} {problem}".strip()) from None


def _with_outputs(choice: "DataChoice") -> Dataset:
    """Return the data set of several columns to predict, the others of which are no inputs."""
    data = open_data(choice.source, leave_out=choice.leave_out, categorical=choice.categorical)
    table, names = data.table, list(choice.outputs)
    for name in names:
        if name not in table:
            raise UnknownNameError(f"target: {unknown_name('column', name, table.columns)}")
        column = table[name]
        if name in choice.leave_out:
            raise DataError(f"leave_out: {name!r} is the target.")
        if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
            raise DataError(
                f"target: several columns are learnt together where all are numbers, and {name!r} "
                "is not; predict it by itself."
            )
        if np.isinf(column.to_numpy(dtype=np.float64, na_value=np.nan)).any():
            raise DataError(f"target: column {name!r} is infinite in places.")
    gaps = table[names].isna().any(axis=1)
    if gaps.any() and not choice.drop_missing_target:
        raise DataError(
            f"target: {counted(int(gaps.sum()), 'row')} without a value of {' or '.join(names)}; "
            "leave them out (drop_missing_target, --drop-missing-target of a command)."
        )
    if gaps.any():
        data = replace(data.with_table(table[~gaps]), dropped_rows=int(gaps.sum()))
    data = data.with_target(names[0], task="regression")
    return data.with_roles(dict.fromkeys(names[1:], "ignored"))


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
