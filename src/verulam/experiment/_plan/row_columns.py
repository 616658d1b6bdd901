"""Columns that say something of the rows: groups, weights, times and nuisance factors."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from verulam.base import DataError
from verulam.data import Dataset
from verulam.measures import Measure, as_measure

if TYPE_CHECKING:
    from verulam.experiment._study.study import Study

#: Numbers with more distinct values than this are cut into quarters.
MOST_NUMBERS = 6
#: Of more categories than this, the rarer ones become one level.
MOST_CATEGORIES = 10


@dataclass(frozen=True, eq=False)
class NuisanceColumn:
    """A nuisance factor of a data set.

    Attributes
    ----------
    name
        The column.
    levels
        Names of its levels.
    codes
        For each row the position of its level.
    """

    name: str
    levels: tuple[str, ...]
    codes: np.ndarray


def row_groups(
    data: Dataset, column: str | None, label: str
) -> tuple[np.ndarray | None, list[str]]:
    """Return the code of each row's group, and the column that is no input for it."""
    if column is None:
        return None, []
    if column not in data.table or column == data.target:
        raise DataError(
            f"groups: data set {label!r} has no column {column!r} beside its target; it has "
            f"{', '.join(name for name in data.table.columns if name != data.target)}."
        )
    if data.table[column].isna().any():
        raise DataError(f"groups: column {column!r} of data set {label!r} has missing values.")
    return pd.factorize(data.table[column])[0], [column]


def row_weights(data: Dataset, column: str | None, label: str) -> np.ndarray | None:
    """Return what each row weighs; None without a column that says it."""
    if column is None:
        return None
    if column not in data.table or column == data.target:
        raise DataError(
            f"weights: data set {label!r} has no column {column!r} beside its target; it has "
            f"{', '.join(name for name in data.table.columns if name != data.target)}."
        )
    values = data.table[column]
    if not pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values):
        raise DataError(f"weights: column {column!r} of data set {label!r} holds no numbers.")
    weights = values.to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"weights: column {column!r} of data set {label!r} has {weights[row]:g} in row "
            f"{row + 1}; expected numbers of at least 0."
        )
    if not weights.any():
        raise DataError(f"weights: column {column!r} of data set {label!r} is 0 in all rows.")
    return weights


def weights_notice(column: str | None, judges: Sequence[Measure]) -> str:
    """Return the notice that rows weigh more or less; empty where they do not."""
    if column is None:
        return ""
    once = [judge.name for judge in judges if not judge.takes_weights]
    exception = f" ({', '.join(once)} cannot: each row counts once there)" if once else ""
    return (
        f"Rows weigh what {column} says, in learning and in the measures{exception}; in counts of "
        "rows each is one."
    )


def output_targets(data: Dataset, names: Sequence[str], study: "Study") -> np.ndarray | None:
    """Return the columns to predict together; None where there is one.

    Parameters
    ----------
    data
        The data set.
    names
        The columns.
    study
        What it is for: measures and nuisance factors that go with one target are refused.
    """
    if not names:
        return None
    for judge in map(as_measure, study.measures or ()):
        if judge.needs != "values":
            raise DataError(f"measures: {judge.name!r} is for one target, not for several.")
    if study.nuisance:
        raise DataError("nuisance: is for one target, not for several.")
    return data.table[list(names)].to_numpy(dtype=np.float64)


def outputs_notice(names: Sequence[str]) -> str:
    """Return the notice that several columns are predicted; empty for one."""
    if not names:
        return ""
    return (
        f"{' and '.join(names)} are predicted together: errors are measured in standard deviations "
        "of each column and averaged. A learner of one output is fitted once for each."
    )


def row_times(data: Dataset, column: str | None, label: str) -> np.ndarray:
    """Return when each row was; without a column, their order tells."""
    if column is None:
        return np.arange(data.n_rows)
    if column not in data.table or column == data.target:
        raise DataError(
            f"resampling.order: data set {label!r} has no column {column!r} beside its target; it "
            f"has {', '.join(name for name in data.table.columns if name != data.target)}."
        )
    values = data.table[column]
    if values.isna().any():
        raise DataError(f"resampling.order: column {column!r} of {label!r} has missing values.")
    if not (pd.api.types.is_numeric_dtype(values) or values.dtype.kind == "M"):
        raise DataError(
            f"resampling.order: column {column!r} of {label!r} holds neither dates nor numbers."
        )
    return values.to_numpy()


def nuisance_columns(data: Dataset, names: Sequence[str], label: str) -> tuple[NuisanceColumn, ...]:
    """Return those nuisance factors that are columns of a data set.

    Parameters
    ----------
    data
        The data set.
    names
        Nuisance factors of the study; those that are no columns are words for the record.
    label
        What the data set is called, for messages.
    """
    if data.target in names:
        raise DataError(f"nuisance: {data.target!r} is the target of data set {label!r}.")
    return tuple(as_levels(data.table[name]) for name in names if name in data.table)


def as_levels(column: pd.Series) -> NuisanceColumn:
    """Return a column as a factor: categories as they are, many numbers in quarters.

    Parameters
    ----------
    column
        Any column.

    Examples
    --------
    >>> import pandas as pd
    >>> age = as_levels(pd.Series([1.5, 2.5, None, 9.0, 3.0, 4.0, 7.0, 8.0], name="age"))
    >>> age.levels
    ('up to 2.75', '2.75 to 4', '4 to 7.5', 'above 7.5', 'missing')
    >>> age.codes.tolist()
    [0, 0, 4, 3, 1, 1, 2, 3]
    """
    name = str(column.name)
    missing = column.isna().to_numpy()
    numeric = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    if numeric and column.nunique() > MOST_NUMBERS:
        levels, codes = _quarters(column.to_numpy(dtype=np.float64, na_value=np.nan))
    else:
        words = column.astype(object).map(str)
        counts = words[~missing].value_counts(sort=True)
        frequent = list(counts.index[:MOST_CATEGORIES])
        levels = sorted(frequent) if not numeric else sorted(frequent, key=float)
        others = len(counts) > MOST_CATEGORIES
        places = {level: place for place, level in enumerate(levels)}
        codes = words.map(lambda word: places.get(word, len(levels))).to_numpy(dtype=np.int64)
        levels = [*levels, "others"] if others else levels
    if missing.any():
        codes = np.where(missing, len(levels), codes)
        levels = [*levels, "missing"]
    return NuisanceColumn(name, tuple(levels), codes.astype(np.int32))


def _quarters(values: np.ndarray) -> tuple[list[str], np.ndarray]:
    # Ties may make quartiles equal: then there are fewer levels than four.
    edges = np.unique(np.nanquantile(values, [0.25, 0.5, 0.75]))
    codes = np.searchsorted(edges, values, side="left")
    words = [f"{edge:.4g}" for edge in edges]
    between = [f"{low} to {high}" for low, high in pairwise(words)]
    return [f"up to {words[0]}", *between, f"above {words[-1]}"], codes
