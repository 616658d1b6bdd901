"""Compiled loops of the neighbour search: arrays in, arrays out, no checks."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def count_votes(codes, n_classes):
    """Return how many of each query's neighbours, given by their codes, belong to each class."""
    votes = np.zeros((len(codes), n_classes))
    for query in range(len(codes)):
        for place in range(codes.shape[1]):
            votes[query, codes[query, place]] += 1.0
    return votes


@njit(cache=True, nogil=True, error_model="numpy")
def mixed_distances(numbers, codes, stored_numbers, stored_codes, scales, weights):
    """Return Gower's distances: the weighted mean of differences over the columns both have."""
    n_numeric, n_codes = numbers.shape[1], codes.shape[1]
    result = np.empty((len(numbers), len(stored_numbers)))
    for query in range(len(numbers)):
        for row in range(len(stored_numbers)):
            total = 0.0
            weight_sum = 0.0
            for column in range(n_numeric):
                difference = abs(numbers[query, column] - stored_numbers[row, column])
                if not np.isnan(difference):
                    total += weights[column] * min(difference * scales[column], 1.0)
                    weight_sum += weights[column]
            for column in range(n_codes):
                own, other = codes[query, column], stored_codes[row, column]
                if own != -1 and other != -1:
                    weight = weights[n_numeric + column]
                    total += weight * (own != other)
                    weight_sum += weight
            # Two rows without a column in common are as far apart as can be.
            result[query, row] = total / weight_sum if weight_sum > 0.0 else 1.0
    return result


@njit(cache=True, nogil=True)
def partial_distance_search(queries, stored, step, bound, rows, squares, work):
    """Find each query's nearest row, giving up on a row once its partial sum is too large."""
    n_columns = queries.shape[1]
    for query in range(len(queries)):
        best, limit = -1, bound
        for row in range(len(stored)):
            total = 0.0
            column = 0
            while column < n_columns and total <= limit:
                stop = min(column + step, n_columns)
                for inner in range(column, stop):
                    difference = queries[query, inner] - stored[row, inner]
                    total += difference * difference
                work[query] += stop - column
                column = stop
            if column == n_columns and (total < limit or (best < 0 and total <= limit)):
                limit = total
                best = row
        rows[query] = best
        squares[query] = limit if best >= 0 else np.inf
