"""Compiled growing of subtrees: stopping rules, splits and their children, no checks."""

import numpy as np

from verulam.tree._growing.class_split_loops import impurity_sum
from verulam.tree._growing.growth_parameters import (
    ABSOLUTE,
    DECREASE,
    MISSING_TO,
    N_FIRST,
    RISK,
    WORST,
)
from verulam.tree._growing.numba_helpers import (
    copy_into,
    inner_loop,
    largest_place,
    outer_loop,
    part_of_loop,
    sort_order,
    total_of,
)
from verulam.tree._growing.partition_loops import (
    divide_columns,
    divide_rows,
    mark_groups,
    mark_missing,
    mark_numeric,
    mark_subset,
    threshold_between,
    write_groups,
    write_subset,
)
from verulam.tree._growing.search_loops import known_count, next_seed, search_node
from verulam.tree._growing.target_split_loops import summarise_targets
from verulam.tree._structure.tree import LEAF, NUMERIC, NWAY, SUBSET


@outer_loop
def make_node(node, parent, start, stop, seed, nodes, sample, parameters, numeric):
    """Fill in a new leaf that owns the rows from `start` to `stop`."""
    cell = nodes.cells[node]
    cell.kind, cell.column, cell.threshold = LEAF, -1, np.nan
    cell.parent, cell.first_child, cell.n_children = parent, -1, 0
    cell.missing_branch, cell.category_start = -1, -1
    cell.start, cell.n_rows = start, stop - start
    cell.gain, cell.seed = 0.0, seed
    cell.depth = nodes.cells[parent].depth + 1 if parent >= 0 else 0
    values = nodes.values[node]
    if start == stop:
        # A branch that no row took answers as its parent does.
        copy_into(values, nodes.values[parent])
        cell.weight = cell.impurity = 0.0
        return
    if numeric is None:
        rows, classes, weights = sample.rows, sample.classes, sample.weights
        for k in range(parameters.n_classes):
            values[k] = 0.0
        for i in range(start, stop):
            row = rows[i]
            values[classes[row]] += weights[row] if weights.shape[0] > 0 else 1.0
        cell.weight = total_of(values)
        cell.impurity = impurity_sum(values, values, False, parameters) / cell.weight
    else:
        weight, value, error = summarise_targets(
            sample.rows[start:stop], sample, parameters.criterion
        )
        cell.weight, values[0], cell.impurity = weight, value, error


@outer_loop
def is_leaf(node, nodes, parameters):
    """Tell whether a node is not to be split, whatever the splits."""
    cell = nodes.cells[node]
    if cell.n_rows < parameters.min_split or cell.depth >= parameters.max_depth:
        return True
    if parameters.criterion > RISK:
        return cell.impurity <= 0.0 or cell.impurity < parameters.threshold
    if cell.impurity < parameters.threshold:
        return True
    values = nodes.values[node]
    # Sums of weights may miss the whole by rounding.
    largest = values[largest_place(values, parameters.n_classes)] / cell.weight
    return largest >= 1.0 - 1e-12 or largest >= parameters.purity


@outer_loop
def prepare_search(node, nodes, sample, parameters, scratch, numeric):
    """Put the node's sums where the search looks for them; return its error times weight."""
    sums, cell = scratch.counts[0], nodes.cells[node]
    if numeric is None:
        copy_into(sums, nodes.values[node])
        return cell.impurity * cell.weight
    sums[0] = cell.weight
    sums[1] = cell.weight * nodes.values[node, 0]
    if parameters.criterion == ABSOLUTE:
        # Running medians are kept by the ranks of the targets within the node.
        rows = sample.rows[cell.start : cell.start + cell.n_rows]
        targets = np.empty(rows.shape[0])
        for place in range(rows.shape[0]):
            targets[place] = sample.targets[rows[place]]
        order = np.empty(rows.shape[0], dtype=np.int64)
        sort_order(targets, order, rows.shape[0])
        for rank in range(rows.shape[0]):
            scratch.ranks[rows[order[rank]]] = rank
    return cell.impurity * (1.0 if parameters.criterion >= WORST else cell.weight)


@outer_loop
def search_alone(node, columns, nodes, sample, parameters, scratch, numeric, splits):
    """Search the columns of a node that owns all rows of the sample; return the best or -1."""
    error = prepare_search(node, nodes, sample, parameters, scratch, numeric)
    n_rows, seed = nodes.cells[node].n_rows, nodes.cells[node].seed
    return search_node(
        0, n_rows, seed, error, columns, sample, parameters, scratch, numeric, splits
    )


@outer_loop
def mark_split(node, column, split, nodes, sample, parameters, scratch, sizes):
    """Turn a leaf into an inner node and mark its rows with the children they go to.

    Returns the number of children, and how many words of the scratch hold the bit set or the
    branches of the categories.
    """
    cell = nodes.cells[node]
    words = sample.packed[column, cell.start : cell.start + cell.n_rows]
    n_known, n_first = known_count(words), np.int64(split[N_FIRST])
    n_categories = np.int64(sample.n_categories[column])
    n_branches, n_codes, last = 2, np.int64(0), 0
    if n_categories == 0:
        cell.kind = NUMERIC
        mark_numeric(words, n_known, n_first, sample, sizes)
        cell.threshold = threshold_between(column, words, n_first, n_known, sample)
    elif parameters.n_way:
        cell.kind = NWAY
        n_branches = mark_groups(words, n_known, sample, sizes)
    else:
        cell.kind = SUBSET
        last = mark_subset(words, n_known, split, n_categories, sample, scratch, sizes)
    missing_to = np.int64(split[MISSING_TO])
    missing_to = mark_missing(words, n_known, missing_to, n_branches, sample, sizes)
    if cell.kind == SUBSET:
        n_codes = write_subset(last, n_categories, scratch, sizes)
    elif cell.kind == NWAY:
        n_codes = n_categories
        n_branches = write_groups(words, n_known, n_branches, n_categories, scratch, sizes)
    cell.column, cell.missing_branch = column, missing_to
    # A worst error is no sum over rows, and so it is not divided by their weight.
    scale = 1.0 if parameters.criterion >= WORST else cell.weight
    cell.gain = max(0.0, split[DECREASE]) / scale
    return n_branches, n_codes


@part_of_loop
def best_split(node, columns, nodes, sample, parameters, scratch, numeric, splits):
    """Return the column to split a node on, or -1 where no split is good enough."""
    error = prepare_search(node, nodes, sample, parameters, scratch, numeric)
    cell = nodes.cells[node]
    column = search_node(
        np.int64(cell.start),
        np.int64(cell.start) + cell.n_rows,
        cell.seed,
        error,
        columns,
        sample,
        parameters,
        scratch,
        numeric,
        splits,
    )
    return column if is_good_enough(column, splits, parameters) else -1


@outer_loop
def is_good_enough(column, splits, parameters):
    """Tell whether the best split reduces the impurity by as much as is asked."""
    if column < 0:
        return False
    scale = 1.0 if parameters.criterion >= WORST else parameters.total_weight
    return splits[column, DECREASE] / scale >= parameters.min_decrease - 1e-12


@inner_loop
def longer(numbers, count):
    """Return whole numbers with room for at least so many."""
    if count <= numbers.shape[0]:
        return numbers
    larger = np.empty(2 * count, dtype=numbers.dtype)
    for place in range(numbers.shape[0]):
        larger[place] = numbers[place]
    return larger


@outer_loop
def grow_subtree(nodes, columns, sample, parameters, scratch, numeric, splits, sizes, codes):
    """Grow node 0 until every leaf is done.

    `numeric` is None for classes and True for numbers: only the code for either is compiled.
    `splits`, `sizes` and `codes` are buffers. Returns the number of nodes, and the bit
    sets or branches of their categories.
    """
    n_nodes, n_codes = np.int64(1), np.int64(0)
    waiting = np.empty(16, dtype=np.int64)
    # A stack instead of recursion, so that no tree is too deep.
    waiting[0] = 0
    n_waiting = 0 if is_leaf(waiting[0], nodes, parameters) else 1
    while n_waiting > 0:
        n_waiting -= 1
        node = waiting[n_waiting]
        column = best_split(node, columns, nodes, sample, parameters, scratch, numeric, splits)
        if column < 0:
            continue
        n_children, n_new = mark_split(
            node, column, splits[column], nodes, sample, parameters, scratch, sizes
        )
        cell = nodes.cells[node]
        if n_new > 0:
            cell.category_start = n_codes
            codes = longer(codes, n_codes + n_new)
            for place in range(n_new):
                codes[n_codes + place] = np.int64(scratch.words[place])
            n_codes += n_new
        start, stop = np.int64(cell.start), np.int64(cell.start) + cell.n_rows
        divide_rows(sample.rows[start:stop], sizes, n_children, sample.side, scratch)
        waiting, n_done = longer(waiting, n_waiting + n_children), n_waiting
        cell.first_child, cell.n_children = n_nodes, n_children
        first = start
        for branch in range(n_children):
            seed, last = next_seed(cell.seed, branch), first + sizes[branch]
            make_node(n_nodes + branch, node, first, last, seed, nodes, sample, parameters, numeric)
            first = last
        # The last child first, so that the first is on top of the stack.
        for child in range(n_nodes + n_children - 1, n_nodes - 1, -1):
            if not is_leaf(child, nodes, parameters):
                waiting[n_waiting] = child
                n_waiting += 1
        # Leaves need no orders.
        if n_waiting > n_done:
            n_columns = sample.packed.shape[0]
            divide_columns(0, n_columns, start, stop, sizes, n_children, sample, scratch)
        n_nodes += n_children
    return n_nodes, codes[:n_codes]
