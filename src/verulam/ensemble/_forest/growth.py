"""Growing a forest: what each tree is grown on, and the trees, by several threads."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from threading import local
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.base import iterate_in_threads
from verulam.ensemble._forest.coding import CodedTable
from verulam.ensemble._forest.forest import Forest
from verulam.ensemble._forest.grow_loops import (
    ENTRY,
    NODE,
    ROWS_PER_LEVEL,
    STEP,
    WAITING,
    Grown,
    Scratch,
    grow_tree,
)
from verulam.ensemble._forest.search_loops import AMOUNTS, N_SPLIT_FIELDS, PASS_BITS

#: Nodes that can wait for their split at the same time: more than the bits of any number of rows.
MOST_WAITING = 72
#: A depth that no tree reaches.
BOTTOMLESS = 2**31 - 1


@dataclass(frozen=True, eq=False)
class ForestTask:
    """What all trees of a forest have in common.

    Attributes
    ----------
    table
        The coded columns.
    target
        Class codes, or numbers around their mean.
    weights
        Weights of the rows, or None.
    n_classes
        How many classes there are, or 0 for numbers.
    criterion
        What splits make small: SQUARED_ERROR, GINI or ENTROPY.
    n_drawn
        Rows that are drawn for a tree.
    bootstrap
        Whether a row may be drawn more than once.
    max_features, max_depth, min_split, min_leaf
        Columns tried at a node, largest depth, and fewest rows of a node that is split and of its
        children.
    reweigh
        Takes the rows of a tree and how often each was drawn; returns factors of their weights.
        None for none.
    """

    table: CodedTable
    target: NDArray[Any]
    weights: NDArray[np.float64] | None
    n_classes: int
    criterion: np.int64
    n_drawn: int
    bootstrap: bool
    max_features: int
    max_depth: int
    min_split: int
    min_leaf: int
    reweigh: Callable[[NDArray[Any], NDArray[Any]], NDArray[np.float64]] | None = None

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.target)


@dataclass(frozen=True, eq=False)
class GrownTree:
    """A tree and the rows that it has not seen; fields as in `Forest`."""

    steps: NDArray[np.void]
    nodes: NDArray[np.void]
    values: NDArray[np.float64]
    words: NDArray[np.uint64]


def draw_rows(seed: int, n_rows: int, n_drawn: int, *, bootstrap: bool) -> NDArray[np.intp]:
    """Return how often each row is drawn for the tree of a seed."""
    if not bootstrap and n_drawn == n_rows:
        return np.ones(n_rows, dtype=np.intp)
    random = np.random.default_rng(seed)
    if bootstrap:
        return np.bincount(random.integers(0, n_rows, size=n_drawn), minlength=n_rows)
    return np.bincount(random.permutation(n_rows)[:n_drawn], minlength=n_rows)


def grow_trees(task: ForestTask, seeds: list[int], n_jobs: int) -> Iterator[GrownTree]:
    """Yield a tree for each seed; the number of threads does not change any of them."""
    memory = local()

    def grow(seed: int) -> GrownTree:
        if not hasattr(memory, "buffers"):
            memory.buffers = _make_buffers(task)
        return _grow_one(task, seed, *memory.buffers)

    return iterate_in_threads(grow, seeds, n_jobs)


def _make_buffers(task: ForestTask) -> tuple[NDArray[np.void], Scratch, Grown]:
    """Return the buffers of a thread; memory is taken only as it is written to."""
    n_rows, n_values = min(task.n_rows, task.n_drawn), max(1, task.n_classes)
    table, n_columns = task.table, len(task.table.n_levels)
    # Numbers of more levels are never counted by level.
    counted = table.is_category | (ROWS_PER_LEVEL * table.n_levels <= n_rows)
    most_levels = int(table.n_levels[counted].max(initial=0)) + 1
    most_words = -(-int(table.n_levels[table.is_category].max(initial=0)) // 64)
    scratch = Scratch(
        keys=np.empty((2, n_rows), dtype=np.uint64),
        places=np.empty(2**PASS_BITS, dtype=np.int64),
        sums=np.empty((2, n_values)),
        counts=np.zeros((most_levels, AMOUNTS + n_values)),
        levels=np.empty((2, most_levels), dtype=np.int64),
        waiting=np.empty(MOST_WAITING, dtype=WAITING),
        order=np.empty(n_columns, dtype=np.int64),
        best=np.empty(N_SPLIT_FIELDS),
    )
    grown = Grown(
        steps=np.empty(2 * n_rows, dtype=STEP),
        nodes=np.empty(2 * n_rows, dtype=NODE),
        values=np.empty((2 * n_rows, n_values)),
        words=np.empty(n_rows * most_words, dtype=np.uint64),
    )
    return np.empty(2 * n_rows, dtype=ENTRY), scratch, grown


def _grow_one(
    task: ForestTask, seed: int, buffer: NDArray[np.void], scratch: Scratch, grown: Grown
) -> GrownTree:
    counts = draw_rows(seed, task.n_rows, task.n_drawn, bootstrap=task.bootstrap)
    rows = np.flatnonzero(counts)
    entries = buffer[: 2 * len(rows)].reshape(2, -1)
    entries["row"][0], entries["target"][0] = rows, task.target[rows]
    entries["weight"][0] = counts[rows]
    if task.weights is not None:
        entries["weight"][0] *= task.weights[rows]
    if task.reweigh is not None:
        entries["weight"][0] *= task.reweigh(rows, counts[rows])
    scratch.waiting[0] = (0, len(rows), 0, 0, 0, 0.0, 0.0, 0.0)
    scratch.order[:] = np.arange(len(scratch.order))
    # A node of fewer rows than two leaves need has no split that leaves enough on both sides.
    n_nodes, n_words = grow_tree(
        task.table,
        entries,
        task.criterion,
        grown,
        scratch,
        (task.max_features, task.max_depth, max(task.min_split, 2 * task.min_leaf), task.min_leaf),
        np.uint64(seed),
    )
    return GrownTree(
        grown.steps[:n_nodes].copy(),
        grown.nodes[:n_nodes].copy(),
        grown.values[:n_nodes].copy(),
        grown.words[:n_words].copy(),
    )


def join_trees(
    trees: Iterator[GrownTree],
    n_trees: int,
    n_categories: NDArray[np.int32],
    gaps: tuple[bool, ...],
    *,
    of_classes: bool,
) -> Forest:
    """Return the forest of some trees, so many of them, as they come."""
    columns = {field.name: _Parts(n_trees) for field in fields(GrownTree)}
    for tree in trees:
        for name, column in columns.items():
            column.append(getattr(tree, name))
    joined: dict[str, Any] = {name: column.whole() for name, column in columns.items()}
    return Forest(
        starts=columns["steps"].starts,
        word_starts=columns["words"].starts,
        n_categories=n_categories,
        of_classes=of_classes,
        gaps=gaps,
        **joined,
    )


class _Parts:
    """One property of the nodes of all trees, in memory once."""

    def __init__(self, n_parts: int) -> None:
        self.n_parts = n_parts
        self.ends = [0]
        self.buffer: Any = None

    @property
    def starts(self) -> NDArray[np.int64]:
        return np.array(self.ends, dtype=np.int64)

    def append(self, part: NDArray[Any]) -> None:
        """Write a part behind the last."""
        start, end = self.ends[-1], self.ends[-1] + len(part)
        # Trees are about equally large; memory that is not written to costs nothing.
        shape = (int(1.03 * end * self.n_parts / len(self.ends)) + 1, *part.shape[1:])
        if self.buffer is None:
            self.buffer = np.empty(shape, dtype=part.dtype)
        elif end > len(self.buffer):
            # The system moves large blocks without a copy.
            self.buffer.resize(shape, refcheck=False)
        self.buffer[start:end] = part
        self.ends.append(end)

    def whole(self) -> NDArray[Any]:
        """Return all parts; the column has none any more."""
        buffer, self.buffer = self.buffer, None
        buffer.resize((self.ends[-1], *buffer.shape[1:]), refcheck=False)
        return buffer
