"""Search for the nearest stored rows by matrix products in single precision, exactly."""

from dataclasses import dataclass

import numpy as np

from verulam.base import one_blas_thread, thread_count, thread_map
from verulam.nonparametric._neighbours.gemm_search_loops import (
    GROUP,
    QUERY_ROWS,
    farthest,
    fill_tiles,
    search_tiles,
)

#: Queries that a thread takes at a time at most.
SHARE_ROWS = 4 * QUERY_ROWS
#: Stored rows of one product at most and at least: so many that the result stays in the cache.
MOST_ROWS, LEAST_ROWS = 2048, 512
#: Numbers that a thread copies into tiles at a time.
FILLED_NUMBERS = 2**18
#: Up to so many multiplications BLAS has a way with less preparation.
SMALL_PRODUCT = 10**6
#: Nanoseconds for a pair of query and stored row, for one more column, and for what one thread
#: has done before others have begun.
PAIR_TIME, COLUMN_TIME, THREADED_TIME = 0.25, 0.02, 400_000


@dataclass(frozen=True)
class TiledRows:
    """Stored rows in single precision, centred, scaled and cut into tiles for matrix products.

    Attributes
    ----------
    stored
        The rows as they came.
    centre, scale
        Their mean, and the distance from it to the farthest.
    tiles : ndarray of shape (n_tiles, n_columns + 1, width)
        The rows less the centre, over the scale, one in each column; below them their squared
        lengths.
    """

    stored: np.ndarray
    centre: np.ndarray
    scale: float
    tiles: np.ndarray


def tiled_rows(stored: np.ndarray) -> TiledRows:
    """Return the rows ready for `nearest_in_tiles`."""
    n_rows, n_columns = stored.shape
    centre = stored.mean(axis=0)
    # Rows so close together that their squares underflow are left to the search in full.
    scale = float(np.sqrt(farthest(stored, centre))) or 1.0
    width = SMALL_PRODUCT // (QUERY_ROWS * (n_columns + 1))
    width = min(max(width, LEAST_ROWS), MOST_ROWS, n_rows + GROUP - 1) // GROUP * GROUP
    tiles = np.empty((-(-n_rows // width), n_columns + 1, width), dtype=np.float32)
    # A thread takes some tiles at a time; few numbers are sooner written by one.
    share = max(1, FILLED_NUMBERS // (width * (n_columns + 1)))

    def fill(start: int) -> None:
        rows = stored[start * width : (start + share) * width]
        fill_tiles(rows, centre, scale, tiles[start : start + share])

    thread_map(fill, range(0, len(tiles), share), limit_blas=False)
    return TiledRows(stored, centre, scale, tiles)


def nearest_in_tiles(
    queries: np.ndarray, tiled: TiledRows, k: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return distances of the nearest rows, which rows they are, and where neither was told.

    A query is left untold where too many rows are equally near, or where it is so far out that
    single precision cannot tell them apart.
    """
    stored = tiled.stored
    distances = np.empty((len(queries), k))
    rows = np.empty((len(queries), k), dtype=np.intp)
    crowded = np.empty(len(queries), dtype=np.bool_)

    time = len(queries) * len(stored) * (PAIR_TIME + COLUMN_TIME * stored.shape[1])
    threads = 1 if time < THREADED_TIME else thread_count()
    blocks = -(-len(queries) // (QUERY_ROWS * threads))
    share = min(SHARE_ROWS, QUERY_ROWS * blocks)

    def search(start: int) -> None:
        some = slice(start, start + share)
        search_tiles(
            queries[some],
            stored,
            tiled.centre,
            tiled.scale,
            tiled.tiles,
            distances[some],
            rows[some],
            crowded[some],
        )

    with one_blas_thread():
        thread_map(search, range(0, len(queries), share), threads, limit_blas=False)
    return distances, rows, crowded
