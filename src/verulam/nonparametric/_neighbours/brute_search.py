"""Brute-force nearest-neighbour search: every stored row is measured, without any preparation."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from verulam.base import DataError, thread_count, thread_map
from verulam.nonparametric._tuning import (
    DISTANCES_AT_ONCE,
    MOST_INSERTED,
    SCAN_COLUMN_TIME,
    SCAN_PAIR_TIME,
    SCAN_THREADED_TIME,
    TASK_QUERIES,
)
from verulam.numerics import njit

#: Metrics that the compiled scan knows.
EUCLIDEAN, MANHATTAN, CHEBYSHEV, HAMMING = 0, 1, 2, 3
#: Those that are Minkowski's, by his order.
_SCANS_BY_ORDER = {2.0: EUCLIDEAN, 1.0: MANHATTAN, np.inf: CHEBYSHEV}

#: What rounding can add to the square of a root, as a share.
ABOVE = 1.0 + 1e-15
#: Stored rows that are transposed and measured together: their sums fill a few cache lines.
SCAN_ROWS = 128


@dataclass(frozen=True)
class Neighbours:
    """The nearest stored rows of each query, nearest first.

    Attributes
    ----------
    distances : ndarray of shape (n_queries, k)
        How far they are.
    rows : ndarray of shape (n_queries, k)
        Which stored rows they are.
    """

    distances: np.ndarray
    rows: np.ndarray


def check_neighbour_count(
    k: int, n_rows: int, among: str = "the stored rows", argument: str = "n_neighbors"
) -> None:
    """Raise where more neighbours are asked for than there are rows."""
    if k > n_rows:
        raise DataError(
            f"{argument} is larger than {among}: there are n_samples = {n_rows} rows, and "
            f"{k} are needed."
        )


def nearest_by_distances(
    measure: Callable[[Any], np.ndarray], queries: Any, k: int, threads: int = 0
) -> Neighbours:
    """Return the nearest rows by any distance, a block of the distance table at a time.

    Parameters
    ----------
    measure
        Maps some of the queries to their distances to all stored rows.
    queries
        An array or table that can be sliced by rows.
    k
        Number of neighbours.
    threads
        Threads to use; 0 for as many as there are.
    """
    n_stored = measure(queries[:1]).shape[1]
    check_neighbour_count(k, n_stored)
    block_rows = max(1, DISTANCES_AT_ONCE // max(1, n_stored))
    distances = np.empty((len(queries), k))
    rows = np.empty((len(queries), k), dtype=np.intp)

    def search(start: int) -> None:
        block = slice(start, start + block_rows)
        neighbours = nearest_columns(measure(queries[block]), k)
        distances[block], rows[block] = neighbours.distances, neighbours.rows

    thread_map(search, range(0, len(queries), block_rows), threads)
    return Neighbours(distances, rows)


def nearest_columns(table: np.ndarray, k: int) -> Neighbours:
    """Return the `k` smallest entries of each row of a distance table."""
    if k <= MOST_INSERTED:
        return Neighbours(*nearest_entries(np.ascontiguousarray(table, dtype=np.float64), k))
    if k < table.shape[1]:
        rows = np.argpartition(table, k - 1, axis=1)[:, :k]
        last = np.take_along_axis(table, rows, axis=1).max(axis=1)
        # Of several that are equally near, partitions keep any; the first ones are wanted.
        for row in np.flatnonzero((table <= last[:, None]).sum(axis=1) > k):
            within = np.flatnonzero(table[row] <= last[row])
            rows[row] = within[np.argsort(table[row, within], kind="stable")[:k]]
    else:
        rows = np.tile(np.arange(k), (len(table), 1))
    return in_order(np.take_along_axis(table, rows, axis=1), rows)


def in_order(distances: np.ndarray, rows: np.ndarray) -> Neighbours:
    """Return the neighbours with the nearest first, and the first row first among equals."""
    # Trees give the nearest first already; few queries have equals to put in order.
    unsettled = (np.diff(distances, axis=1) <= 0).any(axis=1)
    if unsettled.any():
        order = np.lexsort((rows[unsettled], distances[unsettled]), axis=-1)
        distances[unsettled] = np.take_along_axis(distances[unsettled], order, axis=1)
        rows[unsettled] = np.take_along_axis(rows[unsettled], order, axis=1)
    return Neighbours(distances, rows)


def scan_kind(metric: object, order: float | None) -> int | None:
    """Return the code of a metric for the compiled scan, or None where it has none."""
    if isinstance(metric, str) and metric == "hamming":
        return HAMMING
    return None if order is None else _SCANS_BY_ORDER.get(order)


def scan_time(n_rows: int, n_columns: int) -> float:
    """Return the microseconds that one query takes."""
    return 1e-3 * n_rows * (SCAN_PAIR_TIME + SCAN_COLUMN_TIME * n_columns)


def nearest_by_scan(
    queries: np.ndarray, stored: np.ndarray, kind: int, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return distances of the nearest rows, at most `MOST_INSERTED`, and which rows they are."""
    distances = np.full((len(queries), k), np.inf)
    rows = np.empty((len(queries), k), dtype=np.intp)
    time = 1e3 * len(queries) * scan_time(*stored.shape)
    threads = 1 if time < SCAN_THREADED_TIME else thread_count()
    task_rows = max(1, min(TASK_QUERIES, -(-len(queries) // threads)))

    def search(start: int) -> None:
        task = slice(start, start + task_rows)
        scan_rows(
            queries[task],
            stored,
            kind,
            distances[task],
            rows[task],
            np.full(len(distances[task]), np.inf),
            np.empty((stored.shape[1], SCAN_ROWS)),
            np.empty(SCAN_ROWS),
        )

    thread_map(search, range(0, len(queries), task_rows), threads, limit_blas=False)
    for query in np.flatnonzero(distances[:, -1] == np.inf):
        _fill_up(distances[query], rows[query], len(stored))
    if kind == HAMMING:
        distances /= stored.shape[1]
    return distances, rows


def _fill_up(distances: np.ndarray, rows: np.ndarray, n_rows: int) -> None:
    """Put the first rows that are not listed yet behind those at finite distances."""
    n_finite = np.count_nonzero(distances < np.inf)
    others = np.ones(n_rows, dtype=np.bool_)
    others[rows[:n_finite]] = False
    rows[n_finite:] = np.flatnonzero(others)[: len(rows) - n_finite]


def nearest_entries(table: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the least entries of each row of a table, up to `MOST_INSERTED`, and their columns."""
    distances = np.full((len(table), k), np.inf)
    rows = np.empty((len(table), k), dtype=np.intp)
    least_columns(table, distances, rows)
    for query in np.flatnonzero(distances[:, -1] == np.inf):
        # Infinite entries have their order, too.
        rows[query] = np.argsort(table[query], kind="stable")[:k]
    return distances, rows


@njit(cache=True, nogil=True, error_model="numpy")
def scan_rows(queries, stored, kind, distances, rows, limits, block, sums):
    """Find the nearest rows of each query by measuring all; the first among equals is taken."""
    n_columns = queries.shape[1]
    for first in range(0, len(stored), SCAN_ROWS):
        n_here = min(SCAN_ROWS, len(stored) - first)
        # Transposed once for all queries: the inner loop then runs along rows, whose sums do not
        # wait for one another, and becomes vector instructions.
        for place in range(n_here):
            for column in range(n_columns):
                block[column, place] = stored[first + place, column]
        for query in range(len(queries)):
            # Rows like the query that fill its list leave nothing to improve.
            if limits[query] > 0.0:
                _measure_block(queries[query], block, n_here, kind, sums)
                limits[query] = _insert_nearer(
                    sums, n_here, first, kind, limits[query], distances[query], rows[query]
                )


@njit(cache=True, nogil=True, error_model="numpy")
def _measure_block(query, block, n_here, kind, sums):
    """Write what the distances of some rows are made of; columns are added up in their order."""
    sums[:] = 0.0
    for column in range(len(query)):
        coordinate = query[column]
        if kind == EUCLIDEAN:
            for place in range(n_here):
                difference = coordinate - block[column, place]
                sums[place] += difference * difference
        elif kind == MANHATTAN:
            for place in range(n_here):
                sums[place] += abs(coordinate - block[column, place])
        elif kind == CHEBYSHEV:
            for place in range(n_here):
                sums[place] = max(sums[place], abs(coordinate - block[column, place]))
        else:
            for place in range(n_here):
                sums[place] += 1.0 if coordinate != block[column, place] else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def _insert_nearer(sums, n_here, first, kind, limit, distances, rows):
    """Insert the rows with sums below the limit; return the limit for those to come."""
    # Counted first, without branches: once the list is full, most blocks hold nothing nearer.
    below = np.int64(0)
    for place in range(n_here):
        below += sums[place] < limit
    if below == 0:
        return limit
    last = len(distances) - 1
    for place in range(n_here):
        if sums[place] >= limit:
            continue
        distance = np.sqrt(sums[place]) if kind == EUCLIDEAN else sums[place]
        if distance >= distances[last]:
            continue
        rank = last
        while rank > 0 and distances[rank - 1] > distance:
            distances[rank] = distances[rank - 1]
            rows[rank] = rows[rank - 1]
            rank -= 1
        distances[rank] = distance
        rows[rank] = first + place
        # Hardly too high, so that the exact limit is worked out only once.
        limit = distances[last]
        if kind == EUCLIDEAN:
            limit *= limit * ABOVE
    if kind == EUCLIDEAN and 0.0 < limit < np.inf:
        # The least number whose root is the distance or more: distances, not squares, decide
        # which rows are nearer, and rounding of the root makes some equal.
        while np.sqrt(limit) >= distances[last] and limit > 0.0:
            limit = np.nextafter(limit, 0.0)
        while np.sqrt(limit) < distances[last]:
            limit = np.nextafter(limit, np.inf)
    return limit


@njit(cache=True, nogil=True, error_model="numpy")
def least_columns(table, distances, rows):
    """Find the least entries of each row of a table, the first among equals."""
    n_columns = table.shape[1]
    for query in range(len(table)):
        limit = np.inf
        for first in range(0, n_columns, SCAN_ROWS):
            stop = min(first + SCAN_ROWS, n_columns)
            # As Manhattan distances the entries are compared as they are, without a root.
            limit = _insert_nearer(
                table[query, first:stop],
                stop - first,
                first,
                MANHATTAN,
                limit,
                distances[query],
                rows[query],
            )
