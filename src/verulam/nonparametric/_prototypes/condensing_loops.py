"""Compiled loops of condensing: arrays in, arrays out, no checks."""

import numpy as np

from verulam.numerics import njit

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
def hart_pass(inputs, codes, order, begin, count, tiles, tile_labels, stored, known):
    """Store the rows that those stored before misclassify; return where it ended, and their number.

    It ends early where the tiles are full. Each row remembers its nearest stored rows and how many
    it has seen, so that no distance is ever computed twice: `known` has the distances and labels of
    those, how many were seen, and how often the row is stored; at most as often as rows vote.
    """
    distances, labels, seen, copies, squares = known
    last = distances.shape[1] - 1
    for turn in range(begin, len(order)):
        row = order[turn]
        point, near, votes = inputs[row], distances[row], labels[row]
        while seen[row] < count:
            tile = seen[row] // TILE
            first = tile * TILE
            least = _tile_squares(point, tiles[tile], squares)
            stop = min(count, first + TILE)
            # Most tiles hold nothing nearer than what is known: one comparison tells.
            start = seen[row] if least < near[last] else stop
            for place in range(start, stop):
                if squares[place - first] < near[last]:
                    _insert(near, votes, squares[place - first], tile_labels[place])
            seen[row] = stop
        # More than k copies cannot help: identical rows of two classes would go on for ever.
        if _is_right(votes, codes[row]) or copies[row] > last:
            continue
        if count == len(tile_labels):
            return turn, count
        for column in range(len(point)):
            tiles[count // TILE, column, count % TILE] = point[column]
        tile_labels[count] = codes[row]
        stored[count] = row
        copies[row] += 1
        count += 1
    return len(order), count


@njit(cache=True, nogil=True)
def _nearest_member(table, row, members):
    best, least = np.int64(-1), np.inf
    for member in range(len(members)):
        if members[member] and table[row, member] < least:
            best, least = np.int64(member), table[row, member]
    return best


@njit(cache=True, nogil=True)
def toggle_search(table, codes, members, order, alpha, nearest, trial):
    """Add or remove single rows while errors plus `alpha` for each member fall; return the cost.

    `table` holds the distances between all rows, `members` the subset, which is changed; `nearest`
    and `trial` are scratch.
    """
    n_rows = len(codes)
    size = np.int64(0)
    errors = np.int64(0)
    for row in range(n_rows):
        nearest[row] = _nearest_member(table, row, members)
        errors += nearest[row] < 0 or codes[nearest[row]] != codes[row]
        size += members[row]
    improved = True
    while improved:
        improved = False
        for candidate in order:
            leaving = members[candidate]
            if leaving and size == 1:
                continue
            members[candidate] = not leaving
            new_errors = np.int64(0)
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
                for row in range(n_rows):
                    nearest[row] = trial[row]
                improved = True
            else:
                members[candidate] = leaving
    return errors + alpha * size
