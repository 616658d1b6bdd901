"""Compiled search of coded columns, all nodes of a level in one call: no checks.

Large nodes have tables of class counts by code. Of two children the smaller is counted, and the
table of the larger is what is left of their parent's.
"""

import numpy as np

from verulam.tree._growing.numba_helpers import (
    inner_loop_in_place,
    outer_loop_in_place,
    part_of_loop,
)
from verulam.tree._levels.score_loops import (
    SLACK,
    cut_impurity,
    offer,
    quick_bound,
    squared_sum,
)

ONE = np.uint64(1)
#: Place of the only bit of a word, by the top six bits of its product with a de Bruijn number.
DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
BIT_PLACES = np.zeros(64, dtype=np.int64)
BIT_PLACES[[(int(DE_BRUIJN) << place) % 2**64 >> 58 for place in range(64)]] = np.arange(64)


@part_of_loop
def lowest_bit(word):
    """Return the place of the lowest bit."""
    return BIT_PLACES[((word & (~word + ONE)) * DE_BRUIJN) >> np.uint64(58)]


@inner_loop_in_place
def chain_rows(codes, place, rows, start, size, heads, chains):
    """Chain the rows of each code, in their order; return the set of codes."""
    codes_met = np.uint64(0)
    # Backwards, because each row is put before those that are chained already.
    for i in range(size - 1, -1, -1):
        code = codes[rows[start + i], place]
        bit = ONE << np.uint64(code)
        chains[i] = heads[code] if codes_met & bit else -1
        heads[code] = i
        codes_met |= bit
    return codes_met


@inner_loop_in_place
def scan_table(table, left, whole, n, scoring):
    """Search the thresholds between codes in a table of class counts.

    `whole` are the counts of the node and `left` is a buffer. Returns the impurity times weight of
    both sides, and the codes next to the cut; see `scan_classes` for the sums.
    """
    n_classes, passed, before = whole.shape[0], np.int64(0), np.int64(0)
    squares, product, all_squares = 0.0, 0.0, squared_sum(whole)
    best, bar, low, high = np.inf, -np.inf, np.int64(0), np.int64(0)
    for k in range(n_classes):
        left[k] = 0.0
    for code in range(table.shape[0] // n_classes):
        first, count = code * n_classes, np.int64(0)
        for k in range(n_classes):
            count += table[first + k]
        if count == 0:
            continue
        if count == n:  # one code: constant here, and in all nodes below
            return np.inf, np.int64(-1), np.int64(-1)
        others = all_squares - 2.0 * product + squares
        if passed >= scoring.min_leaf and n - passed >= scoring.min_leaf:
            bound = quick_bound(squares, others, passed, n - passed, scoring)
            if bound >= bar:
                bar = bound * SLACK if bound * SLACK > bar else bar
                score = cut_impurity(left, whole, squares, others, passed, n - passed, scoring)
                if score < best:
                    best, low, high = score, before, np.int64(code)
        for k in range(n_classes):
            number = np.float64(table[first + k])
            squares += number * (2.0 * left[k] + number)
            product += number * whole[k]
            left[k] += number
        passed += count
        before = np.int64(code)
    return best, low, high


@inner_loop_in_place
def scan_chains(codes_met, ordered, start, heads, chains, left, whole, n, scoring):
    """Do what `scan_table` does, where the rows of each code are chained."""
    passed, before, squares, product = np.int64(0), np.int64(0), 0.0, 0.0
    all_squares, best, bar, low, high = squared_sum(whole), np.inf, -np.inf, before, before
    if codes_met & (codes_met - ONE) == np.uint64(0):
        return np.inf, np.int64(-1), np.int64(-1)
    for k in range(left.shape[0]):
        left[k] = 0.0
    while codes_met:
        code = lowest_bit(codes_met)
        codes_met &= codes_met - ONE
        others = all_squares - 2.0 * product + squares
        if passed >= scoring.min_leaf and n - passed >= scoring.min_leaf:
            bound = quick_bound(squares, others, passed, n - passed, scoring)
            if bound >= bar:
                bar = bound * SLACK if bound * SLACK > bar else bar
                score = cut_impurity(left, whole, squares, others, passed, n - passed, scoring)
                if score < best:
                    best, low, high = score, before, code
        i = heads[code]
        while i >= 0:
            label = np.int64(ordered[start + i])
            squares += 2.0 * left[label] + 1.0
            product += whole[label]
            left[label] += 1.0
            passed += 1
            i = chains[i]
        before = code
    return best, low, high


@outer_loop_in_place
def count_codes(cell, codes, rows, classes, offsets, n_classes, table):
    """Count the classes of a node by the codes of every coded column."""
    for entry in range(table.shape[0]):
        table[entry] = 0
    for i in range(cell.start, cell.start + cell.n_rows):
        row, k = rows[i], np.int64(classes[i])
        for place in range(codes.shape[1]):
            table[offsets[place] + codes[row, place] * n_classes + k] += 1


@outer_loop_in_place
def search_codes_for_classes(
    task, coded, sample, nodes, front, best, scoring, tables, offsets, spare, left, links
):
    """Offer the best thresholds of some coded columns to the nodes of a front.

    A spare table, `left` and the links of chains are buffers.
    """
    heads, chains = links[0], links[1]
    codes, rows, classes = coded.codes, sample.rows, sample.targets
    n_classes, average = left.shape[0], tables.shape[1] // codes.shape[1]
    for a in range(task.n_active):
        cell, whole, split = nodes.cells[front.active[a]], nodes.values[front.active[a]], best[a]
        n, start = np.int64(cell.n_rows), cell.start
        table = tables[cell.slot] if cell.slot >= 0 else spare
        # A table is passed through as a whole; of few rows, the codes that they have are chained.
        chained = cell.slot < 0 and average > 2 * n
        if cell.slot < 0 and not chained:
            count_codes(cell, codes, rows, classes, offsets, n_classes, table)
        for place in range(task.first, task.last):
            column = coded.columns[place]
            if front.constant[a, place] or column > split.perfect:
                continue
            if not task.drawn[a * task.step, column]:
                continue
            if chained:
                codes_met = chain_rows(codes, place, rows, start, n, heads, chains)
                score, low, high = scan_chains(
                    codes_met, classes, start, heads, chains, left, whole, n, scoring
                )
            else:
                part = table[offsets[place] : offsets[place + 1]]
                score, low, high = scan_table(part, left, whole, n, scoring)
            front.constant[a, place] = low < 0
            if score < np.inf:
                levels = coded.levels[place]
                offer(split, column, cell.error - score, cell, levels[low], levels[high], low)


@outer_loop_in_place
def count_children(n_active, least, codes, sample, cells, front, tables, offsets, free, n_classes):
    """Give tables to the children that have at least so many rows, and release those of parents.

    `free` is a stack of unused tables, its height in the last entry.
    """
    height, rows, classes = free.shape[0] - 1, sample.rows, sample.targets
    for a in range(n_active):
        slot, child = cells[front.active[a]].slot, cells[front.active[a]].first_child
        if slot < 0:
            continue
        if child < 0:
            free[free[height]] = slot
            free[height] += 1
            continue
        # The smaller child is counted, in fewer steps; the larger takes over the parent's table,
        # less what the smaller has of it.
        larger = np.int64(cells[child + 1].n_rows >= cells[child].n_rows)
        small, large = cells[child + 1 - larger], cells[child + larger]
        needs_large = large.place >= 0 and large.n_rows >= least
        needs_small = small.place >= 0 and small.n_rows >= least
        spare = slot
        if needs_large:
            large.slot = slot
            free[height] -= 1
            spare = free[free[height]]
        if needs_large or needs_small:
            count_codes(small, codes, rows, classes, offsets, n_classes, tables[spare])
        if needs_large:
            for entry in range(tables.shape[1]):
                tables[slot, entry] -= tables[spare, entry]
        if needs_small:
            small.slot = spare
        else:
            free[free[height]] = spare
            free[height] += 1


@outer_loop_in_place
def search_codes_for_targets(task, coded, sample, nodes, front, best, scoring, sums):
    """Offer the best thresholds of some coded columns to the nodes of a front.

    `sums` is a buffer: the sum of the targets of each code and the number of its rows, all zero.
    """
    inverse, codes, rows, targets = scoring.table, coded.codes, sample.rows, sample.targets
    for a in range(task.n_active):
        cell, split = nodes.cells[front.active[a]], best[a]
        n = np.int64(cell.n_rows)
        total = n * nodes.values[front.active[a], 0]
        for place in range(task.first, task.last):
            column = coded.columns[place]
            if front.constant[a, place] or column > split.perfect:
                continue
            if not task.drawn[a * task.step, column]:
                continue
            codes_met = np.uint64(0)
            for i in range(cell.start, cell.start + n):
                code = codes[rows[i], place]
                sums[0, code] += targets[i]
                sums[1, code] += 1.0
                codes_met |= ONE << np.uint64(code)
            front.constant[a, place] = codes_met & (codes_met - ONE) == np.uint64(0)
            first, passed, score = 0.0, np.int64(0), -np.inf
            low = high = np.int64(0)
            while codes_met != np.uint64(0):
                code = lowest_bit(codes_met)
                codes_met &= codes_met - ONE
                first += sums[0, code]
                passed += np.int64(sums[1, code])
                sums[0, code] = sums[1, code] = 0.0
                second = total - first
                cut = first * first * inverse[passed] + second * second * inverse[n - passed]
                # See `scan_targets` for what is compared.
                if cut > score and scoring.min_leaf <= passed <= n - scoring.min_leaf:
                    score, low, high = cut, np.int64(code), lowest_bit(codes_met)
            if score > -np.inf:
                levels, decrease = coded.levels[place], score - total * total / n
                offer(split, column, decrease, cell, levels[low], levels[high], low)


@outer_loop_in_place
def pass_constants(cells, active, constant, following):
    """Tell children which coded columns are constant, and so never searched again."""
    for a in range(active.shape[0]):
        child = cells[active[a]].first_child
        for branch in range(2 if child >= 0 else 0):
            target = cells[child + branch].place
            if target >= 0:
                for place in range(constant.shape[1]):
                    following[target, place] = constant[a, place]
