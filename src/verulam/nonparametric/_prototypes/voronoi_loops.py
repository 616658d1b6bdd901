"""Compiled search for Gabriel neighbours: arrays in, arrays out, no checks."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def gabriel_mask(squares):
    """Tell for each pair whether the ball between them is empty, from squared distances."""
    n_points = len(squares)
    mask = np.zeros((n_points, n_points), dtype=np.bool_)
    for row in range(n_points):
        for other in range(row + 1, n_points):
            limit = squares[row, other] * (1.0 - 1e-12)
            empty = True
            for third in range(n_points):
                # For the two ends themselves the sum is the whole of their square.
                if squares[row, third] + squares[other, third] < limit:
                    empty = False
                    break
            mask[row, other] = empty
    return mask
