"""Compiled partition of a node's rows among its children, stable in every order: no checks."""

import numpy as np

from verulam.tree._growing.growth_parameters import N_FIRST, ORDERED_BY, ROW_BITS, ROW_MASK
from verulam.tree._growing.numba_helpers import largest_place, outer_loop, part_of_loop
from verulam.tree._growing.search_loops import reorder_categories


@part_of_loop
def threshold_between(column, words, n_first, n_known, sample):
    """Return the number halfway between the last row of one side and the first of the other."""
    low = sample.values[words[n_first - 1] & ROW_MASK, column]
    if n_first == n_known:
        return np.inf
    high = sample.values[words[n_first] & ROW_MASK, column]
    # Halves are added, because the sum of two huge numbers may overflow; between neighbouring
    # floating-point numbers there is none, and the lower one divides them as well.
    middle = 0.5 * low + 0.5 * high
    return middle if low <= middle < high else low


@part_of_loop
def mark_numeric(words, n_known, n_first, sample, sizes):
    """Mark the rows of a threshold."""
    for i in range(n_known):
        sample.side[words[i] & ROW_MASK] = i >= n_first
    sizes[0], sizes[1] = n_first, n_known - n_first


@part_of_loop
def mark_missing(words, n_known, missing_to, n_branches, sample, sizes):
    """Mark the rows without a value; return their branch: the learned one, or the largest."""
    if missing_to < 0:
        missing_to = largest_place(sizes, n_branches)
    for i in range(n_known, words.shape[0]):
        sample.side[words[i] & ROW_MASK] = missing_to
    sizes[missing_to] += words.shape[0] - n_known
    return missing_to


@part_of_loop
def mark_subset(words, n_known, split, n_categories, sample, scratch, sizes):
    """Mark the rows of two subsets of categories; return the last rank of the first."""
    places = scratch.groups[2]
    for code in range(n_categories):
        places[code] = -1.0
    reorder_categories(words, n_known, np.int64(split[ORDERED_BY]), sample, scratch)
    sizes[0] = sizes[1] = 0
    # Ranks of the first side end where the scan stopped.
    last = np.int64(scratch.words[np.int64(split[N_FIRST]) - 1] >> ROW_BITS)
    for i in range(n_known):
        branch = np.int64(places[np.int64(words[i] >> ROW_BITS)] > last)
        sample.side[words[i] & ROW_MASK] = branch
        sizes[branch] += 1
    return last


@part_of_loop
def write_subset(last, n_categories, scratch, sizes):
    """Write the bit set of the second subset, which unseen categories join if it is larger."""
    # A category that did not reach the node in training goes with the larger side.
    places, heavier = scratch.groups[2], np.int64(sizes[1] > sizes[0])
    n_codes = (n_categories + 63) // 64
    for word in range(n_codes):
        scratch.words[word] = np.uint64(0)
    for code in range(n_categories):
        branch = heavier if places[code] < 0.0 else np.int64(places[code] > last)
        scratch.words[code >> 6] |= np.uint64(branch) << np.uint64(code & 63)
    return n_codes


@part_of_loop
def mark_groups(words, n_known, sample, sizes):
    """Mark the rows of an n-way split; return the number of branches."""
    n_branches = 0
    for i in range(n_known):
        if i == 0 or words[i] >> ROW_BITS != words[i - 1] >> ROW_BITS:
            sizes[n_branches] = 0
            n_branches += 1
        sample.side[words[i] & ROW_MASK] = n_branches - 1
        sizes[n_branches - 1] += 1
    return n_branches


@part_of_loop
def write_groups(words, n_known, n_branches, n_categories, scratch, sizes):
    """Write the branch of each category, one more for those not seen; return the children."""
    for code in range(n_categories):
        scratch.words[code] = np.uint64(n_branches)
    n_seen = 0
    for i in range(n_known):
        if i == 0 or words[i] >> ROW_BITS != words[i - 1] >> ROW_BITS:
            scratch.words[np.int64(words[i] >> ROW_BITS)] = np.uint64(n_seen)
            n_seen += 1
    if n_branches == n_categories:
        return n_branches
    sizes[n_branches] = 0
    return n_branches + 1


@outer_loop
def divide_rows(rows, sizes, n_children, side, scratch):
    """Divide a list of rows among the children, stably."""
    buffer, places = scratch.rows, scratch.places[1]
    places[0] = 0
    for child in range(1, n_children):
        places[child] = places[child - 1] + sizes[child - 1]
    for i in range(rows.shape[0]):
        child = side[rows[i]]
        buffer[places[child]] = rows[i]
        places[child] += 1
    for i in range(rows.shape[0]):
        rows[i] = buffer[i]


@outer_loop
def divide_columns(first, last, start, stop, sizes, n_children, sample, scratch):
    """Divide the orders of some columns among the children of a node, stably."""
    buffer, places, packed, side = scratch.words, scratch.places[1], sample.packed, sample.side
    for column in range(first, last):
        words = packed[column, start:stop]
        n = words.shape[0]
        # A column of one value is never searched again below, so its rows need no order.
        if words[0] >> ROW_BITS == words[n - 1] >> ROW_BITS:
            continue
        if n_children == 2:
            # Every word is written to both sides, and one of them moves on: without a branch, the
            # processor has nothing to predict wrongly.
            n_left = n_right = 0
            for i in range(n):
                word = words[i]
                other = int(side[word & ROW_MASK])
                words[n_left] = word
                buffer[n_right] = word
                n_right += other
                n_left += 1 - other
            for i in range(n_right):
                words[n_left + i] = buffer[i]
            continue
        places[0] = 0
        for child in range(1, n_children):
            places[child] = places[child - 1] + sizes[child - 1]
        # A counting sort by child is stable, and so keeps the order of the values.
        for i in range(n):
            child = side[words[i] & ROW_MASK]
            buffer[places[child]] = words[i]
            places[child] += 1
        for i in range(n):
            words[i] = buffer[i]
