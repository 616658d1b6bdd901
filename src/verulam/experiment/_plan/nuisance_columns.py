"""Columns of a data set that are nuisance factors, cut into levels."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from verulam.base import DataError
from verulam.data import Dataset

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
    >>> found = as_levels(pd.Series([1.5, 2.5, None, 9.0, 3.0, 4.0, 7.0, 8.0], name="age"))
    >>> found.levels
    ('up to 2.75', '2.75 to 4', '4 to 7.5', 'above 7.5', 'missing')
    >>> found.codes.tolist()
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
        kept = list(counts.index[:MOST_CATEGORIES])
        levels = sorted(kept) if not numeric else sorted(kept, key=float)
        others = len(counts) > MOST_CATEGORIES
        places = {level: place for place, level in enumerate(levels)}
        codes = words.map(lambda word: places.get(word, len(levels))).to_numpy(dtype=np.int64)
        levels = [*levels, "others"] if others else levels
    if missing.any():
        codes = np.where(missing, len(levels), codes)
        levels = [*levels, "missing"]
    return NuisanceColumn(name, tuple(levels), codes.astype(np.int32))


def _quarters(values: np.ndarray) -> tuple[list[str], np.ndarray]:
    edges = np.unique(np.nanquantile(values, [0.25, 0.5, 0.75]))
    codes = np.searchsorted(edges, values, side="left")
    words = [f"{edge:.4g}" for edge in edges]
    between = [f"{low} to {high}" for low, high in pairwise(words)]
    return [f"up to {words[0]}", *between, f"above {words[-1]}"], codes
