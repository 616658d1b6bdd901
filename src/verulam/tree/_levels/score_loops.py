"""Parts of the loops over a level: impurities of whole counts, and the choice between columns."""

import numpy as np

from verulam.tree._growing.numba_helpers import part_of_loop
from verulam.tree._levels.records import NO_COLUMN

#: A bound below so much of the largest cannot belong to the best cut: rounding is far smaller.
SLACK = 1.0 - 1e-12


@part_of_loop
def squared_sum(numbers):
    """Return the sum of the squares."""
    total = 0.0
    for place in range(numbers.shape[0]):
        total += numbers[place] * numbers[place]
    return total


@part_of_loop
def node_impurity(counts, n, scoring):
    """Return the impurity of whole class counts, times their sum `n`."""
    if scoring.entropy:
        # N times -sum p_k log p_k is N log N - sum n_k log n_k, and these terms are tabled.
        logs = 0.0
        for k in range(counts.shape[0]):
            logs += scoring.table[np.int64(counts[k])]
        return scoring.table[n] - logs
    # N times 1 - sum p_k^2 is N - sum n_k^2 / N.
    return n - squared_sum(counts) / n


@part_of_loop
def weighted_log(weight):
    """Return ``weight * log2(weight)``."""
    return weight * np.log2(weight) if weight > 0.0 else 0.0


@part_of_loop
def weights_impurity(weights, total, entropy):
    """Return the impurity of class weights, times their sum `total`."""
    if entropy:
        logs = 0.0
        for k in range(weights.shape[0]):
            logs += weighted_log(weights[k])
        return weighted_log(total) - logs
    return total - squared_sum(weights) / total


@part_of_loop
def quick_bound(squares_left, squares_right, n_left, n_right, scoring):
    """Return what is largest where the Gini index is least, without a division; else infinity."""
    if scoring.entropy:
        return np.inf
    return squares_left * scoring.table[n_left] + squares_right * scoring.table[n_right]


@part_of_loop
def cut_impurity(left, whole, squares_left, squares_right, n_left, n_right, scoring):
    """Return the impurity times weight of both sides of a cut."""
    table = scoring.table
    if left.shape[0] == 2:
        right0, right1 = whole[0] - left[0], whole[1] - left[1]
        if scoring.entropy:
            one = table[n_left] - table[np.int64(left[0])] - table[np.int64(left[1])]
            return one + (table[n_right] - table[np.int64(right0)] - table[np.int64(right1)])
        # The Gini index of two classes is 2 p (1 - p).
        return 2.0 * left[0] * left[1] / n_left + 2.0 * right0 * right1 / n_right
    if scoring.entropy:
        logs_left = logs_right = 0.0
        for k in range(left.shape[0]):
            logs_left += table[np.int64(left[k])]
            logs_right += table[np.int64(whole[k] - left[k])]
        return table[n_left] - logs_left + (table[n_right] - logs_right)
    return n_left - squares_left / n_left + (n_right - squares_right / n_right)


@part_of_loop
def offer(split, column, decrease, cell, low, high, cut):
    """Let a split compete with the best one of the other columns at a node; tell if it has won.

    No column can do better than leave nothing of the impurity; of several that do, the first is
    taken.
    """
    perfect = decrease >= cell.error * (1.0 - 1e-12) or cell.n_rows == 2
    if not perfect and split.perfect != NO_COLUMN:
        return False
    # Sums in another order differ in the last digits; the first column wins a tie.
    more, tolerance = decrease - split.decrease, 1e-12 * cell.weight
    close = -tolerance <= more <= tolerance
    wins = perfect or (column < split.column if close else more > 0.0)
    if wins:
        split.decrease, split.column, split.missing_to = decrease, column, -1
        split.low, split.high, split.cut = low, high, cut
    if perfect:
        split.perfect = column
    return wins
