"""Compiled counts of pairs in the wrong order, without a list of the pairs."""

import numpy as np

from verulam.numerics import njit


@njit(cache=True, nogil=True)
def count_close(scores, order, ranks, starts, margin, better, worse):
    """Count, for each row, pairs whose better row does not lead by `margin`.

    Parameters
    ----------
    scores
        Score of each row.
    order
        Rows group after group, by rising score within each.
    ranks
        Rank of each row's relevance within its group, from 1.
    starts
        Where each group begins in `order`, and its end.
    margin
        Lead that the better row should have.
    better, worse
        Written: pairs of each row in which it is the better one, or the worse one.
    """
    for group in range(starts.shape[0] - 1):
        rows = order[starts[group] : starts[group + 1]]
        size = rows.shape[0]
        highest = 0
        for k in range(size):
            highest = max(highest, ranks[rows[k]])
        # A binary indexed tree (Fenwick 1994): counts of lower ranks in logarithmic time.
        tree = np.zeros(highest + 1, dtype=np.int64)
        # Worse rows enter from the highest score down, as long as they come within the margin.
        last = size - 1
        for k in range(size - 1, -1, -1):
            row = rows[k]
            while last >= 0 and scores[rows[last]] + margin > scores[row]:
                _enter(tree, ranks[rows[last]])
                last -= 1
            better[row] = _below(tree, ranks[row] - 1)
        tree[:] = 0
        entered = 0
        for k in range(size):
            row = rows[k]
            while entered < size and scores[rows[entered]] < scores[row] + margin:
                _enter(tree, ranks[rows[entered]])
                entered += 1
            worse[row] = entered - _below(tree, ranks[row])


@njit(cache=True, nogil=True)
def _enter(tree, rank):
    while rank < tree.shape[0]:
        tree[rank] += 1
        rank += rank & -rank


@njit(cache=True, nogil=True)
def _below(tree, rank):
    total = 0
    while rank > 0:
        total += tree[rank]
        rank -= rank & -rank
    return total
