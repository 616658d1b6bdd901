r"""Trees as flat arrays: nodes, traversal, and the conditions on the way to each leaf.

A fitted tree is a `TreeStructure`: one array per property, indexed by node. Node 0 is the root
and parents come before their children, so one run through the arrays, forwards or backwards,
replaces recursion; a tree of any depth is grown, walked, pruned, pickled and saved alike.

Rows are encoded as one float64 matrix in the order of the table's columns: numbers as they are,
categories as their codes in the schema, NaN where missing (`verulam.tree.encode_rows`).

=====================  ===========================================================================
kind of node           where a row goes
=====================  ===========================================================================
``LEAF``               nowhere: the row stays
``NUMERIC``            child 0 if ``x[column] <= threshold``, child 1 if it is greater
``SUBSET``             child 1 if the category's bit is set in the node's words, else child 0
``NWAY``               child number ``category_branches[category_start + code]``
=====================  ===========================================================================

The children of node m are ``first_child[m]``, ..., ``first_child[m] + n_children[m] - 1``, and a
missing value goes to child number ``missing_branch[m]``. In a *fractional* tree it goes to all
children instead, in the shares of their training weights. An n-way node has a child for each
category that reached it in training and, if the column has more categories, a last child for all
of those, with no rows and the values of its parent. Kinds from `OTHER` upwards are free for tests
of other sorts, which keep their own tables and use only the links of this structure.

`paths` yields each leaf with its conditions, counts and values; rules are read off it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.base import DataError, map_rows
from verulam.tree._structure.link_checks import WORD_BITS, check_links
from verulam.tree._structure.tree_loops import STEP, find_leaves, find_numeric_leaves, share_rows
from verulam.tree._tuning import PACKED_NODES_PER_ROW

LEAF, NUMERIC, SUBSET, NWAY = 0, 1, 2, 3
#: The first kind that this module gives no meaning to.
OTHER = 8


@dataclass(frozen=True, eq=False)
class TreeStructure:
    """A tree as one array per property of its nodes; the module's docstring says how to read it.

    Attributes
    ----------
    kind : ndarray of int8
        What each node does.
    column : ndarray of int16 or int32
        Column that it looks at; -1 for leaves.
    threshold : ndarray of float64
        Largest number that goes to child 0; NaN where there is none.
    first_child : ndarray of int32
        The first of the node's children, which are numbered consecutively; -1 for leaves.
    n_children : ndarray of int8 or int32
        How many children there are; 0 for leaves.
    missing_branch : ndarray of int8 or int32
        Number of the child (0, 1, ...) that a missing value goes to; -1 for leaves.
    category_start : ndarray of int32
        Where the node's words or branches start in the next two arrays; -1 for neither. Empty
        where no column has categories.
    category_words : ndarray of uint64
        Bit sets: category c of a subset node is bit ``c % 64`` of word ``c // 64``.
    category_branches : ndarray of int32
        Child of each category of an n-way node.
    n_rows : ndarray of int32
        Training rows that reached each node (in a fractional tree, whole or in part).
    own_weight : ndarray of float64
        Their weight; empty where each row weighs 1.
    values : ndarray of shape (n_nodes, n_values)
        Weight of each class, or the number that the node would predict as a leaf.
    impurity : ndarray of float64
        Impurity or error of each node.
    gain : ndarray of float64
        By how much its split reduces that, for a row of the node; 0 for leaves.
    n_categories : ndarray of int32
        Number of categories of each column; 0 for numeric ones.
    fractional : bool
        Whether missing values are divided among the children.
    gaps : tuple of bool
        Which columns had missing values in training, so that it matters where those go; empty
        where nothing is known of that.
    """

    kind: NDArray[np.int8]
    column: NDArray[Any]
    threshold: NDArray[np.float64]
    first_child: NDArray[np.int32]
    n_children: NDArray[Any]
    missing_branch: NDArray[Any]
    category_start: NDArray[np.int32]
    category_words: NDArray[np.uint64]
    category_branches: NDArray[np.int32]
    n_rows: NDArray[np.int32]
    own_weight: NDArray[np.float64]
    values: NDArray[np.float64]
    impurity: NDArray[np.float64]
    gain: NDArray[np.float64]
    n_categories: NDArray[np.int32]
    fractional: bool = False
    gaps: tuple[bool, ...] = ()

    def __len__(self) -> int:
        return len(self.kind)

    def _check_loaded(self) -> None:
        """Refuse what a file may hold, and what compiled loops would follow anywhere."""
        check_links(self)

    def _check_rows(self, rows: NDArray[np.float64]) -> None:
        if rows.ndim != 2 or rows.shape[1] != len(self.n_categories):
            raise DataError(
                f"rows: the tree has {len(self.n_categories)} columns, not {rows.shape[1:]}."
            )

    @cached_property
    def parent(self) -> NDArray[np.int32]:
        """The parent of each node; -1 for the root."""
        inner = np.flatnonzero(self.n_children)
        parent = np.full(len(self), -1, dtype=np.int32)
        parent[self._children_of(inner)] = np.repeat(inner, self.n_children[inner])
        return parent

    def _children_of(self, nodes: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the children of several nodes, one after the other."""
        counts = self.n_children[nodes].astype(np.intp)
        # Runs of consecutive numbers without a loop: one range over all, each run moved to its
        # start.
        earlier = np.cumsum(counts) - counts
        return np.arange(counts.sum()) + np.repeat(self.first_child[nodes] - earlier, counts)

    def levels(self, to_leaf: NDArray[np.bool_] | None = None) -> Iterator[NDArray[np.intp]]:
        """Yield the nodes of each depth from the root on, not those below nodes `to_leaf`."""
        nodes = np.zeros(1, dtype=np.intp)
        while len(nodes):
            yield nodes
            nodes = self._children_of(nodes if to_leaf is None else nodes[~to_leaf[nodes]])

    @cached_property
    def weight(self) -> NDArray[np.float64]:
        """The weight of the training rows that reached each node."""
        return self.own_weight if len(self.own_weight) else self.n_rows.astype(np.float64)

    @property
    def leaves(self) -> NDArray[np.intp]:
        """The leaves, in order."""
        return np.flatnonzero(self.kind == LEAF)

    @property
    def n_leaves(self) -> int:
        """How many leaves there are."""
        return int(np.count_nonzero(self.kind == LEAF))

    def depths(self) -> NDArray[np.int32]:
        """Return the number of tests above each node."""
        depths = np.zeros(len(self), dtype=np.int32)
        for depth, nodes in enumerate(self.levels()):
            depths[nodes] = depth
        return depths

    def children(self, node: int) -> range:
        """Return the children of a node."""
        first = int(self.first_child[node])
        return range(first, first + int(self.n_children[node]))

    def branch_categories(self, node: int, branch: int) -> tuple[int, ...]:
        """Return the category codes that a subset or n-way node sends to one of its children."""
        start, count = self.category_start[node], self.n_categories[self.column[node]]
        codes = np.arange(count)
        if self.kind[node] == NWAY:
            branches = self.category_branches[start : start + count]
        else:
            words = self.category_words[start : start + -(-count // WORD_BITS)]
            places = (codes % WORD_BITS).astype(np.uint64)
            branches = (words[codes // WORD_BITS] >> places) & np.uint64(1)
        return tuple(int(code) for code in codes[branches == branch])

    def apply(self, rows: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return the leaf of each encoded row; of a divided row, the leaf of its largest share."""
        self._check_rows(rows)

        def leaves_of(part: Any) -> NDArray[np.int32]:
            if self.fractional:
                return self._shared(part, np.empty((len(self), 0)))[1]
            if steps is not None:
                # Made here: room made by a loop takes longer to compile than the loop.
                leaves = np.zeros(len(part), dtype=np.uint32)
                find_numeric_leaves(part, steps, leaves)
                return leaves.view(np.int32)
            return find_leaves(part, *self._walk(self.missing_branch))

        # Few rows are not worth the packing of a large tree.
        few_nodes = len(self) // PACKED_NODES_PER_ROW <= len(rows)
        packable = few_nodes and (self.kind <= NUMERIC).all()
        steps = self._steps() if packable and not self.fractional else None
        return map_rows(leaves_of, rows, (len(rows),), np.int32)

    def _steps(self) -> NDArray[np.void]:
        """Return the nodes of a tree of thresholds as `find_numeric_leaves` takes them."""
        steps = np.empty(len(self), dtype=STEP)
        leaf, right = self.kind == LEAF, self.missing_branch == 1
        # A leaf leads to itself: nothing is above infinity, so that rows which have arrived may
        # step on with the others.
        steps["threshold"] = np.where(leaf, np.inf, self.threshold)
        steps["column"] = np.where(leaf, 0, 2 * self.column.astype(np.int32) + right)
        steps["child"] = np.where(leaf, np.arange(len(self)), self.first_child)
        return steps

    def average(
        self, rows: NDArray[np.float64], leaf_values: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the values of each encoded row's leaf, averaged where the row is divided.

        Parameters
        ----------
        rows
            Rows, encoded.
        leaf_values : ndarray of shape (n_nodes, n_values)
            Values of the nodes; only those of leaves are used.
        """
        if not (self.fractional and np.isnan(rows).any()):
            return leaf_values[self.apply(rows)]
        self._check_rows(rows)
        if len(leaf_values) != len(self):
            raise DataError(f"leaf_values: {len(leaf_values)} for {len(self)} nodes.")

        def values_of(part: Any) -> NDArray[np.float64]:
            return self._shared(part, leaf_values)[0]

        return map_rows(values_of, rows, (len(rows), leaf_values.shape[1]))

    def _shared(self, rows: Any, leaf_values: NDArray[np.float64]) -> tuple[Any, Any]:
        return share_rows(rows, *self._walk(self.n_children, self.weight, leaf_values))

    def _walk(self, *more: NDArray[Any]) -> tuple[Any, ...]:
        return (
            self.kind,
            self.column,
            self.threshold,
            self.first_child,
            self.category_start,
            self.category_words,
            self.category_branches,
            *more,
        )


@dataclass(frozen=True)
class Condition:
    """One test on the way to a leaf, as the row has answered it.

    Attributes
    ----------
    column
        Position of the column.
    relation
        "<=", ">" or "in".
    threshold
        What the number is compared with; NaN with "in".
    categories
        Codes of the accepted categories, with "in".
    accepts_missing
        Whether a missing value goes this way.
    """

    column: int
    relation: str
    threshold: float = float("nan")
    categories: tuple[int, ...] = ()
    accepts_missing: bool = False

    def holds(self, rows: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return for each encoded row whether it meets the condition."""
        numbers = rows[:, self.column]
        if self.relation == "<=":
            met = numbers <= self.threshold
        elif self.relation == ">":
            met = numbers > self.threshold
        else:
            met = np.isin(numbers, self.categories)
        return met | np.isnan(numbers) if self.accepts_missing else met


@dataclass(frozen=True, eq=False)
class Path:
    """A leaf and the conditions that lead to it.

    Attributes
    ----------
    leaf
        Number of the leaf.
    conditions
        From the root downwards.
    n_rows
        Training rows in the leaf.
    weight
        Their weight.
    values
        Weight of each class, or the predicted number.
    """

    leaf: int
    conditions: tuple[Condition, ...]
    n_rows: int
    weight: float
    values: NDArray[np.float64]

    @property
    def posterior(self) -> NDArray[np.float64]:
        """The share of each class."""
        return self.values / self.values.sum()


def branch_condition(structure: TreeStructure, node: int, branch: int) -> Condition:
    """Return what a row has answered at a node if it went to one of its children."""
    column = int(structure.column[node])
    missing = bool(structure.fractional or structure.missing_branch[node] == branch)
    if structure.kind[node] == NUMERIC:
        relation = ">" if branch else "<="
        return Condition(column, relation, float(structure.threshold[node]), (), missing)
    categories = structure.branch_categories(node, branch)
    return Condition(column, "in", categories=categories, accepts_missing=missing)


def conditions(
    structure: TreeStructure, node: int, *, merged: bool = True
) -> tuple[Condition, ...]:
    """Return the conditions from the root to a node.

    Parameters
    ----------
    structure
        The tree.
    node
        A leaf or an inner node.
    merged
        Join the conditions on one column: the tightest bounds, the categories that all accept.
    """
    upwards: list[Condition] = []
    while node > 0:
        parent = int(structure.parent[node])
        branch = node - int(structure.first_child[parent])
        upwards.append(branch_condition(structure, parent, branch))
        node = parent
    return merge_conditions(upwards[::-1]) if merged else tuple(upwards[::-1])


def merge_conditions(conjunction: Sequence[Condition]) -> tuple[Condition, ...]:
    """Return a conjunction with at most one bound of each side and one set of categories a column.

    Parameters
    ----------
    conjunction
        Conditions that must all hold.
    """
    merged: dict[tuple[int, str], Condition] = {}
    for condition in conjunction:
        key = (condition.column, condition.relation)
        merged[key] = _both(merged[key], condition) if key in merged else condition
    return tuple(merged.values())


def _both(first: Condition, second: Condition) -> Condition:
    missing = first.accepts_missing and second.accepts_missing
    if first.relation == "in":
        accepted = set(second.categories)
        common = tuple(code for code in first.categories if code in accepted)
        return replace(first, categories=common, accepts_missing=missing)
    tightest = min if first.relation == "<=" else max
    threshold = tightest(first.threshold, second.threshold)
    return replace(first, threshold=threshold, accepts_missing=missing)


def paths(structure: TreeStructure, *, merged: bool = True) -> Iterator[Path]:
    """Yield every leaf with its conditions, from the first branch to the last.

    Parameters
    ----------
    structure
        The tree.
    merged
        As for `conditions`.
    """
    waiting = [0]
    while waiting:
        node = waiting.pop()
        if structure.kind[node] == LEAF:
            yield Path(
                node,
                conditions(structure, node, merged=merged),
                int(structure.n_rows[node]),
                float(structure.weight[node]),
                structure.values[node],
            )
        waiting.extend(reversed(structure.children(node)))


def surviving(structure: TreeStructure, to_leaf: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the nodes that stay where the marked ones become leaves."""
    return np.sort(np.concatenate(list(structure.levels(to_leaf))))


def collapse(structure: TreeStructure, to_leaf: NDArray[np.bool_]) -> TreeStructure:
    """Return the tree with the marked nodes turned into leaves, and what was below them gone."""
    order = surviving(structure, to_leaf)
    # Surviving nodes keep their order, so that parents still come before their children.
    number = np.zeros(len(structure), dtype=np.int64)
    number[order] = np.arange(len(order))
    leaf = to_leaf[order] | (structure.kind[order] == LEAF)
    first = structure.first_child[order]
    start = structure.category_start
    return replace(
        structure,
        kind=np.where(leaf, LEAF, structure.kind[order]).astype(np.int8),
        column=np.where(leaf, -1, structure.column[order]).astype(structure.column.dtype),
        threshold=np.where(leaf, np.nan, structure.threshold[order]),
        first_child=np.where(leaf, -1, number[first]).astype(np.int32),
        n_children=np.where(leaf, 0, structure.n_children[order]).astype(
            structure.n_children.dtype
        ),
        missing_branch=np.where(leaf, -1, structure.missing_branch[order]).astype(
            structure.missing_branch.dtype
        ),
        category_start=np.where(leaf, -1, start[order]).astype(np.int32) if len(start) else start,
        n_rows=structure.n_rows[order],
        own_weight=structure.own_weight[order] if len(structure.own_weight) else np.empty(0),
        values=structure.values[order],
        impurity=structure.impurity[order],
        gain=np.where(leaf, 0.0, structure.gain[order]),
    )
