"""Compiled loops behind the moments: float64 C-arrays in, results written, no checks."""

import numpy as np

from verulam.numerics._loop_cache import njit


@njit(cache=True, nogil=True)
def class_means(X, codes, weights, first, weight, mean):
    """Write the weight and the mean row of each class, which are zero at first.

    Sums are taken from the class's first row, so that a constant column has exactly its value
    as the mean, whatever the rounding of sums; `first` is -1 until that row is met.
    """
    for i in range(X.shape[0]):
        k = codes[i]
        if first[k] < 0:
            first[k] = i
        weight[k] += weights[i]
        for j in range(X.shape[1]):
            mean[k, j] += weights[i] * (X[i, j] - X[first[k], j])
    for k in range(weight.shape[0]):
        if weight[k] > 0.0:
            for j in range(X.shape[1]):
                mean[k, j] = X[first[k], j] + mean[k, j] / weight[k]


@njit(cache=True, nogil=True)
def column_scatters(X, codes, weights, mean, scatter):
    """Add the squared deviations of each column from its class mean; NaN spreads to its column."""
    for i in range(X.shape[0]):
        k = codes[i]
        for j in range(X.shape[1]):
            deviation = X[i, j] - mean[k, j]
            scatter[k, j] += weights[i] * deviation * deviation


@njit(cache=True, nogil=True)
def column_moments_present(X, codes, weights, first, weight, mean, scatter):
    """Write weight, mean and scatter per class and column over the entries that are present.

    They are zero at first, and `first` is NaN.
    """
    for i in range(X.shape[0]):
        k = codes[i]
        for j in range(X.shape[1]):
            if not np.isnan(X[i, j]):
                # Sums from the first entry, as in `class_means`.
                if np.isnan(first[k, j]):
                    first[k, j] = X[i, j]
                weight[k, j] += weights[i]
                mean[k, j] += weights[i] * (X[i, j] - first[k, j])
    for k in range(weight.shape[0]):
        for j in range(X.shape[1]):
            if weight[k, j] > 0.0:
                mean[k, j] = first[k, j] + mean[k, j] / weight[k, j]
    for i in range(X.shape[0]):
        k = codes[i]
        for j in range(X.shape[1]):
            if not np.isnan(X[i, j]):
                deviation = X[i, j] - mean[k, j]
                scatter[k, j] += weights[i] * deviation * deviation


@njit(cache=True, nogil=True)
def group_deviations(X, codes, weights, mean, places, deviations):
    """Write the rows' weighted deviations from their class mean, grouped by class.

    A product of the grouped rows with themselves is then the scatter. `places` says where the rows
    of each class begin, and at the end where they do end.
    """
    for i in range(X.shape[0]):
        k = codes[i]
        # The root of the weight on both factors of a product gives the weight once.
        root = np.sqrt(weights[i])
        row = places[k]
        for j in range(X.shape[1]):
            deviations[row, j] = root * (X[i, j] - mean[k, j])
        places[k] += 1
