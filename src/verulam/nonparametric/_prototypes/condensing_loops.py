"""Compiled loops of condensing: arrays in, arrays out, no checks."""

import numpy as np
from numba import njit

#: Stored rows compared with a query together; distances are then vectors in registers.
TILE = 32

_FREE = {"contract", "reassoc", "nsz"}


@njit(cache=True, nogil=True, fastmath=_FREE, error_model="numpy")
def _tile_squares(row, tile, squares):
    """Write the squared distances to a tile of stored rows; return the least of them."""
    for place in range(TILE):
        difference = row[0] - tile[0, place]
        squares[place] = difference * difference
    for column in range(1, len(row)):
        value = row[column]
        for place in range(TILE):
            difference = value - tile[column, place]
            squares[place] += difference * difference
    least = squares[0]
    for place in range(1, TILE):
        least = min(least, squares[place])
    return least


@njit(cache=True, nogil=True)
def _insert(distances, labels, distance, label):
    """Put a stored row into a sorted list of the nearest; the earlier one wins a tie."""
    place = len(distances) - 1
    if distance >= distances[place]:
        return
    while place > 0 and distance < distances[place - 1]:
        distances[place] = distances[place - 1]
        labels[place] = labels[place - 1]
        place -= 1
    distances[place] = distance
    labels[place] = label


@njit(cache=True, nogil=True)
def _is_right(labels, code):
    """Tell whether a row's class has more votes than any other; -1 marks an empty place."""
    votes = 0
    for label in labels:
        votes += label == code
    for label in labels:
        if label < 0 or label == code:
            continue
        others = 0
        for again in labels:
            others += again == label
        if others >= votes:
            return False
    return votes > 0


@njit(cache=True, nogil=True)
def hart_passes(inputs, codes, order, k):
    """Pass over the rows until none is added; return the stored rows and the number of passes.

    Each row remembers its nearest stored rows and how many it has seen, so that no distance is
    ever computed twice. At most `k` copies of a row are stored.
    """
    n_rows, n_columns = inputs.shape
    n_tiles = 4
    tiles = np.zeros((n_tiles, n_columns, TILE))
    tile_labels = np.zeros(n_tiles * TILE, dtype=np.int64)
    stored = np.empty(n_rows * k, dtype=np.int64)
    copies = np.zeros(n_rows, dtype=np.int64)
    seen = np.zeros(n_rows, dtype=np.int64)
    distances = np.full((n_rows, k), np.inf)
    labels = np.full((n_rows, k), -1, dtype=np.int64)
    squares = np.empty(TILE)
    count = 0
    passes = 0
    added = True
    while added:
        added = False
        passes += 1
        for row in order:
            point = inputs[row]
            while seen[row] < count:
                tile = seen[row] // TILE
                first = tile * TILE
                least = _tile_squares(point, tiles[tile], squares)
                stop = min(count, first + TILE)
                # Most tiles hold nothing nearer than what is known: one comparison tells.
                begin = seen[row] - first if least < distances[row, k - 1] else stop - first
                for place in range(begin, stop - first):
                    if squares[place] < distances[row, k - 1]:
                        _insert(
                            distances[row], labels[row], squares[place], tile_labels[first + place]
                        )
                seen[row] = stop
            # More than k copies cannot help: identical rows of two classes would go on for ever.
            if _is_right(labels[row], codes[row]) or copies[row] == k:
                continue
            if count == n_tiles * TILE:
                # Twice the room each time: all copies together cost no more than what is stored.
                wider = np.zeros((2 * n_tiles, n_columns, TILE))
                wider[:n_tiles] = tiles
                longer = np.zeros(2 * n_tiles * TILE, dtype=np.int64)
                longer[:count] = tile_labels
                tiles, tile_labels, n_tiles = wider, longer, 2 * n_tiles
            tiles[count // TILE, :, count % TILE] = point
            tile_labels[count] = codes[row]
            stored[count] = row
            copies[row] += 1
            count += 1
            added = True
    return stored[:count].copy(), passes


@njit(cache=True, nogil=True)
def _nearest_member(table, row, members):
    best, least = -1, np.inf
    for member in range(len(members)):
        if members[member] and table[row, member] < least:
            best, least = member, table[row, member]
    return best


@njit(cache=True, nogil=True)
def toggle_search(table, codes, members, order, alpha):
    """Add or remove single rows while errors plus `alpha` for each member fall; return the cost.

    `table` holds the distances between all rows, `members` the subset, which is changed.
    """
    n_rows = len(codes)
    nearest = np.empty(n_rows, dtype=np.int64)
    size = 0
    errors = 0
    for row in range(n_rows):
        nearest[row] = _nearest_member(table, row, members)
        errors += nearest[row] < 0 or codes[nearest[row]] != codes[row]
        size += members[row]
    trial = np.empty(n_rows, dtype=np.int64)
    improved = True
    while improved:
        improved = False
        for candidate in order:
            leaving = members[candidate]
            if leaving and size == 1:
                continue
            members[candidate] = not leaving
            new_errors = 0
            for row in range(n_rows):
                choice = nearest[row]
                # Only rows whose nearest member leaves need a search; a member that enters is
                # compared with the nearest so far.
                if leaving:
                    if choice == candidate:
                        choice = _nearest_member(table, row, members)
                elif choice < 0 or table[row, candidate] < table[row, choice]:
                    choice = candidate
                trial[row] = choice
                new_errors += codes[choice] != codes[row]
            new_size = size - 1 if leaving else size + 1
            # A margin above rounding: equal costs must not toggle rows for ever.
            if new_errors + alpha * new_size < errors + alpha * size - 1e-9:
                errors, size = new_errors, new_size
                nearest[:] = trial
                improved = True
            else:
                members[candidate] = leaving
    return errors + alpha * size
