"""Compiled making of nodes, and growing of whole subtrees: no checks, no recursion."""

import numpy as np
from numba import njit

from verulam.tree._class_loops import impurity_sum
from verulam.tree._divide_loops import (
    divide_columns,
    divide_rows,
    mark_groups,
    mark_numeric,
    mark_subset,
    threshold_between,
)
from verulam.tree._grow_loops import known_count, next_seed, search_node
from verulam.tree._records import ABSOLUTE, DROP, N_FIRST, N_FOUND, RISK, WORST
from verulam.tree._small_loops import (
    copy_into,
    inner_loop,
    largest_place,
    outer_loop,
    sort_order,
    total_of,
)
from verulam.tree._target_loops import summarise_targets

LEAF, NUMERIC, SUBSET, NWAY = 0, 1, 2, 3


@outer_loop
def make_node(node, parent, start, stop, seed, nodes, sample, rules, numeric):
    """Fill in a new leaf that owns the rows from `start` to `stop`."""
    nodes.kind[node], nodes.column[node], nodes.threshold[node] = LEAF, -1, np.nan
    nodes.parent[node], nodes.first_child[node], nodes.n_children[node] = parent, -1, 0
    nodes.missing_branch[node], nodes.category_start[node] = -1, -1
    nodes.start[node], nodes.stop[node] = start, stop
    nodes.n_rows[node], nodes.gain[node], nodes.seed[node] = stop - start, 0.0, seed
    nodes.depth[node] = nodes.depth[parent] + 1 if parent >= 0 else 0
    values = nodes.values[node]
    if start == stop:
        copy_into(values, nodes.values[parent])
        nodes.weight[node] = nodes.impurity[node] = 0.0
        return
    if numeric is None:
        for k in range(rules.n_classes):
            values[k] = 0.0
        for i in range(start, stop):
            row = sample.rows[i]
            weight = sample.weights[row] if sample.weights.shape[0] > 0 else 1.0
            values[sample.classes[row]] += weight
        nodes.weight[node] = total_of(values)
        nodes.impurity[node] = impurity_sum(values, values, False, rules) / nodes.weight[node]
    else:
        weight, value, error = summarise_targets(sample.rows[start:stop], sample, rules.criterion)
        nodes.weight[node], values[0], nodes.impurity[node] = weight, value, error


@outer_loop
def is_leaf(node, nodes, rules):
    """Tell whether a node is not to be split, whatever the splits."""
    if nodes.n_rows[node] < rules.min_split or nodes.depth[node] >= rules.max_depth:
        return True
    impurity = nodes.impurity[node]
    if rules.criterion > RISK:
        return impurity <= 0.0 or impurity < rules.threshold
    if impurity < rules.threshold:
        return True
    values = nodes.values[node]
    largest = values[largest_place(values, rules.n_classes)] / nodes.weight[node]
    return largest >= 1.0 - 1e-12 or largest >= rules.purity


@outer_loop
def prepare_search(node, nodes, sample, rules, scratch, numeric):
    """Put the node's sums where the search looks for them; return its error times weight."""
    sums = scratch.counts[0]
    if numeric is None:
        copy_into(sums, nodes.values[node])
        return nodes.impurity[node] * nodes.weight[node]
    sums[0] = nodes.weight[node]
    sums[1] = nodes.weight[node] * nodes.values[node, 0]
    if rules.criterion == ABSOLUTE:
        rows = sample.rows[nodes.start[node] : nodes.stop[node]]
        targets = np.empty(rows.shape[0])
        for place in range(rows.shape[0]):
            targets[place] = sample.targets[rows[place]]
        order = np.empty(rows.shape[0], dtype=np.int64)
        sort_order(targets, order, rows.shape[0])
        for rank in range(rows.shape[0]):
            scratch.ranks[rows[order[rank]]] = rank
    scale = 1.0 if rules.criterion == WORST else nodes.weight[node]
    return nodes.impurity[node] * scale


@outer_loop
def mark_split(node, column, found, nodes, sample, rules, scratch, sizes):
    """Turn a leaf into an inner node and mark its rows with the children they go to.

    Returns the number of children, and the bit set or the branches of the categories.
    """
    words = sample.packed[column, nodes.start[node] : nodes.stop[node]]
    n_known = known_count(words)
    n_categories = np.int64(sample.n_categories[column])
    bits, branches = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int32)
    n_children = 2
    if n_categories == 0:
        nodes.kind[node] = NUMERIC
        missing_to = mark_numeric(words, n_known, found, sample, sizes)
        nodes.threshold[node] = threshold_between(
            column, words, np.int64(found[N_FIRST]), n_known, sample
        )
    elif rules.n_way:
        nodes.kind[node] = NWAY
        missing_to, branches, n_children = mark_groups(
            words, n_known, found, n_categories, sample, sizes
        )
    else:
        nodes.kind[node] = SUBSET
        missing_to, bits = mark_subset(words, n_known, found, n_categories, sample, scratch, sizes)
    nodes.column[node], nodes.missing_branch[node] = column, missing_to
    scale = 1.0 if rules.criterion == WORST else nodes.weight[node]
    nodes.gain[node] = max(0.0, found[DROP]) / scale
    return n_children, bits, branches


@outer_loop
def make_children(node, first_child, n_children, sizes, nodes, sample, rules, numeric):
    """Add the children of a node whose rows have been divided."""
    nodes.first_child[node], nodes.n_children[node] = first_child, n_children
    start = nodes.start[node]
    for child in range(n_children):
        seed = next_seed(nodes.seed[node], child)
        make_node(
            first_child + child,
            node,
            start,
            start + sizes[child],
            seed,
            nodes,
            sample,
            rules,
            numeric,
        )
        start += sizes[child]


@njit(cache=True, nogil=True, inline="always")
def best_split(node, nodes, sample, rules, scratch, numeric, found):
    """Return the column to split a node on, or -1 where no split is good enough."""
    error = prepare_search(node, nodes, sample, rules, scratch, numeric)
    column = search_node(
        nodes.start[node],
        nodes.stop[node],
        nodes.seed[node],
        error,
        sample,
        rules,
        scratch,
        numeric,
        found,
    )
    return column if is_good_enough(column, found, rules) else -1


@outer_loop
def is_good_enough(column, found, rules):
    """Tell whether the best split reduces the impurity by as much as is asked."""
    if column < 0:
        return False
    scale = 1.0 if rules.criterion == WORST else rules.total_weight
    return found[column, DROP] / scale >= rules.min_decrease - 1e-12


@inner_loop
def appended(store, used, new):
    """Return a store with room for `new`, which is written behind its used part."""
    if used + new.shape[0] > store.shape[0]:
        larger = np.empty(2 * (used + new.shape[0]), dtype=store.dtype)
        for place in range(used):
            larger[place] = store[place]
        store = larger
    for place in range(new.shape[0]):
        store[used + place] = new[place]
    return store


@outer_loop
def grow_subtree(nodes, sample, rules, scratch, numeric):
    """Grow node 0 until every leaf is done.

    `numeric` is None for classes and True for numbers: only the code for either is compiled.
    Returns the number of nodes, and the bit sets and branches of their categories.
    """
    found = np.empty((sample.packed.shape[0], N_FOUND))
    sizes = np.empty(scratch.places.shape[1], dtype=np.int64)
    words, branches = np.empty(16, dtype=np.uint64), np.empty(16, dtype=np.int32)
    n_nodes, n_words, n_branches = np.int64(1), 0, 0
    waiting = np.empty(16, dtype=np.int64)
    waiting[0] = 0
    n_waiting = 0 if is_leaf(waiting[0], nodes, rules) else 1
    while n_waiting > 0:
        n_waiting -= 1
        node = waiting[n_waiting]
        column = best_split(node, nodes, sample, rules, scratch, numeric, found)
        if column < 0:
            continue
        n_children, new_words, new_branches = mark_split(
            node, column, found[column], nodes, sample, rules, scratch, sizes
        )
        if nodes.kind[node] == SUBSET:
            nodes.category_start[node] = n_words
            words = appended(words, n_words, new_words)
            n_words += new_words.shape[0]
        elif nodes.kind[node] == NWAY:
            nodes.category_start[node] = n_branches
            branches = appended(branches, n_branches, new_branches)
            n_branches += new_branches.shape[0]
        start, stop = nodes.start[node], nodes.stop[node]
        divide_rows(sample.rows[start:stop], sizes, n_children, sample.side, scratch.rows)
        make_children(node, n_nodes, n_children, sizes, nodes, sample, rules, numeric)
        if n_waiting + n_children > waiting.shape[0]:
            longer = np.empty(2 * (n_waiting + n_children), dtype=np.int64)
            for place in range(n_waiting):
                longer[place] = waiting[place]
            waiting = longer
        n_done = n_waiting
        for child in range(n_nodes + n_children - 1, n_nodes - 1, -1):
            if not is_leaf(child, nodes, rules):
                waiting[n_waiting] = child
                n_waiting += 1
        # Leaves need no orders.
        if n_waiting > n_done:
            n_columns = sample.packed.shape[0]
            divide_columns(0, n_columns, start, stop, sizes, n_children, sample, scratch)
        n_nodes += n_children
    return n_nodes, words[:n_words], branches[:n_branches]
