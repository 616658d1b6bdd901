"""Compiled loop behind the running median: a tree of counts over the ranks of the targets."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def change_count(tree, rank, change):
    """Add to the count of a rank."""
    position = rank + 1
    while position < tree.shape[0]:
        tree[position] += change
        position += position & -position


@njit(cache=True, nogil=True)
def find_rank(tree, position, highest):
    """Return the rank of the value at a position among those counted."""
    rank = 0
    step = highest
    while step > 0:
        if rank + step < tree.shape[0] and tree[rank + step] <= position:
            rank += step
            position -= tree[rank]
        step >>= 1
    return rank


@njit(cache=True, nogil=True)
def running_limits(ranks, ordered, starts, stops, skipped, depths):
    """Return two targets of each window, equally far from its least and its greatest.

    `ranks` are those of the targets, `ordered` the targets by rank; `depths` is how many targets
    of a window lie beyond each of the two, by their number, -1 for infinite limits. NaN where a
    window is empty. Starts and stops never go back, so that each point enters and leaves the tree
    once.
    """
    tree = np.zeros(ranks.shape[0] + 1, dtype=np.int64)
    highest = 1
    while 2 * highest < tree.shape[0]:
        highest *= 2
    limits = np.empty((2, starts.shape[0]))
    start = stop = 0
    for q in range(starts.shape[0]):
        while stop < stops[q]:
            change_count(tree, ranks[stop], 1)
            stop += 1
        while start < starts[q]:
            change_count(tree, ranks[start], -1)
            start += 1
        count = stop - start
        left_out = skipped[q] >= start and skipped[q] < stop
        if left_out:
            change_count(tree, ranks[skipped[q]], -1)
            count -= 1
        limits[:, q] = np.nan
        if count > 0:
            depth, other = depths[count], count - 1 - depths[count]
            limits[0, q], limits[1, q] = -np.inf, np.inf
            if depth >= 0:
                limits[0, q] = limits[1, q] = ordered[find_rank(tree, depth, highest)]
                if other != depth:
                    limits[1, q] = ordered[find_rank(tree, other, highest)]
        if left_out:
            change_count(tree, ranks[skipped[q]], 1)
    return limits
