"""Draws from the rows of a sparse table."""

import numpy as np

from verulam.numerics import njit


@njit()
def draw_entry(starts, shares, row, lot):
    """Return the entry of a row that a uniform number falls on, by the sum of those before."""
    last = starts[row + 1] - 1
    total = 0.0
    for place in range(starts[row], last):
        total += shares[place]
        if lot < total:
            return np.int64(place)
    return np.int64(last)


@njit()
def draw_code(cumulative, lot):
    """Return the first position whose cumulative share exceeds a uniform number."""
    low, high = np.int64(0), np.int64(len(cumulative) - 1)
    while low < high:
        middle = (low + high) // 2
        if lot < cumulative[middle]:
            high = middle
        else:
            low = middle + 1
    return low
