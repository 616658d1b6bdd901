"""Columns as small whole numbers, made once for all trees of a forest."""

from collections.abc import Sequence
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
    lowest, highest : int32 ndarrays of shape (n_columns, most codes)
        Rows with the least and the greatest number of each code, by column: one and the same array
        where there are no more rows than codes.
    rows : ndarray of shape (n_rows, n_columns)
        The table itself.
    """

    codes: Any
    n_levels: Any
    is_category: Any
    lowest: Any
    highest: Any
    rows: Any


def code_table(
    rows: NDArray[np.float64],
    n_categories: NDArray[np.int32],
    n_jobs: int = 1,
    names: Sequence[Any] | None = None,
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
    names
        What columns are called, for messages.
    """
    if n_categories.max(initial=0) > MOST_LEVELS:
        column = int(n_categories.argmax())
        label = column if names is None else repr(names[column])
        raise DataError(
            f"X: column {label} has {n_categories[column]} categories; a forest takes at most "
            f"{MOST_LEVELS} of them."
        )

    n_rows, n_columns = rows.shape
    codes = np.empty((n_columns, n_rows), dtype=np.uint16)
    # Memory that is not written to costs nothing.
    lowest = np.empty((n_columns, min(n_rows, MOST_LEVELS)), dtype=np.int32)
    highest = lowest if n_rows <= MOST_LEVELS else np.empty_like(lowest)

    def code(column: int) -> int:
        numbers = rows[:, column]
        if n_categories[column]:
            codes[column] = np.where(np.isnan(numbers), n_categories[column], numbers)
            return int(n_categories[column])
        return _code_numbers(numbers, codes[column], lowest[column], highest[column])

    n_levels = thread_map(code, range(n_columns), n_jobs)
    return CodedTable(
        codes=codes,
        n_levels=np.array(n_levels, dtype=np.int64),
        is_category=n_categories > 0,
        lowest=lowest,
        highest=highest,
        rows=rows,
    )


def _code_numbers(
    numbers: NDArray[np.float64],
    codes: NDArray[np.uint16],
    lowest: NDArray[np.int32],
    highest: NDArray[np.int32],
) -> int:
    """Code numbers by their ranks, or by about equally many rows where ranks are too many.

    Write the codes and the rows of their least and greatest numbers; return how many there are.
    """
    order = np.argsort(numbers)
    ascending = numbers[order]
    n_known = len(numbers) - int(np.count_nonzero(np.isnan(ascending)))
    ascending = ascending[:n_known]
    changes = np.ones(n_known, dtype=bool)
    changes[1:] = ascending[1:] != ascending[:-1]
    if np.count_nonzero(changes) > MOST_LEVELS:
        # Numbers that begin in the same part of the order share a code; equal ones always do.
        begins = np.flatnonzero(changes)
        parts = begins * MOST_LEVELS // n_known
        changes[begins[1:][parts[1:] == parts[:-1]]] = False
    first = np.flatnonzero(changes)
    n_levels = len(first)
    codes[order[:n_known]] = np.cumsum(changes) - 1
    codes[order[n_known:]] = n_levels
    # Where both are one array, the last row of a code has the same number as the first.
    lowest[:n_levels] = order[first]
    highest[:n_levels] = order[np.append(first[1:], n_known) - 1]
    return n_levels
