"""Compiled traversal of trees: C-arrays in, arrays out, no checks."""

import numpy as np
from numba import njit

from verulam.tree._tuning import ROWS_TOGETHER

#: Kinds of nodes, numbered as in `tree`, which imports this module.
LEAF, NUMERIC, SUBSET = 0, 1, 2
#: A node of thresholds alone, in one place: twice the column, plus 1 if missing values go right.
#: Numbers without a sign need no look at it where they are places in an array.
STEP = np.dtype([("threshold", np.float64), ("column", np.uint32), ("child", np.uint32)])
ONE = np.uint32(1)


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
    step = steps[node]
    value = rows[i, step.column >> ONE]
    # A NaN is greater than nothing, and differs from itself. Plain arithmetic instead of branches,
    # which could not be predicted.
    right = np.uint32(value > step.threshold) | (step.column & ONE & np.uint32(value != value))
    return np.uint32(step.child + right)


@njit(cache=True, nogil=True)
def find_numeric_leaves(rows, steps, leaves):
    """Fill in the leaf of each row where all tests are thresholds; `leaves` are zero before."""
    n_rows = rows.shape[0]
    n_whole = n_rows // ROWS_TOGETHER * ROWS_TOGETHER
    # Each step down waits for a node to come from memory. Steps of different rows do not depend on
    # one another, so that the processor can wait for several at once; a fixed number of them is
    # unrolled.
    for first in range(0, n_whole, ROWS_TOGETHER):
        change = ONE
        while change != np.uint32(0):
            change = np.uint32(0)
            for place in range(ROWS_TOGETHER):
                below = step_down(rows, first + place, leaves[first + place], steps)
                change |= below ^ leaves[first + place]
                leaves[first + place] = below
    for i in range(n_whole, n_rows):
        below = step_down(rows, i, leaves[i], steps)
        while below != leaves[i]:
            leaves[i] = below
            below = step_down(rows, i, below, steps)


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
