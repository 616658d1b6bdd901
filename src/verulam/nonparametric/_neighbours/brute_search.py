"""Search for the nearest stored rows by measuring all of them, without any preparation."""

import numpy as np

from verulam.base import thread_count, thread_map
from verulam.nonparametric._neighbours.brute_search_loops import (
    CHEBYSHEV,
    CITY_BLOCK,
    EUCLIDEAN,
    HAMMING,
    least_columns,
    scan_rows,
)

#: Neighbours that are kept in order while rows are scanned; more of them are sorted afterwards.
MOST_KEPT = 64
#: Queries that a thread takes at a time at most.
SHARE_ROWS = 256
#: Nanoseconds for a pair of query and stored row, for one more column, and for what one thread
#: has done before others have begun.
PAIR_TIME, COLUMN_TIME, THREADED_TIME = 0.5, 0.18, 300_000

#: Kinds of distance by the order of Minkowski's.
_KINDS = {2.0: EUCLIDEAN, 1.0: CITY_BLOCK, np.inf: CHEBYSHEV}


def scan_kind(metric: object, order: float | None) -> int | None:
    """Return what kind of distance a scan is to measure, or None where it knows none such."""
    if isinstance(metric, str) and metric == "hamming":
        return HAMMING
    return None if order is None else _KINDS.get(order)


def scan_time(n_rows: int, n_columns: int) -> float:
    """Return the microseconds that one query takes."""
    return 1e-3 * n_rows * (PAIR_TIME + COLUMN_TIME * n_columns)


def nearest_by_scan(
    queries: np.ndarray, stored: np.ndarray, kind: int, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return distances of the nearest rows, at most `MOST_KEPT`, and which rows they are."""
    distances = np.empty((len(queries), k))
    rows = np.empty((len(queries), k), dtype=np.intp)
    time = 1e3 * len(queries) * scan_time(*stored.shape)
    threads = 1 if time < THREADED_TIME else thread_count()
    share = max(1, min(SHARE_ROWS, -(-len(queries) // threads)))

    def search(start: int) -> None:
        some = slice(start, start + share)
        scan_rows(queries[some], stored, kind, distances[some], rows[some])

    thread_map(search, range(0, len(queries), share), threads, limit_blas=False)
    return distances, rows


def nearest_entries(table: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the least entries of each row of a table, at most `MOST_KEPT`, and their columns."""
    distances = np.empty((len(table), k))
    rows = np.empty((len(table), k), dtype=np.intp)
    least_columns(table, distances, rows)
    return distances, rows
