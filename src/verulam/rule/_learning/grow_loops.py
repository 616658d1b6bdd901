"""Compiled loops that grow and prune conjunctions of conditions (as in Ripper).

The table is given by columns: `columns` of shape (n_columns, n_rows) holds numbers or the codes of
categories, NaN where missing. `orders` has the rows of each column by rising value, of which the
first `known` are not missing; `n_categories` is 0 for a numeric column. A conjunction is three
arrays: the `kinds` of its conditions, their `places` (which column) and their `values`.
"""

import numpy as np

from verulam.numerics import njit

#: What a condition asks of its column.
AT_MOST, AT_LEAST, EQUAL = 0, 1, 2
#: What the next condition maximises.
FOIL_GAIN, POSITIVE_SHARE = 0, 1

#: log2(e), by which ln u <= u - 1 bounds a gain in bits without a logarithm.
LOG2_E = 1.4426950408889634


@njit(cache=True, nogil=True)
def holds(kind, value, entry):
    if kind == AT_MOST:
        return entry <= value
    if kind == AT_LEAST:
        return entry >= value
    return entry == value


@njit(cache=True, nogil=True)
def side_weights(rows, positive, weights):
    """Return the weights of the positives and of the negatives among the rows."""
    p = 0.0
    n = 0.0
    for row in rows:
        if positive[row]:
            p += weights[row]
        else:
            n += weights[row]
    return p, n


@njit(cache=True, nogil=True)
def candidate_score(criterion, p, n, smoothing, share, log_share, best):
    """Return what a candidate that covers `p` and `n` is worth, or -1 where below `best`."""
    new_share = (p + smoothing) / (p + n + smoothing)
    if criterion == POSITIVE_SHARE:
        # Among equal shares the one that keeps more positives; both fit into one number.
        return new_share + 1e-9 * p / (p + 1.0) if new_share > share else -1.0
    # ln u <= u - 1 spares most logarithms.
    if p * (new_share / share - 1.0) * LOG2_E <= best:
        return -1.0
    return p * (np.log2(new_share) - log_share)


@njit(cache=True, nogil=True)
def best_threshold(column, order, n_known, n_rows, positive, weights, context):
    """Return (score, kind, value, inner neighbour, positives) of a column's best threshold.

    Only places where the class changes are looked at: a prefix should end after a positive and
    before a negative, a suffix start the other way round.
    """
    criterion, smoothing, share, log_share, best = context
    total_p, total_n = side_weights(order[:n_known], positive, weights)
    kind, value, neighbour, covered_p = -1, 0.0, 0.0, 0.0
    p = 0.0
    n = 0.0
    # `p` and `n` are the weights below the current value; those above are the rest of the totals.
    before_p = False
    before_n = False
    before = 0.0
    i = 0
    while i < n_known:
        here = column[order[i]]
        here_p = 0.0
        here_n = 0.0
        # Equal values pass together, because no threshold can part them.
        while i < n_known and column[order[i]] == here:
            row = order[i]
            if positive[row]:
                here_p += weights[row]
            else:
                here_n += weights[row]
            i += 1
        if before_n and here_p > 0.0:
            score = candidate_score(
                criterion, total_p - p, max(total_n - n, 0.0), smoothing, share, log_share, best
            )
            if score > best:
                best, kind, value, neighbour, covered_p = score, AT_LEAST, here, before, total_p - p
        if before_p and here_n > 0.0:
            score = candidate_score(criterion, p, n, smoothing, share, log_share, best)
            if score > best:
                best, kind, value, neighbour, covered_p = score, AT_MOST, before, here, p
        p += here_p
        n += here_n
        before_p = here_p > 0.0
        before_n = here_n > 0.0
        before = here
    if 0 < n_known < n_rows:
        # Any threshold refuses the missing entries, so the whole range is a candidate too.
        score = candidate_score(criterion, p, n, smoothing, share, log_share, best)
        if score > best:
            best, kind, value, neighbour, covered_p = score, AT_MOST, before, before, p
    return best, kind, value, neighbour, covered_p


@njit(cache=True, nogil=True)
def best_category(column, n_categories, rows, positive, weights, context, tallies):
    """Return (score, code, positives) of a column's best category; `tallies` is scratch."""
    criterion, smoothing, share, log_share, best = context
    p, n = tallies[0], tallies[1]
    for code in range(n_categories):
        p[code] = n[code] = 0.0
    for row in rows:
        if not np.isnan(column[row]):
            code = int(column[row])
            if positive[row]:
                p[code] += weights[row]
            else:
                n[code] += weights[row]
    best_code, covered_p = -1, 0.0
    for code in range(n_categories):
        if p[code] > 0.0:
            score = candidate_score(criterion, p[code], n[code], smoothing, share, log_share, best)
            if score > best:
                best, best_code, covered_p = score, code, p[code]
    return best, best_code, covered_p


@njit(cache=True, nogil=True)
def keep_alive(rows, count, alive):
    """Move the rows that are alive to the front, in order, and return how many there are."""
    n_alive = 0
    for i in range(count):
        row = rows[i]
        if alive[row]:
            rows[n_alive] = row
            n_alive += 1
    return n_alive


@njit(cache=True, nogil=True)
def best_condition(
    columns, orders, counts, n_categories, rows, positive, weights, used, options, tallies
):
    """Return (kind, column, value, positives) of the next condition; kind -1 where none helps.

    `orders` and `counts` hold the rows still covered, by rising value of each column.
    """
    criterion, smoothing, _, _, midway = options
    n_rows = rows.shape[0]
    p, n = side_weights(rows, positive, weights)
    best, kind, place, value, best_p = 0.0, -1, -1, 0.0, 0.0
    if n == 0.0 or p == 0.0:
        return kind, place, value, best_p
    share = (p + smoothing) / (p + n + smoothing)
    log_share = np.log2(share)
    for j in range(columns.shape[0]):
        context = (criterion, smoothing, share, log_share, best)
        if n_categories[j] == 0:
            score, side, threshold, neighbour, covered_p = best_threshold(
                columns[j], orders[j], counts[j], n_rows, positive, weights, context
            )
            if side >= 0:
                best, kind, place, best_p = score, side, j, covered_p
                value = 0.5 * (threshold + neighbour) if midway else threshold
        elif not used[j]:
            score, code, covered_p = best_category(
                columns[j], n_categories[j], rows, positive, weights, context, tallies
            )
            if code >= 0:
                best, kind, place, value, best_p = score, EQUAL, j, float(code), covered_p
    return kind, place, value, best_p


@njit(cache=True, nogil=True)
def select_growing(orders, known, n_categories, growing, current, counts):
    """Write the rows to grow on by rising value of each numeric column, and their numbers."""
    for j in range(orders.shape[0]):
        count = np.int64(0)
        if n_categories[j] == 0:
            for i in range(known[j]):
                row = orders[j, i]
                # Written whether wanted or not: counting on is quicker than an unforeseen branch.
                current[j, count] = row
                count += growing[row]
        counts[j] = count


@njit(cache=True, nogil=True)
def shrink(kind, value, column, rows, n_rows, current, counts, growing):
    """Take out the rows that fail a condition; return how many are left."""
    for i in range(n_rows):
        growing[rows[i]] = holds(kind, value, column[rows[i]])
    # Sorted once, the orders only shrink: what a rule no longer covers is taken out of each.
    for j in range(current.shape[0]):
        counts[j] = keep_alive(current[j], counts[j], growing)
    return keep_alive(rows, n_rows, growing)


@njit(cache=True, nogil=True)
def prefix_counts(kinds, places, values, columns, rows, positive, weights, counts):
    """Add the weights of positives and negatives that the first 0, 1, ... conditions cover."""
    for i in range(rows.shape[0]):
        row = rows[i]
        side = 0 if positive[row] else 1
        counts[0, side] += weights[row]
        for c in range(kinds.shape[0]):
            # A row that fails a condition is covered by no longer prefix either.
            if not holds(kinds[c], values[c], columns[places[c], row]):
                break
            counts[c + 1, side] += weights[row]


@njit(cache=True, nogil=True)
def first_cover(coverage, start, rows, first):
    """Write for each row the first rule from `start` on that covers it, or their number."""
    n_rules = coverage.shape[0]
    for i in range(rows.shape[0]):
        rule = start
        while rule < n_rules and not coverage[rule, rows[i]]:
            rule += 1
        first[i] = rule
