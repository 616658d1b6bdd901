"""Compiled loops behind transactions: numbers of items, and lists of rows turned into columns."""

import numpy as np

from verulam.numerics import njit


@njit(cache=True, nogil=True)
def number_values(values, low, high):
    """Return the rank of each value between `low` and `high`, and where each rank comes first."""
    # One more than the place where each value comes first, 0 of those that do not come.
    ends = np.zeros(high - low + 1, np.int64)
    n_present = 0
    for place in range(values.shape[0]):
        if ends[values[place] - low] == 0:
            ends[values[place] - low] = place + 1
            n_present += 1
    first, ranks, rank = np.empty(n_present, np.int64), np.empty(ends.shape[0], np.int32), 0
    for value in range(ends.shape[0]):
        if ends[value] > 0:
            first[rank], ranks[value] = ends[value] - 1, rank
            rank += 1
    codes = np.empty(values.shape[0], np.int32)
    for place in range(values.shape[0]):
        codes[place] = ranks[values[place] - low]
    return codes, first


@njit(cache=True, nogil=True)
def are_sorted(starts, codes):
    """Return whether the codes of every row rise, so that each is there once."""
    for row in range(starts.shape[0] - 1):
        for place in range(starts[row] + 1, starts[row + 1]):
            if codes[place] <= codes[place - 1]:
                return False
    return True


@njit(cache=True, nogil=True)
def transpose(starts, members, order, n_columns):
    """Turn lists of columns, one for each row, into lists of rows, one for each column.

    Rows are taken, and numbered, in an order of theirs, which may leave some out. The list of a
    column is in that order, and has a row once, however often the row has the column.
    """
    begins = np.zeros(n_columns + 1, np.int64)
    for row in order:
        for place in range(starts[row], starts[row + 1]):
            begins[members[place] + 1] += 1
    for column in range(n_columns):
        begins[column + 1] += begins[column]
    ends = begins[:-1].copy()
    rows = np.empty(begins[-1], np.int32)
    for number in range(order.shape[0]):
        for place in range(starts[order[number]], starts[order[number] + 1]):
            column = members[place]
            end = ends[column]
            if end == begins[column] or rows[end - 1] != number:
                rows[end] = number
                ends[column] = end + 1
    return _closed_up(begins, ends, rows)


@njit(cache=True, nogil=True)
def _closed_up(begins, ends, rows):
    """Return starts and rows of all columns, without the room behind some of their ends."""
    starts = np.zeros(begins.shape[0], np.int64)
    for column in range(ends.shape[0]):
        starts[column + 1] = starts[column] + ends[column] - begins[column]
    if starts[-1] == rows.shape[0]:
        return starts, rows
    packed, place = np.empty(starts[-1], np.int32), 0
    for column in range(ends.shape[0]):
        for source in range(begins[column], ends[column]):
            packed[place] = rows[source]
            place += 1
    return starts, packed
