"""Compiled packing of sorted columns: no checks."""

import numpy as np
from numba import njit

from verulam.tree._growing.growth_parameters import MISSING_RANK, ROW_BITS


@njit(cache=True, nogil=True)
def pack_numbers(numbers, order, packed):
    """Write the rows of a sorted column, each with the rank of its number; equals share a rank."""
    rank = np.uint64(0)
    for place in range(order.shape[0]):
        number = numbers[order[place]]
        if np.isnan(number):
            packed[place] = (MISSING_RANK << ROW_BITS) | np.uint64(order[place])
            continue
        if place > 0 and number != numbers[order[place - 1]]:
            rank += np.uint64(1)
        packed[place] = (rank << ROW_BITS) | np.uint64(order[place])


@njit(cache=True, nogil=True)
def pack_codes(codes, n_categories, packed):
    """Write the rows by category, each with its code, the missing ones last."""
    places = np.zeros(n_categories + 2, dtype=np.int64)
    for code in codes:
        places[(n_categories if np.isnan(code) else np.int64(code)) + 1] += 1
    for code in range(n_categories):
        places[code + 1] += places[code]
    for row in range(codes.shape[0]):
        missing = np.isnan(codes[row])
        code = n_categories if missing else np.int64(codes[row])
        rank = MISSING_RANK if missing else np.uint64(code)
        packed[places[code]] = (rank << ROW_BITS) | np.uint64(row)
        places[code] += 1
