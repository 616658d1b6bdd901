"""Sorting every column of a table once, before a tree is grown."""

import numpy as np
from numpy.typing import NDArray

from verulam.base import thread_map
from verulam.tree._growing.lazy_memory import room
from verulam.tree._growing.presort_loops import pack_codes, pack_numbers

#: Columns copied together: a cache line of float64.
COLUMNS_PER_TASK = 8
#: Below this many numbers, starting threads costs more than it saves.
THREADED_NUMBERS = 2**16


def presort(values: NDArray[np.float64], n_categories: NDArray[np.int32]) -> NDArray[np.uint64]:
    """Return the rows of each column in ascending order, packed with the ranks of their values.

    Missing values come last, with a rank above all others; a category's rank is its code.
    """
    n_rows, n_columns = values.shape
    packed = room(n_columns * n_rows, np.uint64).reshape(n_columns, n_rows)

    def sort_block(first: int) -> None:
        block = np.ascontiguousarray(values[:, first : first + COLUMNS_PER_TASK].T)
        for column, numbers in enumerate(block, first):
            if n_categories[column]:
                pack_codes(numbers, n_categories[column], packed[column])
            else:
                pack_numbers(numbers, np.argsort(numbers), packed[column])

    starts = range(0, n_columns, COLUMNS_PER_TASK)
    thread_map(sort_block, starts, 0 if values.size >= THREADED_NUMBERS else 1)
    return packed
