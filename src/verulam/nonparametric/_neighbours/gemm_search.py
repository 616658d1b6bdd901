"""Nearest-neighbour search by matrix products (GEMM) in single precision, exactly.

A product gives approximate squared distances with a bounded error; what may be among the nearest
within that error is measured again in double precision.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from verulam.base import one_blas_thread, thread_count, thread_map
from verulam.nonparametric._tuning import (
    FILLED_NUMBERS,
    GEMM_COLUMN_TIME,
    GEMM_PAIR_TIME,
    GEMM_THREADED_TIME,
    LEAST_TILE_ROWS,
    MOST_TILE_ROWS,
    SMALL_PRODUCT,
    TASK_QUERIES,
)

#: Stored rows looked at together: one comparison decides whether any of them is a candidate.
GROUP = 8
#: Stored rows that are read together.
STRIP = 16
#: Queries of one matrix product.
QUERY_ROWS = 64
#: So many candidates are ranked by comparing each with each, more by sorting.
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
    centre = stored.mean(axis=0)
    # Rows so close together that their squares underflow are left to the search in full.
    scale = float(np.sqrt(farthest(stored, centre))) or 1.0
    width = SMALL_PRODUCT // (QUERY_ROWS * (n_columns + 1))
    width = min(max(width, LEAST_TILE_ROWS), MOST_TILE_ROWS, n_rows + GROUP - 1) // GROUP * GROUP
    tiles = np.empty((-(-n_rows // width), n_columns + 1, width), dtype=np.float32)
    # A thread takes some tiles at a time; few numbers are sooner written by one.
    task_tiles = max(1, FILLED_NUMBERS // (width * (n_columns + 1)))

    def fill(start: int) -> None:
        rows = stored[start * width : (start + task_tiles) * width]
        fill_tiles(rows, centre, scale, tiles[start : start + task_tiles])

    thread_map(fill, range(0, len(tiles), task_tiles), limit_blas=False)
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


@njit(cache=True, nogil=True, error_model="numpy")
def fill_tiles(stored, centre, scale, tiles):
    """Write the rows less the centre, over the scale, and their squared lengths into tiles."""
    n_columns, width = tiles.shape[1] - 1, tiles.shape[2]
    squares = np.empty(STRIP)
    inverse = 1.0 / scale
    for tile in range(len(tiles)):
        first = tile * width
        n_here = min(width, len(stored) - first)
        # Strips of rows are read while they are in the cache, and written one line at a time.
        for start in range(0, n_here, STRIP):
            stop = min(start + STRIP, n_here)
            squares[:] = 0.0
            for column in range(n_columns):
                middle = centre[column]
                for place in range(start, stop):
                    value = (stored[first + place, column] - middle) * inverse
                    tiles[tile, column, place] = value
                    squares[place - start] += value * value
            for place in range(start, stop):
                tiles[tile, n_columns, place] = squares[place - start]
        tiles[tile, :n_columns, n_here:] = 0.0
        tiles[tile, n_columns, n_here:] = BEYOND


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_RELAXED)
def farthest(stored, centre):
    """Return the largest squared distance of a row from the centre."""
    largest = 0.0
    for row in range(len(stored)):
        total = 0.0
        for column in range(len(centre)):
            difference = stored[row, column] - centre[column]
            total += difference * difference
        largest = max(largest, total)
    return largest


@njit(cache=True, nogil=True, error_model="numpy")
def search_tiles(queries, stored, centre, scale, tiles, distances, rows, undecided):
    r"""Find the nearest rows of each query; mark queries that have to be measured in full.

    One product with a tile gives :math:`\|s\|^2 - 2 q^T s` in single precision for each query and
    stored row, with an error below half of the query's margin. Rows that may be among the nearest
    by it are measured in double precision.
    """
    n_queries, n_columns = queries.shape
    k = distances.shape[1]
    capacity = 4 * k + 64
    measured = np.empty(capacity)
    block = np.empty((QUERY_ROWS, n_columns + 1), dtype=np.float32)
    products = np.empty((QUERY_ROWS, tiles.shape[2]), dtype=np.float32)
    minima = np.empty(tiles.shape[2] // GROUP, dtype=np.float32)
    spare = np.empty(max(capacity, len(minima)), dtype=np.float32)
    values = np.empty((QUERY_ROWS, capacity), dtype=np.float32)
    places = np.empty((QUERY_ROWS, capacity), dtype=np.intp)
    margins = np.empty(QUERY_ROWS, dtype=np.float32)
    limits = np.empty(QUERY_ROWS, dtype=np.float32)
    counts = np.empty(QUERY_ROWS, dtype=np.intp)
    for start in range(0, n_queries, QUERY_ROWS):
        n_here = min(QUERY_ROWS, n_queries - start)
        _fill_block(queries[start : start + n_here], centre, scale, block, margins, counts)
        limits[:] = BEYOND
        for tile in range(len(tiles)):
            np.dot(block[:n_here], tiles[tile], products[:n_here])
            for query in range(n_here):
                if counts[query] < 0:
                    continue
                _group_minima(products[query], minima)
                if tile == 0 and k <= len(minima):
                    limits[query] = _kth_smallest(minima, len(minima), k, spare) + margins[query]
                counts[query], limits[query] = _collect(
                    products[query],
                    minima,
                    tile * tiles.shape[2],
                    limits[query],
                    margins[query],
                    counts[query],
                    values[query],
                    places[query],
                    k,
                    spare,
                )
                # Early on, another tile makes the limit much closer: after 1, 2, 4, 8 ... tiles.
                if tile & (tile + 1) == 0 and counts[query] > 2 * k:
                    near = _kth_smallest(values[query], counts[query], k, spare) + margins[query]
                    counts[query] = _thin(values[query], places[query], counts[query], near)
                    limits[query] = near
        for query in range(n_here):
            undecided[start + query] = counts[query] < 0
            if counts[query] < 0:
                continue
            limit = _kth_smallest(values[query], counts[query], k, spare) + margins[query]
            count = _thin(values[query], places[query], counts[query], limit)
            _measure(
                queries[start + query],
                stored,
                places[query, :count],
                measured,
                distances[start + query],
                rows[start + query],
            )


@njit(cache=True, nogil=True, error_model="numpy")
def _fill_block(queries, centre, scale, block, margins, counts):
    """Write queries for the product, the margin of each, and -1 as the count of those far out."""
    n_columns = queries.shape[1]
    for query in range(len(queries)):
        total = 0.0
        for column in range(n_columns):
            value = (queries[query, column] - centre[column]) / scale
            total += value * value
            block[query, column] = -2.0 * min(max(value, -FAR), FAR)
        block[query, n_columns] = 1.0
        reach = np.sqrt(total)
        counts[query] = 0 if reach < FAR else -1
        # A product of n + 1 terms is off by at most n + 1 roundings of the sum of its terms' sizes,
        # which 1 + 2 |q| bounds, as no stored row is longer than 1; rounding the inputs adds a few.
        # Twice that: the error of a row, and of the k-th, to which it is compared.
        margins[query] = 2.0 * (n_columns + 5) * SINGLE_ROUNDING * (1.0 + 2.0 * min(reach, FAR))


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


@njit(cache=True, nogil=True, error_model="numpy")
def _collect(row, minima, first, limit, margin, count, values, places, k, spare):
    """Add the entries within the limit to the candidates; return their number and the limit.

    A list that stays full after it was thinned has the number -1: too many rows are equally near
    to be told apart.
    """
    n_groups = len(minima)
    for group in range(n_groups):
        if minima[group] > limit:
            continue
        for member in range(GROUP):
            # Written whether wanted or not: counting on is quicker than a branch nobody foresees.
            place = member * n_groups + group
            values[count] = row[place]
            places[count] = first + place
            count += row[place] <= limit and row[place] < BEYOND
        if count > len(values) - GROUP:
            limit = _kth_smallest(values, count, k, spare) + margin
            count = _thin(values, places, count, limit)
            if count > len(values) - GROUP:
                return -1, limit
    return count, limit


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
    low, high = 0, count
    # Three ways, below, equal and above the pivot: many equal values would else take n^2 steps.
    while True:
        pivot = spare[(low + high) // 2]
        middle = _partition(spare, low, high, pivot, False)
        if k <= middle:
            high = middle
            continue
        low = _partition(spare, middle, high, pivot, True)
        if k <= low:
            return pivot


@njit(cache=True, nogil=True)
def _partition(values, low, high, pivot, or_equal):
    """Move what is below the pivot to the front of a stretch; return where it ends."""
    front = low
    for place in range(low, high):
        value = values[place]
        values[place] = values[front]
        values[front] = value
        front += value < pivot or (or_equal and value == pivot)
    return front


@njit(cache=True, nogil=True, error_model="numpy")
def _measure(query, stored, places, measured, distances, rows):
    """Measure the candidates in double precision; keep the nearest, the first among equals."""
    n_candidates = len(places)
    _measure_candidates(query, stored, places, measured)
    if n_candidates > COUNTED_RANKS:
        # Stable, as candidates that come in order of rows are then hardly moved afterwards.
        order = np.argsort(measured[:n_candidates], kind="mergesort")
        _put_in_order(measured[order], places[order], distances, rows)
        return
    # The rank of a candidate is the number of those before it: no branch to mispredict.
    for candidate in range(n_candidates):
        distance, row = measured[candidate], places[candidate]
        rank = 0
        for other in range(n_candidates):
            nearer = measured[other] < distance
            first = (measured[other] == distance) & (places[other] < row)
            rank += nearer | first
        if rank < len(distances):
            distances[rank] = distance
            rows[rank] = row


@njit(cache=True, nogil=True, error_model="numpy")
def _measure_candidates(query, stored, places, measured):
    """Write the distances of some rows, added up column by column as in every other search."""
    last = len(places) - 1
    for candidate in range(0, last + 1, 4):
        # Four sums at a time, for each addition waits for the one before.
        first, second = places[candidate], places[min(candidate + 1, last)]
        third, fourth = places[min(candidate + 2, last)], places[min(candidate + 3, last)]
        one = two = three = four = 0.0
        for column in range(len(query)):
            value = query[column]
            one += (value - stored[first, column]) ** 2
            two += (value - stored[second, column]) ** 2
            three += (value - stored[third, column]) ** 2
            four += (value - stored[fourth, column]) ** 2
        # Distances, not squares, decide: rounding of the root makes more of them equal.
        measured[candidate] = np.sqrt(one)
        measured[min(candidate + 1, last)] = np.sqrt(two)
        measured[min(candidate + 2, last)] = np.sqrt(three)
        measured[min(candidate + 3, last)] = np.sqrt(four)


@njit(cache=True, nogil=True, error_model="numpy")
def measure_listed(queries, stored, ends, places, distances, rows):
    """Find the nearest rows of each query among its candidates, listed one after another."""
    measured = np.empty(len(places))
    start = 0
    for query in range(len(queries)):
        listed = places[start : ends[query]]
        _measure(queries[query], stored, listed, measured, distances[query], rows[query])
        start = ends[query]


@njit(cache=True, nogil=True, error_model="numpy")
def measure_all(queries, stored):
    """Return the distance of each query to each stored row, to the last digit as in a search."""
    distances = np.empty((len(queries), len(stored)))
    for query in range(len(queries)):
        for row in range(len(stored)):
            distances[query, row] = np.sqrt(_squared_distance(queries[query], stored[row]))
    return distances


@njit(cache=True, nogil=True)
def _put_in_order(measured, places, distances, rows):
    """Write the nearest of sorted candidates, with the first row first among equals."""
    k = len(distances)
    for candidate in range(len(measured)):
        place = candidate
        while (
            place > 0
            and measured[place - 1] == measured[place]
            and places[place - 1] > places[place]
        ):
            places[place - 1], places[place] = places[place], places[place - 1]
            place -= 1
    distances[:] = measured[:k]
    rows[:] = places[:k]


@njit(cache=True, nogil=True, error_model="numpy")
def _squared_distance(first, second):
    """Add up the squares in the order of the columns, so that every search rounds alike."""
    total = 0.0
    for column in range(len(first)):
        difference = first[column] - second[column]
        total += difference * difference
    return total
