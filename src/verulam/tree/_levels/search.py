"""Searching and dividing the columns of one level, by the loops that their layouts ask for."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.tree._growing.growth_parameters import Nodes
from verulam.tree._growing.lazy_memory import empty_pages
from verulam.tree._levels.code_loops import (
    count_children,
    count_codes,
    pass_constants,
    search_codes_for_classes,
    search_codes_for_targets,
)
from verulam.tree._levels.gap_loops import search_gaps_for_classes, search_gaps_for_targets
from verulam.tree._levels.layouts import MOST_VALUES, Layout
from verulam.tree._levels.list_loops import (
    divide_lists,
    search_lists_for_classes,
    search_lists_for_targets,
)
from verulam.tree._levels.records import Front, LevelRows, Scoring, Task
from verulam.tree._levels.weight_loops import (
    search_codes_for_weighted_classes,
    search_codes_for_weighted_targets,
    search_lists_for_weighted_classes,
    search_lists_for_weighted_targets,
)
from verulam.tree._tuning import TABLED_ROWS

#: More rows than any node has.
NEVER = 2**31 - 1


@dataclass(frozen=True, eq=False)
class LevelSample:
    """The training rows of a growing tree.

    Attributes
    ----------
    layout
        The columns.
    targets
        Classes or numbers, by row.
    ordered
        Rows in the order of the nodes.
    n_classes
        How many classes there are, or 0 for numbers.
    weights
        Weight of each row; None where all weigh 1.
    moments : ndarray of shape (n_rows, 2) or None
        Of weighted numbers, the weight of each row and its product with the target, which loops
        read side by side.
    """

    layout: Layout
    targets: NDArray[Any]
    ordered: LevelRows
    n_classes: int
    weights: NDArray[np.float64] | None = None
    moments: NDArray[np.float64] | None = None


def make_level_sample(
    layout: Layout,
    targets: NDArray[Any],
    n_classes: int,
    weights: NDArray[np.float64] | None = None,
) -> LevelSample:
    """Return the rows of a table, in their order."""
    if n_classes:
        # Loops read classes at random places: the narrowest type spares the caches.
        targets = targets.astype(np.uint8 if n_classes <= 256 else np.int32)
    n_rows = len(targets)
    rows, side = np.arange(n_rows, dtype=np.int32), np.empty(n_rows, dtype=np.uint8)
    ordered = empty_pages(n_rows, targets.dtype)
    ordered[:] = targets
    moments = None
    if weights is not None and not n_classes:
        moments = np.column_stack([weights, weights * targets])
    state = (layout, targets, LevelRows(rows, ordered, side), n_classes)
    return LevelSample(*state, weights, moments)


class CodeTables:
    """Tables of the class counts of large nodes, by the codes of every coded column.

    Parameters
    ----------
    sample
        Training rows.
    n_rows
        Rows of all nodes that can have a table at the same time.
    """

    def __init__(self, sample: LevelSample, n_rows: int) -> None:
        layout, self.sample = sample.layout, sample
        # Neither numbers nor weights have tables: differences of their sums would lose digits.
        n_counted = sample.n_classes if sample.weights is None else 0
        widths = n_counted * layout.n_levels[layout.coded.columns]
        self.offsets = np.zeros(len(widths) + 1, dtype=np.int64)
        np.cumsum(widths, out=self.offsets[1:])
        width = int(self.offsets[-1])
        # Below so many rows it takes less to count them than to pass through a table.
        self.least = max(TABLED_ROWS, 2 * width // len(widths)) if width else NEVER
        n_tables = n_rows // self.least + 2 if n_rows >= self.least else 0
        self.tables = empty_pages(n_tables * width, np.int32).reshape(n_tables, width)
        # A stack of the tables that are not in use, with its height at the end.
        self.free = np.arange(n_tables + 1)

    def count_roots(self, cells: NDArray[np.void], roots: NDArray[np.int32]) -> None:
        """Fill a table for each large node among those from which others grow."""
        if len(self.tables) == 0:
            return
        rows, classes, _ = self.sample.ordered
        codes, n_classes = self.sample.layout.coded.codes, self.sample.n_classes
        for root in roots[cells["n_rows"][roots] >= self.least].tolist():
            self.free[-1] -= 1
            slot = cells["slot"][root] = self.free[self.free[-1]]
            state = (codes, rows, classes, self.offsets, n_classes, self.tables[slot])
            count_codes(cells[root], *state)

    def pass_on(
        self, cells: NDArray[np.void], front: Front, following: Front, n_active: int
    ) -> None:
        """Give tables to the children of a front, and take those of its nodes back."""
        sample, codes = self.sample, self.sample.layout.coded.codes
        if codes.shape[1]:
            active = front.active[:n_active]
            pass_constants(cells, active, front.constant, following.constant)
        if self.free[-1] < len(self.tables):
            state = (codes, sample.ordered, cells, front, self.tables, self.offsets, self.free)
            count_children(n_active, self.least, *state, sample.n_classes)


class Searcher:
    """One thread's buffers, and the loops for the columns that it is to search or divide.

    Parameters
    ----------
    sample
        Training rows.
    scoring
        How splits are judged.
    n_rows
        Rows of the largest node.
    tables
        Counts of the large nodes.
    """

    def __init__(
        self, sample: LevelSample, scoring: Scoring, n_rows: int, tables: CodeTables
    ) -> None:
        self.sample, self.scoring, self.tables = sample, scoring, tables
        self.words = empty_pages(n_rows if len(sample.layout.lists.columns) else 0, np.uint64)
        self.spare = np.empty(tables.tables.shape[1], dtype=np.int32)
        self.counts = np.empty((3, sample.n_classes))
        self.links = np.empty((2, max(MOST_VALUES, min(tables.least, n_rows))), dtype=np.int32)
        self.sums = np.zeros((2, MOST_VALUES) if sample.weights is None else (MOST_VALUES, 3))

    def search_lists(self, task: Task, nodes: Nodes, front: Front, best: NDArray[np.void]) -> None:
        """Offer the best splits of some listed columns."""
        n_whole = self.sample.layout.n_whole
        if task.last <= n_whole:
            self._search_whole_lists(task, nodes, front, best)
        elif task.first < n_whole:
            self._search_whole_lists(task._replace(last=n_whole), nodes, front, best)
        if task.last > n_whole:
            gapped = task._replace(first=max(task.first, n_whole))
            self._search_gapped_lists(gapped, nodes, front, best)

    def _search_gapped_lists(
        self, task: Task, nodes: Nodes, front: Front, best: NDArray[np.void]
    ) -> None:
        sample, layout = self.sample, self.sample.layout
        state = (nodes, front, best, self.scoring)
        rows = (layout.lists, layout.values, sample.targets, sample.weights)
        if sample.n_classes:
            search_gaps_for_classes(task, *rows, *state, self.counts)
        else:
            search_gaps_for_targets(task, *rows, *state)

    def _search_whole_lists(
        self, task: Task, nodes: Nodes, front: Front, best: NDArray[np.void]
    ) -> None:
        sample, layout = self.sample, self.sample.layout
        columns, state = (layout.lists, layout.values), (nodes, front, best, self.scoring)
        if sample.n_classes and sample.weights is None:
            search_lists_for_classes(task, *columns, sample.targets, *state, self.counts)
        elif sample.n_classes:
            rows = (sample.targets, sample.weights)
            search_lists_for_weighted_classes(task, *columns, *rows, *state, self.counts)
        elif sample.moments is None:
            search_lists_for_targets(task, *columns, sample.targets, *state)
        else:
            common = np.empty(2)
            search_lists_for_weighted_targets(task, *columns, sample.moments, *state, common)

    def search_codes(self, task: Task, nodes: Nodes, front: Front, best: NDArray[np.void]) -> None:
        """Offer the best splits of some coded columns."""
        sample, tables = self.sample, self.tables
        coded, state = sample.layout.coded, (nodes, front, best, self.scoring)
        if sample.n_classes and sample.weights is None:
            buffers = (tables.tables, tables.offsets, self.spare, self.counts[0], self.links)
            search_codes_for_classes(task, coded, sample.ordered, *state, *buffers)
        elif sample.n_classes:
            classes = (sample.ordered.rows, sample.targets, sample.weights)
            chains = (self.counts[0], self.links)
            search_codes_for_weighted_classes(task, coded, *classes, *state, *chains)
        elif sample.moments is None:
            search_codes_for_targets(task, coded, sample.ordered, *state, self.sums)
        else:
            rows = (sample.ordered.rows, sample.moments)
            search_codes_for_weighted_targets(task, coded, *rows, *state, self.sums)

    def divide_lists(
        self,
        first: int,
        last: int,
        n_active: int,
        cells: NDArray[np.void],
        front: Front,
        following: Front,
    ) -> None:
        """Divide some lists between the children of the nodes."""
        if first < last:
            state = (self.sample.layout.lists, self.sample.ordered.side, cells, front, following)
            divide_lists(first, last, n_active, *state, self.words)
