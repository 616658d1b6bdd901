"""Compiled search of listed columns that have gaps, all nodes of a level in one call: no checks.

Rows without a value stand at the end of a list. At every cut they are tried on both sides, and once
against all rows that have a value. Weights are None where all rows weigh 1; loops are compiled for
either.
"""

import numpy as np

from verulam.tree._growing.growth_parameters import MISSING_RANK, ROW_BITS, ROW_MASK
from verulam.tree._growing.numba_helpers import (
    inner_loop_in_place,
    outer_loop_in_place,
    part_of_loop,
)
from verulam.tree._levels.score_loops import offer, squared_sum
from verulam.tree._levels.weight_loops import (
    WIDE_SLACK,
    gini_bound,
    squared_sums,
    weighted_impurity,
)

#: From so many rows of one value on their end is looked for, and their classes are not counted.
LONG_RUN = 32


@part_of_loop
def weight_at(weights, row):
    """Return the weight of a row, which is 1 where there are none."""
    return 1.0 if weights is None else weights[row]


@part_of_loop
def divide_known(words, last, end, classes, weights, whole, known, missing):
    """Write the class weights of the rows with and without a value."""
    for k in range(whole.shape[0]):
        known[k], missing[k] = whole[k], 0.0
    for j in range(last, end):
        row = words[j] & ROW_MASK
        missing[classes[row]] += weight_at(weights, row)
        known[classes[row]] -= weight_at(weights, row)


@inner_loop_in_place
def end_of_known(words, i, end):
    """Return where the rows without a value begin, by bisection."""
    while i < end:
        middle = (i + end) // 2
        if words[middle] >> ROW_BITS == MISSING_RANK:
            end = middle
        else:
            i = middle + 1
    return i


@inner_loop_in_place
def pass_run(words, i, last, classes, whole, missing, first):
    """Return where a long run of one value ends, and write the class counts up to there.

    They are what the rows behind it leave, where those are fewer than the rows of the run: else
    the run is not passed, and `i` is returned.
    """
    rank, low, high = words[i] >> ROW_BITS, i + np.int64(LONG_RUN), last
    if low >= last or words[low] >> ROW_BITS != rank:
        return i
    while low < high:
        middle = (low + high) // 2
        if words[middle] >> ROW_BITS == rank:
            low = middle + 1
        else:
            high = middle
    if last - low >= low - i:
        return i
    for k in range(whole.shape[0]):
        first[k] = whole[k] - missing[k]
    for j in range(low, last):
        first[classes[words[j] & ROW_MASK]] -= 1.0
    return low


@part_of_loop
def add_rank(
    words, i, last, classes, weights, whole, missing, first, squares, product, crossed, weight
):
    """Add the rows of one value to the first side.

    Returns where they end, and the running sums up to there.
    """
    rank = words[i] >> ROW_BITS
    if weights is None:
        # Counts are whole numbers, so that what is left of them is exact.
        stop = pass_run(words, i, last, classes, whole, missing, first)
        if stop > i:
            squares, product, crossed, weight = 0.0, 0.0, 0.0, 0.0
            for k in range(whole.shape[0]):
                squares += first[k] * first[k]
                product += first[k] * whole[k]
                crossed += first[k] * missing[k]
                weight += first[k]
            return stop, squares, product, crossed, weight
    while i < last and words[i] >> ROW_BITS == rank:
        row = words[i] & ROW_MASK
        label, w = np.int64(classes[row]), weight_at(weights, row)
        squares += w * (2.0 * first[label] + w)
        product += w * whole[label]
        crossed += w * missing[label]
        first[label] += w
        weight += w
        i += 1
    return i, squares, product, crossed, weight


@part_of_loop
def side_sums(first, missing, joined, whole, sums):
    """Write the class weights of the first side, with those of the missing rows if joined."""
    for k in range(whole.shape[0]):
        sums[k] = first[k] + missing[k] if joined else first[k]


@inner_loop_in_place
def scan_gapped_classes(words, i, last, end, classes, weights, counts, whole, total, scoring):
    """Search one part of a list for the cut, and the side of the missing rows, of least impurity.

    Rows with a value end at `last`, all at `end`. `counts` are buffers: the class weights of the
    first side, of the missing rows, and of both. Returns the impurity times weight, the first
    listed row on the right and that side, which is -1 where no row is missing.
    """
    first, missing, both = counts[0], counts[1], counts[2]
    n, n_missing, n_first, min_leaf = end - i, end - last, np.int64(0), scoring.min_leaf
    divide_known(words, last, end, classes, weights, whole, both, missing)
    best, cut, side, bar = np.inf, last, np.int64(-1), -np.inf
    if n_missing > 0 and n_missing >= min_leaf and last - i >= min_leaf:
        best, side = weighted_impurity(both, whole, scoring.entropy), np.int64(1)
    # Running sums: squares of the first side's weights, their products with those of the node and
    # of the missing rows. What the missing rows add to them is the same at every cut.
    squares, product, crossed, weight = 0.0, 0.0, 0.0, 0.0
    all_squares, lost_squares = squared_sum(whole), squared_sum(missing)
    lost, lost_product = 0.0, 0.0
    for k in range(whole.shape[0]):
        lost += missing[k]
        lost_product += missing[k] * whole[k]
        first[k] = 0.0
    while True:
        start = i
        i, squares, product, crossed, weight = add_rank(
            words,
            i,
            last,
            classes,
            weights,
            whole,
            missing,
            first,
            squares,
            product,
            crossed,
            weight,
        )
        n_first += i - start
        if i == last:
            return best, cut, side
        for to in range(1 if n_missing == 0 else 2):
            joined = n_missing > 0 and to == 0
            size = n_first + n_missing if joined else n_first
            bound = np.inf
            if joined and not scoring.entropy:
                one = squares + 2.0 * crossed + lost_squares
                inner, mass = product + lost_product, weight + lost
                bound = gini_bound(one, inner, all_squares, mass, total)
            elif not scoring.entropy:
                bound = gini_bound(squares, product, all_squares, weight, total)
            if bound < bar or size < min_leaf or n - size < min_leaf:
                continue
            if not scoring.entropy:
                bar = bound * WIDE_SLACK if bound * WIDE_SLACK > bar else bar
            side_sums(first, missing, joined, whole, both)
            score = weighted_impurity(both, whole, scoring.entropy)
            if score < best:
                best, cut, side = score, i, np.int64(to if n_missing > 0 else -1)


@outer_loop_in_place
def search_gaps_for_classes(
    task, lists, table, classes, weights, nodes, front, best, scoring, counts
):
    """Offer the best thresholds of some listed columns with gaps to the nodes of a front."""
    for place in range(task.first, task.last):
        column = lists.columns[place]
        words = lists.words[column]
        for a in range(task.n_active):
            i, end, split = front.first[place, a], front.last[place, a], best[a]
            if i == end or column > split.perfect or not task.drawn[a * task.step, column]:
                continue
            cell, whole = nodes.cells[front.active[a]], nodes.values[front.active[a]]
            if words[i] >> ROW_BITS == words[end - 1] >> ROW_BITS:
                continue
            last = end_of_known(words, np.int64(i), np.int64(end))
            score, cut, side = scan_gapped_classes(
                words,
                np.int64(i),
                last,
                np.int64(end),
                classes,
                weights,
                counts,
                whole,
                cell.weight,
                scoring,
            )
            if score < np.inf:
                # All rows with a value below infinity, and those without one above it.
                low = high = np.inf
                if cut < last:
                    low = table[words[cut - 1] & ROW_MASK, column]
                    high = table[words[cut] & ROW_MASK, column]
                if offer(split, column, cell.error - score, cell, low, high, cut):
                    split.missing_to = side


@inner_loop_in_place
def scan_gapped_targets(words, i, last, end, targets, weights, total, total_weight, scoring):
    """Do what `scan_gapped_classes` does for least squared error, and return what is largest."""
    n, n_missing, n_first, min_leaf = end - i, end - last, np.int64(0), scoring.min_leaf
    lost, lost_weight = 0.0, 0.0
    for j in range(last, end):
        row = words[j] & ROW_MASK
        lost_weight += weight_at(weights, row)
        lost += weight_at(weights, row) * targets[row]
    best, cut, side, weight, first = -np.inf, last, np.int64(-1), 0.0, 0.0
    if n_missing >= min_leaf and last - i >= min_leaf and n_missing > 0:
        best, side = squared_sums(lost, lost_weight, total, total_weight), np.int64(1)
    while True:
        rank = words[i] >> ROW_BITS
        while i < last and words[i] >> ROW_BITS == rank:
            row = words[i] & ROW_MASK
            weight += weight_at(weights, row)
            first += weight_at(weights, row) * targets[row]
            i += 1
            n_first += 1
        if i == last:
            return best, cut, side
        for to in range(1 if n_missing == 0 else 2):
            joined = n_missing > 0 and to == 0
            size = n_first + n_missing if joined else n_first
            if size < min_leaf or n - size < min_leaf:
                continue
            one, mass = (first + lost, weight + lost_weight) if joined else (first, weight)
            score = squared_sums(one, mass, total, total_weight)
            if score > best:
                best, cut, side = score, i, np.int64(to if n_missing > 0 else -1)


@outer_loop_in_place
def search_gaps_for_targets(task, lists, table, targets, weights, nodes, front, best, scoring):
    """Offer the best thresholds of some listed columns with gaps to the nodes of a front."""
    for place in range(task.first, task.last):
        column = lists.columns[place]
        words = lists.words[column]
        for a in range(task.n_active):
            i, end, split = front.first[place, a], front.last[place, a], best[a]
            if i == end or column > split.perfect or not task.drawn[a * task.step, column]:
                continue
            cell = nodes.cells[front.active[a]]
            total = cell.weight * nodes.values[front.active[a], 0]
            if words[i] >> ROW_BITS == words[end - 1] >> ROW_BITS:
                continue
            last = end_of_known(words, np.int64(i), np.int64(end))
            score, cut, side = scan_gapped_targets(
                words,
                np.int64(i),
                last,
                np.int64(end),
                targets,
                weights,
                total,
                cell.weight,
                scoring,
            )
            if score > -np.inf:
                low = high = np.inf
                if cut < last:
                    low = table[words[cut - 1] & ROW_MASK, column]
                    high = table[words[cut] & ROW_MASK, column]
                decrease = score - total * total / cell.weight
                if offer(split, column, decrease, cell, low, high, cut):
                    split.missing_to = side
