"""Compiled loops of the neighbour search: arrays in, arrays out, no checks."""

import numpy as np
from numba import njit

#: Columns looked at together: one comparison decides whether any of them is a candidate.
STRIDE = 32


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"nnan", "ninf", "nsz", "reassoc"})
def collect_candidates(products, norms, first, margins, limits, counts, values, places, k):
    """Add stored rows that may be among the `k` nearest to each query's list of candidates.

    ``norms - products`` is the squared distance in single precision, up to a constant of the
    query, with an error below half of the query's margin. A list that stays full after it was
    thinned has its count set to -1: too many rows are equally near to be told apart.
    """
    n_queries, n_stored = products.shape
    capacity = values.shape[1]
    # As many groups as make the k-th least of their minima a good first limit.
    width = min(STRIDE, max(1, n_stored // (3 * k))) if first == 0 else STRIDE
    n_groups = (n_stored + width - 1) // width
    minima = np.empty(n_groups, dtype=np.float32)
    for query in range(n_queries):
        count = counts[query]
        if count < 0:
            continue
        limit = limits[query]
        row = products[query]
        _group_minima(row, norms, width, minima)
        if first == 0 and k <= n_groups:
            limit = kth_smallest(minima.copy(), k) + margins[query]
        for group in range(n_groups):
            if minima[group] > limit:
                continue
            for place in range(group * width, min((group + 1) * width, n_stored)):
                value = norms[place] - row[place]
                if value > limit:
                    continue
                values[query, count] = value
                places[query, count] = first + place
                count += 1
                if count == capacity:
                    limit = kth_smallest(values[query].copy(), k) + margins[query]
                    count = _thin(values[query], places[query], limit)
                    if count == capacity:
                        count = -1
                        break
            if count < 0:
                break
        limits[query] = limit
        counts[query] = count


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"nnan", "ninf", "nsz", "reassoc"})
def _group_minima(row, norms, width, minima):
    """Write the least of ``norms - row`` in each group of columns."""
    for group in range(len(minima)):
        least = np.float32(3e38)
        for place in range(group * width, min((group + 1) * width, len(row))):
            least = min(least, norms[place] - row[place])
        minima[group] = least


@njit(cache=True, nogil=True)
def _thin(values, places, limit):
    """Keep the candidates within the limit; return how many there are."""
    kept = 0
    for candidate in range(len(values)):
        if values[candidate] <= limit:
            values[kept] = values[candidate]
            places[kept] = places[candidate]
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def kth_smallest(values, k):
    """Return the `k`-th smallest value; the array is put in disorder on the way."""
    low, high = 0, len(values) - 1
    while low < high:
        pivot = values[(low + high) // 2]
        left, right = low, high
        while left <= right:
            while values[left] < pivot:
                left += 1
            while values[right] > pivot:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left += 1
                right -= 1
        if k - 1 <= right:
            high = right
        elif k - 1 >= left:
            low = left
        else:
            break
    return values[k - 1]


@njit(cache=True, nogil=True)
def nearest_candidates(queries, stored, counts, places, distances, rows):
    """Measure the candidates in double precision; keep the nearest, the first among equals."""
    k = distances.shape[1]
    for query in range(len(queries)):
        kept = 0
        for candidate in range(counts[query]):
            row = places[query, candidate]
            total = 0.0
            for column in range(queries.shape[1]):
                difference = queries[query, column] - stored[row, column]
                total += difference * difference
            # Distances, not squares, decide: rounding of the root makes more of them equal.
            total = np.sqrt(total)
            place = min(kept, k - 1)
            if kept == k and not _comes_first(total, row, distances[query, -1], rows[query, -1]):
                continue
            while place > 0 and _comes_first(
                total, row, distances[query, place - 1], rows[query, place - 1]
            ):
                distances[query, place] = distances[query, place - 1]
                rows[query, place] = rows[query, place - 1]
                place -= 1
            distances[query, place] = total
            rows[query, place] = row
            kept = min(kept + 1, k)


@njit(cache=True, nogil=True)
def count_votes(codes, n_classes):
    """Return how many of each query's neighbours, given by their codes, belong to each class."""
    votes = np.zeros((len(codes), n_classes))
    for query in range(len(codes)):
        for place in range(codes.shape[1]):
            votes[query, codes[query, place]] += 1.0
    return votes


@njit(cache=True, nogil=True)
def _comes_first(distance, row, other_distance, other_row):
    return distance < other_distance or (distance == other_distance and row < other_row)


@njit(cache=True, nogil=True, error_model="numpy")
def mixed_distances(numbers, codes, stored_numbers, stored_codes, scales, weights):
    """Return Gower's distances: the weighted mean of differences over the columns both have."""
    n_numeric, n_codes = numbers.shape[1], codes.shape[1]
    result = np.empty((len(numbers), len(stored_numbers)))
    for query in range(len(numbers)):
        for row in range(len(stored_numbers)):
            total = 0.0
            weight_sum = 0.0
            for column in range(n_numeric):
                difference = abs(numbers[query, column] - stored_numbers[row, column])
                if not np.isnan(difference):
                    total += weights[column] * min(difference * scales[column], 1.0)
                    weight_sum += weights[column]
            for column in range(n_codes):
                own, other = codes[query, column], stored_codes[row, column]
                if own != -1 and other != -1:
                    weight = weights[n_numeric + column]
                    total += weight * (own != other)
                    weight_sum += weight
            # Two rows without a column in common are as far apart as can be.
            result[query, row] = total / weight_sum if weight_sum > 0.0 else 1.0
    return result


@njit(cache=True, nogil=True)
def partial_distance_search(queries, stored, step, bound, rows, squares, work):
    """Find each query's nearest row, giving up on a row once its partial sum is too large."""
    n_columns = queries.shape[1]
    for query in range(len(queries)):
        best, limit = -1, bound
        for row in range(len(stored)):
            total = 0.0
            column = 0
            while column < n_columns and total <= limit:
                stop = min(column + step, n_columns)
                for inner in range(column, stop):
                    difference = queries[query, inner] - stored[row, inner]
                    total += difference * difference
                work[query] += stop - column
                column = stop
            if column == n_columns and (total < limit or (best < 0 and total <= limit)):
                limit = total
                best = row
        rows[query] = best
        squares[query] = limit if best >= 0 else np.inf
