"""Compiled loops behind kernels of strings: int32 codes end to end, with where each starts."""

import numpy as np

from verulam.numerics import njit


@njit(cache=True, nogil=True)
def edit_distances(left, left_starts, right, right_starts, insertion, deletion, substitution):
    """Return the least cost of turning each string of `left` into each of `right`."""
    n_left, n_right = left_starts.shape[0] - 1, right_starts.shape[0] - 1
    result = np.empty((n_left, n_right))
    longest = 0
    for j in range(n_right):
        longest = max(longest, right_starts[j + 1] - right_starts[j])
    costs = np.empty(longest + 1)
    for i in range(n_left):
        first = left[left_starts[i] : left_starts[i + 1]]
        for j in range(n_right):
            second = right[right_starts[j] : right_starts[j + 1]]
            # The table of Levenshtein's distance, one row of it at a time.
            for b in range(second.shape[0] + 1):
                costs[b] = b * insertion
            for a in range(first.shape[0]):
                diagonal = costs[0]
                costs[0] += deletion
                for b in range(second.shape[0]):
                    change = diagonal
                    if first[a] != second[b]:
                        change += substitution
                    diagonal = costs[b + 1]
                    costs[b + 1] = min(change, diagonal + deletion, costs[b] + insertion)
            result[i, j] = costs[second.shape[0]]
    return result


@njit(cache=True, nogil=True)
def subsequence_products(left, left_starts, right, right_starts, length, decay):
    """Return the sum over shared subsequences of `decay` to the letters that both span."""
    n_left, n_right = left_starts.shape[0] - 1, right_starts.shape[0] - 1
    result = np.zeros((n_left, n_right))
    for i in range(n_left):
        first = left[left_starts[i] : left_starts[i + 1]]
        for j in range(n_right):
            second = right[right_starts[j] : right_starts[j + 1]]
            n, m = first.shape[0], second.shape[0]
            # Prefixes of both strings: weight of shared subsequences of one length that reach on
            # to the ends of the prefixes.
            reaching = np.ones((n + 1, m + 1))
            for _ in range(length - 1):
                longer = np.zeros((n + 1, m + 1))
                for a in range(1, n + 1):
                    along = 0.0
                    for b in range(1, m + 1):
                        along *= decay
                        if first[a - 1] == second[b - 1]:
                            along += decay * decay * reaching[a - 1, b - 1]
                        longer[a, b] = decay * longer[a - 1, b] + along
                reaching = longer
            total = 0.0
            for a in range(1, n + 1):
                for b in range(1, m + 1):
                    if first[a - 1] == second[b - 1]:
                        total += decay * decay * reaching[a - 1, b - 1]
            result[i, j] = total
    return result
