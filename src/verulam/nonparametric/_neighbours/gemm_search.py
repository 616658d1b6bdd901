"""Nearest-neighbour search by matrix products (GEMM) in single precision, exactly.

A product gives approximate squared distances with a bounded error; what may be among the nearest
within that error is measured again in double precision.
"""

from dataclasses import dataclass

import numpy as np

from verulam.base import one_blas_thread, thread_count, thread_map
from verulam.nonparametric._tuning import (
    GEMM_COLUMN_TIME,
    GEMM_PAIR_TIME,
    GEMM_THREADED_TIME,
    LEAST_TILE_ROWS,
    MOST_TILE_ROWS,
    SMALL_PRODUCT,
    TASK_QUERIES,
)
from verulam.numerics import njit

#: Stored rows looked at together: one comparison decides whether any of them is a candidate.
GROUP = 8
#: Queries of one matrix product.
QUERY_ROWS = 64
#: So many candidates are ranked by comparing each with each, more by a sort.
COUNTED_RANKS = 128
#: Half the spacing of single-precision numbers at 1.
SINGLE_ROUNDING = 2.0**-24
#: A query farther out than this many radii of the stored rows is measured in double precision.
FAR = 100.0
#: The squared length of a row that is not there, and of a limit that is not known yet.
BEYOND = np.float32(3e38)

_RELAXED = {"nnan", "ninf", "nsz", "reassoc", "contract"}


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
    # Rows whose squares underflow or overflow are left to the search in full.
    with np.errstate(over="ignore", invalid="ignore"):
        centre = stored.mean(axis=0)
        scaled = stored - centre
        squares = np.einsum("ij,ij->i", scaled, scaled)
        scale = float(np.sqrt(squares.max())) or 1.0
        squares = squares / scale / scale
        scaled /= scale
    width = SMALL_PRODUCT // (QUERY_ROWS * (n_columns + 1))
    width = min(max(width, LEAST_TILE_ROWS), MOST_TILE_ROWS, n_rows + GROUP - 1) // GROUP * GROUP
    tiles = np.zeros((-(-n_rows // width), n_columns + 1, width), dtype=np.float32)
    tiles[:, n_columns] = BEYOND
    for tile, start in zip(tiles, range(0, n_rows, width), strict=True):
        n_here = min(width, n_rows - start)
        tile[:n_columns, :n_here] = scaled[start : start + n_here].T
        tile[n_columns, :n_here] = squares[start : start + n_here]
    return TiledRows(stored, centre, scale, tiles)


def nearest_in_tiles(
    queries: np.ndarray, tiled: TiledRows, k: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return distances of the nearest rows, which rows they are, and which queries are undecided.

    A query is undecided where too many rows are equally near, or where it is so far out that
    single precision cannot tell them apart.
    """
    stored = tiled.stored
    distances = np.empty((len(queries), k))
    rows = np.empty((len(queries), k), dtype=np.intp)
    undecided = np.empty(len(queries), dtype=np.bool_)

    time = len(queries) * len(stored) * (GEMM_PAIR_TIME + GEMM_COLUMN_TIME * stored.shape[1])
    threads = 1 if time < GEMM_THREADED_TIME else thread_count()
    blocks = -(-len(queries) // (QUERY_ROWS * threads))
    task_rows = min(TASK_QUERIES, QUERY_ROWS * blocks)

    def search(start: int) -> None:
        task = slice(start, start + task_rows)
        search_tiles(
            queries[task],
            stored,
            tiled.centre,
            tiled.scale,
            tiled.tiles,
            distances[task],
            rows[task],
            undecided[task],
        )

    # Threads share the queries already; BLAS with threads of its own would compete with them.
    with one_blas_thread():
        thread_map(search, range(0, len(queries), task_rows), threads, limit_blas=False)
    return distances, rows, undecided


def search_tiles(
    queries: np.ndarray,
    stored: np.ndarray,
    centre: np.ndarray,
    scale: float,
    tiles: np.ndarray,
    distances: np.ndarray,
    rows: np.ndarray,
    undecided: np.ndarray,
) -> None:
    r"""Find the nearest rows of each query; mark queries that have to be measured in full.

    One product with a tile gives :math:`\|s\|^2 - 2 q^T s` in single precision for each query and
    stored row, with an error below half of the query's margin. Rows that may be among the nearest
    by it are measured in double precision.
    """
    k, width = distances.shape[1], tiles.shape[2]
    capacity = 4 * k + 64
    products = np.empty((QUERY_ROWS, width), dtype=np.float32)
    minima = np.empty(width // GROUP, dtype=np.float32)
    spare = np.empty(max(capacity, len(minima)), dtype=np.float32)
    values = np.empty((QUERY_ROWS, capacity), dtype=np.float32)
    places = np.empty((QUERY_ROWS, capacity), dtype=np.intp)
    measured = np.empty((QUERY_ROWS, capacity))
    scaled_queries, all_margins, is_far = _query_block(queries, centre, scale)
    for start in range(0, len(queries), QUERY_ROWS):
        task = slice(start, start + QUERY_ROWS)
        block, margins = scaled_queries[task], all_margins[task]
        counts = np.where(is_far[task], -1, 0)
        limits = np.full(len(block), BEYOND)
        here = products[: len(block)]
        for number, tile in enumerate(tiles):
            np.dot(block, tile, out=here)
            scratch = minima, spare
            collect_candidates(
                here, number * width, k, limits, margins, counts, values, places, *scratch
            )
            # Early on, another tile makes the limit much closer: after 1, 2, 4, 8 ... tiles.
            if number & (number + 1) == 0 or number == len(tiles) - 1:
                thin_candidates(k, limits, margins, counts, values, places, spare)
        undecided[task] = counts < 0
        measure_candidates(queries[task], stored, counts, places, measured)
        rank_candidates(counts, places, measured, distances[task], rows[task])
        for query in np.flatnonzero(counts > COUNTED_RANKS):
            candidates, far = places[query, : counts[query]], measured[query, : counts[query]]
            order = np.lexsort((candidates, far))[:k]
            distances[start + query], rows[start + query] = far[order], candidates[order]


def _query_block(
    queries: np.ndarray, centre: np.ndarray, scale: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return queries ready for the product, the margin of each, and which are far out."""
    n_columns = queries.shape[1]
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = (queries - centre) / scale
        reach = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))
    block = np.ones((len(queries), n_columns + 1), dtype=np.float32)
    block[:, :n_columns] = -2.0 * np.clip(scaled, -FAR, FAR)
    # A product of n + 1 terms is off by at most n + 1 roundings of the sum of its terms' sizes,
    # which 1 + 2 |q| bounds, as no stored row is longer than 1; rounding the inputs adds a few.
    # Twice that: the error of a row, and of the k-th, to which it is compared.
    margins = 2.0 * (n_columns + 5) * SINGLE_ROUNDING * (1.0 + 2.0 * np.minimum(reach, FAR))
    return block, margins.astype(np.float32), ~(reach < FAR) | ~np.isfinite(scale)


@njit(cache=True, nogil=True, error_model="numpy")
def collect_candidates(products, first, k, limits, margins, counts, values, places, minima, spare):
    """Add the entries within the limits to the candidates of each query.

    A list that stays full after it was thinned has the number -1: too many rows are equally near
    to be told apart.
    """
    n_groups = len(minima)
    most = values.shape[1] - GROUP
    for query in range(len(products)):
        count, limit = counts[query], limits[query]
        if count < 0:
            continue
        row, near, listed = products[query], values[query], places[query]
        _group_minima(row, minima)
        if limit >= BEYOND and k <= n_groups:
            limit = _kth_smallest(minima, n_groups, k, spare) + margins[query]
        for group in range(n_groups):
            if minima[group] > limit:
                continue
            for member in range(GROUP):
                # Written whether wanted or not: counting on beats a branch nobody foresees.
                place = member * n_groups + group
                near[count] = row[place]
                listed[count] = first + place
                count += row[place] <= limit and row[place] < BEYOND
            if count > most:
                limit = _kth_smallest(near, count, k, spare) + margins[query]
                count = _thin(near, listed, count, limit)
                if count > most:
                    count = -1
                    break
        counts[query], limits[query] = count, limit


@njit(cache=True, nogil=True, error_model="numpy")
def thin_candidates(k, limits, margins, counts, values, places, spare):
    """Draw the limits closer and drop the candidates beyond, where there are more than needed."""
    for query in range(len(counts)):
        if counts[query] > k:
            limit = _kth_smallest(values[query], counts[query], k, spare) + margins[query]
            counts[query] = _thin(values[query], places[query], counts[query], limit)
            limits[query] = limit


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_RELAXED)
def _group_minima(row, minima):
    """Write the least of each group: every so-manyth entry, so that groups lie side by side."""
    n_groups = len(minima)
    for group in range(n_groups):
        minima[group] = row[group]
    for member in range(1, GROUP):
        first = member * n_groups
        for group in range(n_groups):
            minima[group] = min(minima[group], row[first + group])


@njit(cache=True, nogil=True)
def _thin(values, places, count, limit):
    """Keep the candidates within the limit; return how many there are."""
    n_within = 0
    for candidate in range(count):
        value = values[candidate]
        values[n_within] = value
        places[n_within] = places[candidate]
        n_within += value <= limit
    return n_within


@njit(cache=True, nogil=True)
def _kth_smallest(values, count, k, spare):
    """Return the `k`-th smallest of the first values, which stay in place, by quickselect."""
    for place in range(count):
        spare[place] = values[place]
    low, high = np.int64(0), np.int64(count)
    # Three ways, below, equal and above the pivot: many equal values would else take n^2 steps.
    # Every value is swapped, and the front moves on or not: no branch to mispredict.
    while True:
        pivot = spare[(low + high) // 2]
        front = low
        for place in range(low, high):
            value = spare[place]
            spare[place] = spare[front]
            spare[front] = value
            front += value < pivot
        if k <= front:
            high = front
            continue
        low = front
        for place in range(low, high):
            value = spare[place]
            spare[place] = spare[front]
            spare[front] = value
            front += value == pivot
        if k <= front:
            return pivot
        low = front


@njit(cache=True, nogil=True, error_model="numpy")
def measure_candidates(queries, stored, counts, places, measured):
    """Write the distances of candidates, added up column by column as in every other search."""
    for query in range(len(queries)):
        last = counts[query] - 1
        for candidate in range(0, last + 1, 4):
            # Four sums at a time, for each addition waits for the one before; behind the last
            # candidate the list has room for what is measured in vain.
            first = places[query, candidate]
            second = places[query, candidate + 1] if candidate + 1 <= last else first
            third = places[query, candidate + 2] if candidate + 2 <= last else first
            fourth = places[query, candidate + 3] if candidate + 3 <= last else first
            one = two = three = four = 0.0
            for column in range(queries.shape[1]):
                value = queries[query, column]
                one += (value - stored[first, column]) ** 2
                two += (value - stored[second, column]) ** 2
                three += (value - stored[third, column]) ** 2
                four += (value - stored[fourth, column]) ** 2
            # Distances, not squares, decide: rounding of the root makes more of them equal.
            measured[query, candidate] = np.sqrt(one)
            measured[query, candidate + 1] = np.sqrt(two)
            measured[query, candidate + 2] = np.sqrt(three)
            measured[query, candidate + 3] = np.sqrt(four)


@njit(cache=True, nogil=True, error_model="numpy")
def rank_candidates(counts, places, measured, distances, rows):
    """Write the nearest of a few candidates, the first among equals."""
    for query in range(len(counts)):
        count = counts[query]
        if count > COUNTED_RANKS:
            continue
        # The rank of a candidate is the number of those before it: no branch to mispredict.
        for candidate in range(count):
            distance, row = measured[query, candidate], places[query, candidate]
            rank = np.int64(0)
            for other in range(count):
                nearer = measured[query, other] < distance
                before = (measured[query, other] == distance) & (places[query, other] < row)
                rank += nearer | before
            if rank < distances.shape[1]:
                distances[query, rank] = distance
                rows[query, rank] = row


def measure_all(queries: np.ndarray, stored: np.ndarray) -> np.ndarray:
    """Return the distance of each query to each stored row, to the last digit as in a search."""
    squares = np.zeros((len(queries), len(stored)))
    # Added up in the order of the columns, so that every search rounds alike.
    with np.errstate(over="ignore"):
        for mine, theirs in zip(queries.T, stored.T, strict=True):
            squares += np.square(mine[:, None] - theirs)
    return np.sqrt(squares)
