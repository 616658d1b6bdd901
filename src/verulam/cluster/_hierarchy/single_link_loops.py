"""Compiled loops of hierarchies: the shortest tree that joins all rows, and its merges in order."""

import numpy as np

from verulam.numerics import njit


@njit(cache=True, nogil=True)
def shortest_tree(distances, parents, lengths):
    """Write where Prim's algorithm joins each row to the tree of those before, and how far.

    `parents` holds pairs of rows, in the order of joining. Rows that are left are kept together at
    the front, so that later steps pass over fewer.
    """
    n = distances.shape[0]
    left = np.arange(1, n)
    nearest = np.zeros(n - 1, dtype=np.int64)
    gaps = np.full(n - 1, np.inf)
    current = np.int64(0)
    for step in range(n - 1):
        count = n - 1 - step
        best = np.inf
        place = np.int64(0)
        for i in range(count):
            gap = distances[current, left[i]]
            if gap < gaps[i]:
                gaps[i] = gap
                nearest[i] = current
            if gaps[i] < best:
                best = gaps[i]
                place = np.int64(i)
        parents[step, 0] = nearest[place]
        parents[step, 1] = left[place]
        lengths[step] = gaps[place]
        current = left[place]
        left[place] = left[count - 1]
        nearest[place] = nearest[count - 1]
        gaps[place] = gaps[count - 1]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def shortest_euclidean_tree(columns, left, gaps, nearest, parents, lengths):
    """Do the same from coordinates, a row for each column of the data: no table of distances.

    `columns` is used up, and `gaps` infinite at first; lengths are squares.
    """
    d, n = columns.shape
    point = columns[:, n - 1].copy()
    current = np.int64(n - 1)
    squares = np.empty(n)
    for step in range(n - 1):
        count = n - 1 - step
        for i in range(count):
            squares[i] = 0.0
        # Column by column: the inner loop runs along memory, for many rows in one instruction.
        for j in range(d):
            for i in range(count):
                deviation = columns[j, i] - point[j]
                squares[i] += deviation * deviation
        best = np.inf
        place = np.int64(0)
        for i in range(count):
            if squares[i] < gaps[i]:
                gaps[i] = squares[i]
                nearest[i] = current
            if gaps[i] < best:
                best = gaps[i]
                place = np.int64(i)
        parents[step, 0] = nearest[place]
        parents[step, 1] = left[place]
        lengths[step] = best
        current = left[place]
        last = count - 1
        left[place] = left[last]
        nearest[place] = nearest[last]
        gaps[place] = gaps[last]
        for j in range(d):
            point[j] = columns[j, place]
            columns[j, place] = columns[j, last]


@njit(cache=True, nogil=True)
def merges_of_tree(parents, lengths, order, merges):
    """Write the merges in SciPy's form, from the edges of a tree and their order by length."""
    n = parents.shape[0] + 1
    roots = np.arange(2 * n - 1)
    sizes = np.ones(2 * n - 1)
    for step in range(n - 1):
        edge = order[step]
        pair = parents[edge]
        first = pair[0]
        second = pair[1]
        # Paths are halved on the way up, which keeps later ones short.
        while roots[first] != first:
            roots[first] = roots[roots[first]]
            first = roots[first]
        while roots[second] != second:
            roots[second] = roots[roots[second]]
            second = roots[second]
        roots[first] = roots[second] = n + step
        sizes[n + step] = sizes[first] + sizes[second]
        merges[step, 0] = min(first, second)
        merges[step, 1] = max(first, second)
        merges[step, 2] = lengths[edge]
        merges[step, 3] = sizes[n + step]
