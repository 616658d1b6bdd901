"""A k-d tree whose answers do not depend on how it was built: the first of equally near rows.

Nodes have the boxes of their rows and the number of the first of them. A node is passed over where
nothing in it could come before the last neighbour so far, by distance and then by number, so that
ties and copies are settled within the search and cost next to nothing.
"""

from dataclasses import dataclass

import numpy as np

from verulam.base import thread_count, thread_map
from verulam.nonparametric._tuning import TREE_QUERIES, TREE_TASK_QUERIES
from verulam.numerics import njit

#: Rows of a leaf at most: their squared distances are vector instructions, a node is a guess that
#: the processor may lose.
LEAF_ROWS = 16
#: Squares below the limit by less than this share may have the same root.
NEARLY = 1.0 - 1e-14
#: What rounding can add to the square of a root, as a share and next to zero.
ABOVE, LEAST = 1.0 + 1e-15, 5e-324


@dataclass(frozen=True)
class KDTree:
    """Stored rows, cut at medians until few are left; node i has the children 2 i + 1 and 2 i + 2.

    Attributes
    ----------
    columns : ndarray of shape (n_columns, n_rows)
        The rows in the order of the leaves, one in each column.
    order : ndarray of shape (n_rows,)
        Their numbers.
    ranges : ndarray of shape (n_nodes, 2)
        Where the rows of a node begin and end in that order.
    first_rows : ndarray of shape (n_nodes,)
        The least number among the rows of a node.
    boxes : ndarray of shape (n_nodes, 2, n_columns)
        Least and largest coordinates of its rows.
    is_point : ndarray of shape (n_nodes,)
        Whether its rows are copies of one; they stand in their order then, and it is not cut.
    """

    columns: np.ndarray
    order: np.ndarray
    ranges: np.ndarray
    first_rows: np.ndarray
    boxes: np.ndarray
    is_point: np.ndarray

    def query(
        self, queries: np.ndarray, k: int, sequence: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return Euclidean distances of the `k` nearest rows of each query, and which they are.

        Queries are worked on in a sequence that changes nothing but the time: neighbours in it that
        lie near one another need the same leaves, and copies are answered at once.
        """
        distances = np.full((len(queries), k), np.inf)
        rows = np.full((len(queries), k), len(self.order), dtype=np.intp)
        n_levels = len(self.boxes).bit_length()

        def search(start: int) -> None:
            search_tree(
                queries,
                sequence[start : start + TREE_TASK_QUERIES],
                self.columns,
                self.order,
                self.ranges,
                self.first_rows,
                self.boxes,
                self.is_point,
                distances,
                rows,
                np.empty(n_levels + 1, dtype=np.intp),
                np.empty(n_levels + 1),
                np.empty(max(k, LEAF_ROWS)),
            )

        threads = thread_count() if len(queries) > TREE_QUERIES else 1
        thread_map(search, range(0, len(queries), TREE_TASK_QUERIES), threads, limit_blas=False)
        return distances, rows


def grow_kd_tree(stored: np.ndarray) -> KDTree:
    """Return the tree of some rows."""
    n_rows, n_columns = stored.shape
    n_leaves = 1
    while n_leaves * LEAF_ROWS < n_rows:
        n_leaves *= 2
    order = np.arange(n_rows)
    boxes = np.empty((2 * n_leaves - 1, 2, n_columns))
    is_point = np.zeros(len(boxes), dtype=np.bool_)
    ranges = np.empty((len(boxes), 2), dtype=np.intp)
    ranges[0] = 0, n_rows
    cut_at_medians(stored, order, ranges, boxes, is_point, np.empty(n_rows))
    _sort_copies(order, ranges, is_point)
    first_rows = np.empty(len(boxes), dtype=np.intp)
    first_rows[n_leaves - 1 :] = np.minimum.reduceat(order, ranges[n_leaves - 1 :, 0])
    for width in (n_leaves >> level for level in range(1, n_leaves.bit_length())):
        children = first_rows[2 * width - 1 : 4 * width - 1]
        first_rows[width - 1 : 2 * width - 1] = children.reshape(-1, 2).min(axis=1)
    return KDTree(stored[order].T.copy(), order, ranges, first_rows, boxes, is_point)


def _sort_copies(order: np.ndarray, ranges: np.ndarray, is_point: np.ndarray) -> None:
    """Put the rows of every node of copies into their order."""
    points = np.flatnonzero(is_point)
    # Nodes below another node of copies are sorted with it.
    starts, stops = ranges[points[(points == 0) | ~is_point[(points - 1) // 2]]].T
    n_rows, lengths = len(order), stops - starts
    groups = np.repeat(np.arange(len(lengths)), lengths)
    places = np.arange(len(groups)) + np.repeat(starts - lengths.cumsum() + lengths, lengths)
    order[places] = np.sort(order[places] + groups * n_rows) - groups * n_rows


@njit(cache=True, nogil=True, error_model="numpy")
def cut_at_medians(stored, order, ranges, boxes, is_point, keys):
    """Put the rows in the order of the leaves, and write the ranges of nodes and their boxes."""
    n_nodes, _, n_columns = boxes.shape
    for node in range(n_nodes):
        start, stop = ranges[node, 0], ranges[node, 1]
        widest, extent = 0, -1.0
        for column in range(n_columns):
            low = high = stored[order[start], column]
            for place in range(start, stop):
                value = stored[order[place], column]
                low = value if value < low else low
                high = value if value > high else high
            boxes[node, 0, column], boxes[node, 1, column] = low, high
            if high - low > extent:
                widest, extent = column, high - low
        # Nothing can be cut where all rows are copies of one.
        is_point[node] = extent <= 0.0
        if 2 * node + 1 >= n_nodes:
            continue
        middle = (start + stop) // 2
        ranges[2 * node + 1, 0], ranges[2 * node + 1, 1] = start, middle
        ranges[2 * node + 2, 0], ranges[2 * node + 2, 1] = middle, stop
        if is_point[node]:
            continue
        for place in range(start, stop):
            keys[place] = stored[order[place], widest]
        _select(keys, order, start, stop - 1, middle)


@njit(cache=True, nogil=True)
def _select(keys, order, low, high, middle):
    """Put what belongs before the middle before it, by Hoare's quickselect."""
    while low < high:
        pivot = keys[(low + high) // 2]
        left, right = low, high
        while left <= right:
            while keys[left] < pivot:
                left += 1
            while keys[right] > pivot:
                right -= 1
            if left <= right:
                key, row = keys[left], order[left]
                keys[left], order[left] = keys[right], order[right]
                keys[right], order[right] = key, row
                left += 1
                right -= 1
        # What lies between the two has the pivot's value, and is where it belongs.
        if middle <= right:
            high = right
        elif middle >= left:
            low = left
        else:
            return


@njit(cache=True, nogil=True, error_model="numpy")
def search_tree(
    queries,
    sequence,
    columns,
    order,
    ranges,
    first_rows,
    boxes,
    is_point,
    distances,
    rows,
    nodes,
    bounds,
    squares,
):
    """Find the nearest rows of each query, where the lists are full of infinity at first."""
    n_inner = len(boxes) // 2
    last = distances.shape[1] - 1
    for turn in range(len(sequence)):
        query = sequence[turn]
        point = queries[query]
        if turn > 0 and _copy_answer(queries, sequence[turn - 1], query, distances, rows):
            continue
        limit = np.inf
        nodes[0], bounds[0] = 0, 0.0
        n_waiting = np.int64(1)
        while n_waiting > 0:
            n_waiting -= 1
            node, bound = nodes[n_waiting], bounds[n_waiting]
            while bound <= limit:
                # Roots decide, and among equal ones the number of the row.
                if (
                    bound >= limit * NEARLY
                    and first_rows[node] > rows[query, last]
                    and np.sqrt(bound) >= distances[query, last]
                ):
                    break
                if node >= n_inner or is_point[node]:
                    start, stop = ranges[node, 0], ranges[node, 1]
                    # Of copies, which are sorted, no more than the first can be neighbours.
                    if is_point[node] and stop > start + last + 1:
                        stop = start + last + 1
                    limit = _visit_leaf(
                        point,
                        columns,
                        order,
                        start,
                        stop,
                        limit,
                        distances[query],
                        rows[query],
                        squares,
                    )
                    break
                node = 2 * node + 1
                bound, beside = _box_square(point, boxes[node]), _box_square(point, boxes[node + 1])
                is_left = bound < beside or (
                    bound == beside and first_rows[node] < first_rows[node + 1]
                )
                nodes[n_waiting] = node + 1 if is_left else node
                bounds[n_waiting] = beside if is_left else bound
                n_waiting += 1
                if not is_left:
                    node, bound = node + 1, beside


@njit(cache=True, nogil=True)
def _copy_answer(queries, previous, query, distances, rows):
    """Give a query that equals the one before the same neighbours; tell whether it does."""
    for column in range(queries.shape[1]):
        if queries[query, column] != queries[previous, column]:
            return False
    for rank in range(distances.shape[1]):
        distances[query, rank] = distances[previous, rank]
        rows[query, rank] = rows[previous, rank]
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def _box_square(point, box):
    """Return the squared distance to a box: never above that of a row in it, rounding included."""
    total = 0.0
    for column in range(len(point)):
        below, above = box[0, column] - point[column], point[column] - box[1, column]
        gap = max(below, above, 0.0)
        total += gap * gap
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _visit_leaf(point, columns, order, start, stop, limit, distances, rows, squares):
    """Insert the rows of a leaf that come before the last neighbour; return the limit from now."""
    n_here = stop - start
    for place in range(n_here):
        squares[place] = 0.0
    # Column by column, so that the inner loop runs along memory, for many rows in one instruction.
    for column in range(len(point)):
        value = point[column]
        for place in range(n_here):
            difference = value - columns[column, start + place]
            squares[place] += difference * difference
    last = len(distances) - 1
    for place in range(n_here):
        if squares[place] > limit:
            continue
        distance, row = np.sqrt(squares[place]), order[start + place]
        if distance == distances[last] and row > rows[last]:
            continue
        if distance > distances[last]:
            continue
        rank = last
        while rank > 0 and (
            distances[rank - 1] > distance
            or (distances[rank - 1] == distance and rows[rank - 1] > row)
        ):
            distances[rank] = distances[rank - 1]
            rows[rank] = rows[rank - 1]
            rank -= 1
        distances[rank] = distance
        rows[rank] = row
        # A square that rounds to the same root may still win by its row number.
        limit = distances[last] * distances[last] * ABOVE + LEAST
    return limit
