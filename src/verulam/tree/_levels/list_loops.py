"""Compiled search and division of listed columns, all nodes of a level in one call: no checks.

A node owns the part of each list from `first` to `last`, its rows by ascending rank; rows with the
common value of the column stand in no list, and are the rest of the node's.
"""

import numpy as np

from verulam.tree._growing.growth_parameters import ROW_BITS, ROW_MASK
from verulam.tree._growing.numba_helpers import inner_loop_in_place, outer_loop_in_place
from verulam.tree._levels.score_loops import (
    SLACK,
    cut_impurity,
    offer,
    quick_bound,
    squared_sum,
)


@inner_loop_in_place
def scan_classes(words, i, last, n, omitted, classes, left, whole, common, scoring):
    """Search one part of a list for the threshold of least impurity.

    `whole` are the class counts of the node, `common` those of its rows with the common value, and
    `left` is a buffer. Returns the impurity times weight of both sides, the first listed row on the
    right, and whether the rows next to the cut, on the left and on the right, are the common ones.
    """
    n_common, passed, squares, product, bar = n - (last - i), np.int64(0), 0.0, 0.0, -np.inf
    all_squares = squared_sum(whole)
    for k in range(whole.shape[0]):
        left[k] = 0.0
    waits, best, cut, low, high = n_common > 0, np.inf, i, False, False
    while True:
        turn = waits and (i == last or words[i] >> ROW_BITS > omitted)
        if turn:
            waits = False
            passed += n_common
            for k in range(whole.shape[0]):
                squares += common[k] * (2.0 * left[k] + common[k])
                product += common[k] * whole[k]
                left[k] += common[k]
        else:
            rank = words[i] >> ROW_BITS
            while i < last and words[i] >> ROW_BITS == rank:
                label = np.int64(classes[words[i] & ROW_MASK])
                squares += 2.0 * left[label] + 1.0
                product += whole[label]
                left[label] += 1.0
                i += 1
                passed += 1
        if passed == n:
            return best, cut, low, high
        # The squares on the right are those of the differences: whole counts, so all is exact.
        others = all_squares - 2.0 * product + squares
        bound = quick_bound(squares, others, passed, n - passed, scoring)
        if bound < bar or passed < scoring.min_leaf or n - passed < scoring.min_leaf:
            continue
        bar = bound * SLACK if bound * SLACK > bar else bar
        score = cut_impurity(left, whole, squares, others, passed, n - passed, scoring)
        if score < best:
            turn_next = waits and (i == last or words[i] >> ROW_BITS > omitted)
            best, cut, low, high = score, i, turn, turn_next


@outer_loop_in_place
def search_lists_for_classes(task, lists, table, classes, nodes, front, best, scoring, counts):
    """Offer the best thresholds of some listed columns to the nodes of a front."""
    left, common = counts[0], counts[1]
    for place in range(task.first, task.last):
        column = lists.columns[place]
        words, omitted = lists.words[column], lists.common_rank[column]
        for a in range(task.n_active):
            i, last, split = front.first[place, a], front.last[place, a], best[a]
            if i == last or column > split.perfect or not task.drawn[a * task.step, column]:
                continue
            cell, whole = nodes.cells[front.active[a]], nodes.values[front.active[a]]
            n = np.int64(cell.n_rows)
            if n == last - i and words[i] >> ROW_BITS == words[last - 1] >> ROW_BITS:
                continue
            if n > last - i:
                for k in range(whole.shape[0]):
                    common[k] = whole[k]
                for j in range(i, last):
                    common[classes[words[j] & ROW_MASK]] -= 1.0
            score, cut, is_low, is_high = scan_classes(
                words,
                np.int64(i),
                np.int64(last),
                n,
                omitted,
                classes,
                left,
                whole,
                common,
                scoring,
            )
            if score < np.inf:
                low = high = lists.common_value[column]
                if not is_low:
                    low = table[words[cut - 1] & ROW_MASK, column]
                if not is_high:
                    high = table[words[cut] & ROW_MASK, column]
                offer(split, column, cell.error - score, cell, low, high, cut)


@inner_loop_in_place
def scan_targets(words, i, last, n, omitted, targets, total, common, scoring):
    """Search one part of a list for the threshold of least squared error.

    `total` is the sum of the node's targets and `common` that of the rows with the common value.
    Returns the largest sum of squared sums over rows, and the rest as `scan_classes` does.
    """
    # The squared error of a side is the sum of its squares less (sum)^2 / n, and the squares of
    # both sides add up to the same whatever the cut: the largest sum of (sum)^2 / n has the least
    # error. The inverses are tabled because a division is slow.
    n_common, passed, first, inverse = n - (last - i), np.int64(0), 0.0, scoring.table
    waits, best, cut, low, high = n_common > 0, -np.inf, i, False, False
    while True:
        turn = waits and (i == last or words[i] >> ROW_BITS > omitted)
        if turn:
            waits = False
            passed += n_common
            first += common
        else:
            rank = words[i] >> ROW_BITS
            while i < last and words[i] >> ROW_BITS == rank:
                first += targets[words[i] & ROW_MASK]
                i += 1
                passed += 1
        if passed == n:
            return best, cut, low, high
        second = total - first
        score = first * first * inverse[passed] + second * second * inverse[n - passed]
        if score > best and scoring.min_leaf <= passed <= n - scoring.min_leaf:
            turn_next = waits and (i == last or words[i] >> ROW_BITS > omitted)
            best, cut, low, high = score, i, turn, turn_next


@outer_loop_in_place
def search_lists_for_targets(task, lists, table, targets, nodes, front, best, scoring):
    """Offer the best thresholds of some listed columns to the nodes of a front."""
    for place in range(task.first, task.last):
        column = lists.columns[place]
        words, omitted = lists.words[column], lists.common_rank[column]
        for a in range(task.n_active):
            i, last, split = front.first[place, a], front.last[place, a], best[a]
            if i == last or column > split.perfect or not task.drawn[a * task.step, column]:
                continue
            cell = nodes.cells[front.active[a]]
            n = np.int64(cell.n_rows)
            if n == last - i and words[i] >> ROW_BITS == words[last - 1] >> ROW_BITS:
                continue
            total = n * nodes.values[front.active[a], 0]
            common = total
            if n > last - i:
                for j in range(i, last):
                    common -= targets[words[j] & ROW_MASK]
            score, cut, is_low, is_high = scan_targets(
                words, np.int64(i), np.int64(last), n, omitted, targets, total, common, scoring
            )
            if score > -np.inf:
                low = high = lists.common_value[column]
                if not is_low:
                    low = table[words[cut - 1] & ROW_MASK, column]
                if not is_high:
                    high = table[words[cut] & ROW_MASK, column]
                offer(split, column, score - total * total / n, cell, low, high, cut)


@outer_loop_in_place
def divide_lists(first_list, last_list, n_active, lists, side, cells, front, following, buffer):
    """Divide the parts of some lists between the children of the nodes, stably."""
    for place in range(first_list, last_list):
        words = lists.words[lists.columns[place]]
        for a in range(n_active):
            cell = cells[front.active[a]]
            child = cell.first_child
            # Leaves need no lists.
            if child < 0 or (cells[child].place < 0 and cells[child + 1].place < 0):
                continue
            first, last = front.first[place, a], front.last[place, a]
            whole = last - first == cell.n_rows
            # A column of one value is never searched again below: it gets an empty part.
            if whole and words[first] >> ROW_BITS == words[last - 1] >> ROW_BITS:
                last = first
            n_left, n_right = first, np.int32(0)
            # Every word is written to both sides, and one of them moves on: without a branch, the
            # processor has nothing to predict wrongly.
            for i in range(first, last):
                word = words[i]
                other = side[word & ROW_MASK]
                words[n_left] = word
                buffer[n_right] = word
                n_right += other
                n_left += 1 - other
            for i in range(n_right):
                words[n_left + i] = buffer[i]
            for branch in range(2):
                target = cells[child + branch].place
                if target >= 0:
                    following.first[place, target] = n_left if branch else first
                    following.last[place, target] = last if branch else n_left
