"""Columns as small whole numbers, made once for all trees of a forest."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from verulam.base import DataError, thread_map

#: Codes of a column, at most: one more stands for missing values, and all fit 16 bits.
MOST_LEVELS = 2**16 - 1


class CodedTable(NamedTuple):
    """A table as codes.

    Attributes
    ----------
    codes : uint16 ndarray of shape (n_columns, n_rows)
        The code of each value. Those of numbers are in the order of the numbers; those of
        categories are the categories'. Missing values have the code `n_levels`.
    n_levels : int64 ndarray
        Codes of each column, without that of missing values.
    is_category : ndarray of bool
        Whether codes are of categories.
    starts : int64 ndarray
        Where the codes of each column start in the next two.
    lowest, highest : ndarrays
        Numbers that each code begins and ends with: one and the same array, unless a column has
        more different numbers than there are codes.
    """

    codes: Any
    n_levels: Any
    is_category: Any
    starts: Any
    lowest: Any
    highest: Any


@dataclass(frozen=True, eq=False)
class _Column:
    lowest: NDArray[np.float64]
    highest: NDArray[np.float64]


def code_table(
    rows: NDArray[np.float64], n_categories: NDArray[np.int32], n_jobs: int = 1
) -> CodedTable:
    """Return a table as codes.

    Parameters
    ----------
    rows
        Encoded rows: numbers, or codes of categories, NaN where missing.
    n_categories
        Categories of each column, 0 for numbers.
    n_jobs
        Threads that work, 0 for all cores.
    """
    if n_categories.max(initial=0) > MOST_LEVELS:
        column = int(n_categories.argmax())
        raise DataError(
            f"X: column {column} has {n_categories[column]} categories; a forest takes at most "
            f"{MOST_LEVELS} of them."
        )

    codes, nothing = np.empty(rows.shape[::-1], dtype=np.uint16), np.empty(0)

    def code(column: int) -> _Column:
        if n_categories[column]:
            missing = np.isnan(rows[:, column])
            codes[column] = np.where(missing, n_categories[column], rows[:, column])
            return _Column(nothing, nothing)
        return _code_numbers(rows[:, column], codes[column])

    columns = thread_map(code, range(rows.shape[1]), n_jobs)
    sizes = np.array([len(column.lowest) for column in columns], dtype=np.int64)
    lowest = np.concatenate([column.lowest for column in columns])
    is_exact = all(column.lowest is column.highest for column in columns)
    return CodedTable(
        codes=codes,
        n_levels=np.where(n_categories > 0, n_categories, sizes).astype(np.int64),
        is_category=n_categories > 0,
        starts=np.cumsum(sizes) - sizes,
        lowest=lowest,
        highest=lowest if is_exact else np.concatenate([column.highest for column in columns]),
    )


def _code_numbers(numbers: NDArray[np.float64], codes: NDArray[np.uint16]) -> _Column:
    """Code numbers by their ranks, or by about equally many rows where ranks are too many."""
    order = np.argsort(numbers)
    ascending = numbers[order]
    n_known = len(numbers) - int(np.count_nonzero(np.isnan(ascending)))
    ascending = ascending[:n_known]
    changes = np.ones(n_known, dtype=bool)
    changes[1:] = ascending[1:] != ascending[:-1]
    is_exact = np.count_nonzero(changes) <= MOST_LEVELS
    if not is_exact:
        # Numbers that begin in the same part of the order share a code; equal ones always do.
        begins = np.flatnonzero(changes)
        parts = begins * MOST_LEVELS // n_known
        changes[begins[1:][parts[1:] == parts[:-1]]] = False
    first = np.flatnonzero(changes)
    codes[order[:n_known]] = np.cumsum(changes) - 1
    codes[order[n_known:]] = len(first)
    lowest = ascending[first]
    if is_exact:
        return _Column(lowest, lowest)
    return _Column(lowest, ascending[np.append(first[1:], n_known) - 1])
