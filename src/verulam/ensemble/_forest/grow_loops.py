"""Compiled growth of one tree of a forest, from the root to the leaves: no checks."""

from typing import Any, NamedTuple

import numpy as np

from verulam.ensemble._forest.search_loops import (
    ABSENT,
    COLUMN,
    ENTROPY,
    FEW_KEYS,
    HIGH,
    LOW,
    MISSING,
    SCORE,
    SQUARED_ERROR,
    TINY,
    clear_levels,
    count_levels,
    draw_place,
    fill_keys,
    mark_categories,
    move_column,
    order_levels,
    scan_keys,
    scan_levels,
    sort_few,
    sort_many,
)
from verulam.numerics import njit

#: Nothing is allocated, so that no references need be counted.
_OUTER: dict[str, Any] = {"error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": False}
_INNER: dict[str, Any] = {**_OUTER, "no_cpython_wrapper": True}

#: A row of a tree: its weight, what is to be predicted (a class code or a number), its number.
ENTRY = np.dtype([("weight", np.float64), ("target", np.float64), ("row", np.int32)], align=True)
#: A step down a tree: to the child, or the one behind it where the value is above the threshold.
#: `column` is twice the column, plus 1 if missing values go to the second child. Where the column
#: has categories, `threshold` is where the words of the second child's categories start. A leaf
#: leads to itself, because nothing is above its infinite threshold.
STEP = np.dtype([("threshold", np.float64), ("column", np.uint32), ("child", np.uint32)])
#: What else is known of a node.
NODE = np.dtype(
    [("weight", np.float64), ("impurity", np.float64), ("n_rows", np.int32)], align=True
)
#: A node that waits to be split: its rows, its number, its depth, how many columns are known to be
#: constant in it, its weight, the mean of its targets, and the sum of squares of its sums.
WAITING = np.dtype(
    [(name, np.int64) for name in ("start", "n_rows", "number", "depth", "n_constant")]
    + [(name, np.float64) for name in ("weight", "mean", "squares")]
)
#: Rows for each code from which on a column of numbers is counted by code instead of sorted.
ROWS_PER_LEVEL = 2
#: The step of the counter that columns are drawn by (SplitMix64).
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class Grown(NamedTuple):
    """Room for the nodes of a tree.

    Attributes
    ----------
    steps, nodes : ndarrays of STEP and of NODE
        The nodes.
    values : ndarray of shape (n_nodes, n_values)
        Shares of the classes, or the mean.
    words : uint64 ndarray
        Bits of the categories that go to second children.
    """

    steps: Any
    nodes: Any
    values: Any
    words: Any


class Scratch(NamedTuple):
    """Buffers of a thread.

    Attributes
    ----------
    keys : uint64 ndarray of shape (2, n_rows)
        Codes with places, and room to sort them.
    places : int64 ndarray
        Where digits start.
    sums : ndarray of shape (2, n_values)
        Weights of the classes, or sums of deviations: of the first side and of the node.
    counts : ndarray of shape (n_levels, 3 + n_values)
        Rows, weight and such sums by code, zero between uses.
    levels : int64 ndarray of shape (2, n_levels)
        Codes in some order; and the child of each category in the best split.
    waiting : ndarray of WAITING
        Nodes to be split.
    order : int64 ndarray
        The columns, constant ones first.
    best : ndarray
        The best split.
    """

    keys: Any
    places: Any
    sums: Any
    counts: Any
    levels: Any
    waiting: Any
    order: Any
    best: Any


@njit(**_INNER)
def settle(node, entries, criterion, sums, steps, nodes, values):
    """Write what is known of a node as a leaf; return the score of a perfect split, 0 if pure."""
    number, start, stop = node.number, node.start, node.start + node.n_rows
    weight, squares, mean, perfect, largest = 0.0, 0.0, 0.0, 0.0, 0.0
    low, high = np.inf, -np.inf
    for k in range(sums.shape[1]):
        sums[1, k] = 0.0
    if criterion != SQUARED_ERROR:
        for i in range(start, stop):
            sums[1, np.int64(entries[0, i].target)] += entries[0, i].weight
        for k in range(sums.shape[1]):
            part = sums[1, k]
            weight += part
            squares += part * (np.log2(part + TINY) if criterion == ENTROPY else part)
            largest = sums[1, k] if sums[1, k] > largest else largest
        for k in range(sums.shape[1]):
            values[number, k] = sums[1, k] / weight
        if criterion == ENTROPY:
            impurity = np.log2(weight) - squares / weight
        else:
            impurity = 1.0 - squares / (weight * weight)
        perfect = weight if largest < weight * (1.0 - 1e-12) else 0.0
    else:
        for i in range(start, stop):
            target = entries[0, i].target
            weight += entries[0, i].weight
            mean += entries[0, i].weight * target
            low = target if target < low else low
            high = target if target > high else high
        # Where all targets are the same, their mean may miss them by rounding.
        mean = mean / weight if low < high else low
        for i in range(start, stop):
            amount = entries[0, i].weight * (entries[0, i].target - mean)
            sums[1, 0] += amount
            perfect += amount * (entries[0, i].target - mean)
        values[number, 0], impurity, squares = mean, perfect / weight, sums[1, 0] * sums[1, 0]
    node.weight, node.mean, node.squares = weight, mean, squares
    step, record = steps[number], nodes[number]
    step.threshold, step.column, step.child = np.inf, 0, number
    record.weight, record.impurity, record.n_rows = weight, impurity, node.n_rows
    return perfect


@njit(**_INNER)
def divide(node, codes, is_category, n_levels, entries, levels, best):
    """Divide the rows of a node between its children, stably; return how many go to the second."""
    cut, missing_right, column = np.int64(best[LOW]), best[MISSING] != 0.0, np.int64(best[COLUMN])
    n_left, n_right = node.start, np.int64(0)
    # Every row is written to both sides, and one of them moves on: without a branch, the processor
    # has nothing to predict wrongly.
    for i in range(node.start, node.start + node.n_rows):
        entry = entries[0, i]
        weight, target, row = entry.weight, entry.target, entry.row
        code = np.int64(codes[column, row])
        left, right = entries[0, n_left], entries[1, n_right]
        left.weight, left.target, left.row = weight, target, row
        right.weight, right.target, right.row = weight, target, row
        if is_category[column]:
            side = levels[1, code]
        else:
            side = np.int64((code > cut) & (missing_right | (code != n_levels[column])))
        n_right += side
        n_left += 1 - side
    for i in range(n_right):
        left, right = entries[0, n_left + i], entries[1, i]
        left.weight, left.target, left.row = right.weight, right.target, right.row
    return n_right


@njit(**_INNER)
def write_split(step, node, table, n_right, words, n_words, levels, best):
    """Write the test of an inner node; return how many words there are now."""
    column, missing = np.int64(best[COLUMN]), np.int64(best[MISSING])
    heavier, n_levels = np.int64(2 * n_right > node.n_rows), table.n_levels[column]
    if table.is_category[column]:
        step.threshold = np.float64(n_words)
        for code in range(n_levels):
            if code & 63 == 0:
                words[n_words] = np.uint64(0)
                n_words += 1
            # Categories that are not in the node go with the larger child.
            side = heavier if levels[1, code] == ABSENT else levels[1, code]
            words[n_words - 1] |= np.uint64(side) << np.uint64(code & 63)
        missing = np.int64(-1) if levels[1, n_levels] == ABSENT else levels[1, n_levels]
    else:
        last_code, next_code = np.int64(best[LOW]), np.int64(best[HIGH])
        low, high = table.rows[table.highest[column, last_code], column], np.inf
        if next_code < n_levels:
            high = table.rows[table.lowest[column, next_code], column]
        # Halves are added, because the sum of two huge numbers may overflow; between neighbouring
        # floating-point numbers there is none, and the lower one divides them as well.
        step.threshold = 0.5 * low + 0.5 * high
        if high < np.inf and not low <= step.threshold < high:
            step.threshold = low
    step.column = 2 * column + (heavier if missing < 0 else missing)
    return n_words


@njit(**_INNER)
def push_children(waiting, place, first, n_right):
    """Let the children of the node at a place wait there and behind it; return how many wait."""
    parent, sibling = waiting[place], waiting[place + 1]
    start, n, depth = parent.start, parent.n_rows, parent.depth + 1
    # The larger one stays below, so that never more nodes wait than the logarithm of the rows.
    larger = np.int64(2 * n_right > n)
    n_larger = n_right if larger == 1 else n - n_right
    parent.start, parent.n_rows = start + larger * (n - n_right), n_larger
    sibling.start, sibling.n_rows = start + (1 - larger) * n_larger, n - n_larger
    parent.number, sibling.number = first + larger, first + 1 - larger
    parent.depth = sibling.depth = depth
    sibling.n_constant = parent.n_constant
    return place + 2


@njit(**_OUTER)
def grow_tree(table, entries, criterion, grown, scratch, limits, state):
    """Grow a tree from the node that waits; return how many nodes and words it has.

    `limits` are the columns to try at each node, the largest depth, and the fewest rows of a node
    that is split and of its children.
    """
    codes, level_counts, of_categories = table.codes, table.n_levels, table.is_category
    keys, places, sums, counts, levels, waiting, order, best = scratch
    steps, nodes, values, words = grown
    max_features, max_depth, min_split, min_leaf = limits
    n_nodes, n_words, n_waiting = np.int64(1), np.int64(0), np.int64(1)
    low, high = np.int64(0), np.int64(0)
    while n_waiting > 0:
        n_waiting -= 1
        node = waiting[n_waiting]
        perfect = settle(node, entries, criterion, sums, steps, nodes, values)
        if perfect <= 0.0 or node.depth >= max_depth or node.n_rows < min_split:
            continue
        best[SCORE], best[COLUMN], last, n_tried = -np.inf, -1.0, order.shape[0], np.int64(0)
        # Constant columns do not count, and columns are drawn on until there is a split.
        while last > node.n_constant and (n_tried < max_features or best[COLUMN] < 0.0):
            state += GOLDEN
            place = draw_place(state, node.n_constant, last)
            column, n_present = order[place], np.int64(0)
            n_levels, by_category = level_counts[column], of_categories[column]
            by_level = by_category or node.n_rows >= ROWS_PER_LEVEL * n_levels
            if by_level:
                n_present = count_levels(codes, column, node, entries, criterion, counts, levels)
            else:
                low, high = fill_keys(codes, column, entries, node.start, node.n_rows, keys)
            is_constant = n_present == 1 if by_level else low == high
            last = move_column(order, place, last, node, is_constant)
            n_tried += not is_constant
            if not (by_level or is_constant):
                if node.n_rows <= FEW_KEYS:
                    sort_few(keys, node.n_rows)
                else:
                    sort_many(keys, node.n_rows, low, high, places)
                scan_keys(keys, node, n_levels, column, entries, criterion, sums, min_leaf, best)
            # Of two classes the order by the share of one has the best subsets; of more, the best
            # over one order for each is taken.
            n_orders = sums.shape[1] if by_category and sums.shape[1] > 2 else np.int64(1)
            for k in range(n_orders if by_level and not is_constant else 0):
                order_levels(levels, n_present, counts, k if by_category else np.int64(-1))
                missing = np.int64(-1) if by_category else n_levels
                is_better = scan_levels(
                    levels,
                    n_present,
                    node,
                    missing,
                    column,
                    criterion,
                    counts,
                    sums,
                    min_leaf,
                    best,
                )
                mark_categories(levels, n_present, best, n_levels if by_category * is_better else 0)
            clear_levels(levels, n_present, counts)
            # Nothing is better than a perfect split.
            n_tried += max_features * (best[SCORE] >= perfect * (1.0 - 1e-12))
        if best[COLUMN] >= 0.0:
            n_right = divide(node, codes, of_categories, level_counts, entries, levels, best)
            step = steps[node.number]
            step.child = n_nodes
            n_words = write_split(step, node, table, n_right, words, n_words, levels, best)
            n_waiting = push_children(waiting, n_waiting, n_nodes, n_right)
            n_nodes += 2
    return n_nodes, n_words
