"""Compiled loop behind the smoothing spline: the middle of the inverse of a banded matrix."""

import numpy as np
from numba import njit


@njit(cache=True)
def inverse_bands(diagonal, first, second):
    """Return the main and two upper bands of the inverse of a symmetric five-band matrix.

    Factorises as ``L D L^T`` and runs Hutchinson and de Hoog's recursion from the last row up.
    """
    count = diagonal.shape[0]
    pivots = np.empty(count)
    below, far = np.zeros(count + 2), np.zeros(count + 2)
    for i in range(count):
        pivot = diagonal[i]
        if i > 0:
            pivot -= pivots[i - 1] * below[i - 1] ** 2
        if i > 1:
            pivot -= pivots[i - 2] * far[i - 2] ** 2
        pivots[i] = pivot
        if i + 1 < count:
            product = first[i]
            if i > 0:
                product -= pivots[i - 1] * below[i - 1] * far[i - 1]
            below[i] = product / pivot
        if i + 2 < count:
            far[i] = second[i] / pivot
    bands = np.zeros((3, count + 2))
    for i in range(count - 1, -1, -1):
        bands[1, i] = -below[i] * bands[0, i + 1] - far[i] * bands[1, i + 1]
        bands[2, i] = -below[i] * bands[1, i + 1] - far[i] * bands[0, i + 2]
        bands[0, i] = 1.0 / pivots[i] - below[i] * bands[1, i] - far[i] * bands[2, i]
    return bands[:, :count]
