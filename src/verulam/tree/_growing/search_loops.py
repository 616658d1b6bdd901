"""Compiled split search of a node over presorted columns: no checks.

A node owns the slice ``start:stop`` of every column's order. Its best split is searched, its rows
are marked with the child they go to, and every order is divided stably, so that the children own
sorted slices in turn: each level costs one run through the orders, and nothing is sorted again.
"""

# ruff: noqa: ARG001 - an overload has all arguments of the function that it stands for.
import numpy as np
from numba import types
from numba.extending import overload

from verulam.tree._growing.class_split_loops import group_classes, scan_classes
from verulam.tree._growing.growth_parameters import (
    DECREASE,
    MANY_VALUED,
    MISSING_RANK,
    MISSING_TO,
    N_FIRST,
    N_SPLIT_FIELDS,
    ORDERED_BY,
    ROW_BITS,
    ROW_MASK,
    SPLIT_INFO,
    VARIANCE,
    WORST,
)
from verulam.tree._growing.numba_helpers import (
    inner_loop,
    outer_loop,
    part_of_loop,
    sort_order,
    total_of,
)
from verulam.tree._growing.target_split_loops import (
    group_targets,
    scan_errors,
    scan_plain_variance,
    scan_variance,
    summarise_targets,
)

#: Values per row from which on C4.5 calls a column many-valued.
MANY_VALUES = 0.3


@outer_loop
def known_count(words):
    """Return how many rows have a value; the others come last."""
    # Bisection, because the missing rows have the highest rank.
    low, high = 0, words.shape[0]
    while low < high:
        middle = (low + high) // 2
        if words[middle] >> ROW_BITS == MISSING_RANK:
            high = middle
        else:
            low = middle + 1
    return low


@outer_loop
def reorder_categories(words, n_known, target_class, sample, scratch):
    """Copy rows to the scratch words, their categories by ascending share or mean target.

    The new rank of a category replaces its code, and ``scratch.groups[2]`` remembers it.
    """
    groups, places, classes = scratch.groups, scratch.places, sample.classes
    weight, total, place, starts = groups[0], groups[1], groups[2], places[0]
    weights, moved, by_class = sample.weights, scratch.words, classes.shape[0] > 0
    n_groups = 0
    for i in range(n_known):
        if i == 0 or words[i] >> ROW_BITS != words[i - 1] >> ROW_BITS:
            starts[n_groups] = i
            weight[n_groups] = total[n_groups] = 0.0
            n_groups += 1
        row = words[i] & ROW_MASK
        w = weights[row] if weights.shape[0] > 0 else 1.0
        weight[n_groups - 1] += w
        if by_class:
            total[n_groups - 1] += w * (classes[row] == target_class)
        else:
            total[n_groups - 1] += w * sample.targets[row]
    starts[n_groups] = n_known
    for group in range(n_groups):
        total[group] /= weight[group]
    # Few groups instead of many rows are sorted.
    order = places[1]
    sort_order(total, order, n_groups)
    written = 0
    for rank in range(n_groups):
        group = order[rank]
        place[np.int64(words[starts[group]] >> ROW_BITS)] = rank
        head = np.uint64(rank) << ROW_BITS
        for i in range(starts[group], starts[group + 1]):
            moved[written] = head | (words[i] & ROW_MASK)
            written += 1
    for i in range(n_known, words.shape[0]):
        moved[i] = words[i]
    return n_groups


def scan_order(words, n_known, node_sums, error, sample, parameters, scratch, numeric, split):
    """Search one ordered column, by whatever the criterion asks for."""
    if numeric is None:
        scan_classes(words, n_known, node_sums, sample, parameters, scratch, split)
    elif parameters.criterion == VARIANCE:
        scan_variance(words, n_known, node_sums, sample, parameters, split)
    else:
        scan_errors(words, n_known, sample, parameters, scratch, error, split)


def group_order(words, n_known, node_sums, error, sample, parameters, scratch, numeric, split):
    """Judge the n-way split of one ordered column."""
    if numeric is None:
        group_classes(words, n_known, node_sums, sample, parameters, scratch, split)
    else:
        group_targets(words, n_known, sample, parameters, scratch, error, split)


# Numba leaves out what is for numbers where `numeric` is None, but not what is for classes where
# it is True; chosen by type, neither is compiled in vain.
@overload(scan_order)
def _scan_order(words, n_known, node_sums, error, sample, parameters, scratch, numeric, split):
    def classes(words, n_known, node_sums, error, sample, parameters, scratch, numeric, split):
        scan_classes(words, n_known, node_sums, sample, parameters, scratch, split)

    def numbers(words, n_known, node_sums, error, sample, parameters, scratch, numeric, split):
        if parameters.criterion == VARIANCE:
            scan_variance(words, n_known, node_sums, sample, parameters, split)
        else:
            scan_errors(words, n_known, sample, parameters, scratch, error, split)

    return classes if isinstance(numeric, types.NoneType) else numbers


@overload(group_order)
def _group_order(words, n_known, node_sums, error, sample, parameters, scratch, numeric, split):
    def classes(words, n_known, node_sums, error, sample, parameters, scratch, numeric, split):
        group_classes(words, n_known, node_sums, sample, parameters, scratch, split)

    def numbers(words, n_known, node_sums, error, sample, parameters, scratch, numeric, split):
        group_targets(words, n_known, sample, parameters, scratch, error, split)

    return classes if isinstance(numeric, types.NoneType) else numbers


@part_of_loop
def known_error(words, n_known, error, sample, parameters, scratch):
    """Return the error times weight of the node's rows, of those with a value if divided."""
    if not parameters.fractional or parameters.criterion == VARIANCE or n_known == words.shape[0]:
        return error
    for i in range(n_known):
        scratch.rows[i] = words[i] & ROW_MASK
    weight, _, mean_error = summarise_targets(scratch.rows[:n_known], sample, parameters.criterion)
    return mean_error if parameters.criterion >= WORST else weight * mean_error


@outer_loop
def search_column(column, start, stop, error, sample, parameters, scratch, numeric, split):
    """Write the best split of a node on one column into `split`; its decrease is -inf if none."""
    words = sample.packed[column, start:stop]
    for entry in range(N_SPLIT_FIELDS):
        split[entry] = 0.0
    split[DECREASE] = -np.inf
    n_known = known_count(words)
    # A column of one value divides nothing, unless its missing rows may stand against the known.
    spread = n_known > 0 and words[0] >> ROW_BITS != words[n_known - 1] >> ROW_BITS
    if not spread and (n_known == words.shape[0] or n_known == 0 or parameters.fractional):
        return
    node_sums = scratch.counts[0]
    if numeric is not None:
        error = known_error(words, n_known, error, sample, parameters, scratch)
    if parameters.n_way and sample.n_categories[column] > 0:
        group_order(words, n_known, node_sums, error, sample, parameters, scratch, numeric, split)
    else:
        by_category = sample.n_categories[column] > 0
        scan_orders(words, n_known, error, by_category, sample, parameters, scratch, numeric, split)
    if parameters.gain_ratio and split[DECREASE] > -np.inf:
        add_split_info(
            words, n_known, sample.n_categories[column], sample, parameters, scratch, split
        )


@part_of_loop
def scan_orders(words, n_known, error, by_category, sample, parameters, scratch, numeric, split):
    """Search thresholds of a number, or two subsets of categories ordered by what is predicted.

    For two classes and for squared error, the order by the share of a class or by the mean
    target contains the best pair of subsets (Breiman); with more classes the best over one order
    for each class is taken.
    """
    several = by_category and parameters.n_classes > 2
    best, n_first, missing_to, ordered_by = -np.inf, 0.0, -1.0, 0.0
    for order in range(parameters.n_classes if several else 1):
        ordered, target_class = words, order if several else 1
        if by_category:
            reorder_categories(words, n_known, target_class, sample, scratch)
            ordered = scratch.words[: words.shape[0]]
        sums = scratch.counts[0]
        scan_order(ordered, n_known, sums, error, sample, parameters, scratch, numeric, split)
        if split[DECREASE] > best:
            best, n_first, missing_to = split[DECREASE], split[N_FIRST], split[MISSING_TO]
            ordered_by = np.float64(target_class)
    split[DECREASE], split[N_FIRST], split[MISSING_TO] = best, n_first, missing_to
    split[ORDERED_BY] = ordered_by


@inner_loop
def weight_of(words, sample):
    """Return the weight of rows."""
    weights, total = sample.weights, 0.0
    if weights.shape[0] == 0:
        return np.float64(words.shape[0])
    for word in words:
        total += weights[word & ROW_MASK]
    return total


@part_of_loop
def information(part, whole):
    """Return the term of one branch in the information of a split, times the whole weight."""
    return -part * np.log2(part / whole) if part > 0.0 else 0.0


@part_of_loop
def add_split_info(words, n_known, n_categories, sample, parameters, scratch, split):
    """Write the information of a split, and charge its decrease for the choice of threshold."""
    whole = weight_of(words, sample)
    known = weight_of(words[:n_known], sample)
    if n_categories > 0 and parameters.n_way:
        start, info = 0, information(whole - known, whole)
        split[MANY_VALUED] = split[N_FIRST] >= MANY_VALUES * words.shape[0]
        for i in range(n_known):
            if i + 1 == n_known or words[i + 1] >> ROW_BITS != words[i] >> ROW_BITS:
                info += information(weight_of(words[start : i + 1], sample), whole)
                start = i + 1
    else:
        ordered = words
        if n_categories > 0:
            reorder_categories(words, n_known, np.int64(split[ORDERED_BY]), sample, scratch)
            ordered = scratch.words[: words.shape[0]]
        first = weight_of(ordered[: np.int64(split[N_FIRST])], sample)
        info = information(whole - known, whole)
        info += information(first, whole) + information(known - first, whole)
        distinct = 1
        for i in range(1, n_known):
            distinct += ordered[i] >> ROW_BITS != ordered[i - 1] >> ROW_BITS
        # The minimum description length of a threshold (Quinlan, 1996): log2 of the thresholds to
        # choose from, over all rows; the decrease is times the weight, and so is this.
        if distinct > 1 and n_categories == 0:
            split[DECREASE] -= np.log2(distinct - 1)
    split[SPLIT_INFO] = info / whole


@outer_loop
def choose_column(columns, splits, weight, parameters):
    """Return the column of the best split among those searched, or -1.

    With the gain ratio, only splits whose gain is at least average compete (C4.5's guard
    against splits that hardly gain but have next to no information); columns with almost as
    many values as rows do not count towards the average.
    """
    best_column, best = -1, -np.inf
    if parameters.gain_ratio:
        total, n_useful = 0.0, 0
        for column in columns:
            if splits[column, DECREASE] > 1e-9 * weight and splits[column, MANY_VALUED] == 0.0:
                total += splits[column, DECREASE]
                n_useful += 1
        average = total / max(n_useful, 1)
        for column in columns:
            decrease, info = splits[column, DECREASE], splits[column, SPLIT_INFO]
            if decrease > 1e-9 * weight and decrease >= average - 1e-3 * weight and info > 0.0:
                ratio = decrease / info
                if ratio > best or (ratio == best and column < best_column):
                    best_column, best = column, ratio
        return best_column
    for column in columns:
        decrease = splits[column, DECREASE]
        # Sums in another order differ in the last digits; the first column wins a tie.
        close = abs(decrease - best) <= 1e-12 * weight
        if decrease > -np.inf and (
            (close and column < best_column) or (not close and decrease > best)
        ):
            best_column, best = column, decrease
    return best_column


@outer_loop
def next_seed(seed, branch):
    """Return a seed for one child by SplitMix64, whatever the order in which nodes are grown."""
    mixed = seed + np.uint64(0x9E3779B97F4A7C15) * np.uint64(branch + 1)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


@outer_loop
def draw_columns(seed, n_columns):
    """Return the columns in an order that depends on the seed alone (Fisher-Yates shuffle)."""
    columns = np.empty(n_columns, dtype=np.int64)
    for place in range(n_columns):
        columns[place] = place
    for place in range(n_columns - 1, 0, -1):
        seed = next_seed(seed, place)
        other = np.int64(seed % np.uint64(place + 1))
        columns[place], columns[other] = columns[other], columns[place]
    return columns


@part_of_loop
def search_shortly(column, start, stop, error, sample, parameters, scratch, numeric, splits):
    """Do what `search_column` does, with one narrow call for numbers without gaps or weights."""
    last = sample.packed[column, stop - 1] >> ROW_BITS
    if (
        numeric is None
        or parameters.criterion != VARIANCE
        or parameters.table.shape[0] == 0
        or sample.n_categories[column] > 0
        or last == MISSING_RANK
    ):
        search_column(
            column, start, stop, error, sample, parameters, scratch, numeric, splits[column]
        )
    else:
        sums = scratch.counts[0]
        best, n_first = scan_plain_variance(
            sample.packed[column, start:stop],
            sums[1],
            sample.targets,
            parameters.table,
            parameters.min_leaf,
        )
        splits[column, DECREASE] = best - sums[1] * sums[1] / sums[0]
        splits[column, N_FIRST] = n_first
        splits[column, MISSING_TO] = -1.0


@part_of_loop
def search_node(start, stop, seed, error, columns, sample, parameters, scratch, numeric, splits):
    """Search the columns of a node, a random choice of them if asked for; return the best or -1."""
    n_columns = sample.packed.shape[0]
    weight = total_of(scratch.counts[0]) if numeric is None else scratch.counts[0, 0]
    at_random, best_column = parameters.max_features < n_columns, -1
    if at_random:
        columns = draw_columns(seed, n_columns)
    for place in range(n_columns):
        column = columns[place]
        search_shortly(column, start, stop, error, sample, parameters, scratch, numeric, splits)
        # No later column can do better than leave no impurity, and the first wins a tie.
        decrease = splits[column, DECREASE]
        perfect = decrease >= error * (1.0 - 1e-12) or (decrease > -np.inf and stop - start == 2)
        # A gain ratio needs the gains of all columns; in a random order, the first perfect column
        # need not be the one that wins a tie.
        if perfect and not (parameters.gain_ratio or at_random):
            return column
        # A drawn set without any split is extended until there is one.
        if place + 1 >= parameters.max_features:
            best_column = choose_column(columns[: place + 1], splits, weight, parameters)
            if best_column >= 0:
                break
    return best_column
