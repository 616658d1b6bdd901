"""Compiled steps from one level of a tree to the next, all nodes in one call: no checks."""

import numpy as np

from verulam.tree._growing.growth_parameters import MISSING_RANK, ROW_BITS, ROW_MASK
from verulam.tree._growing.numba_helpers import outer_loop_in_place, part_of_loop
from verulam.tree._growing.search_loops import next_seed
from verulam.tree._levels.records import NO_COLUMN
from verulam.tree._levels.score_loops import node_impurity, weights_impurity
from verulam.tree._structure.tree_loops import LEAF, NUMERIC


@outer_loop_in_place
def mark_splits(
    least,
    codes,
    words,
    common_value,
    places,
    levels,
    rows,
    side,
    cells,
    active,
    firsts,
    lasts,
    best,
):
    """Turn nodes with a good enough split into inner ones, and write where each row goes.

    `least` is the smallest decrease of weight times impurity; the other arrays are those of the
    layout, the sample and the front.
    """
    for a in range(active.shape[0]):
        cell, split = cells[active[a]], best[a]
        if split.column < 0 or split.decrease < least:
            continue
        # Halves are added, because the sum of two huge numbers may overflow; between neighbouring
        # floating-point numbers there is none, and the lower one divides them as well.
        threshold = 0.5 * split.low + 0.5 * split.high
        if not split.low <= threshold < split.high:
            threshold = split.low
        cell.kind, cell.column, cell.threshold = NUMERIC, split.column, threshold
        cell.missing_branch = split.missing_to
        cell.gain = split.decrease / cell.weight if split.decrease > 0.0 else 0.0
        start, stop, place = cell.start, cell.start + cell.n_rows, places[split.column]
        if levels[split.column] > 0:
            for i in range(start, stop):
                side[rows[i]] = codes[rows[i], place] > split.cut
            continue
        first, last = firsts[place, a], lasts[place, a]
        if last - first < cell.n_rows:
            common = common_value[split.column] > threshold
            for i in range(start, stop):
                side[rows[i]] = common
        for i in range(first, last):
            side[words[split.column, i] & ROW_MASK] = i >= split.cut
        # Rows without a value are the last.
        while split.missing_to >= 0 and words[split.column, last - 1] >> ROW_BITS == MISSING_RANK:
            last -= 1
            side[words[split.column, last] & ROW_MASK] = split.missing_to


@outer_loop_in_place
def divide_rows(n_nodes, rows, targets, side, cells, active, row_buffer, target_buffer):
    """Divide rows and targets of the inner nodes between two children each, stably.

    Returns the number of nodes.
    """
    for a in range(active.shape[0]):
        cell = cells[active[a]]
        if cell.kind == LEAF:
            continue
        n_left, n_right = cell.start, np.int32(0)
        # Every row is written to both sides, and one of them moves on: without a branch, the
        # processor has nothing to predict wrongly.
        for i in range(cell.start, cell.start + cell.n_rows):
            row, target = rows[i], targets[i]
            rows[n_left], targets[n_left] = row, target
            row_buffer[n_right], target_buffer[n_right] = row, target
            n_right += side[row]
            n_left += 1 - side[row]
        for i in range(n_right):
            rows[n_left + i], targets[n_left + i] = row_buffer[i], target_buffer[i]
        cell.first_child, cell.n_children = n_nodes, 2
        # Where no row was without a value, such rows will go with the larger child.
        if cell.missing_branch < 0:
            cell.missing_branch = 2 * n_right > cell.n_rows
        for branch in range(2):
            child = cells[n_nodes + branch]
            child.start = n_left if branch else cell.start
            child.n_rows = n_right if branch else cell.n_rows - n_right
            child.depth = cell.depth + 1
            child.seed = next_seed(cell.seed, branch)
        n_nodes += 2
    return n_nodes


@part_of_loop
def settle(cell, node, is_leaf, n_active, active, best):
    """Make a new node a leaf or put it into the next front; return how many are in that."""
    cell.kind, cell.column, cell.threshold, cell.gain = LEAF, -1, np.nan, 0.0
    cell.first_child, cell.n_children, cell.missing_branch = -1, 0, -1
    cell.category_start, cell.place, cell.slot = -1, -1, -1
    if not is_leaf:
        cell.place = n_active
        active[n_active] = node
        split = best[n_active]
        split.decrease, split.column, split.perfect = -np.inf, -1, NO_COLUMN
        n_active += 1
    return n_active


@outer_loop_in_place
def settle_classes(first, last, classes, cells, values, active, best, rules, scoring):
    """Count the classes of new nodes, and put those to be split into the next front.

    Returns how many nodes are in that.
    """
    n_active = np.int64(0)
    for node in range(first, last):
        cell, counts = cells[node], values[node]
        n = np.int64(cell.n_rows)
        for k in range(counts.shape[0]):
            counts[k] = 0.0
        for i in range(cell.start, cell.start + n):
            counts[classes[i]] += 1.0
        largest = 0.0
        for k in range(counts.shape[0]):
            largest = counts[k] if counts[k] > largest else largest
        cell.weight, cell.error = n, node_impurity(counts, n, scoring)
        cell.impurity = cell.error / n
        is_leaf = (
            n < rules.min_split
            or cell.depth >= rules.max_depth
            or cell.impurity < rules.threshold
            or largest / n >= 1.0 - 1e-12
            or largest / n >= rules.purity
        )
        n_active = settle(cell, node, is_leaf, n_active, active, best)
    return n_active


@outer_loop_in_place
def settle_targets(first, last, targets, cells, values, active, best, rules):
    """Do what `settle_classes` does for numbers: mean and mean squared error."""
    n_active = np.int64(0)
    for node in range(first, last):
        cell = cells[node]
        n, total, squares, low, high = np.int64(cell.n_rows), 0.0, 0.0, np.inf, -np.inf
        for i in range(cell.start, cell.start + n):
            total += targets[i]
            squares += targets[i] * targets[i]
            low = targets[i] if targets[i] < low else low
            high = targets[i] if targets[i] > high else high
        # Where all targets are the same, their mean may miss them by rounding.
        mean = total / n if low < high else np.float64(low)
        impurity = squares / n - mean * mean
        if low == high or impurity < 0.0:
            impurity = np.float64(0.0)
        is_leaf = (
            n < rules.min_split
            or cell.depth >= rules.max_depth
            or impurity <= 0.0
            or impurity < rules.threshold
        )
        values[node, 0], cell.impurity = mean, impurity
        cell.weight, cell.error = n, impurity * n
        n_active = settle(cell, node, is_leaf, n_active, active, best)
    return n_active


@outer_loop_in_place
def settle_weighted_classes(
    first, last, rows, classes, weights, cells, values, active, best, rules
):
    """Do what `settle_classes` does, where rows have weights."""
    n_active = np.int64(0)
    for node in range(first, last):
        cell, sums = cells[node], values[node]
        for k in range(sums.shape[0]):
            sums[k] = 0.0
        for i in range(cell.start, cell.start + cell.n_rows):
            sums[classes[rows[i]]] += weights[rows[i]]
        total = largest = 0.0
        for k in range(sums.shape[0]):
            total += sums[k]
            largest = sums[k] if sums[k] > largest else largest
        cell.weight = total
        cell.impurity = weights_impurity(sums, total, rules.entropy) / total
        cell.error = cell.impurity * total
        is_leaf = (
            cell.n_rows < rules.min_split
            or cell.depth >= rules.max_depth
            or cell.impurity < rules.threshold
            # Sums of weights may miss the whole by rounding.
            or largest / total >= 1.0 - 1e-12
            or largest / total >= rules.purity
        )
        n_active = settle(cell, node, is_leaf, n_active, active, best)
    return n_active


@outer_loop_in_place
def settle_weighted_targets(
    first, last, rows, targets, weights, cells, values, active, best, rules
):
    """Do what `settle_targets` does, where rows have weights."""
    n_active = np.int64(0)
    for node in range(first, last):
        cell, weight, total, squares, low, high = cells[node], 0.0, 0.0, 0.0, np.inf, -np.inf
        for i in range(cell.start, cell.start + cell.n_rows):
            w, target = weights[rows[i]], targets[rows[i]]
            weight += w
            total += w * target
            squares += w * target * target
            low = target if target < low else low
            high = target if target > high else high
        mean = total / weight if low < high else np.float64(low)
        impurity = squares / weight - mean * mean
        if low == high or impurity < 0.0:
            impurity = np.float64(0.0)
        is_leaf = (
            cell.n_rows < rules.min_split
            or cell.depth >= rules.max_depth
            or impurity <= 0.0
            or impurity < rules.threshold
        )
        values[node, 0], cell.impurity = mean, impurity
        cell.weight, cell.error = weight, impurity * weight
        n_active = settle(cell, node, is_leaf, n_active, active, best)
    return n_active


@outer_loop_in_place
def draw_for_nodes(first, last, active, cells, best, order, drawn):
    """Draw columns for the nodes of a front that have no split yet; the others get none.

    Of all columns in an order that depends on the node's seed alone (Fisher-Yates shuffle) those
    from the first to the last are marked.
    """
    n_columns = order.shape[0]
    for a in range(drawn.shape[0]):
        for column in range(n_columns):
            order[column], drawn[a, column] = column, False
        if best[a].column >= 0:
            continue
        seed = cells[active[a]].seed
        for place in range(n_columns - 1, 0, -1):
            seed = next_seed(seed, place)
            other = np.int64(seed % np.uint64(place + 1))
            order[place], order[other] = order[other], order[place]
        for place in range(first, last):
            drawn[a, order[place]] = True


@outer_loop_in_place
def number_depth_first(n_roots, cells, order, number, waiting):
    """Give nodes the numbers of a walk that takes first branches first, and link them by these.

    Two children have their numbers one behind the other. `order` are the nodes by number, and
    `number` are their numbers; `waiting` is a buffer.
    """
    n_met = np.int64(n_roots)
    for root in range(n_roots):
        order[root] = number[root] = root
    for root in range(n_roots):
        waiting[0], n_waiting = root, np.int64(1)
        while n_waiting > 0:
            n_waiting -= 1
            cell = cells[waiting[n_waiting]]
            child = cell.first_child
            if child < 0:
                continue
            cell.first_child = n_met
            for branch in range(2):
                order[n_met + branch], number[child + branch] = child + branch, n_met + branch
                # The second branch below the first on the stack.
                waiting[n_waiting + branch] = child + 1 - branch
            n_met += 2
            n_waiting += 2
