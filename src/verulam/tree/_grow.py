"""Growing: columns are sorted once, large nodes are split by all threads, subtrees one by each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.base import in_threads, thread_count
from verulam.tree._divide_loops import divide_columns, divide_rows
from verulam.tree._grow_loops import choose_column, draw_columns, search_column
from verulam.tree._node_loops import (
    grow_subtree,
    is_good_enough,
    is_leaf,
    make_children,
    make_node,
    mark_split,
    prepare_search,
)
from verulam.tree._presort import presort
from verulam.tree._records import ABSOLUTE, N_FOUND, RISK, WORST, Nodes, Rules, Sample, Scratch
from verulam.tree._structure import LEAF, NWAY, SUBSET, TreeStructure, collapse, surviving

#: Nodes of fewer rows are grown by one thread, with all that is below them.
SHARED_ROWS = 8192
#: So are all nodes once the shared part of the tree has this many.
SHARED_NODES = 4096


@dataclass(frozen=True, eq=False)
class Growth:
    """A grown tree and the training rows of its nodes.

    Attributes
    ----------
    structure
        The tree.
    rows : ndarray of int32
        Training rows, those of each node side by side.
    start, stop : ndarray of int64
        The slice of `rows` that each node owns.
    """

    structure: TreeStructure
    rows: NDArray[np.int32]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]

    def collapsed(self, to_leaf: NDArray[np.bool_]) -> "Growth":
        """Return the growth with the marked nodes turned into leaves."""
        order = surviving(self.structure, to_leaf)
        smaller = collapse(self.structure, to_leaf)
        return Growth(smaller, self.rows, self.start[order], self.stop[order])

    def node_rows(self, node: int) -> NDArray[np.int32]:
        """Return the training rows of a node."""
        return self.rows[self.start[node] : self.stop[node]]


@dataclass(frozen=True, eq=False)
class Part:
    """Nodes grown together, and the categories of their splits."""

    nodes: Nodes
    n_nodes: int
    words: NDArray[np.uint64]
    branches: NDArray[np.int32]


def make_sample(
    values: NDArray[np.float64],
    n_categories: NDArray[np.int32],
    target: NDArray[Any],
    weights: NDArray[np.float64] | None,
    *,
    n_way: bool,
) -> Sample:
    """Return encoded rows with presorted columns; integer targets are class codes."""
    n_rows = len(values)
    is_class = target.dtype.kind != "f"
    small = is_class and (n_rows == 0 or target.max() < 256)
    wide = n_way and n_categories.max(initial=0) >= 255
    return Sample(
        values=values,
        packed=presort(values, n_categories),
        rows=np.arange(n_rows, dtype=np.int32),
        classes=target.astype(np.uint8 if small else np.int32)
        if is_class
        else np.empty(0, np.uint8),
        targets=np.empty(0) if is_class else target,
        weights=np.empty(0) if weights is None else weights,
        n_categories=n_categories,
        side=np.empty(n_rows, dtype=np.int32 if wide else np.uint8),
    )


def make_scratch(n_node: int, sample: Sample, rules: Rules) -> Scratch:
    """Return room to work in, for nodes of at most `n_node` rows."""
    slow = rules.criterion in (ABSOLUTE, WORST)
    most = int(sample.n_categories.max(initial=0))
    return Scratch(
        words=np.empty(n_node, dtype=np.uint64),
        rows=np.empty(n_node, dtype=np.int32),
        numbers=np.empty((2, n_node + 1 if slow else 1)),
        ranks=np.empty(len(sample.rows) if rules.criterion == ABSOLUTE else 0, dtype=np.int32),
        counts=np.empty((4, max(2, rules.n_classes))),
        groups=np.empty((3, most)),
        places=np.empty((2, most + 3), dtype=np.int64),
    )


def make_nodes(capacity: int, n_values: int) -> Nodes:
    """Return room for so many nodes; memory is taken only as it is written to."""
    kinds = Nodes(
        *("i1", "i4", "f8", "i4", "i4", "i4", "i4", "i8", "i8", "f8"),
        *("f8", "f8", "f8", "i8", "i8", "i4", "u8"),
    )
    shapes = kinds._replace(values=(capacity, n_values))
    return Nodes(
        *(
            np.empty(shape if isinstance(shape, tuple) else capacity, dtype=kind)
            for kind, shape in zip(kinds, shapes, strict=True)
        )
    )


def is_numeric(rules: Rules) -> bool | None:
    """Return True where numbers are predicted and None for classes, as the loops take it."""
    return True if rules.criterion > RISK else None


def grow(sample: Sample, rules: Rules, seed: int = 0) -> Growth:
    """Return the tree grown on the sample; the number of threads does not change it."""
    top, pending = _grow_top(sample, rules, seed)
    tasks = sorted(range(len(pending)), key=lambda task: -_size(top, pending[task]))

    def grow_task(task: int) -> Part:
        return _grow_part(pending[task], top, sample, rules)

    shared = len(sample.rows) >= SHARED_ROWS
    grown = dict(zip(tasks, in_threads(grow_task, tasks, 0 if shared else 1), strict=True))
    return assemble(top, pending, [grown[task] for task in range(len(pending))], sample, False)


def _size(part: Part, node: int) -> int:
    return int(part.nodes.stop[node] - part.nodes.start[node])


def _grow_part(root: int, top: Part, sample: Sample, rules: Rules) -> Part:
    """Grow one node of the shared part and all that is below it."""
    n_rows = _size(top, root)
    most_children = 3 if rules.n_way else 2
    capacity = most_children * n_rows + 1
    depth = rules.max_depth - int(top.nodes.depth[root])
    if not rules.n_way and depth < 30:
        capacity = min(capacity, 2 ** (depth + 1))
    nodes = make_nodes(capacity, top.nodes.values.shape[1])
    start, stop = top.nodes.start[root], top.nodes.stop[root]
    make_node(0, -1, start, stop, top.nodes.seed[root], nodes, sample, rules, is_numeric(rules))
    nodes.depth[0] = top.nodes.depth[root]
    scratch = make_scratch(n_rows, sample, rules)
    n_nodes, words, branches = grow_subtree(nodes, sample, rules, scratch, is_numeric(rules))
    return Part(nodes, n_nodes, words, branches)


def _grow_top(sample: Sample, rules: Rules, seed: int) -> tuple[Part, list[int]]:
    """Split the large nodes, all threads on one node; return them and the nodes left to grow."""
    n_rows, n_values = len(sample.rows), rules.n_classes
    threads = thread_count()
    limit = max(SHARED_ROWS, n_rows // 8) if threads > 1 else n_rows
    most = int(sample.n_categories.max(initial=0)) + 3
    nodes = make_nodes(SHARED_NODES + most, n_values)
    make_node(0, -1, 0, n_rows, np.uint64(seed), nodes, sample, rules, is_numeric(rules))
    scratches = [make_scratch(n_rows, sample, rules)]
    if n_rows > limit:
        scratches += [make_scratch(n_rows, sample, rules) for _ in range(threads - 1)]
    found = np.empty((sample.packed.shape[0], N_FOUND))
    sizes = np.empty(most, dtype=np.int64)
    words: list[NDArray[np.uint64]] = []
    branches: list[NDArray[np.int32]] = []
    waiting, pending, n_nodes = [] if is_leaf(0, nodes, rules) else [0], [], 1
    while waiting:
        node = waiting.pop()
        if nodes.n_rows[node] <= limit or n_nodes > SHARED_NODES:
            pending.append(node)
            continue
        column = search_by_threads(node, nodes, sample, rules, scratches, found)
        if not is_good_enough(column, found, rules):
            continue
        n_children, new_words, new_branches = mark_split(
            node, column, found[column], nodes, sample, rules, scratches[0], sizes
        )
        if nodes.kind[node] == SUBSET:
            nodes.category_start[node] = sum(map(len, words))
            words.append(new_words)
        elif nodes.kind[node] == NWAY:
            nodes.category_start[node] = sum(map(len, branches))
            branches.append(new_branches)
        rows = sample.rows[nodes.start[node] : nodes.stop[node]]
        divide_rows(rows, sizes, n_children, sample.side, scratches[0].rows)
        make_children(node, n_nodes, n_children, sizes, nodes, sample, rules, is_numeric(rules))
        children = range(n_nodes + n_children - 1, n_nodes - 1, -1)
        unfinished = [child for child in children if not is_leaf(child, nodes, rules)]
        # Leaves need no orders.
        if unfinished:
            _shared_division(node, n_children, nodes, sizes, sample, scratches)
        waiting.extend(unfinished)
        n_nodes += n_children
    no_words, no_branches = np.empty(0, np.uint64), np.empty(0, np.int32)
    return (
        Part(
            nodes,
            n_nodes,
            np.concatenate([*words, no_words]),
            np.concatenate([*branches, no_branches]),
        ),
        pending,
    )


def search_by_threads(
    node: int,
    nodes: Nodes,
    sample: Sample,
    rules: Rules,
    scratches: list[Scratch],
    found: NDArray[np.float64],
) -> int:
    """Search the columns of one node by all threads; return the best or -1."""
    start, stop = nodes.start[node], nodes.stop[node]
    numeric = is_numeric(rules)
    for scratch in scratches:
        error = prepare_search(node, nodes, sample, rules, scratch, numeric)
    n_columns = len(found)
    columns = np.arange(n_columns)
    if rules.max_features < n_columns:
        columns = draw_columns(nodes.seed[node], n_columns)

    def search(task: int, chosen: NDArray[np.intp]) -> None:
        for column in chosen[task :: len(scratches)]:
            search_column(
                column, start, stop, error, sample, rules, scratches[task], numeric, found[column]
            )

    weight = nodes.weight[node]
    n_tried = min(rules.max_features, n_columns)
    _by_threads(lambda task: search(task, columns[:n_tried]), len(scratches))
    best = choose_column(columns[:n_tried], found, weight, rules)
    while best < 0 and n_tried < n_columns:
        n_tried += 1
        search(0, columns[n_tried - 1 : n_tried])
        best = choose_column(columns[:n_tried], found, weight, rules)
    return int(best)


def _shared_division(
    node: int,
    n_children: int,
    nodes: Nodes,
    sizes: NDArray[np.int64],
    sample: Sample,
    scratches: list[Scratch],
) -> None:
    """Divide the orders of a node, all threads on different columns."""
    start, stop = nodes.start[node], nodes.stop[node]
    bounds = np.linspace(0, len(sample.packed), len(scratches) + 1).astype(int)

    def divide(task: int) -> None:
        first, last = bounds[task], bounds[task + 1]
        divide_columns(first, last, start, stop, sizes, n_children, sample, scratches[task])

    _by_threads(divide, len(scratches))


def _by_threads(function: Callable[[int], None], n_tasks: int) -> None:
    for _ in in_threads(function, range(n_tasks), n_tasks):
        pass


def assemble(
    top: Part, roots: list[int], parts: list[Part], sample: Sample, fractional: bool
) -> Growth:
    """Join the shared part of a tree and what was grown below it."""
    first = top.n_nodes
    merged = {name: [getattr(top.nodes, name)[: top.n_nodes].copy()] for name in Nodes._fields}
    words, branches = [top.words], [top.branches]
    for root, part in zip(roots, parts, strict=True):
        nodes, count = part.nodes, part.n_nodes
        inner = nodes.kind[:count] != LEAF
        nodes.first_child[:count][inner] += first - 1
        below = nodes.parent[1:count]
        nodes.parent[1:count] = np.where(below == 0, root, below + first - 1)
        starts = nodes.category_start[:count]
        starts[nodes.kind[:count] == SUBSET] += sum(map(len, words))
        starts[nodes.kind[:count] == NWAY] += sum(map(len, branches))
        words.append(part.words)
        branches.append(part.branches)
        for name, pieces in merged.items():
            array = getattr(nodes, name)
            if name not in ("parent", "depth", "seed"):
                pieces[0][root] = array[0]
            pieces.append(array[1:count])
        first += count - 1
    whole = {name: np.concatenate(pieces) for name, pieces in merged.items()}
    start, stop = whole.pop("start"), whole.pop("stop")
    for name in ("depth", "seed"):
        del whole[name]
    structure = TreeStructure(
        **whole,
        category_words=np.concatenate(words),
        category_branches=np.concatenate(branches),
        n_categories=sample.n_categories,
        fractional=fractional,
    )
    return Growth(structure, sample.rows, start, stop)
