"""Compiled traversal of trees: C-arrays in, arrays out, no checks."""

import numpy as np
from numba import njit

from verulam.tree._tuning import ROWS_TOGETHER

#: Kinds of nodes, numbered as in `tree`, which imports this module.
LEAF, NUMERIC, SUBSET = 0, 1, 2
#: A node of thresholds alone, in one place: twice the column, plus 1 if missing values go right.
STEP = np.dtype([("threshold", np.float64), ("column", np.int32), ("child", np.int32)])


@njit(cache=True, nogil=True, inline="always")
def branch_of_code(node, code, kind, category_start, category_words, category_branches):
    """Return the child number of a category at a subset or n-way node."""
    start = category_start[node]
    if kind[node] == SUBSET:
        word = category_words[start + (code >> 6)]
        return np.int64((word >> np.uint64(code & 63)) & np.uint64(1))
    return np.int64(category_branches[start + code])


@njit(cache=True, nogil=True)
def find_leaves(
    rows,
    kind,
    column,
    threshold,
    first_child,
    category_start,
    category_words,
    category_branches,
    missing_branch,
):
    """Return the leaf of each row, missing values following the learned direction."""
    leaves = np.empty(rows.shape[0], dtype=np.int32)
    for i in range(rows.shape[0]):
        node = 0
        while kind[node] != LEAF:
            value = rows[i, column[node]]
            if np.isnan(value):
                branch = np.int64(missing_branch[node])
            elif kind[node] == NUMERIC:
                branch = np.int64(value > threshold[node])
            else:
                branch = branch_of_code(
                    node, np.int64(value), kind, category_start, category_words, category_branches
                )
            node = first_child[node] + branch
        leaves[i] = node
    return leaves


@njit(cache=True, nogil=True, inline="always")
def step_down(rows, i, node, steps):
    """Return the child that a row goes to; a leaf leads to itself."""
    column = steps[node]["column"]
    value = rows[i, column >> 1]
    # A NaN is greater than nothing, and differs from itself. Plain arithmetic instead of branches,
    # which could not be predicted.
    right = (value > steps[node]["threshold"]) | ((column & 1) & (value != value))
    return np.int32(steps[node]["child"] + right)


@njit(cache=True, nogil=True)
def find_numeric_leaves(rows, steps):
    """Return the leaf of each row where all tests are thresholds."""
    n_rows = rows.shape[0]
    leaves = np.zeros(n_rows, dtype=np.int32)
    for first in range(0, n_rows, ROWS_TOGETHER):
        last = min(first + ROWS_TOGETHER, n_rows)
        # Each step down waits for a node to come from memory. Steps of different rows do not depend
        # on one another, so that the processor can wait for several at once.
        n_moving = ROWS_TOGETHER
        while n_moving > ROWS_TOGETHER // 2:
            n_moving = 0
            for i in range(first, last):
                below = step_down(rows, i, leaves[i], steps)
                n_moving += below != leaves[i]
                leaves[i] = below
        # Too few are left to wait for one another.
        for i in range(first, last):
            below = step_down(rows, i, leaves[i], steps)
            while below != leaves[i]:
                leaves[i] = below
                below = step_down(rows, i, below, steps)
    return leaves


@njit(cache=True, nogil=True)
def share_rows(
    rows,
    kind,
    column,
    threshold,
    first_child,
    category_start,
    category_words,
    category_branches,
    n_children,
    weight,
    leaf_values,
):
    """Divide rows with missing values among the children, by their training weights.

    Returns for each row the average of the leaves' values, and the leaf of the largest share.
    """
    n_rows, n_values = rows.shape[0], leaf_values.shape[1]
    totals = np.zeros((n_rows, n_values))
    leaves = np.empty(n_rows, dtype=np.int32)
    waiting = np.empty(kind.shape[0], dtype=np.int32)
    shares = np.empty(kind.shape[0])
    for i in range(n_rows):
        largest = -1.0
        waiting[0], shares[0], n_waiting = 0, 1.0, 1
        while n_waiting:
            n_waiting -= 1
            node, share = waiting[n_waiting], shares[n_waiting]
            if kind[node] == LEAF:
                for k in range(n_values):
                    totals[i, k] += share * leaf_values[node, k]
                if share > largest:
                    largest, leaves[i] = share, node
                continue
            value = rows[i, column[node]]
            first = first_child[node]
            if np.isnan(value):
                # By training weights, as the rows were divided in growing; an empty child gets
                # nothing.
                total = 0.0
                for child in range(first, first + n_children[node]):
                    total += weight[child]
                for child in range(first, first + n_children[node]):
                    if weight[child] > 0.0:
                        waiting[n_waiting] = child
                        shares[n_waiting] = share * weight[child] / total
                        n_waiting += 1
                continue
            if kind[node] == NUMERIC:
                branch = np.int64(value > threshold[node])
            else:
                branch = branch_of_code(
                    node, np.int64(value), kind, category_start, category_words, category_branches
                )
            waiting[n_waiting], shares[n_waiting] = first + branch, share
            n_waiting += 1
    return totals, leaves
