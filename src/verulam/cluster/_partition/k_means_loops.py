"""Compiled loops of k-means: the nearest centre, and sums over the rows that are nearest to it."""

import numpy as np

from verulam.numerics import njit


@njit(cache=True, nogil=True)
def nearest_centres(products, half_squares, labels):
    """Write the nearest centre of each row, the first of equals, from its product with each."""
    # |x - m|^2 is |x|^2 - 2 (x'm - |m|^2 / 2): the nearest has the largest bracket.
    for i in range(products.shape[0]):
        best = products[i, 0] - half_squares[0]
        place = np.int64(0)
        for k in range(1, products.shape[1]):
            value = products[i, k] - half_squares[k]
            if value > best:
                best = value
                place = np.int64(k)
        labels[i] = place


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def sum_by_label(X, labels, row_weights, centres, weight, deviations, errors, farthest, rows):
    """Add up deviations from the centres by label, and note the farthest row of each.

    `row_weights` is empty where all rows count alike; `farthest` holds squared distances, below
    zero where there is no row, and `rows` the row at that distance.
    """
    weighted = row_weights.shape[0] > 0
    for i in range(X.shape[0]):
        k = labels[i]
        one = row_weights[i] if weighted else 1.0
        square = 0.0
        for j in range(X.shape[1]):
            deviation = X[i, j] - centres[k, j]
            square += deviation * deviation
            deviations[k, j] += one * deviation
        weight[k] += one
        errors[k] += one * square
        if square > farthest[k] and one > 0.0:
            farthest[k] = square
            for j in range(X.shape[1]):
                rows[k, j] = X[i, j]
