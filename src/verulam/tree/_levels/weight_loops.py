"""Compiled search of columns whose rows have weights, all nodes of a level in one call: no checks.

Sums of weights are not exact, as counts are: what a running sum says of a cut is only a bound, and
cuts that may be the best are scored from the class weights of both sides.
"""

import numpy as np

from verulam.tree._growing.growth_parameters import ROW_BITS, ROW_MASK
from verulam.tree._growing.numba_helpers import (
    inner_loop_in_place,
    outer_loop_in_place,
    part_of_loop,
)
from verulam.tree._levels.code_loops import ONE, chain_rows, lowest_bit
from verulam.tree._levels.score_loops import offer, squared_sum, weighted_log

#: A bound below so much of the largest cannot belong to the best cut: running sums err by less.
WIDE_SLACK = 1.0 - 1e-9


@part_of_loop
def gini_bound(squares, product, all_squares, weight, total):
    """Return what is largest where the Gini index is least, from running sums of the first side."""
    # The squares of the second side: |whole - first|^2, class by class.
    others = all_squares - 2.0 * product + squares
    return squares / weight + others / (total - weight) if weight < total else np.inf


@part_of_loop
def weighted_impurity(first, whole, entropy):
    """Return the impurity times weight of both sides of a cut."""
    one = other = squares_one = squares_other = 0.0
    for k in range(first.shape[0]):
        second = whole[k] - first[k]
        one += first[k]
        other += second
        if entropy:
            squares_one += weighted_log(first[k])
            squares_other += weighted_log(second)
        else:
            squares_one += first[k] * first[k]
            squares_other += second * second
    if entropy:
        return weighted_log(one) - squares_one + (weighted_log(other) - squares_other)
    score = one - squares_one / one if one > 0.0 else 0.0
    return score + (other - squares_other / other) if other > 0.0 else score


@inner_loop_in_place
def scan_weighted_classes(
    words, i, last, n, omitted, classes, weights, left, whole, total, common, scoring
):
    """Do what `scan_classes` does, where rows have weights that add up to `total`."""
    n_common, passed, weight, bar = n - (last - i), np.int64(0), 0.0, -np.inf
    squares, product, all_squares = 0.0, 0.0, squared_sum(whole)
    for k in range(whole.shape[0]):
        left[k] = 0.0
    waits, best, cut, low, high = n_common > 0, np.inf, i, False, False
    while True:
        # Rows with the commonest value are not listed: they come all at once, at their rank.
        turn = waits and (i == last or words[i] >> ROW_BITS > omitted)
        if turn:
            waits = False
            passed += n_common
            for k in range(whole.shape[0]):
                # (l + w)^2 is larger than l^2 by w (2 l + w).
                squares += common[k] * (2.0 * left[k] + common[k])
                product += common[k] * whole[k]
                left[k] += common[k]
                weight += common[k]
        else:
            rank = words[i] >> ROW_BITS
            while i < last and words[i] >> ROW_BITS == rank:
                row = words[i] & ROW_MASK
                label, w = np.int64(classes[row]), weights[row]
                squares += w * (2.0 * left[label] + w)
                product += w * whole[label]
                left[label] += w
                weight += w
                i += 1
                passed += 1
        if passed == n:
            return best, cut, low, high
        if passed < scoring.min_leaf or n - passed < scoring.min_leaf:
            continue
        if not scoring.entropy:
            bound = gini_bound(squares, product, all_squares, weight, total)
            if bound < bar:
                continue
            bar = bound * WIDE_SLACK if bound * WIDE_SLACK > bar else bar
        score = weighted_impurity(left, whole, scoring.entropy)
        if score < best:
            turn_next = waits and (i == last or words[i] >> ROW_BITS > omitted)
            best, cut, low, high = score, i, turn, turn_next


@outer_loop_in_place
def search_lists_for_weighted_classes(
    task, lists, table, classes, weights, nodes, front, best, scoring, counts
):
    """Do what `search_lists_for_classes` does, where rows have weights."""
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
            # All rows are listed, with one value: there is nothing to cut.
            if n == last - i and words[i] >> ROW_BITS == words[last - 1] >> ROW_BITS:
                continue
            # The weights of the rows that are not listed are what the listed ones leave.
            if n > last - i:
                for k in range(whole.shape[0]):
                    common[k] = whole[k]
                for j in range(i, last):
                    row = words[j] & ROW_MASK
                    common[classes[row]] -= weights[row]
            score, cut, is_low, is_high = scan_weighted_classes(
                words,
                np.int64(i),
                np.int64(last),
                n,
                omitted,
                classes,
                weights,
                left,
                whole,
                cell.weight,
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
def scan_weighted_chains(
    codes_met, rows, start, classes, weights, heads, chains, left, whole, total, n, scoring
):
    """Do what `scan_chains` does, where rows have weights that add up to `total`."""
    passed, before, squares, product = np.int64(0), np.int64(0), 0.0, 0.0
    all_squares, best, bar, low, high = squared_sum(whole), np.inf, -np.inf, before, before
    weight = 0.0
    if codes_met & (codes_met - ONE) == np.uint64(0):
        return np.inf, np.int64(-1), np.int64(-1)
    for k in range(left.shape[0]):
        left[k] = 0.0
    while codes_met:
        code = lowest_bit(codes_met)
        codes_met &= codes_met - ONE
        if passed > 0 and passed >= scoring.min_leaf and n - passed >= scoring.min_leaf:
            bound = np.inf
            if not scoring.entropy:
                bound = gini_bound(squares, product, all_squares, weight, total)
            if bound >= bar:
                if not scoring.entropy:
                    bar = bound * WIDE_SLACK if bound * WIDE_SLACK > bar else bar
                score = weighted_impurity(left, whole, scoring.entropy)
                if score < best:
                    best, low, high = score, before, code
        i = heads[code]
        while i >= 0:
            row = rows[start + i]
            label, w = np.int64(classes[row]), weights[row]
            squares += w * (2.0 * left[label] + w)
            product += w * whole[label]
            left[label] += w
            weight += w
            passed += 1
            i = chains[i]
        before = code
    return best, low, high


@outer_loop_in_place
def search_codes_for_weighted_classes(
    task, coded, rows, classes, weights, nodes, front, best, scoring, left, links
):
    """Offer the best thresholds of some coded columns; `left` and the links are buffers."""
    heads, chains = links[0], links[1]
    for a in range(task.n_active):
        cell, whole, split = nodes.cells[front.active[a]], nodes.values[front.active[a]], best[a]
        n = np.int64(cell.n_rows)
        for place in range(task.first, task.last):
            column = coded.columns[place]
            if front.constant[a, place] or column > split.perfect:
                continue
            if not task.drawn[a * task.step, column]:
                continue
            codes_met = chain_rows(coded.codes, place, rows, cell.start, n, heads, chains)
            score, low, high = scan_weighted_chains(
                codes_met,
                rows,
                cell.start,
                classes,
                weights,
                heads,
                chains,
                left,
                whole,
                cell.weight,
                n,
                scoring,
            )
            front.constant[a, place] = low < 0
            if score < np.inf:
                levels = coded.levels[place]
                offer(split, column, cell.error - score, cell, levels[low], levels[high], low)


@part_of_loop
def squared_sums(first, weight, total, total_weight):
    """Return the sum of (weighted sum)^2 over weight of both sides: the more, the less error."""
    second, rest = total - first, total_weight - weight
    score = first * first / weight if weight > 0.0 else 0.0
    return score + second * second / rest if rest > 0.0 else score


@inner_loop_in_place
def scan_weighted_targets(words, i, last, n, omitted, moments, total, weight, common, scoring):
    """Do what `scan_targets` does, where rows have weights.

    `moments` has the weight of each row and its product with the target, `total` and `weight` are
    their sums over the node, and `common` those of the rows with the common value.
    """
    n_common, passed, first, passed_weight = n - (last - i), np.int64(0), 0.0, 0.0
    waits, best, cut, low, high = n_common > 0, -np.inf, i, False, False
    while True:
        turn = waits and (i == last or words[i] >> ROW_BITS > omitted)
        if turn:
            waits = False
            passed += n_common
            passed_weight += common[0]
            first += common[1]
        else:
            rank = words[i] >> ROW_BITS
            while i < last and words[i] >> ROW_BITS == rank:
                row = words[i] & ROW_MASK
                passed_weight += moments[row, 0]
                first += moments[row, 1]
                i += 1
                passed += 1
        if passed == n:
            return best, cut, low, high
        score = squared_sums(first, passed_weight, total, weight)
        if score > best and scoring.min_leaf <= passed <= n - scoring.min_leaf:
            turn_next = waits and (i == last or words[i] >> ROW_BITS > omitted)
            best, cut, low, high = score, i, turn, turn_next


@outer_loop_in_place
def search_lists_for_weighted_targets(
    task, lists, table, moments, nodes, front, best, scoring, common
):
    """Do what `search_lists_for_targets` does, where rows have weights."""
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
            # The value of a node is its mean, which gives back the sum.
            total = cell.weight * nodes.values[front.active[a], 0]
            common[0], common[1] = cell.weight, total
            if n > last - i:
                for j in range(i, last):
                    row = words[j] & ROW_MASK
                    common[0] -= moments[row, 0]
                    common[1] -= moments[row, 1]
            score, cut, is_low, is_high = scan_weighted_targets(
                words,
                np.int64(i),
                np.int64(last),
                n,
                omitted,
                moments,
                total,
                cell.weight,
                common,
                scoring,
            )
            if score > -np.inf:
                low = high = lists.common_value[column]
                if not is_low:
                    low = table[words[cut - 1] & ROW_MASK, column]
                if not is_high:
                    high = table[words[cut] & ROW_MASK, column]
                offer(split, column, score - total * total / cell.weight, cell, low, high, cut)


@outer_loop_in_place
def search_codes_for_weighted_targets(
    task, coded, rows, moments, nodes, front, best, scoring, sums
):
    """Offer the best thresholds of some coded columns to the nodes of a front.

    `sums` is a buffer: weight, weighted sum and number of the rows of each code, all zero.
    """
    codes = coded.codes
    for a in range(task.n_active):
        cell, split = nodes.cells[front.active[a]], best[a]
        n, total = np.int64(cell.n_rows), cell.weight * nodes.values[front.active[a], 0]
        for place in range(task.first, task.last):
            column = coded.columns[place]
            if front.constant[a, place] or column > split.perfect:
                continue
            if not task.drawn[a * task.step, column]:
                continue
            codes_met = np.uint64(0)
            for i in range(cell.start, cell.start + n):
                row = rows[i]
                code = codes[row, place]
                sums[code, 0] += moments[row, 0]
                sums[code, 1] += moments[row, 1]
                sums[code, 2] += 1.0
                codes_met |= ONE << np.uint64(code)
            # One bit alone is one code: constant here, and in all nodes below.
            front.constant[a, place] = codes_met & (codes_met - ONE) == np.uint64(0)
            weight, first, passed, score = 0.0, 0.0, np.int64(0), -np.inf
            low = high = np.int64(0)
            while codes_met != np.uint64(0):
                code = lowest_bit(codes_met)
                codes_met &= codes_met - ONE
                weight += sums[code, 0]
                first += sums[code, 1]
                passed += np.int64(sums[code, 2])
                # Cleared in passing: the next column finds the buffer as this one did.
                sums[code, 0] = sums[code, 1] = sums[code, 2] = 0.0
                if scoring.min_leaf <= passed <= n - scoring.min_leaf:
                    cut = squared_sums(first, weight, total, cell.weight)
                    if cut > score:
                        score, low, high = cut, np.int64(code), lowest_bit(codes_met)
            if score > -np.inf:
                levels, decrease = coded.levels[place], score - total * total / cell.weight
                offer(split, column, decrease, cell, levels[low], levels[high], low)
