"""Growing node by node, where rows are divided among children or the impurity is a function.

Each node has its own copy of the columns' orders, because a row with a missing value belongs to
several children at once, a part of its weight to each.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from verulam.base import DataError
from verulam.tree._growing.assemble import Assembly, CategoryCodes, Growth, Part
from verulam.tree._growing.growth_parameters import (
    DROP,
    MISSING_TO,
    N_FIRST,
    N_FOUND,
    ORDERED_BY,
    ROW_BITS,
    ROW_MASK,
    Nodes,
    Rules,
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
class _Share:
    """A node with the rows that it owns, whole or in part, and their weights."""

    node: int
    rows: NDArray[np.int32]
    weights: NDArray[np.float64]


def grow_generally(
    sample: Sample, rules: Rules, seed: int = 0, impurity: Impurity | None = None
) -> Growth:
    """Return the tree grown with divided rows, or by an impurity that is any function."""
    n_rows = len(sample.rows)
    weights = sample.weights if len(sample.weights) else np.ones(n_rows)
    sample = sample._replace(weights=weights.copy())
    nodes = make_nodes(64, rules.n_classes)
    scratch = make_scratch(n_rows, sample, rules)
    found = np.empty((len(sample.packed), N_FOUND))
    sizes, codes, columns = make_sizes(sample), CategoryCodes(), np.arange(len(sample.packed))
    root = _Share(0, sample.rows, weights)
    _add_node(root, -1, np.uint64(seed), nodes, sample, rules, impurity)
    waiting = [] if is_leaf(0, nodes, rules) else [(root, sample.packed)]
    n_nodes = 1
    while waiting:
        work, packed = waiting.pop()
        node = work.node
        sample.weights[work.rows] = work.weights
        own = sample._replace(packed=packed, rows=work.rows)
        if impurity is None:
            column = search_alone(
                node, columns, nodes, own, rules, scratch, is_numeric(rules), found
            )
        else:
            column = _search_by_function(node, nodes, own, rules, scratch, found, impurity)
        if not is_good_enough(column, found, rules):
            continue
        n_children = split_node(node, column, found, nodes, own, rules, scratch, sizes, codes)
        nodes = _with_room(nodes, n_nodes + n_children)
        parts = _divide(work, n_nodes, n_children, column, own, rules)
        _add_children(node, n_nodes, parts, nodes, sample, rules, impurity)
        # Leaves need no orders.
        unfinished = [
            part for part in parts if len(part.rows) and not is_leaf(part.node, nodes, rules)
        ]
        waiting.extend((part, _orders_of(part.rows, packed)) for part in reversed(unfinished))
        n_nodes += n_children
    whole = Part(nodes, n_nodes, codes.joined())
    assembly = Assembly(whole, n_nodes, sample.n_categories, n_way=rules.n_way, weighted=True)
    return Growth(assembly.structure(fractional=rules.fractional), sample.rows)


def _orders_of(rows: NDArray[np.int32], packed: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the orders of the columns, of some rows alone."""
    member = np.zeros(int((packed[0] & ROW_MASK).max()) + 1, dtype=bool)
    member[rows] = True
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
    work: _Share, first_child: int, n_children: int, column: int, own: Sample, rules: Rules
) -> list[_Share]:
    """Return the children's shares of a node; rows without a value belong to all of them."""
    side = own.side[work.rows].astype(np.intp)
    missing = np.isnan(own.values[work.rows, column])
    if not rules.fractional:
        missing[:] = False
    known = np.bincount(side[~missing], work.weights[~missing], minlength=n_children)
    parts = []
    for child, share in enumerate(known / known.sum()):
        weights = np.where(missing, work.weights * share, work.weights)
        chosen = ((side == child) & ~missing) | (missing & (weights >= SMALLEST_PART))
        parts.append(_Share(first_child + child, work.rows[chosen], weights[chosen]))
    return parts


def _add_children(
    node: int,
    first_child: int,
    parts: list[_Share],
    nodes: Nodes,
    sample: Sample,
    rules: Rules,
    impurity: Impurity | None,
) -> None:
    cell = nodes.cells[node]
    cell["first_child"], cell["n_children"] = first_child, len(parts)
    for branch, part in enumerate(parts):
        seed = np.uint64(next_seed(cell["seed"], branch))
        _add_node(part, node, seed, nodes, sample, rules, impurity)


def _add_node(
    part: _Share,
    parent: int,
    seed: np.uint64,
    nodes: Nodes,
    sample: Sample,
    rules: Rules,
    impurity: Impurity | None,
) -> None:
    """Fill in a new leaf that owns a share of the rows."""
    sample.weights[part.rows] = part.weights
    own = sample._replace(rows=part.rows)
    make_node(part.node, parent, 0, len(part.rows), seed, nodes, own, rules, is_numeric(rules))
    if impurity is not None:
        nodes.cells["impurity"][part.node] = _of(impurity, nodes.values[part.node])[()]


def _of(impurity: Impurity, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the impurity of class counts, 0 where there are none."""
    totals = counts.sum(axis=-1, keepdims=True)
    shares = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
    result = np.asarray(impurity(shares), dtype=np.float64)
    if result.shape != counts.shape[:-1] or not np.isfinite(result).all():
        raise DataError(
            "criterion must map probabilities of shape (..., n_classes) to finite impurities of "
            f"shape (...); for shape {counts.shape} it gave shape {result.shape}."
        )
    return np.where(totals[..., 0] > 0, result, 0.0)


def _sum_of(impurity: Impurity, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return counts.sum(axis=-1) * _of(impurity, counts)


def _search_by_function(
    node: int,
    nodes: Nodes,
    own: Sample,
    rules: Rules,
    scratch: Scratch,
    found: NDArray[np.float64],
    impurity: Impurity,
) -> int:
    """Search all columns of a node by an impurity that is a Python function."""
    for column, words in enumerate(own.packed):
        n_known = known_count(words)
        found[column] = 0.0
        found[column, DROP] = -np.inf
        if own.n_categories[column] == 0:
            _scan(words, n_known, own, rules, impurity, found[column])
        elif rules.n_way:
            _group(words, n_known, own, rules, impurity, found[column])
        else:
            best = found[column].copy()
            for target in range(rules.n_classes) if rules.n_classes > 2 else (1,):
                reorder_categories(words, n_known, target, own, scratch)
                ordered = scratch.words[: len(words)]
                _scan(ordered, n_known, own, rules, impurity, found[column])
                found[column, ORDERED_BY] = target
                if found[column, DROP] > best[DROP]:
                    best[:] = found[column]
            found[column] = best
    columns = np.arange(len(found))
    return int(choose_column(columns, found, nodes.cells["weight"][node], rules))


def _counts_by_row(words: NDArray[np.uint64], own: Sample, rules: Rules) -> NDArray[np.float64]:
    rows = (words & ROW_MASK).astype(np.intp)
    counts = np.zeros((len(rows), rules.n_classes))
    counts[np.arange(len(rows)), own.classes[rows]] = own.weights[rows]
    return counts


def _scan(
    words: NDArray[np.uint64],
    n_known: int,
    own: Sample,
    rules: Rules,
    impurity: Impurity,
    found: NDArray[np.float64],
) -> None:
    """Judge every threshold of an ordered column."""
    counts = _counts_by_row(words, own, rules)
    missing, known = counts[n_known:].sum(axis=0), counts[:n_known].sum(axis=0)
    ranks = words[:n_known] >> ROW_BITS
    n_first = np.flatnonzero(ranks[1:] != ranks[:-1]) + 1
    first = np.cumsum(counts[:n_known], axis=0)[n_first - 1]
    n_missing = len(words) - n_known
    own_branch = n_missing > 0 and not rules.fractional
    parent = _sum_of(impurity, known + missing if own_branch else known)
    found[DROP] = -np.inf
    for side in (0, 1) if own_branch else (-1,):
        one = first + missing if side == 0 else first
        other = known - first + (missing if side == 1 else 0.0)
        places = n_first
        if side == 1 and n_known:
            # All known values against the missing ones.
            one, other = np.vstack([one, known]), np.vstack([other, missing])
            places = np.append(n_first, n_known)
        n_one = places + (n_missing if side == 0 else 0)
        large = np.minimum(n_one, len(words) - n_one) >= rules.min_leaf
        if side == -1:
            large = np.minimum(places, n_known - places) >= rules.min_leaf
        if not large.any():
            continue
        scores = np.where(large, _sum_of(impurity, one) + _sum_of(impurity, other), np.inf)
        best = int(np.argmin(scores))
        if parent - scores[best] > found[DROP]:
            found[[DROP, N_FIRST, MISSING_TO]] = parent - scores[best], places[best], side


def _group(
    words: NDArray[np.uint64],
    n_known: int,
    own: Sample,
    rules: Rules,
    impurity: Impurity,
    found: NDArray[np.float64],
) -> None:
    """Judge the n-way split of a column ordered by category."""
    counts = _counts_by_row(words, own, rules)
    missing = counts[n_known:].sum(axis=0)
    _, group = np.unique(words[:n_known] >> ROW_BITS, return_inverse=True)
    n_groups = group.max(initial=-1) + 1
    if n_groups < 2 or (np.bincount(group) >= rules.min_leaf).sum() < 2:
        return
    by_group = np.zeros((n_groups, rules.n_classes))
    np.add.at(by_group, group, counts[:n_known])
    alone = _sum_of(impurity, by_group)
    found[[N_FIRST, MISSING_TO]] = n_groups, -1
    if len(words) > n_known and not rules.fractional:
        change = _sum_of(impurity, by_group + missing) - alone
        found[MISSING_TO] = np.argmin(change)
        found[DROP] = _sum_of(impurity, by_group.sum(axis=0) + missing) - alone.sum() - change.min()
    else:
        found[DROP] = _sum_of(impurity, by_group.sum(axis=0)) - alone.sum()
