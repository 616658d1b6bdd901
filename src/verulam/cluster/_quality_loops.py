"""Compiled loops of silhouettes: distances added up cluster by cluster."""

import math

from verulam.numerics import njit


# Sums may be reordered, so that they run in vector registers.
@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def sums_by_cluster(distances, ends, sums):
    """Write the sum of each row's distances to each cluster, whose columns stand together."""
    for i in range(distances.shape[0]):
        start = 0
        for k in range(ends.shape[0]):
            total = 0.0
            for j in range(start, ends[k]):
                total += distances[i, j]
            sums[i, k] = total
            start = ends[k]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz", "nnan"})
def euclidean_sums_by_cluster(products, row_squares, column_squares, ends, sums):
    """Do the same for Euclidean distances, from inner products and squared lengths."""
    for i in range(products.shape[0]):
        start = 0
        for k in range(ends.shape[0]):
            total = 0.0
            for j in range(start, ends[k]):
                lengths = row_squares[i] + column_squares[j]
                square = lengths - 2.0 * products[i, j]
                # What is less than the rounding error of the lengths stands for equal rows.
                total += math.sqrt(square if square > 1e-15 * lengths else 0.0)
            sums[i, k] = total
            start = ends[k]
