"""A grown forest as arrays: walking it, and its trees one by one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.base import DataError, thread_map
from verulam.ensemble._forest.grow_loops import NODE, STEP
from verulam.ensemble._forest.walk_loops import add_values, find_leaves, find_mixed_leaves
from verulam.tree import TreeStructure

#: Kinds of nodes, numbered as in a `TreeStructure`.
LEAF, NUMERIC, SUBSET = 0, 1, 2
#: Rows that pass all trees together: they and one tree should fit the cache.
CHUNK_ROWS = 2**14


@dataclass(frozen=True, eq=False)
class Forest:
    """The nodes of all trees, one tree after the other.

    Attributes
    ----------
    starts : ndarray of int64
        Where the nodes of each tree start, and the end.
    steps, nodes : ndarrays of STEP and of NODE
        Where a row goes at each node, and what is known of the node; children are counted within
        the tree.
    values : ndarray of shape (n_nodes, n_values)
        Shares of the classes, or the mean of the targets.
    words : ndarray of uint64
        Bits of the categories that go to second children.
    word_starts : ndarray of int64
        Where the words of each tree start, and the end.
    n_categories : ndarray of int32
        Categories of each column, 0 for numbers.
    of_classes : bool
        Whether values are shares of classes.
    gaps : tuple of bool
        Which columns had missing values in training; empty for none.
    """

    starts: NDArray[np.int64]
    steps: NDArray[np.void]
    nodes: NDArray[np.void]
    values: NDArray[np.float64]
    words: NDArray[np.uint64]
    word_starts: NDArray[np.int64]
    n_categories: NDArray[np.int32]
    of_classes: bool
    gaps: tuple[bool, ...] = ()

    def __len__(self) -> int:
        return len(self.starts) - 1

    def _check_loaded(self) -> None:
        """Refuse what a file may hold, and what compiled loops would follow anywhere."""
        n_nodes, n_words = len(self.steps), len(self.words)
        is_whole = (
            self.steps.dtype == STEP
            and self.nodes.dtype == NODE
            and len(self.nodes) == len(self.values) == n_nodes
            and _are_bounds(self.starts, n_nodes)
            and _are_bounds(self.word_starts, n_words)
            and len(self.starts) == len(self.word_starts)
            and self.words.dtype == np.uint64
        )
        if not is_whole:
            raise DataError("The arrays of the forest do not fit together.")
        for number in range(len(self)):
            self.tree(number)._check_loaded()

    def leaves(self, number: int, rows: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return the leaf of each encoded row in one of the trees."""
        leaves = np.empty(len(rows), dtype=np.uint32)
        steps = self.steps[self.starts[number] : self.starts[number + 1]]
        words = self.words[self.word_starts[number] : self.word_starts[number + 1]]
        if len(words):
            find_mixed_leaves(rows, steps, self.n_categories > 0, words, leaves)
        else:
            find_leaves(rows, steps, leaves)
        return leaves.view(np.int32)

    def average(self, rows: NDArray[np.float64], n_jobs: int = 1) -> NDArray[np.float64]:
        """Return the values of each encoded row's leaves, averaged over the trees."""
        totals = np.zeros((len(rows), self.values.shape[1]))

        def add_trees(part: slice) -> None:
            for number in range(len(self)):
                values = self.values[self.starts[number] : self.starts[number + 1]]
                add_values(self.leaves(number, rows[part]), values, totals[part])

        _by_chunks(add_trees, len(rows), n_jobs)
        return totals / len(self)

    def apply(self, rows: NDArray[np.float64], n_jobs: int = 1) -> NDArray[np.int32]:
        """Return the leaf of each encoded row in each tree."""
        leaves = np.empty((len(rows), len(self)), dtype=np.int32)

        def fill(part: slice) -> None:
            for number in range(len(self)):
                leaves[part, number] = self.leaves(number, rows[part])

        _by_chunks(fill, len(rows), n_jobs)
        return leaves

    def importances(self) -> NDArray[np.float64]:
        """Return the share of each column in the decrease of impurity, averaged over the trees."""
        importances = np.zeros(len(self.n_categories))
        for number in range(len(self)):
            place = slice(self.starts[number], self.starts[number + 1])
            nodes, columns = self.nodes[place], self.steps["column"][place] >> 1
            decreases = np.bincount(
                columns, _gains(self.steps[place], nodes) * nodes["weight"], len(importances)
            )
            importances += decreases / max(decreases.sum(), np.finfo(float).tiny)
        return importances / max(importances.sum(), np.finfo(float).tiny)

    def tree(self, number: int) -> TreeStructure:
        """Return one of the trees."""
        place = slice(self.starts[number], self.starts[number + 1])
        steps, nodes, values = self.steps[place], self.nodes[place], self.values[place]
        leaf = steps["child"] == np.arange(len(steps))
        column = (steps["column"] >> 1).astype(np.int32)
        is_category = ~leaf & (self.n_categories[column] > 0)
        numeric = ~leaf & ~is_category
        starts = np.where(is_category, steps["threshold"], -1).astype(np.int32)
        return TreeStructure(
            kind=np.where(leaf, LEAF, np.where(is_category, SUBSET, NUMERIC)).astype(np.int8),
            column=np.where(leaf, -1, column).astype(np.int32),
            threshold=np.where(numeric, steps["threshold"], np.nan),
            first_child=np.where(leaf, -1, steps["child"].astype(np.int32)),
            n_children=np.where(leaf, 0, 2).astype(np.int8),
            missing_branch=np.where(leaf, -1, (steps["column"] & 1).astype(np.int8)),
            category_start=starts if self.n_categories.any() else np.empty(0, dtype=np.int32),
            category_words=self.words[self.word_starts[number] : self.word_starts[number + 1]],
            category_branches=np.empty(0, dtype=np.int32),
            n_rows=np.ascontiguousarray(nodes["n_rows"]),
            own_weight=np.ascontiguousarray(nodes["weight"]),
            values=values * nodes["weight"][:, None] if self.of_classes else values,
            impurity=np.ascontiguousarray(nodes["impurity"]),
            gain=_gains(steps, nodes),
            n_categories=self.n_categories,
            gaps=self.gaps,
        )


def _gains(steps: NDArray[np.void], nodes: NDArray[np.void]) -> NDArray[np.float64]:
    """Return by how much the split of each node of a tree lowers the impurity, 0 for leaves."""
    inner = np.flatnonzero(steps["child"] != np.arange(len(steps)))
    # A file may hold links to nowhere; they are refused as soon as there is a tree to check.
    first = np.minimum(steps["child"][inner].astype(np.intp), len(steps) - 2)
    weight, impurity = nodes["weight"], nodes["impurity"]
    below = weight[first] * impurity[first] + weight[first + 1] * impurity[first + 1]
    gains = np.zeros(len(steps))
    # Rounding must not make a useless split harmful.
    gains[inner] = np.maximum(impurity[inner] - below / weight[inner], 0.0)
    return gains


def _are_bounds(starts: Any, total: int) -> bool:
    """Tell whether an array divides so many entries into parts."""
    return (
        isinstance(starts, np.ndarray)
        and starts.dtype == np.int64
        and len(starts) > 1
        and starts[0] == 0
        and starts[-1] == total
        and bool((np.diff(starts) >= 0).all())
    )


def _by_chunks(work: Callable[[slice], None], n_rows: int, n_jobs: int) -> None:
    """Do something for all rows, some of them at a time."""
    parts = [slice(first, first + CHUNK_ROWS) for first in range(0, n_rows, CHUNK_ROWS)]
    thread_map(work, parts, n_jobs)
