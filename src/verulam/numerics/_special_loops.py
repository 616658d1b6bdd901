"""Compiled loops behind the special functions: float64 C-arrays in, results written, no checks."""

import numpy as np

from verulam.numerics._loop_cache import njit


@njit(cache=True, nogil=True)
def log_normalise(log_values, result):
    """Write each row's exponentials divided by their sum."""
    n_columns = log_values.shape[1]
    for i in range(log_values.shape[0]):
        # Less the largest, no exponential overflows and at least one is 1.
        largest = -np.inf
        for k in range(n_columns):
            largest = max(largest, log_values[i, k])
        total = 0.0
        for k in range(n_columns):
            result[i, k] = np.exp(log_values[i, k] - largest)
            total += result[i, k]
        for k in range(n_columns):
            result[i, k] /= total


@njit(cache=True, nogil=True)
def largest_column(values, result):
    """Write the position of each row's largest entry, the first of equals."""
    for i in range(values.shape[0]):
        best = 0
        for k in range(1, values.shape[1]):
            if values[i, k] > values[i, best]:
                best = k
        result[i] = best


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def linear_values(X, weights, intercepts, origin, result):
    """Write the values of several linear functions of each row's deviation from the origin."""
    for i in range(X.shape[0]):
        for k in range(weights.shape[0]):
            value = intercepts[k]
            for j in range(X.shape[1]):
                value += weights[k, j] * (X[i, j] - origin[j])
            result[i, k] = value


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def largest_linear(X, weights, intercepts, origin, result):
    """Write for each row which of several linear functions of its deviation is largest."""
    for i in range(X.shape[0]):
        largest = -np.inf
        best = 0
        for k in range(weights.shape[0]):
            value = intercepts[k]
            for j in range(X.shape[1]):
                value += weights[k, j] * (X[i, j] - origin[j])
            if value > largest:
                largest = value
                best = k
        result[i] = best
