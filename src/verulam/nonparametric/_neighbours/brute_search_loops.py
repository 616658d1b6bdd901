"""Compiled loops of the search through all rows: arrays in, arrays out, no checks."""

import numpy as np
from numba import njit

#: Stored rows that are turned round and measured together.
SCAN_ROWS = 128
#: Kinds of distance that a scan knows.
EUCLIDEAN, CITY_BLOCK, CHEBYSHEV, HAMMING = 0, 1, 2, 3


@njit(cache=True, nogil=True, error_model="numpy")
def scan_rows(queries, stored, kind, distances, rows):
    """Find the nearest rows of each query by measuring all; the first among equals is taken."""
    n_queries, n_columns = queries.shape
    block = np.empty((n_columns, SCAN_ROWS))
    sums = np.empty(SCAN_ROWS)
    limits = np.full(n_queries, np.inf)
    distances[:] = np.inf
    for first in range(0, len(stored), SCAN_ROWS):
        n_here = min(SCAN_ROWS, len(stored) - first)
        for place in range(n_here):
            for column in range(n_columns):
                block[column, place] = stored[first + place, column]
        for query in range(n_queries):
            # Rows like the query that fill its list leave nothing to improve.
            if limits[query] <= 0.0:
                continue
            _measure_block(queries[query], block, n_here, kind, sums)
            limits[query] = _keep(
                sums[:n_here], first, kind, limits[query], distances[query], rows[query]
            )
    for query in range(n_queries):
        if distances[query, -1] == np.inf:
            _fill_up(distances[query], rows[query])
    if kind == HAMMING:
        distances /= n_columns


@njit(cache=True, nogil=True, error_model="numpy")
def _measure_block(query, block, n_here, kind, sums):
    """Write what the distances of some rows are made of; columns are added up in their order."""
    sums[:] = 0.0
    for column in range(len(query)):
        value = query[column]
        if kind == EUCLIDEAN:
            for place in range(n_here):
                difference = value - block[column, place]
                sums[place] += difference * difference
        elif kind == CITY_BLOCK:
            for place in range(n_here):
                sums[place] += abs(value - block[column, place])
        elif kind == CHEBYSHEV:
            for place in range(n_here):
                sums[place] = max(sums[place], abs(value - block[column, place]))
        else:
            for place in range(n_here):
                sums[place] += 1.0 if value != block[column, place] else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def _keep(sums, first, kind, limit, distances, rows):
    """Put rows with sums below the limit in their places; return the limit for those to come."""
    below = 0
    for place in range(len(sums)):
        below += sums[place] < limit
    if below == 0:
        return limit
    for place in range(len(sums)):
        if sums[place] < limit:
            distance = np.sqrt(sums[place]) if kind == EUCLIDEAN else sums[place]
            put_in_place(distance, first + place, distances, rows)
            limit = _least_square(distances[-1]) if kind == EUCLIDEAN else distances[-1]
    return limit


@njit(cache=True, nogil=True, error_model="numpy")
def _least_square(distance):
    """Return the least number whose root is the distance or more.

    Distances, not squares, decide which rows are nearer: rounding of the root makes some equal.
    """
    if not 0.0 < distance < np.inf:
        return distance
    square = distance * distance
    while np.sqrt(square) >= distance and square > 0.0:
        square = np.nextafter(square, 0.0)
    while np.sqrt(square) < distance:
        square = np.nextafter(square, np.inf)
    return square


@njit(cache=True, nogil=True, error_model="numpy")
def put_in_place(distance, row, distances, rows):
    """Add a row to a list that has the nearest first, behind those that are as near."""
    if not distance < distances[-1]:
        return
    place = len(distances) - 1
    while place > 0 and distances[place - 1] > distance:
        distances[place] = distances[place - 1]
        rows[place] = rows[place - 1]
        place -= 1
    distances[place] = distance
    rows[place] = row


@njit(cache=True, nogil=True, error_model="numpy")
def _fill_up(distances, rows):
    """Put the first rows that are not listed yet behind those at finite distances."""
    n_told = 0
    while distances[n_told] < np.inf:
        n_told += 1
    row = 0
    for place in range(n_told, len(rows)):
        while (rows[:n_told] == row).any():
            row += 1
        rows[place] = row
        row += 1


@njit(cache=True, nogil=True, error_model="numpy")
def least_columns(table, distances, rows):
    """Find the least entries of each row of a table, the first among equals."""
    n_columns = table.shape[1]
    distances[:] = np.inf
    for query in range(len(table)):
        for first in range(0, n_columns, SCAN_ROWS):
            some = table[query, first : min(first + SCAN_ROWS, n_columns)]
            _keep(some, first, CITY_BLOCK, distances[query, -1], distances[query], rows[query])
        if distances[query, -1] == np.inf:
            # Infinite entries have their order, too.
            rows[query] = np.argsort(table[query], kind="mergesort")[: rows.shape[1]]
