"""Tree growing level by level, for tables of numbers.

All nodes of a level are searched in one call for each layout of columns, and what a loop does not
need is not compiled: a learner that is called for the first time answers in a second or two. The
nodes near the root are split by all threads together; below a limit each thread grows groups of
subtrees by itself. Other tables, and other criteria, are for `presorted`.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.base import iterate_in_threads, thread_count, thread_map
from verulam.tree._growing.assemble import Assembly, Growth, Part
from verulam.tree._growing.growth_parameters import ENTROPY, NODE, GrowthParameters, Nodes
from verulam.tree._growing.lazy_memory import empty_pages, release_pages
from verulam.tree._growing.presorted import make_nodes
from verulam.tree._levels.records import (
    NO_COLUMN,
    SPLIT,
    Scoring,
    StoppingRules,
    Task,
    make_front,
    no_splits,
)
from verulam.tree._levels.search import CodeTables, LevelSample, Searcher
from verulam.tree._levels.step_loops import (
    divide_rows,
    draw_for_nodes,
    mark_splits,
    number_depth_first,
    settle_classes,
    settle_targets,
    settle_weighted_classes,
    settle_weighted_targets,
)
from verulam.tree._tuning import (
    COLUMNS_PER_TASK,
    GROUP_ROWS,
    GROUPS,
    LEVEL_ROWS,
    PAGED_BYTES,
    SHARED_NODES,
)

#: What is left of the nodes when they are grown, beside their values.
TREE_FIELDS = (
    *("kind", "column", "threshold", "first_child", "n_children", "missing_branch"),
    *("category_start", "n_rows", "impurity", "gain", "weight"),
)
#: A node without its fields.
NODE_BYTES = np.dtype((np.void, NODE.itemsize))


@dataclass(frozen=True, eq=False)
class Roots:
    """Nodes of a tree from which it is to grow on.

    Attributes
    ----------
    numbers : ndarray
        Their numbers in the tree.
    cells : ndarray of NODE
        What is known of them.
    first, last : ndarrays of shape (n_lists, n_roots)
        As in `Front`.
    """

    numbers: NDArray[np.intp]
    cells: NDArray[np.void]
    first: NDArray[np.int32]
    last: NDArray[np.int32]

    @property
    def n_rows(self) -> NDArray[np.int32]:
        """How many rows each has."""
        return self.cells["n_rows"]

    def __getitem__(self, places: Any) -> "Roots":
        return Roots(*(array[..., places] for array in vars(self).values()))

    @staticmethod
    def joined(several: "list[Roots]") -> "Roots":
        """Return the nodes of several as one."""
        arrays = zip(*(vars(roots).values() for roots in several), strict=True)
        return Roots(*(np.concatenate(same, axis=-1) for same in arrays))


def grow_by_levels(sample: LevelSample, parameters: GrowthParameters, seed: int = 0) -> Growth:
    """Return the tree grown on the sample; the number of threads does not change it."""
    layout, n_rows = sample.layout, len(sample.targets)
    limit = max(GROUP_ROWS, n_rows // GROUPS)
    n_listed = layout.n_listed[:, None]
    cells = np.zeros(1, dtype=NODE)
    cells["n_rows"], cells["seed"] = n_rows, seed
    root = Roots(np.zeros(1, dtype=np.intp), cells, np.zeros_like(n_listed), n_listed)
    top = Levels(sample, parameters, root, limit if n_rows > LEVEL_ROWS else 0)
    top_part = top.grow()
    groups = _groups(top.left_over, limit)
    # What is left needs the table only up to the size of its nodes.
    release_pages(parameters.table, limit + 1, len(parameters.table))
    del top
    assembly = Assembly(
        top_part,
        top_part.n_nodes + 2 * sum(int(group.n_rows.sum()) for group in groups),
        np.zeros(layout.values.shape[1], dtype=np.int32),
        n_way=False,
        weighted=sample.weights is not None,
    )
    if groups:
        grow_group = partial(_grow_group, sample, parameters)
        parts = iterate_in_threads(grow_group, groups, limit_blas=False)
        for group, part in zip(groups, parts, strict=True):
            assembly.add(group.numbers, part)
    return Growth(assembly.structure(fractional=False), sample.ordered.rows)


def _groups(left_over: list[Roots], limit: int) -> list[Roots]:
    """Return nodes in groups that have about as many rows as one node may have."""
    if not left_over:
        return []
    nodes = Roots.joined(left_over)
    # In the order of their rows, so that what a group reads lies side by side.
    order = np.argsort(nodes.cells["start"])
    ends = np.cumsum(nodes.n_rows[order], dtype=np.int64)
    borders = np.flatnonzero(np.diff((ends - 1) // limit)) + 1
    return [nodes[places] for places in np.split(order, borders)]


def _grow_group(sample: LevelSample, parameters: GrowthParameters, group: Roots) -> Part:
    """Grow a group of nodes, and all that is below them, by one thread."""
    part = Levels(sample, parameters, group).grow()
    # Neither the lists of these nodes nor their targets are read again.
    start, stop = int(group.cells["start"][0]), int(group.cells["start"][-1] + group.n_rows[-1])
    release_pages(sample.ordered.targets, start, stop)
    for place, column in enumerate(sample.layout.lists.columns.tolist()):
        first, last = int(group.first[place, 0]), int(group.last[place, -1])
        release_pages(sample.layout.lists.words[column], first, last)
    return part


def take_better(
    best: NDArray[np.void], other: NDArray[np.void], weight: NDArray[np.float64]
) -> None:
    """Replace the splits of nodes where those of other columns are better, as `offer` does."""
    with np.errstate(invalid="ignore"):
        close = np.abs(other["decrease"] - best["decrease"]) <= 1e-12 * weight
    earlier, larger = other["column"] < best["column"], other["decrease"] > best["decrease"]
    better = np.where(close, earlier, larger)
    # A column that leaves no impurity is only replaced by such a one before it.
    better &= best["perfect"] == NO_COLUMN
    better |= other["perfect"] < best["perfect"]
    best[better] = other[better]


class Levels:
    """Nodes that grow level by level from one or several roots.

    Parameters
    ----------
    sample
        Training rows.
    parameters
        Criterion and stopping rules.
    roots
        Where to start.
    limit
        Nodes of at most so many rows are left over, and all threads work on the others; 0 for one
        thread that grows everything.

    Attributes
    ----------
    left_over : list of Roots
        The nodes that were not grown.
    """

    def __init__(
        self, sample: LevelSample, parameters: GrowthParameters, roots: Roots, limit: int = 0
    ) -> None:
        self.sample, self.parameters, self.limit = sample, parameters, limit
        entropy = parameters.criterion == ENTROPY
        self.scoring = Scoring(entropy, parameters.min_leaf, parameters.table)
        limits = (parameters.min_split, parameters.max_depth)
        self.rules = StoppingRules(*limits, parameters.threshold, parameters.purity, entropy)
        n_rows, n_roots, n_lists = int(roots.n_rows.sum()), len(roots.cells), len(roots.first)
        # A node that is split has two rows at least, and more than the limit.
        capacity = 2 * (n_rows // (limit + 1) + 1) if limit else n_rows // 2 + n_roots
        n_nodes = SHARED_NODES + 2 * capacity if limit else 2 * n_rows + n_roots
        self.nodes = make_nodes(n_nodes, parameters.n_classes)
        n_coded = len(sample.layout.coded.columns)
        self.front, self.following = (make_front(capacity, n_lists, n_coded) for _ in range(2))
        self.best = empty_pages(capacity, SPLIT)
        dtype = sample.targets.dtype
        self.buffers = (empty_pages(n_rows, np.int32), empty_pages(n_rows, dtype))
        self.tables = CodeTables(sample, n_rows)
        self.searchers = [
            Searcher(sample, self.scoring, n_rows, self.tables)
            for _ in range(thread_count() if limit else 1)
        ]
        self.all_drawn = np.ones((1, sample.layout.values.shape[1]), dtype=np.bool_)
        self.left_over: list[Roots] = []
        self._plant(roots)

    def _plant(self, roots: Roots) -> None:
        cells, self.n_nodes, self.n_roots = self.nodes.cells, len(roots.cells), len(roots.cells)
        # As bytes, because NumPy would copy the records field by field.
        cells.view(NODE_BYTES)[: self.n_nodes] = roots.cells.view(NODE_BYTES)
        self.following.first[:, : self.n_nodes] = roots.first
        self.following.last[:, : self.n_nodes] = roots.last
        self.following.constant[: self.n_nodes] = False
        self.n_active = self._settle(0)
        self.tables.count_roots(cells, self.following.active[: self.n_active])

    def _settle(self, first: int) -> int:
        """Judge the nodes from the first on; return how many of them are in the next front."""
        sample, span = self.sample, (first, self.n_nodes)
        state = (*self.nodes, self.following.active, self.best, self.rules)
        if sample.weights is not None:
            settle = settle_weighted_classes if sample.n_classes else settle_weighted_targets
            return int(settle(*span, sample.ordered.rows, sample.targets, sample.weights, *state))
        if sample.n_classes:
            return int(settle_classes(*span, sample.ordered.targets, *state, self.scoring))
        return int(settle_targets(*span, sample.ordered.targets, *state))

    def grow(self) -> Part:
        """Split the nodes of one level after the other."""
        layout, cells = self.sample.layout, self.nodes.cells
        rows, targets, side = self.sample.ordered
        least = (self.parameters.min_decrease - 1e-12) * self.parameters.total_weight
        lists = (layout.lists.words, layout.lists.common_value)
        columns = (layout.coded.codes, *lists, layout.place, layout.n_levels)
        while self.n_active:
            self.front, self.following = self.following, self.front
            if self.limit and not self._leave_over():
                break
            self._search()
            active, n_before = self.front.active[: self.n_active], self.n_nodes
            front = (active, self.front.first, self.front.last)
            mark_splits(least, *columns, rows, side, cells, *front, self.best)
            state = (rows, targets, side, cells, active, *self.buffers)
            self.n_nodes = int(divide_rows(n_before, *state))
            n_next = self._settle(n_before)
            if n_next:
                self._divide_columns()
            self.n_active = n_next
        return self._part()

    def _leave_over(self) -> int:
        """Put aside the nodes that one thread can grow alone; return how many stay."""
        active = self.front.active[: self.n_active]
        cells = self.nodes.cells[active]
        large = cells["n_rows"] > self.limit
        if self.n_nodes > SHARED_NODES:
            large[:] = False
        first, last = (array[:, : self.n_active] for array in self.front[1:3])
        roots = Roots(active.astype(np.intp), cells, first, last)
        self.left_over.append(roots[~large])
        n_large = int(np.count_nonzero(large))
        for array in self.front[:-1]:
            array[..., :n_large] = array[..., : self.n_active][..., large]
        self.front.constant[:n_large] = self.front.constant[: self.n_active][large]
        self.n_active = n_large
        return n_large

    def _search(self) -> None:
        """Find the best split of every node of the front."""
        n_columns, n_drawn = self.sample.layout.values.shape[1], self.parameters.max_features
        if n_drawn >= n_columns:
            self._search_drawn(self.all_drawn)
            return
        drawn = np.empty((self.n_active, n_columns), dtype=np.bool_)
        order = np.empty(n_columns, dtype=np.int64)
        first, last = 0, n_drawn
        # A drawn set without any split is extended until there is one.
        while last <= n_columns and (self.best["column"][: self.n_active] < 0).any():
            state = (self.front.active, self.nodes.cells, self.best, order, drawn)
            draw_for_nodes(first, last, *state)
            self._search_drawn(drawn)
            first, last = last, last + 1

    def _search_drawn(self, drawn: NDArray[np.bool_]) -> None:
        """Search columns, all by one thread or some by each of several."""
        layout = self.sample.layout
        n_lists, n_codes = len(layout.lists.columns), len(layout.coded.columns)
        if len(self.searchers) == 1:
            self._search_piece(self.searchers[0], True, 0, n_lists, drawn, self.best)
            self._search_piece(self.searchers[0], False, 0, n_codes, drawn, self.best)
            return
        n_active = self.n_active
        pieces = [
            (is_list, first, min(first + COLUMNS_PER_TASK, n_columns), drawn, no_splits(n_active))
            for is_list, n_columns in ((True, n_lists), (False, n_codes))
            for first in range(0, n_columns, COLUMNS_PER_TASK)
        ]
        n_threads = len(self.searchers)

        def work(thread: int) -> None:
            for piece in pieces[thread::n_threads]:
                self._search_piece(self.searchers[thread], *piece)

        thread_map(work, range(n_threads), n_threads, limit_blas=False)
        weight = self.nodes.cells["weight"][self.front.active[:n_active]]
        for *_, best in pieces:
            take_better(self.best[:n_active], best, weight)

    def _search_piece(
        self,
        searcher: Searcher,
        is_list: bool,
        first: int,
        last: int,
        drawn: NDArray[np.bool_],
        best: NDArray[np.void],
    ) -> None:
        if first == last:
            return
        task = Task(first, last, self.n_active, drawn, int(len(drawn) > 1))
        search = searcher.search_lists if is_list else searcher.search_codes
        search(task, self.nodes, self.front, best)

    def _divide_columns(self) -> None:
        """Pass lists and tables on to the children."""
        n_threads, n_lists = len(self.searchers), len(self.sample.layout.lists.columns)
        bounds = [thread * n_lists // n_threads for thread in range(n_threads + 1)]
        state = (self.nodes.cells, self.front, self.following)

        def divide(thread: int) -> None:
            first, last = bounds[thread : thread + 2]
            self.searchers[thread].divide_lists(first, last, self.n_active, *state)

        if n_threads > 1:
            thread_map(divide, range(n_threads), n_threads, limit_blas=False)
        else:
            divide(0)
        self.tables.pass_on(self.nodes.cells, self.front, self.following, self.n_active)

    def _part(self) -> Part:
        """Return the nodes, numbered from the first branch to the last."""
        count, cells = self.n_nodes, self.nodes.cells
        order, number, waiting = (empty_pages(count + 1, np.int32) for _ in range(3))
        number_depth_first(self.n_roots, cells, order, number, waiting)
        order = order[:count]
        # Few nodes are taken as whole records; of many, each field goes to memory of its own.
        if count * NODE.itemsize < PAGED_BYTES:
            cells = cells[order]
            fields = {name: cells[name] for name in TREE_FIELDS}
        else:
            weighted = self.sample.weights is not None
            names = TREE_FIELDS if weighted else TREE_FIELDS[:-1]
            fields = {name: _taken(cells[name], order) for name in names}
        for roots in self.left_over:
            roots.numbers[:] = number[roots.numbers]
        nodes = Nodes(fields, _taken(self.nodes.values, order))
        return Part(nodes, count, np.empty(0, dtype=np.int64))


def _taken(array: NDArray[Any], order: NDArray[np.int32]) -> NDArray[Any]:
    """Return entries in another order, in memory that goes back to the system with them."""
    shape = (len(order), *array.shape[1:])
    target = empty_pages(math.prod(shape), array.dtype).reshape(shape)
    return np.take(array, order, axis=0, out=target, mode="clip")
