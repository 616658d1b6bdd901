"""Compiled loops behind naive Bayes: C-arrays in, arrays out, no checks."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def count_categories(codes, classes, weights, first, n_classes):
    """Return the weight of each class and category; column j's counts start at ``first[j]``."""
    counts = np.zeros((n_classes, first[-1]))
    for i in range(codes.shape[0]):
        for j in range(codes.shape[1]):
            if codes[i, j] >= 0:
                counts[classes[i], first[j] + codes[i, j]] += weights[i]
    return counts


@njit(cache=True, nogil=True)
def add_category_terms(result, codes, first, log_probabilities):
    """Add the log-probabilities of each row's categories; missing ones (-1) add nothing."""
    for i in range(codes.shape[0]):
        for j in range(codes.shape[1]):
            if codes[i, j] >= 0:
                for k in range(result.shape[1]):
                    result[i, k] += log_probabilities[k, first[j] + codes[i, j]]


@njit(cache=True, nogil=True)
def add_gaussian_terms(result, numbers, columns, means, inverse_variances, constants):
    """Add the Gaussian log-densities of the numbers that are present."""
    for i in range(numbers.shape[0]):
        for k in range(result.shape[1]):
            total = 0.0
            for position in range(columns.shape[0]):
                value = numbers[i, columns[position]]
                if not np.isnan(value):
                    deviation = value - means[k, position]
                    total += constants[k, position]
                    total -= 0.5 * inverse_variances[k, position] * deviation * deviation
            result[i, k] += total


@njit(cache=True, nogil=True)
def add_linear_terms(result, numbers, columns, weights, constants):
    """Add ``constant + weight * number`` for the numbers that are present."""
    for i in range(numbers.shape[0]):
        for k in range(result.shape[1]):
            for position in range(columns.shape[0]):
                value = numbers[i, columns[position]]
                if not np.isnan(value):
                    result[i, k] += constants[k, position]
                    # 0 * log(0) counts as 0: an absent word of probability 0 says nothing.
                    if value != 0.0:
                        result[i, k] += weights[k, position] * value
