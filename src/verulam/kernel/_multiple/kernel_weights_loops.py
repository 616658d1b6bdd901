"""Compiled loop behind weights of kernels: the weighted sum of Gram matrices."""

from numba import njit


@njit(cache=True, nogil=True, fastmath=True)
def add_up(grams, used, weights, first, last, total):
    """Write rows of the weighted sum of some Gram matrices, each row while it is near."""
    for row in range(first, last):
        total[row] = 0.0
        for k in range(used.shape[0]):
            weight, gram = weights[k], grams[used[k], row]
            for column in range(gram.shape[0]):
                total[row, column] += weight * gram[column]
