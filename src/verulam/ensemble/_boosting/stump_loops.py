"""Compiled searches for the best cut of a column, over rows sorted once and for all."""

import numpy as np

from verulam.numerics import njit


@njit(cache=True, nogil=True)
def extreme_cuts(order, ranked, signed, margin):
    """Return the lowest and the highest running sum at a cut, with column and rank of each.

    With weights that are negative in the first class, the error of a cut that gives the rows up to
    it to the first class is the weight of that class plus the sum up to the cut; given to the
    second, it is the weight of the second class minus the sum. No other cuts can be best. Sums that
    differ by less than `margin`, a rounding error, are equal, and the first of them counts.
    """
    n_columns, n_rows = order.shape
    low_column, low_rank = np.int64(-1), np.int64(-1)
    high_column, high_rank = np.int64(-1), np.int64(-1)
    lowest, highest = np.inf, -np.inf
    for column in range(n_columns):
        places, values = order[column], ranked[column]
        running = 0.0
        below, above = lowest - margin, highest + margin
        for rank in range(n_rows - 1):
            running += signed[places[rank]]
            if (running < below or running > above) and values[rank] < values[rank + 1]:
                if running < below:
                    lowest, low_column, low_rank = running, np.int64(column), np.int64(rank)
                    below = lowest - margin
                if running > above:
                    highest, high_column, high_rank = running, np.int64(column), np.int64(rank)
                    above = highest + margin
    return lowest, low_column, low_rank, highest, high_column, high_rank


@njit(cache=True, nogil=True)
def best_cut_of_classes(order, ranked, codes, weights, running, right_best, right_class, margin):
    """Return column, place, the classes of both sides and the weight that they get right.

    The heaviest class on a side that only grows is known without a search: only the class of the
    new row can overtake it. The right side grows from the end, in a first pass.
    """
    n_columns, n_rows = order.shape
    n_classes = running.shape[0]
    best = -1.0
    column, place = np.int64(-1), np.int64(-1)
    first, second = np.int64(0), np.int64(0)
    for number in range(n_columns):
        for code in range(n_classes):
            running[code] = 0.0
        most, top = 0.0, np.int64(0)
        for rank in range(n_rows - 1, 0, -1):
            row = order[number, rank]
            code = codes[row]
            running[code] += weights[row]
            if running[code] > most:
                most, top = running[code], np.int64(code)
            right_best[rank], right_class[rank] = most, top
        for code in range(n_classes):
            running[code] = 0.0
        most, top = 0.0, np.int64(0)
        for rank in range(n_rows - 1):
            row = order[number, rank]
            code = codes[row]
            running[code] += weights[row]
            if running[code] > most:
                most, top = running[code], np.int64(code)
            if ranked[number, rank] < ranked[number, rank + 1]:  # equal values stay together
                gain = most + right_best[rank + 1]
                if gain > best + margin:
                    best = gain
                    column, place = np.int64(number), np.int64(rank)
                    first, second = top, np.int64(right_class[rank + 1])
    return column, place, first, second
