"""Tree growing with fractional instances (C4.5), or by an impurity that is any function.

Each node has a copy of the columns' orders, because a row with a missing value belongs to several
children at once, a part of its weight to each.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from verulam.base import DataError
from verulam.tree._growing.assemble import Assembly, CategoryCodes, Growth, Part
from verulam.tree._growing.growth_parameters import (
    DECREASE,
    MISSING_TO,
    N_FIRST,
    N_SPLIT_FIELDS,
    ORDERED_BY,
    ROW_BITS,
    ROW_MASK,
    GrowthParameters,
    Nodes,
    Sample,
    Scratch,
)
from verulam.tree._growing.node_loops import (
    is_good_enough,
    is_leaf,
    make_node,
    search_alone,
)
from verulam.tree._growing.presorted import (
    is_numeric,
    make_nodes,
    make_scratch,
    make_sizes,
    split_node,
)
from verulam.tree._growing.search_loops import (
    choose_column,
    known_count,
    next_seed,
    reorder_categories,
)

#: Impurity of class probabilities, which lie along the last axis.
Impurity = Callable[[NDArray[np.float64]], NDArray[np.float64]]

#: Parts of a row that weigh less than this are dropped.
SMALLEST_PART = 1e-3


@dataclass(frozen=True, eq=False)
class _FractionalNode:
    """The number of a node, the rows that reach it, whole or in part, and their weights there."""

    number: int
    rows: NDArray[np.int32]
    weights: NDArray[np.float64]


def grow_generally(
    sample: Sample, parameters: GrowthParameters, seed: int = 0, impurity: Impurity | None = None
) -> Growth:
    """Return the tree grown with fractional instances, or by an impurity that is any function."""
    n_rows = len(sample.rows)
    weights = sample.weights if len(sample.weights) else np.ones(n_rows)
    # The loops look weights up by row; before each node they are set to what reaches it.
    sample = sample._replace(weights=weights.copy())
    nodes = make_nodes(64, parameters.n_classes)
    scratch = make_scratch(n_rows, sample, parameters)
    splits = np.empty((len(sample.packed), N_SPLIT_FIELDS))
    sizes, codes, columns = make_sizes(sample), CategoryCodes(), np.arange(len(sample.packed))
    root = _FractionalNode(0, sample.rows, weights)
    _add_node(root, -1, np.uint64(seed), nodes, sample, parameters, impurity)
    waiting = [] if is_leaf(0, nodes, parameters) else [(root, sample.packed)]
    n_nodes = 1
    while waiting:
        node, packed = waiting.pop()
        number = node.number
        sample.weights[node.rows] = node.weights
        local = sample._replace(packed=packed, rows=node.rows)
        if impurity is None:
            column = search_alone(
                number, columns, nodes, local, parameters, scratch, is_numeric(parameters), splits
            )
        else:
            column = _search_by_function(
                number, nodes, local, parameters, scratch, splits, impurity
            )
        if not is_good_enough(column, splits, parameters):
            continue
        n_children = split_node(
            number, column, splits, nodes, local, parameters, scratch, sizes, codes
        )
        nodes = _with_room(nodes, n_nodes + n_children)
        children = _divide(node, n_nodes, n_children, column, local, parameters)
        _add_children(number, n_nodes, children, nodes, sample, parameters, impurity)
        # Leaves need no orders.
        unfinished = [
            child
            for child in children
            if len(child.rows) and not is_leaf(child.number, nodes, parameters)
        ]
        waiting.extend((child, _orders_of(child.rows, packed)) for child in reversed(unfinished))
        n_nodes += n_children
    whole = Part(nodes, n_nodes, codes.joined())
    assembly = Assembly(whole, n_nodes, sample.n_categories, n_way=parameters.n_way, weighted=True)
    return Growth(assembly.structure(fractional=parameters.fractional), sample.rows)


def _orders_of(rows: NDArray[np.int32], packed: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the orders of the columns, of some rows alone."""
    member = np.zeros(int((packed[0] & ROW_MASK).max()) + 1, dtype=bool)
    member[rows] = True
    # A mask leaves the order as it is, so that nothing is sorted again; every column has each row
    # once, so that all lines come out equally long.
    return packed[member[packed & ROW_MASK]].reshape(len(packed), len(rows))


def _with_room(nodes: Nodes, count: int) -> Nodes:
    """Return the nodes with room for so many."""
    if count <= len(nodes.cells):
        return nodes
    larger = make_nodes(2 * count, nodes.values.shape[1])
    for new, old in zip(larger, nodes, strict=True):
        new[: len(old)] = old
    return larger


def _divide(
    node: _FractionalNode,
    first_child: int,
    n_children: int,
    column: int,
    local: Sample,
    parameters: GrowthParameters,
) -> list[_FractionalNode]:
    """Return the children of a node; rows without a value belong to all of them."""
    side = local.side[node.rows].astype(np.intp)
    missing = np.isnan(local.values[node.rows, column])
    if not parameters.fractional:
        missing[:] = False
    known = np.bincount(side[~missing], node.weights[~missing], minlength=n_children)
    children = []
    # A missing value is in each branch with the probability that the known ones suggest.
    for branch, probability in enumerate(known / known.sum()):
        weights = np.where(missing, node.weights * probability, node.weights)
        member = ((side == branch) & ~missing) | (missing & (weights >= SMALLEST_PART))
        children.append(_FractionalNode(first_child + branch, node.rows[member], weights[member]))
    return children


def _add_children(
    parent: int,
    first_child: int,
    children: list[_FractionalNode],
    nodes: Nodes,
    sample: Sample,
    parameters: GrowthParameters,
    impurity: Impurity | None,
) -> None:
    cell = nodes.cells[parent]
    cell["first_child"], cell["n_children"] = first_child, len(children)
    for branch, child in enumerate(children):
        seed = np.uint64(next_seed(cell["seed"], branch))
        _add_node(child, parent, seed, nodes, sample, parameters, impurity)


def _add_node(
    node: _FractionalNode,
    parent: int,
    seed: np.uint64,
    nodes: Nodes,
    sample: Sample,
    parameters: GrowthParameters,
    impurity: Impurity | None,
) -> None:
    """Fill in a new leaf that has a share of the rows."""
    sample.weights[node.rows] = node.weights
    local, numeric = sample._replace(rows=node.rows), is_numeric(parameters)
    n_rows = len(node.rows)
    make_node(node.number, parent, 0, n_rows, seed, nodes, local, parameters, numeric)
    if impurity is not None:
        counts = nodes.values[node.number]
        nodes.cells["impurity"][node.number] = _impurity_of(impurity, counts)[()]


def _impurity_of(impurity: Impurity, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the impurity of class counts, 0 where there are none."""
    totals = counts.sum(axis=-1, keepdims=True)
    shares = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
    impurities = np.asarray(impurity(shares), dtype=np.float64)
    if impurities.shape != counts.shape[:-1] or not np.isfinite(impurities).all():
        raise DataError(
            "criterion must map probabilities of shape (..., n_classes) to finite impurities of "
            f"shape (...); for shape {counts.shape} it gave shape {impurities.shape}."
        )
    return np.where(totals[..., 0] > 0, impurities, 0.0)


def _weighted_impurity(impurity: Impurity, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the impurity times the weight, which adds up over the branches of a split."""
    return counts.sum(axis=-1) * _impurity_of(impurity, counts)


def _search_by_function(
    node: int,
    nodes: Nodes,
    local: Sample,
    parameters: GrowthParameters,
    scratch: Scratch,
    splits: NDArray[np.float64],
    impurity: Impurity,
) -> int:
    """Search all columns of a node by an impurity that is a Python function."""
    for column, words in enumerate(local.packed):
        n_known = known_count(words)
        splits[column] = 0.0
        splits[column, DECREASE] = -np.inf
        if local.n_categories[column] == 0:
            _scan(words, n_known, local, parameters, impurity, splits[column])
        elif parameters.n_way:
            _group(words, n_known, local, parameters, impurity, splits[column])
        else:
            # One order by the share of each class, as the compiled search does (`scan_orders`).
            best = splits[column].copy()
            for target in range(parameters.n_classes) if parameters.n_classes > 2 else (1,):
                reorder_categories(words, n_known, target, local, scratch)
                ordered = scratch.words[: len(words)]
                _scan(ordered, n_known, local, parameters, impurity, splits[column])
                splits[column, ORDERED_BY] = target
                if splits[column, DECREASE] > best[DECREASE]:
                    best[:] = splits[column]
            splits[column] = best
    columns = np.arange(len(splits))
    return int(choose_column(columns, splits, nodes.cells["weight"][node], parameters))


def _counts_by_row(
    words: NDArray[np.uint64], local: Sample, parameters: GrowthParameters
) -> NDArray[np.float64]:
    rows = (words & ROW_MASK).astype(np.intp)
    counts = np.zeros((len(rows), parameters.n_classes))
    counts[np.arange(len(rows)), local.classes[rows]] = local.weights[rows]
    return counts


def _scan(
    words: NDArray[np.uint64],
    n_known: int,
    local: Sample,
    parameters: GrowthParameters,
    impurity: Impurity,
    split: NDArray[np.float64],
) -> None:
    """Judge every threshold of an ordered column."""
    counts = _counts_by_row(words, local, parameters)
    missing, known = counts[n_known:].sum(axis=0), counts[:n_known].sum(axis=0)
    ranks = words[:n_known] >> ROW_BITS
    # Cuts lie where the rank changes; all of them are judged at once on running class counts.
    n_first = np.flatnonzero(ranks[1:] != ranks[:-1]) + 1
    first = np.cumsum(counts[:n_known], axis=0)[n_first - 1]
    n_missing = len(words) - n_known
    with_missing = n_missing > 0 and not parameters.fractional
    parent = _weighted_impurity(impurity, known + missing if with_missing else known)
    split[DECREASE] = -np.inf
    for side in (0, 1) if with_missing else (-1,):
        one = first + missing if side == 0 else first
        other = known - first + (missing if side == 1 else 0.0)
        places = n_first
        if side == 1 and n_known:
            # All known values against the missing ones.
            one, other = np.vstack([one, known]), np.vstack([other, missing])
            places = np.append(n_first, n_known)
        n_one = places + (n_missing if side == 0 else 0)
        large = np.minimum(n_one, len(words) - n_one) >= parameters.min_leaf
        if side == -1:
            large = np.minimum(places, n_known - places) >= parameters.min_leaf
        if not large.any():
            continue
        scores = np.where(
            large, _weighted_impurity(impurity, one) + _weighted_impurity(impurity, other), np.inf
        )
        best = int(np.argmin(scores))
        if parent - scores[best] > split[DECREASE]:
            split[[DECREASE, N_FIRST, MISSING_TO]] = parent - scores[best], places[best], side


def _group(
    words: NDArray[np.uint64],
    n_known: int,
    local: Sample,
    parameters: GrowthParameters,
    impurity: Impurity,
    split: NDArray[np.float64],
) -> None:
    """Judge the n-way split of a column ordered by category."""
    counts = _counts_by_row(words, local, parameters)
    missing = counts[n_known:].sum(axis=0)
    _, group = np.unique(words[:n_known] >> ROW_BITS, return_inverse=True)
    n_groups = group.max(initial=-1) + 1
    if n_groups < 2 or (np.bincount(group) >= parameters.min_leaf).sum() < 2:
        return
    by_group = np.zeros((n_groups, parameters.n_classes))
    np.add.at(by_group, group, counts[:n_known])
    alone = _weighted_impurity(impurity, by_group)
    split[[N_FIRST, MISSING_TO]] = n_groups, -1
    if len(words) > n_known and not parameters.fractional:
        # The missing rows join the branch whose impurity they raise least.
        change = _weighted_impurity(impurity, by_group + missing) - alone
        split[MISSING_TO] = np.argmin(change)
        split[DECREASE] = (
            _weighted_impurity(impurity, by_group.sum(axis=0) + missing)
            - alone.sum()
            - change.min()
        )
    else:
        split[DECREASE] = _weighted_impurity(impurity, by_group.sum(axis=0)) - alone.sum()
