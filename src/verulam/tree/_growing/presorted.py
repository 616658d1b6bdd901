"""Tree growing over presorted columns (as in SLIQ and SPRINT), by several threads.

Every column is sorted once. Large nodes are then split one after the other, all threads searching
the columns of one node; below a limit each thread grows whole subtrees by itself.
"""

from functools import partial
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from verulam.base import iterate_in_threads, thread_count, thread_map
from verulam.tree._growing.assemble import Assembly, CategoryCodes, Growth, Part
from verulam.tree._growing.growth_parameters import (
    ABSOLUTE,
    MISSING_RANK,
    N_SPLIT_FIELDS,
    NODE,
    RISK,
    ROW_BITS,
    GrowthParameters,
    Nodes,
    Sample,
    Scratch,
)
from verulam.tree._growing.lazy_memory import empty_pages, release_pages
from verulam.tree._growing.node_loops import (
    grow_subtree,
    is_good_enough,
    is_leaf,
    make_node,
    mark_split,
    prepare_search,
)
from verulam.tree._growing.partition_loops import divide_columns, divide_rows
from verulam.tree._growing.search_loops import choose_column, draw_columns, next_seed, search_column
from verulam.tree._tuning import (
    COLUMNS_PER_TASK,
    PARTS,
    SHARED_NODES,
    SHARED_ROWS,
    THREADED_NUMBERS,
)


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
    # Every scan reads classes and sides at random places: the narrowest types spare the caches.
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


def presort(values: NDArray[np.float64], n_categories: NDArray[np.int32]) -> NDArray[np.uint64]:
    """Return the rows of each column in ascending order, packed with the ranks of their values.

    Missing values come last, with a rank above all others; a category's rank is its code.
    """
    n_rows, n_columns = values.shape
    packed = empty_pages(n_columns * n_rows, np.uint64).reshape(n_columns, n_rows)

    def sort_block(first: int) -> None:
        block = np.ascontiguousarray(values[:, first : first + COLUMNS_PER_TASK].T)
        for column, numbers in enumerate(block, first):
            if n_categories[column]:
                pack_codes(numbers, n_categories[column], packed[column])
            else:
                pack_numbers(numbers, np.argsort(numbers), packed[column])

    starts = range(0, n_columns, COLUMNS_PER_TASK)
    thread_map(sort_block, starts, 0 if values.size >= THREADED_NUMBERS else 1)
    return packed


@njit(cache=True, nogil=True)
def pack_numbers(numbers, order, packed):
    """Write the rows of a sorted column, each with the rank of its number; equals share a rank."""
    rank = np.uint64(0)
    for place in range(order.shape[0]):
        number = numbers[order[place]]
        if np.isnan(number):
            packed[place] = (MISSING_RANK << ROW_BITS) | np.uint64(order[place])
            continue
        # Ranks are compared instead of numbers: a word holds rank and row, so that a scan reads one
        # array in order.
        if place > 0 and number != numbers[order[place - 1]]:
            rank += np.uint64(1)
        packed[place] = (rank << ROW_BITS) | np.uint64(order[place])


@njit(cache=True, nogil=True)
def pack_codes(codes, n_categories, packed):
    """Write the rows by category, each with its code, the missing ones last."""
    places = np.zeros(n_categories + 2, dtype=np.int64)
    for code in codes:
        places[(n_categories if np.isnan(code) else np.int64(code)) + 1] += 1
    # Counting sort by category: codes need no comparisons.
    for code in range(n_categories):
        places[code + 1] += places[code]
    for row in range(codes.shape[0]):
        missing = np.isnan(codes[row])
        code = n_categories if missing else np.int64(codes[row])
        rank = MISSING_RANK if missing else np.uint64(code)
        packed[places[code]] = (rank << ROW_BITS) | np.uint64(row)
        places[code] += 1


def make_scratch(n_node: int, sample: Sample, parameters: GrowthParameters) -> Scratch:
    """Return the buffers of a thread, for nodes of at most `n_node` rows."""
    slow = parameters.criterion >= ABSOLUTE
    most = int(sample.n_categories.max(initial=0))
    return Scratch(
        words=empty_pages(max(n_node, most), np.uint64),
        rows=empty_pages(n_node, np.int32),
        numbers=np.empty((2, n_node + 1 if slow else 1)),
        ranks=np.empty(len(sample.rows) if parameters.criterion == ABSOLUTE else 0, dtype=np.int32),
        counts=np.empty((4, max(2, parameters.n_classes))),
        groups=np.empty((3, most)),
        places=np.empty((2, most + 3), dtype=np.int64),
    )


def make_nodes(capacity: int, n_values: int) -> Nodes:
    """Return arrays of so many nodes; memory is taken only as it is written to."""
    return Nodes(
        empty_pages(capacity, NODE), empty_pages(capacity * n_values).reshape(capacity, n_values)
    )


def is_numeric(parameters: GrowthParameters) -> bool | None:
    """Return True where numbers are predicted and None for classes, as the loops take it."""
    return True if parameters.criterion > RISK else None


def grow(sample: Sample, parameters: GrowthParameters, seed: int = 0) -> Growth:
    """Return the tree grown on the sample; the number of threads does not change it."""
    top, pending = _grow_top(sample, parameters, seed)
    # Of the table, parts need only what is as small as they are.
    release_pages(parameters.table, _shared_limit(len(sample.rows)) + 1, len(parameters.table))
    spans = {node: node_span(top.nodes, node) for node in pending}
    # The largest first, so that no thread is left alone with one at the end.
    pending.sort(key=lambda node: spans[node][0] - spans[node][1])
    capacity = top.n_nodes + sum(_capacity(node, top, parameters) for node in pending)
    assembly = Assembly(
        top,
        capacity,
        sample.n_categories,
        n_way=parameters.n_way,
        weighted=len(sample.weights) > 0,
    )
    threads = 0 if len(sample.rows) >= SHARED_ROWS else 1
    grown = iterate_in_threads(partial(_grow_part, top, sample, parameters), pending, threads)
    for root, part in zip(pending, grown, strict=True):
        assembly.add(np.array([root]), part)
    return Growth(assembly.structure(fractional=False), sample.rows)


def _shared_limit(n_rows: int) -> int:
    """Return how many rows a node may have that one thread grows alone."""
    return max(SHARED_ROWS, n_rows // PARTS)


def _capacity(node: int, top: Part, parameters: GrowthParameters) -> int:
    """Return the most nodes that can grow from one of the shared part."""
    cell = top.nodes.cells[node]
    most_children = 3 if parameters.n_way else 2
    # Every child has rows, except for one of unseen categories in an n-way split: n rows make at
    # most n leaves that have some, fewer inner nodes, and an empty leaf for each of these.
    capacity = most_children * int(cell["n_rows"]) + 1
    depth = parameters.max_depth - int(cell["depth"])
    return min(capacity, 2 ** (depth + 1)) if not parameters.n_way and depth < 30 else capacity


def node_span(nodes: Nodes, node: int) -> tuple[int, int]:
    """Return where the rows of a node start and stop."""
    start = int(nodes.cells["start"][node])
    return start, start + int(nodes.cells["n_rows"][node])


def _grow_part(top: Part, sample: Sample, parameters: GrowthParameters, root: int) -> Part:
    """Grow one of the pending nodes of the shared part, and all that is below it."""
    start, stop = node_span(top.nodes, root)
    nodes = make_nodes(_capacity(root, top, parameters), top.nodes.values.shape[1])
    nodes.cells[0], nodes.values[0] = top.nodes.cells[root], top.nodes.values[root]
    n_columns = len(sample.packed)
    n_nodes, codes = grow_subtree(
        nodes,
        np.arange(n_columns),
        sample,
        parameters,
        make_scratch(stop - start, sample, parameters),
        is_numeric(parameters),
        np.empty((n_columns, N_SPLIT_FIELDS)),
        make_sizes(sample),
        np.empty(16, dtype=np.int64),
    )
    for order in sample.packed:
        release_pages(order, start, stop)
    return Part(nodes, n_nodes, codes)


def make_sizes(sample: Sample) -> NDArray[np.int64]:
    """Return an array for the sizes of a node's children."""
    return np.empty(int(sample.n_categories.max(initial=0)) + 3, dtype=np.int64)


def _grow_top(sample: Sample, parameters: GrowthParameters, seed: int) -> tuple[Part, list[int]]:
    """Split the large nodes, all threads on one node; return them and the nodes left to grow."""
    n_rows, n_values = len(sample.rows), parameters.n_classes
    threads = thread_count()
    limit = _shared_limit(n_rows)
    sizes = make_sizes(sample)
    nodes = make_nodes(SHARED_NODES + len(sizes), n_values)
    make_node(0, -1, 0, n_rows, np.uint64(seed), nodes, sample, parameters, is_numeric(parameters))
    scratches = [make_scratch(n_rows, sample, parameters)]
    if n_rows > limit:
        scratches += [make_scratch(n_rows, sample, parameters) for _ in range(threads - 1)]
    splits = np.empty((sample.packed.shape[0], N_SPLIT_FIELDS))
    codes = CategoryCodes()
    waiting, pending, n_nodes = [] if is_leaf(0, nodes, parameters) else [0], [], 1
    while waiting:
        node = waiting.pop()
        if nodes.cells["n_rows"][node] <= limit or n_nodes > SHARED_NODES:
            pending.append(node)
            continue
        column = search_by_threads(node, nodes, sample, parameters, scratches, splits)
        if not is_good_enough(column, splits, parameters):
            continue
        n_children = split_node(
            node, column, splits, nodes, sample, parameters, scratches[0], sizes, codes
        )
        rows = sample.rows[slice(*node_span(nodes, node))]
        divide_rows(rows, sizes, n_children, sample.side, scratches[0])
        _add_children(node, n_nodes, sizes[:n_children], nodes, sample, parameters)
        children = range(n_nodes + n_children - 1, n_nodes - 1, -1)
        unfinished = [child for child in children if not is_leaf(child, nodes, parameters)]
        # Leaves need no orders.
        if unfinished:
            _shared_division(node, n_children, nodes, sizes, sample, scratches)
        waiting.extend(unfinished)
        n_nodes += n_children
    return Part(nodes, n_nodes, codes.joined()), pending


def split_node(
    node: int,
    column: int,
    splits: NDArray[np.float64],
    nodes: Nodes,
    sample: Sample,
    parameters: GrowthParameters,
    scratch: Scratch,
    sizes: NDArray[np.int64],
    codes: CategoryCodes,
) -> int:
    """Mark the rows of a node's children, append the codes of its categories; return how many."""
    n_children, n_codes = mark_split(
        node, column, splits[column], nodes, sample, parameters, scratch, sizes
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
    parameters: GrowthParameters,
) -> None:
    """Add the children of a node whose rows have been divided."""
    cell, (start, _) = nodes.cells[node], node_span(nodes, node)
    cell["first_child"], cell["n_children"] = first_child, len(sizes)
    for branch, size in enumerate(sizes.tolist()):
        seed = np.uint64(next_seed(cell["seed"], branch))
        child, stop = first_child + branch, start + size
        make_node(child, node, start, stop, seed, nodes, sample, parameters, is_numeric(parameters))
        start = stop


def search_by_threads(
    node: int,
    nodes: Nodes,
    sample: Sample,
    parameters: GrowthParameters,
    scratches: list[Scratch],
    splits: NDArray[np.float64],
) -> int:
    """Search the columns of one node by all threads; return the best or -1."""
    start, stop = node_span(nodes, node)
    numeric = is_numeric(parameters)
    # Each thread reads the node's sums from its scratch.
    for scratch in scratches:
        error = prepare_search(node, nodes, sample, parameters, scratch, numeric)
    n_columns = len(splits)
    columns = np.arange(n_columns)
    if parameters.max_features < n_columns:
        columns = draw_columns(nodes.cells["seed"][node], n_columns)

    def search(task: int, candidates: NDArray[np.intp]) -> None:
        for column in candidates[task :: len(scratches)]:
            search_column(
                column,
                start,
                stop,
                error,
                sample,
                parameters,
                scratches[task],
                numeric,
                splits[column],
            )

    weight = nodes.cells["weight"][node]
    n_tried = min(parameters.max_features, n_columns)
    thread_map(lambda task: search(task, columns[:n_tried]), range(len(scratches)), len(scratches))
    best = choose_column(columns[:n_tried], splits, weight, parameters)
    # A drawn set without any split is extended until there is one.
    while best < 0 and n_tried < n_columns:
        n_tried += 1
        search(0, columns[n_tried - 1 : n_tried])
        best = choose_column(columns[:n_tried], splits, weight, parameters)
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
