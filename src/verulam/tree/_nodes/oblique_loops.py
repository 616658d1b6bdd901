"""Compiled search for the best cut of an order of rows, by the impurity of what it divides."""

import numpy as np
from numba import njit

#: Impurities of a side.
GINI, ENTROPY, ERROR = 0, 1, 2


@njit(cache=True)
def side_impurity(counts, criterion):
    """Return the impurity of class weights times their sum."""
    total = squares = largest = bits = 0.0
    for k in range(counts.shape[0]):
        count = counts[k]
        if count > 0.0:
            total += count
            squares += count * count
            largest = max(largest, count)
            if criterion == ENTROPY:
                bits -= count * np.log2(count)
    if total <= 0.0:
        return 0.0
    if criterion == GINI:
        return total - squares / total
    if criterion == ERROR:
        return total - largest
    return bits + total * np.log2(total)


@njit(cache=True)
def cell_term(count, criterion):
    """Return what one class weight adds to the sum that the impurity of a side is made of."""
    if criterion == GINI:
        return count * count
    return count * np.log2(count) if count > 0.0 else 0.0


@njit(cache=True)
def side_of_sum(total, terms, criterion):
    """Return the impurity of a side times its weight, from the sum of its terms."""
    if total <= 0.0:
        return 0.0
    if criterion == GINI:
        return total - terms / total
    return total * np.log2(total) - terms


@njit(cache=True)
def best_cut(keys, rising, codes, weights, sides, n_side, criterion, min_rows):
    """Return the least impurity as rows change sides in the order of their keys, and where.

    Where the cut lies is the midpoint of two keys; NaN if there is none. Rows that are `rising`
    pass from side 0 to side 1, the others back. `sides` and `n_side` hold the class weights and
    the numbers of rows before the first change, and are used up.
    """
    terms, totals = np.zeros(2), np.zeros(2)
    for side in range(2):
        for k in range(sides.shape[1]):
            totals[side] += sides[side, k]
            terms[side] += cell_term(sides[side, k], criterion)
    total = totals[0] + totals[1]
    best, cut = np.inf, np.nan
    for i in range(keys.shape[0] - 1):
        old, code = (0 if rising[i] else 1), codes[i]
        for side in range(2):
            change = -weights[i] if side == old else weights[i]
            # Running sums: a row changes one class weight of each side, so that the other terms
            # stand.
            terms[side] -= cell_term(sides[side, code], criterion)
            # Running sums leave crumbs where nothing is left.
            left = sides[side, code] + change
            sides[side, code] = left if left > 1e-12 * total else 0.0
            terms[side] += cell_term(sides[side, code], criterion)
            totals[side] += change
        n_side[old] -= 1
        n_side[1 - old] += 1
        middle = 0.5 * (keys[i] + keys[i + 1])
        # Keys that differ by rounding alone are the same.
        least = 1e-12 * max(abs(keys[i]), abs(keys[i + 1]))
        if not (keys[i] + least < middle < keys[i + 1]) or min(n_side[0], n_side[1]) < min_rows:
            continue
        impurity = 0.0
        for side in range(2):
            if criterion == ERROR:
                impurity += side_impurity(sides[side], criterion)
            else:
                impurity += side_of_sum(totals[side], terms[side], criterion)
        # Equal impurities must not be told apart by the rounding of running sums.
        if impurity < best - 1e-9 * total:
            best, cut = impurity, middle
    return (best if best > 1e-9 * total else 0.0) / total, cut


@njit(cache=True)
def best_interval(values, codes, weights, n_classes, criterion, min_rows):
    """Return the least impurity of three parts of sorted values, and the two thresholds.

    All pairs are tried; the thresholds are NaN if there are none.
    """
    n_rows = values.shape[0]
    running = np.zeros((n_rows + 1, n_classes))
    for i in range(n_rows):
        for k in range(n_classes):
            running[i + 1, k] = running[i, k]
        running[i + 1, codes[i]] += weights[i]
    total = 0.0
    for k in range(n_classes):
        total += running[n_rows, k]
    part = np.empty(n_classes)
    best, low, high = np.inf, np.nan, np.nan
    for first in range(min_rows, n_rows - 2 * min_rows + 1):
        if values[first] == values[first - 1]:
            continue
        below = side_impurity(running[first], criterion)
        for second in range(first + min_rows, n_rows - min_rows + 1):
            # Where the lower part alone is as impure as the best three, no upper threshold can
            # help.
            if values[second] == values[second - 1] or below >= best:
                continue
            for k in range(n_classes):
                part[k] = running[second, k] - running[first, k]
            impurity = below + side_impurity(part, criterion)
            for k in range(n_classes):
                part[k] = running[n_rows, k] - running[second, k]
            impurity += side_impurity(part, criterion)
            if impurity < best - 1e-9 * total:
                best = impurity
                low = 0.5 * (values[first - 1] + values[first])
                high = 0.5 * (values[second - 1] + values[second])
    return best / total, low, high
