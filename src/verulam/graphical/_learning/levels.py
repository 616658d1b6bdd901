"""Columns as variables of few states: categories as they are, numbers cut into bins."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from verulam.base import DataError, as_frame, is_categorical, nearest_names, read_schema


@dataclass(frozen=True, eq=False)
class Levels:
    """The states of one column.

    Attributes
    ----------
    name
        The column.
    labels
        Names of the states.
    cuts
        Where a numeric column is cut; None for categories.
    """

    name: str
    labels: tuple[Any, ...]
    cuts: np.ndarray | None = None


def read_levels(
    X: Any, n_bins: int | None, weights: np.ndarray | None = None
) -> tuple[Levels, ...]:
    """Return the states of each column: categories, or up to `n_bins` bins of equal weight."""
    frame = as_frame(X)
    present = None if weights is None else weights > 0
    levels = []
    for name in frame.columns:
        column = frame[name]
        if is_categorical(column):
            labels = _plain(read_schema(frame[[name]]).categories_of(name))
            if not labels:
                raise DataError(f"Column {name!r} has no categories.")
            levels.append(Levels(str(name), labels))
            continue
        read_schema(frame[[name]])  # text and dates are refused
        if n_bins is None:
            if column.isna().all():
                raise DataError(f"Column {name!r} has no values, only gaps; leave it out.")
            raise DataError(
                f"Column {name!r} is numeric, and a network has variables of few states: put "
                "sklearn.preprocessing.KBinsDiscretizer in front, cut it by pandas.cut, or convert "
                f"it with X[{name!r}].astype('category')."
            )
        numbers = _numbers(name, column)
        cuts = _cuts(numbers, n_bins, weights, present)
        levels.append(Levels(str(name), _bin_labels(cuts), cuts))
    names = [level.name for level in levels]
    if len(set(names)) < len(names):
        raise DataError("Two columns have the same name once names are words.")
    return tuple(levels)


def _plain(values: np.ndarray) -> tuple[Any, ...]:
    return tuple(value.item() if isinstance(value, np.generic) else value for value in values)


def _numbers(name: Any, column: pd.Series) -> np.ndarray:
    try:
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"Column {name!r} was numeric in training and is now of type {column.dtype}."
        ) from error
    if np.isinf(numbers).any():
        row = int(np.argmax(np.isinf(numbers)))
        raise DataError(f"Column {name!r} contains infinity, first at row {row}.")
    return numbers


def _cuts(
    numbers: np.ndarray, n_bins: int, weights: np.ndarray | None, present: np.ndarray | None
) -> np.ndarray:
    """Return the places that cut a column into bins of about equal weight, between its values."""
    usable = ~np.isnan(numbers) if present is None else ~np.isnan(numbers) & present
    shares = np.ones(usable.sum()) if weights is None else weights[usable]
    values, places = np.unique(numbers[usable], return_inverse=True)
    if len(values) < 2:
        return np.empty(0)
    middles = values[:-1] + (values[1:] - values[:-1]) / 2
    if len(values) <= n_bins:  # each value is a state of its own
        return middles
    totals = np.cumsum(np.bincount(places, shares))
    # A hair below, so that sums of weights and repeated rows cut alike whatever the rounding.
    marks = totals[-1] * np.arange(1, n_bins) / n_bins * (1 - 1e-12)
    at = np.minimum(np.searchsorted(totals, marks), len(middles) - 1)
    return np.unique(middles[at])


def _bin_labels(cuts: np.ndarray) -> tuple[str, ...]:
    if not len(cuts):
        return ("any",)
    shown = [f"{cut:.6g}" for cut in cuts]
    if len(set(shown)) < len(shown):
        shown = [repr(float(cut)) for cut in cuts]
    between = [f"{low} to {high}" for low, high in itertools.pairwise(shown)]
    return (f"up to {shown[0]}", *between, f"above {shown[-1]}")


def encode_levels(X: Any, levels: Sequence[Levels], *, unseen: str = "error") -> np.ndarray:
    """Return the state number of each cell, -1 where missing."""
    frame = as_frame(X)
    codes = np.empty((len(frame), len(levels)), dtype=np.int32)
    for place, level in enumerate(levels):
        column = frame.iloc[:, place]
        if level.cuts is None:
            codes[:, place] = _category_codes(level, column, unseen)
        else:
            if isinstance(column.dtype, pd.CategoricalDtype):
                raise DataError(
                    f"Column {level.name!r} was numeric in training and is now categorical."
                )
            numbers = _numbers(level.name, column)
            part = np.searchsorted(level.cuts, numbers)
            codes[:, place] = np.where(np.isnan(numbers), -1, part)
    return codes


def _category_codes(level: Levels, column: pd.Series, unseen: str) -> np.ndarray:
    values = column.array
    if isinstance(values, pd.Categorical):
        numbers, labels = values.codes, list(values.categories)
    else:
        numbers, uniques = pd.factorize(values)
        labels = list(uniques)
    places = {label: place for place, label in enumerate(level.labels)}
    lookup = np.array([*(places.get(label, -2) for label in labels), -1], dtype=np.int32)
    codes = lookup[numbers]
    stray = codes == -2
    if stray.any():
        if unseen == "error":
            value = column.iloc[int(np.argmax(stray))]
            nearest = nearest_names(str(value), map(str, level.labels))
            raise DataError(
                f"Column {level.name!r} has the category {value!r}, which was not there in "
                f"training. Nearest: {', '.join(nearest)}."
            )
        codes[stray] = -1
    return codes


def table_levels(table: Any) -> tuple[tuple[Levels, ...], np.ndarray]:
    """Return states and state numbers of a table whose columns must all be categories."""
    if not isinstance(table, pd.DataFrame):
        raise DataError(
            "table: expected a pandas DataFrame of categorical columns, not "
            f"{type(table).__name__}."
        )
    if len(table) == 0:
        raise DataError("table has no rows.")
    levels = read_levels(table, None)
    return levels, encode_levels(table, levels)
