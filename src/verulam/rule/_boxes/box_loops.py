"""Compiled search for the quadrant of the largest sum."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def best_quadrant(first, second, order, signed, n_second):
    """Return (sum, a, b) such that rows with `first` >= a and `second` >= b have the largest sum.

    Rows enter by falling `first`, in the given order; a tree over the values of `second` keeps
    the sums of its nodes and of their best suffixes, so that each row costs one path.
    """
    size = 1
    while size < n_second:
        size *= 2
    sums = np.zeros(2 * size)
    suffix = np.full(2 * size, -np.inf)
    suffix[size : size + n_second] = 0.0
    best, best_first, best_second = -np.inf, 0, 0
    for i in range(order.shape[0]):
        row = order[i]
        node = size + second[row]
        sums[node] += signed[row]
        suffix[node] = sums[node]
        node //= 2
        while node >= 1:
            left, right = 2 * node, 2 * node + 1
            sums[node] = sums[left] + sums[right]
            suffix[node] = max(suffix[right], sums[right] + suffix[left])
            node //= 2
        last = i + 1 == order.shape[0] or first[order[i + 1]] != first[row]
        if last and suffix[1] > best:
            best, best_first = suffix[1], first[row]
            best_second = suffix_start(sums, suffix, size)
    return best, best_first, best_second


@njit(cache=True, nogil=True)
def suffix_start(sums, suffix, size):
    """Return where the best suffix of the whole tree starts."""
    node = 1
    while node < size:
        left, right = 2 * node, 2 * node + 1
        node = right if suffix[right] >= sums[right] + suffix[left] else left
    return node - size
