"""Compiled search for the best split of one column of a node: no checks.

Scores are sums of squares over weights, added up over both sides: with the weights of classes the
largest has the least Gini index, with the sums of deviations from the node's mean the least squared
error. For the entropy, sums of w log w take the place of the squares. Rows of a node are known by
their place in it.
"""

from typing import Any

import numpy as np

from verulam.numerics import njit

#: Bits of a key below the code of its value: the place of the row.
PLACE_BITS = np.uint64(32)
PLACE_MASK = np.uint64((1 << 32) - 1)
#: Fewer keys are sorted by comparing all with all.
FEW_KEYS = 32
#: Most codes that one pass of the sort tells apart, as a power of two.
PASS_BITS = 8
#: Entries of a record of the best split: its score, its column, the codes on both sides of the cut,
#: and the side of missing values (-1 for none).
SCORE, COLUMN, LOW, HIGH, MISSING, N_SPLIT_FIELDS = range(6)
#: Columns of the sums by code: rows, weight, what codes are ordered by, and from there on the
#: weights of classes, or the sum of deviations.
ROWS, WEIGHT, SHARE, AMOUNTS = range(4)
#: What splits make small: the squared error of numbers, or an index of classes.
SQUARED_ERROR, GINI, ENTROPY = np.int64(0), np.int64(1), np.int64(2)
#: Added to a weight before its logarithm: of no weight w log w is 0, and others are not changed.
TINY = 1e-300
#: The side of a category that is not in a node.
ABSENT = 2

_INNER: dict[str, Any] = {
    "error_model": "numpy",
    "_nrt": False,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}


@njit(**_INNER)
def draw_place(state, first, last):
    """Return a place from the first up to, but without, the last, random by a counter's state."""
    # SplitMix64; then the upper half of a product, because a remainder takes a division.
    word = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = ((word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)) >> np.uint64(32)
    return first + np.int64((word * np.uint64(last - first)) >> np.uint64(32))


@njit(**_INNER)
def move_column(order, place, last, node, is_constant):
    """Move a constant column to the front of the others, else behind them; return their end.

    What is constant in a node is so in all below, which leave the front as it is.
    """
    column, end = order[place], node.n_constant if is_constant else last - 1
    order[place], order[end] = order[end], column
    node.n_constant += is_constant
    return last if is_constant else last - 1


@njit(**_INNER)
def fill_keys(codes, column, entries, start, n, keys):
    """Write the code of each row of a node above its place; return the lowest and highest code."""
    low, high = np.int64(codes[column, entries[0, start].row]), np.int64(0)
    for i in range(n):
        code = np.int64(codes[column, entries[0, start + i].row])
        keys[0, i] = (np.uint64(code) << PLACE_BITS) | np.uint64(i)
        low = code if code < low else low
        high = code if code > high else high
    return low, high


@njit(**_INNER)
def sort_few(keys, n):
    """Sort the first row of keys; the second is a buffer."""
    # The place of a key is the number of smaller ones: no branch to be predicted wrongly.
    for i in range(n):
        key, n_smaller = keys[0, i], np.int64(0)
        for other in range(n):
            n_smaller += np.int64(keys[0, other] < key)
        keys[1, n_smaller] = key
    for i in range(n):
        keys[0, i] = keys[1, i]


@njit(**_INNER)
def sort_many(keys, n, low, high, places):
    """Do the same by digits, where the lowest and highest code are known."""
    n_bits = np.int64(1)
    while (high - low) >> n_bits > 0:
        n_bits += 1
    # The last digit first: few passes, however many keys there are.
    n_passes = (n_bits + PASS_BITS - 1) // PASS_BITS
    width = (n_bits + n_passes - 1) // n_passes
    n_digits = np.int64(1) << width
    lowest, mask = np.uint64(low) << PLACE_BITS, np.uint64(n_digits - 1)
    for number in range(n_passes):
        shift, total, side = PLACE_BITS + np.uint64(number * width), np.int64(0), number & 1
        for digit in range(n_digits):
            places[digit] = 0
        for i in range(n):
            places[((keys[side, i] - lowest) >> shift) & mask] += 1
        for digit in range(n_digits):
            total += places[digit]
            places[digit] = total - places[digit]
        for i in range(n):
            part = ((keys[side, i] - lowest) >> shift) & mask
            keys[1 - side, places[part]] = keys[side, i]
            places[part] += 1
    if n_passes & 1 == 1:
        for i in range(n):
            keys[0, i] = keys[1, i]


@njit(**_INNER)
def scan_keys(keys, node, missing, column, entries, criterion, sums, min_leaf, best):
    """Offer the best threshold of sorted keys; those of the code `missing` go to either side."""
    start, n, mean, n_missing = node.start, node.n_rows, node.mean, np.int64(0)
    while keys[0, n - 1 - n_missing] >> PLACE_BITS == np.uint64(missing):
        n_missing += 1
    for sweep in range(2 if n_missing > 0 else 1):
        squares, product, weight, first, others = 0.0, 0.0, 0.0, 0.0, node.squares
        for k in range(sums.shape[1]):
            sums[0, k] = 0.0
        # In a second sweep the missing values are on the first side, before all others.
        n_before = n_missing if sweep == 1 else np.int64(0)
        for i in range(-n_before, n - n_before - 1):
            key = keys[0, i] if i >= 0 else keys[0, n + i]
            entry = entries[0, start + np.int64(key & PLACE_MASK)]
            share = entry.weight
            weight += share
            if criterion == SQUARED_ERROR:
                first += share * (entry.target - mean)
                squares, product = first * first, first * sums[1, 0]
            else:
                label = np.int64(entry.target)
                before, total = sums[0, label], sums[1, label]
                sums[0, label] = before + share
                if criterion == ENTROPY:
                    now, left, rest = before + share, total - before, total - before - share
                    rest = rest if rest > 0.0 else 0.0
                    squares += now * np.log2(now) - before * np.log2(before + TINY)
                    others += rest * np.log2(rest + TINY) - left * np.log2(left)
                else:
                    squares += share * (2.0 * before + share)
                    product += share * total
            if i < 0 or keys[0, i + 1] >> PLACE_BITS == key >> PLACE_BITS:
                continue
            n_first = n_before + i + 1
            if n_first < min_leaf or n - n_first < min_leaf:
                continue
            rest = node.weight - weight
            if criterion == ENTROPY:
                # The node's weight less that times its entropy: at most the weight, as for Gini's.
                score = node.weight + squares + others
                score -= weight * np.log2(weight) + rest * np.log2(rest)
            else:
                others = node.squares - 2.0 * product + squares
                score = (squares * rest + others * weight) / (weight * rest)
            if score > best[SCORE]:
                best[SCORE], best[COLUMN] = score, column
                best[LOW] = np.float64(key >> PLACE_BITS)
                best[HIGH] = np.float64(keys[0, i + 1] >> PLACE_BITS)
                best[MISSING] = 1.0 - sweep if n_missing > 0 else -1.0


@njit(**_INNER)
def count_levels(codes, column, node, entries, criterion, counts, levels):
    """Add up weights and amounts by code; return how many codes there are, listed in `levels`."""
    n_levels = np.int64(0)
    for i in range(node.start, node.start + node.n_rows):
        entry = entries[0, i]
        code = np.int64(codes[column, entry.row])
        if counts[code, ROWS] == 0.0:
            levels[0, n_levels] = code
            n_levels += 1
        counts[code, ROWS] += 1.0
        counts[code, WEIGHT] += entry.weight
        if criterion == SQUARED_ERROR:
            counts[code, AMOUNTS] += entry.weight * (entry.target - node.mean)
        else:
            counts[code, AMOUNTS + np.int64(entry.target)] += entry.weight
    return n_levels


@njit(**_INNER)
def order_levels(levels, n_levels, counts, by):
    """Sort codes by the share of a class or by their mean; as they are if `by` is negative."""
    for place in range(n_levels):
        code = levels[0, place]
        amount = counts[code, AMOUNTS + by] / counts[code, WEIGHT]
        counts[code, SHARE] = amount if by >= 0 else np.float64(code)
    gap = n_levels // 2
    # Shell's sort: short to compile, and codes are few.
    while gap > 0:
        for first in range(gap, n_levels):
            code, hole = levels[0, first], np.int64(first)
            while hole >= gap and counts[levels[0, hole - gap], SHARE] > counts[code, SHARE]:
                levels[0, hole] = levels[0, hole - gap]
                hole -= gap
            levels[0, hole] = code
        gap //= 2


@njit(**_INNER)
def scan_levels(levels, n_levels, node, missing, column, criterion, counts, sums, min_leaf, best):
    """Offer the best cut between codes in some order; tell whether it is the best so far.

    `missing` is the code of missing values where it comes last and they may go to either side; -1
    where it is a code as any other.
    """
    is_better, at_end = False, levels[0, n_levels - 1] == missing
    # The second sweep begins with the missing ones on the first side.
    for sweep in range(2 if at_end else 1):
        weight, n_first = 0.0, 0.0
        for k in range(sums.shape[1]):
            sums[0, k] = 0.0
        for place in range(-sweep, n_levels - sweep - 1):
            code = levels[0, place] if place >= 0 else missing
            weight += counts[code, WEIGHT]
            n_first += counts[code, ROWS]
            squares, others = 0.0, 0.0
            for k in range(sums.shape[1]):
                sums[0, k] += counts[code, AMOUNTS + k]
                part, other = sums[0, k], sums[1, k] - sums[0, k]
                other = other if other > 0.0 or criterion != ENTROPY else 0.0
                squares += part * (np.log2(part + TINY) if criterion == ENTROPY else part)
                others += other * (np.log2(other + TINY) if criterion == ENTROPY else other)
            if place < 0 or n_first < min_leaf or node.n_rows - n_first < min_leaf:
                continue
            rest = node.weight - weight
            # As above; of the Gini index squares / weight + others / rest, with one division.
            if criterion == ENTROPY:
                score = node.weight + squares + others
                score -= weight * np.log2(weight) + rest * np.log2(rest)
            else:
                score = (squares * rest + others * weight) / (weight * rest)
            if score > best[SCORE]:
                is_better = True
                best[SCORE], best[COLUMN] = score, column
                best[LOW], best[HIGH] = np.float64(code), np.float64(levels[0, place + 1])
                best[MISSING] = 1.0 - sweep if at_end else -1.0
    return is_better


@njit(**_INNER)
def mark_categories(levels, n_levels, best, n_categories):
    """Write the child of each category, if there are any: the first ones go to the first."""
    side = np.int64(0)
    for code in range(n_categories + 1 if n_categories > 0 else 0):
        levels[1, code] = ABSENT
    for place in range(n_levels if n_categories > 0 else 0):
        levels[1, levels[0, place]] = side
        side = np.int64(1) if levels[0, place] == best[LOW] else side


@njit(**_INNER)
def clear_levels(levels, n_levels, counts):
    """Set the sums of some codes to zero."""
    for place in range(n_levels):
        for k in range(counts.shape[1]):
            counts[levels[0, place], k] = 0.0
