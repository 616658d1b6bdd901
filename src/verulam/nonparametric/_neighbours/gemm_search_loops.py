"""Compiled loops of the search by matrix products: arrays in, arrays out, no checks."""

import numpy as np
from numba import njit

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
def search_tiles(queries, stored, centre, scale, tiles, distances, rows, crowded):
    r"""Find the nearest rows of each query; mark queries that have to be measured in full.

    One product with a tile gives :math:`\|s\|^2 - 2 q^T s` in single precision for each query and
    stored row, with an error below half of the query's margin. Rows that may be among the nearest
    by it are measured in double precision.
    """
    n_queries, n_columns = queries.shape
    k = distances.shape[1]
    capacity = 4 * k + 64
    found = np.empty(capacity)
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
                    limits[query] = _kth_of(minima, len(minima), k, spare) + margins[query]
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
                # Early on, what one more tile has told makes the limit much closer.
                if tile & (tile + 1) == 0 and counts[query] > 2 * k:
                    near = _kth_of(values[query], counts[query], k, spare) + margins[query]
                    counts[query] = _thin(values[query], places[query], counts[query], near)
                    limits[query] = near
        for query in range(n_here):
            crowded[start + query] = counts[query] < 0
            if counts[query] < 0:
                continue
            limit = _kth_of(values[query], counts[query], k, spare) + margins[query]
            count = _thin(values[query], places[query], counts[query], limit)
            _measure(
                queries[start + query],
                stored,
                places[query, :count],
                found,
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
            limit = _kth_of(values, count, k, spare) + margin
            count = _thin(values, places, count, limit)
            if count > len(values) - GROUP:
                return -1, limit
    return count, limit


@njit(cache=True, nogil=True)
def _thin(values, places, count, limit):
    """Keep the candidates within the limit; return how many there are."""
    kept = 0
    for candidate in range(count):
        value = values[candidate]
        values[kept] = value
        places[kept] = places[candidate]
        kept += value <= limit
    return kept


@njit(cache=True, nogil=True)
def _kth_of(values, count, k, spare):
    """Return the `k`-th smallest of the first values, which stay in place."""
    for place in range(count):
        spare[place] = values[place]
    low, high = 0, count
    while True:
        pivot = spare[(low + high) // 2]
        middle = _to_front(spare, low, high, pivot, False)
        if k <= middle:
            high = middle
            continue
        low = _to_front(spare, middle, high, pivot, True)
        if k <= low:
            return pivot


@njit(cache=True, nogil=True)
def _to_front(values, low, high, pivot, or_equal):
    """Move what is below the pivot to the front of a stretch; return where it ends."""
    front = low
    for place in range(low, high):
        value = values[place]
        values[place] = values[front]
        values[front] = value
        front += value < pivot or (or_equal and value == pivot)
    return front


@njit(cache=True, nogil=True, error_model="numpy")
def _measure(query, stored, places, found, distances, rows):
    """Measure the candidates in double precision; keep the nearest, the first among equals."""
    n_found = len(places)
    _measure_candidates(query, stored, places, found)
    if n_found > COUNTED_RANKS:
        # Stable, as candidates that come in order of rows are then hardly moved afterwards.
        order = np.argsort(found[:n_found], kind="mergesort")
        _put_in_order(found[order], places[order], distances, rows)
        return
    for candidate in range(n_found):
        distance, row = found[candidate], places[candidate]
        rank = 0
        for other in range(n_found):
            nearer = found[other] < distance
            first = (found[other] == distance) & (places[other] < row)
            rank += nearer | first
        if rank < len(distances):
            distances[rank] = distance
            rows[rank] = row


@njit(cache=True, nogil=True, error_model="numpy")
def _measure_candidates(query, stored, places, found):
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
        found[candidate] = np.sqrt(one)
        found[min(candidate + 1, last)] = np.sqrt(two)
        found[min(candidate + 2, last)] = np.sqrt(three)
        found[min(candidate + 3, last)] = np.sqrt(four)


@njit(cache=True, nogil=True, error_model="numpy")
def measure_listed(queries, stored, ends, places, distances, rows):
    """Find the nearest rows of each query among candidates of its own, listed one after another."""
    found = np.empty(len(places))
    start = 0
    for query in range(len(queries)):
        own = places[start : ends[query]]
        _measure(queries[query], stored, own, found, distances[query], rows[query])
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
def _put_in_order(found, places, distances, rows):
    """Write the nearest of sorted candidates, with the first row first among equals."""
    k = len(distances)
    for candidate in range(len(found)):
        place = candidate
        while place > 0 and found[place - 1] == found[place] and places[place - 1] > places[place]:
            places[place - 1], places[place] = places[place], places[place - 1]
            place -= 1
    distances[:] = found[:k]
    rows[:] = places[:k]


@njit(cache=True, nogil=True, error_model="numpy")
def _squared_distance(first, second):
    """Add up the squares in the order of the columns, so that every search rounds alike."""
    total = 0.0
    for column in range(len(first)):
        difference = first[column] - second[column]
        total += difference * difference
    return total
