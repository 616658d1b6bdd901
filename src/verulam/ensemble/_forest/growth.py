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
    n_drawn
        Rows that are drawn for a tree.
    bootstrap
        Whether a row may be drawn more than once.
    max_features, max_depth, min_leaf
        Columns tried at a node, largest depth, and fewest rows of a child.
    reweigh
        Takes the rows of a tree and how often each was drawn; returns factors of their weights.
        None for none.
    """

    table: CodedTable
    target: NDArray[Any]
    weights: NDArray[np.float64] | None
    n_classes: int
    n_drawn: int
    bootstrap: bool
    max_features: int
    max_depth: int
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
    rooms = local()

    def grow(seed: int) -> GrownTree:
        if not hasattr(rooms, "room"):
            rooms.room = _make_room(task)
        return _grow_one(task, seed, *rooms.room)

    return iterate_in_threads(grow, seeds, n_jobs)


def _make_room(task: ForestTask) -> tuple[NDArray[np.void], Scratch, Grown]:
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
    task: ForestTask, seed: int, room: NDArray[np.void], scratch: Scratch, grown: Grown
) -> GrownTree:
    counts = draw_rows(seed, task.n_rows, task.n_drawn, bootstrap=task.bootstrap)
    rows = np.flatnonzero(counts)
    entries = room[: 2 * len(rows)].reshape(2, -1)
    entries["row"][0], entries["target"][0] = rows, task.target[rows]
    entries["weight"][0] = counts[rows]
    if task.weights is not None:
        entries["weight"][0] *= task.weights[rows]
    if task.reweigh is not None:
        entries["weight"][0] *= task.reweigh(rows, counts[rows])
    scratch.waiting[0] = (0, len(rows), 0, 0, 0, 0.0, 0.0, 0.0)
    scratch.order[:] = np.arange(len(scratch.order))
    n_nodes, n_words = grow_tree(
        task.table,
        entries,
        task.n_classes > 0,
        grown,
        scratch,
        (task.max_features, task.max_depth, task.min_leaf),
        np.uint64(seed),
    )
    return GrownTree(
        grown.steps[:n_nodes].copy(),
        grown.nodes[:n_nodes].copy(),
        grown.values[:n_nodes].copy(),
        grown.words[:n_words].copy(),
    )


def join_trees(
    trees: list[GrownTree],
    n_categories: NDArray[np.int32],
    gaps: tuple[bool, ...],
    *,
    of_classes: bool,
) -> Forest:
    """Return the forest of some trees, which are used up."""
    n_nodes = [len(tree.steps) for tree in trees]
    n_words = [len(tree.words) for tree in trees]
    columns: dict[str, list[Any]] = {field.name: [] for field in fields(GrownTree)}
    while trees:
        tree = trees.pop()
        for name, parts in columns.items():
            parts.append(getattr(tree, name))
    joined = {}
    for name, parts in columns.items():
        # One property at a time, so that little is in memory twice.
        joined[name] = np.concatenate(parts[::-1])
        parts.clear()
    return Forest(
        starts=np.concatenate([[0], np.cumsum(n_nodes)]).astype(np.int64),
        word_starts=np.concatenate([[0], np.cumsum(n_words)]).astype(np.int64),
        n_categories=n_categories,
        of_classes=of_classes,
        gaps=gaps,
        **joined,
    )
