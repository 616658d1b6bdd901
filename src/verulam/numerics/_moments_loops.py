"""Compiled loops behind the moments: float64 C-arrays in, arrays out, no checks."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def column_moments(X, codes, weights, n_classes):
    """Return each class's weight, column means and column scatters; NaN spreads to its column."""
    weight, mean = class_means(X, codes, weights, n_classes)
    # A second pass around the means: the one-pass formula loses the digits that they share.
    scatter = np.zeros_like(mean)
    for i in range(X.shape[0]):
        k = codes[i]
        for j in range(X.shape[1]):
            deviation = X[i, j] - mean[k, j]
            scatter[k, j] += weights[i] * deviation * deviation
    return weight, mean, scatter


@njit(cache=True, nogil=True)
def class_means(X, codes, weights, n_classes):
    """Return the weight and the mean row of each class.

    Sums are taken from the class's first row, so that a constant column has exactly its value
    as the mean, whatever the rounding of sums.
    """
    weight = np.zeros(n_classes)
    mean = np.zeros((n_classes, X.shape[1]))
    first = np.full(n_classes, -1)
    for i in range(X.shape[0]):
        k = codes[i]
        if first[k] < 0:
            first[k] = i
        weight[k] += weights[i]
        for j in range(X.shape[1]):
            mean[k, j] += weights[i] * (X[i, j] - X[first[k], j])
    for k in range(n_classes):
        if weight[k] > 0.0:
            for j in range(X.shape[1]):
                mean[k, j] = X[first[k], j] + mean[k, j] / weight[k]
    return weight, mean


@njit(cache=True, nogil=True)
def column_moments_present(X, codes, weights, n_classes):
    """Return weight, mean and scatter per class and column over the entries that are present."""
    weight = np.zeros((n_classes, X.shape[1]))
    mean = np.zeros((n_classes, X.shape[1]))
    first = np.full((n_classes, X.shape[1]), np.nan)
    scatter = np.zeros((n_classes, X.shape[1]))
    for i in range(X.shape[0]):
        k = codes[i]
        for j in range(X.shape[1]):
            if not np.isnan(X[i, j]):
                if np.isnan(first[k, j]):
                    first[k, j] = X[i, j]
                weight[k, j] += weights[i]
                mean[k, j] += weights[i] * (X[i, j] - first[k, j])
    for k in range(n_classes):
        for j in range(X.shape[1]):
            if weight[k, j] > 0.0:
                mean[k, j] = first[k, j] + mean[k, j] / weight[k, j]
    for i in range(X.shape[0]):
        k = codes[i]
        for j in range(X.shape[1]):
            if not np.isnan(X[i, j]):
                deviation = X[i, j] - mean[k, j]
                scatter[k, j] += weights[i] * deviation * deviation
    return weight, mean, scatter


@njit(cache=True, nogil=True)
def group_deviations(X, codes, weights, n_classes):
    """Return the rows' weighted deviations from their class mean, grouped by class.

    Also returns where each class ends, and the weights and means of the classes. A product of
    the grouped rows with themselves is then the scatter.
    """
    weight, mean = class_means(X, codes, weights, n_classes)
    # Counting sort: where the rows of each class begin, then one pass that puts them there.
    place = np.zeros(n_classes + 1, dtype=np.int64)
    for i in range(X.shape[0]):
        place[codes[i] + 1] += 1
    for k in range(n_classes):
        place[k + 1] += place[k]
    deviations = np.empty(X.shape)
    for i in range(X.shape[0]):
        k = codes[i]
        # The root of the weight on both factors of a product gives the weight once.
        root = np.sqrt(weights[i])
        row = place[k]
        for j in range(X.shape[1]):
            deviations[row, j] = root * (X[i, j] - mean[k, j])
        place[k] += 1
    return deviations, place[:n_classes], weight, mean
