"""Growing: columns are sorted once, large nodes are split by all threads, subtrees one by each."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.base import iterate_in_threads, thread_count, thread_map
from verulam.tree._growing.assemble import Assembly, CategoryCodes, Growth, Part
from verulam.tree._growing.growth_parameters import (
    ABSOLUTE,
    N_FOUND,
    NODE,
    RISK,
    Nodes,
    Rules,
    Sample,
    Scratch,
)
from verulam.tree._growing.lazy_memory import give_back, room
from verulam.tree._growing.node_loops import (
    grow_subtree,
    is_good_enough,
    is_leaf,
    make_node,
    mark_split,
    prepare_search,
)
from verulam.tree._growing.partition_loops import divide_columns, divide_rows
from verulam.tree._growing.presort import presort
from verulam.tree._growing.search_loops import choose_column, draw_columns, next_seed, search_column

#: Nodes of fewer rows are grown by one thread, with all that is below them.
SHARED_ROWS = 8192
#: Larger samples are divided into about so many nodes that are; each gives its memory back.
PARTS = 32
#: So are all nodes once the shared part of the tree has this many.
SHARED_NODES = 4096


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
    slow = rules.criterion >= ABSOLUTE
    most = int(sample.n_categories.max(initial=0))
    return Scratch(
        words=room(max(n_node, most), np.uint64),
        rows=room(n_node, np.int32),
        numbers=np.empty((2, n_node + 1 if slow else 1)),
        ranks=np.empty(len(sample.rows) if rules.criterion == ABSOLUTE else 0, dtype=np.int32),
        counts=np.empty((4, max(2, rules.n_classes))),
        groups=np.empty((3, most)),
        places=np.empty((2, most + 3), dtype=np.int64),
    )


def make_nodes(capacity: int, n_values: int) -> Nodes:
    """Return room for so many nodes; memory is taken only as it is written to."""
    return Nodes(room(capacity, NODE), room(capacity * n_values).reshape(capacity, n_values))


def is_numeric(rules: Rules) -> bool | None:
    """Return True where numbers are predicted and None for classes, as the loops take it."""
    return True if rules.criterion > RISK else None


def grow(sample: Sample, rules: Rules, seed: int = 0) -> Growth:
    """Return the tree grown on the sample; the number of threads does not change it."""
    top, pending = _grow_top(sample, rules, seed)
    # Of the table, parts need only what is as small as they are.
    give_back(rules.table, _shared_limit(len(sample.rows)) + 1, len(rules.table))
    spans = {node: node_span(top.nodes, node) for node in pending}
    pending.sort(key=lambda node: spans[node][0] - spans[node][1])
    capacity = top.n_nodes + sum(_capacity(node, top, rules) for node in pending)
    assembly = Assembly(
        top,
        capacity,
        sample.n_categories,
        n_way=rules.n_way,
        weighted=len(sample.weights) > 0,
    )
    threads = 0 if len(sample.rows) >= SHARED_ROWS else 1
    grown = iterate_in_threads(partial(_grow_part, top, sample, rules), pending, threads)
    for root, part in zip(pending, grown, strict=True):
        assembly.add(root, part)
    return Growth(assembly.structure(fractional=False), sample.rows)


def _shared_limit(n_rows: int) -> int:
    """Return how many rows a node may have that one thread grows alone."""
    return max(SHARED_ROWS, n_rows // PARTS)


def _capacity(node: int, top: Part, rules: Rules) -> int:
    """Return the most nodes that can grow from one of the shared part."""
    cell = top.nodes.cells[node]
    most_children = 3 if rules.n_way else 2
    capacity = most_children * int(cell["n_rows"]) + 1
    depth = rules.max_depth - int(cell["depth"])
    return min(capacity, 2 ** (depth + 1)) if not rules.n_way and depth < 30 else capacity


def node_span(nodes: Nodes, node: int) -> tuple[int, int]:
    """Return where the rows of a node start and stop."""
    start = int(nodes.cells["start"][node])
    return start, start + int(nodes.cells["n_rows"][node])


def _grow_part(top: Part, sample: Sample, rules: Rules, root: int) -> Part:
    """Grow one of the pending nodes of the shared part, and all that is below it."""
    start, stop = node_span(top.nodes, root)
    nodes = make_nodes(_capacity(root, top, rules), top.nodes.values.shape[1])
    nodes.cells[0], nodes.values[0] = top.nodes.cells[root], top.nodes.values[root]
    n_columns = len(sample.packed)
    n_nodes, codes = grow_subtree(
        nodes,
        np.arange(n_columns),
        sample,
        rules,
        make_scratch(stop - start, sample, rules),
        is_numeric(rules),
        np.empty((n_columns, N_FOUND)),
        make_sizes(sample),
        np.empty(16, dtype=np.int64),
    )
    for order in sample.packed:
        give_back(order, start, stop)
    return Part(nodes, n_nodes, codes)


def make_sizes(sample: Sample) -> NDArray[np.int64]:
    """Return room for the sizes of a node's children."""
    return np.empty(int(sample.n_categories.max(initial=0)) + 3, dtype=np.int64)


def _grow_top(sample: Sample, rules: Rules, seed: int) -> tuple[Part, list[int]]:
    """Split the large nodes, all threads on one node; return them and the nodes left to grow."""
    n_rows, n_values = len(sample.rows), rules.n_classes
    threads = thread_count()
    limit = _shared_limit(n_rows)
    sizes = make_sizes(sample)
    nodes = make_nodes(SHARED_NODES + len(sizes), n_values)
    make_node(0, -1, 0, n_rows, np.uint64(seed), nodes, sample, rules, is_numeric(rules))
    scratches = [make_scratch(n_rows, sample, rules)]
    if n_rows > limit:
        scratches += [make_scratch(n_rows, sample, rules) for _ in range(threads - 1)]
    found = np.empty((sample.packed.shape[0], N_FOUND))
    codes = CategoryCodes()
    waiting, pending, n_nodes = [] if is_leaf(0, nodes, rules) else [0], [], 1
    while waiting:
        node = waiting.pop()
        if nodes.cells["n_rows"][node] <= limit or n_nodes > SHARED_NODES:
            pending.append(node)
            continue
        column = search_by_threads(node, nodes, sample, rules, scratches, found)
        if not is_good_enough(column, found, rules):
            continue
        n_children = split_node(
            node, column, found, nodes, sample, rules, scratches[0], sizes, codes
        )
        rows = sample.rows[slice(*node_span(nodes, node))]
        divide_rows(rows, sizes, n_children, sample.side, scratches[0])
        _add_children(node, n_nodes, sizes[:n_children], nodes, sample, rules)
        children = range(n_nodes + n_children - 1, n_nodes - 1, -1)
        unfinished = [child for child in children if not is_leaf(child, nodes, rules)]
        # Leaves need no orders.
        if unfinished:
            _shared_division(node, n_children, nodes, sizes, sample, scratches)
        waiting.extend(unfinished)
        n_nodes += n_children
    return Part(nodes, n_nodes, codes.joined()), pending


def split_node(
    node: int,
    column: int,
    found: NDArray[np.float64],
    nodes: Nodes,
    sample: Sample,
    rules: Rules,
    scratch: Scratch,
    sizes: NDArray[np.int64],
    codes: CategoryCodes,
) -> int:
    """Mark the rows of a node's children, append the codes of its categories; return how many."""
    n_children, n_codes = mark_split(
        node, column, found[column], nodes, sample, rules, scratch, sizes
    )
    if n_codes:
        start = codes.add(scratch.words[:n_codes].astype(np.int64))
        nodes.cells["category_start"][node] = start
    return int(n_children)


def _add_children(
    node: int,
    first_child: int,
    sizes: NDArray[np.int64],
    nodes: Nodes,
    sample: Sample,
    rules: Rules,
) -> None:
    """Add the children of a node whose rows have been divided."""
    cell, (start, _) = nodes.cells[node], node_span(nodes, node)
    cell["first_child"], cell["n_children"] = first_child, len(sizes)
    for branch, size in enumerate(sizes.tolist()):
        seed = np.uint64(next_seed(cell["seed"], branch))
        child, stop = first_child + branch, start + size
        make_node(child, node, start, stop, seed, nodes, sample, rules, is_numeric(rules))
        start = stop


def search_by_threads(
    node: int,
    nodes: Nodes,
    sample: Sample,
    rules: Rules,
    scratches: list[Scratch],
    found: NDArray[np.float64],
) -> int:
    """Search the columns of one node by all threads; return the best or -1."""
    start, stop = node_span(nodes, node)
    numeric = is_numeric(rules)
    for scratch in scratches:
        error = prepare_search(node, nodes, sample, rules, scratch, numeric)
    n_columns = len(found)
    columns = np.arange(n_columns)
    if rules.max_features < n_columns:
        columns = draw_columns(nodes.cells["seed"][node], n_columns)

    def search(task: int, chosen: NDArray[np.intp]) -> None:
        for column in chosen[task :: len(scratches)]:
            search_column(
                column, start, stop, error, sample, rules, scratches[task], numeric, found[column]
            )

    weight = nodes.cells["weight"][node]
    n_tried = min(rules.max_features, n_columns)
    thread_map(lambda task: search(task, columns[:n_tried]), range(len(scratches)), len(scratches))
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
    start, stop = node_span(nodes, node)
    bounds = np.linspace(0, len(sample.packed), len(scratches) + 1).astype(int)

    def divide(task: int) -> None:
        first, last = bounds[task], bounds[task + 1]
        divide_columns(first, last, start, stop, sizes, n_children, sample, scratches[task])

    thread_map(divide, range(len(scratches)), len(scratches))
