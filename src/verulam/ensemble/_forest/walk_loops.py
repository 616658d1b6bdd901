"""Compiled walks down the trees of a forest: no checks."""

from typing import Any

import numpy as np

from verulam.numerics import njit

#: Rows that walk down a tree together: while one waits for memory, others move.
ROWS_TOGETHER = 8
ONE = np.uint32(1)

_OPTIONS: dict[str, Any] = {"error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": False}


@njit(inline="always")
def next_node(rows, i, node, steps):
    """Return the child that a row goes to where the test is a threshold; a leaf stays."""
    step = steps[node]
    value = rows[i, step.column >> ONE]
    # A NaN is greater than nothing, and differs from itself. Plain arithmetic instead of branches,
    # which could not be predicted; whole numbers without a sign, which need no look at it.
    right = np.uint32(value > step.threshold) | (step.column & ONE & np.uint32(value != value))
    return np.uint32(step.child + right)


@njit(**_OPTIONS)
def find_leaves(rows, steps, leaves):
    """Write the leaf of each row where all tests are thresholds."""
    n_whole = rows.shape[0] // ROWS_TOGETHER * ROWS_TOGETHER
    for first in range(0, n_whole, ROWS_TOGETHER):
        for i in range(ROWS_TOGETHER):
            leaves[first + i] = 0
        change = ONE
        while change != np.uint32(0):
            change = np.uint32(0)
            for i in range(ROWS_TOGETHER):
                below = next_node(rows, first + i, leaves[first + i], steps)
                change |= below ^ leaves[first + i]
                leaves[first + i] = below
    for i in range(n_whole, rows.shape[0]):
        node, below = ONE, np.uint32(0)
        while below != node:
            node = below
            below = next_node(rows, i, node, steps)
        leaves[i] = node


@njit(inline="always")
def next_mixed_node(rows, i, node, steps, is_category, words):
    """Do what `next_node` does where the test may be a set of categories."""
    step = steps[node]
    column = step.column >> ONE
    value, threshold = rows[i, column], step.threshold
    in_set = np.int64(is_category[column] & (threshold < np.inf) & (value == value))
    code = np.int64(value) * in_set
    # Where there is no set, any word will do, and its bit is not used.
    word = words[np.int64(threshold) * in_set + (code >> 6)]
    bit = np.uint32((word >> np.uint64(code & 63)) & np.uint64(1))
    above = np.uint32(value > threshold) | (step.column & ONE & np.uint32(value != value))
    return np.uint32(step.child + (bit if in_set else above))


@njit(**_OPTIONS)
def find_mixed_leaves(rows, steps, is_category, words, leaves):
    """Write the leaf of each row where tests are thresholds or sets of categories."""
    n_whole = rows.shape[0] // ROWS_TOGETHER * ROWS_TOGETHER
    for first in range(0, n_whole, ROWS_TOGETHER):
        for i in range(ROWS_TOGETHER):
            leaves[first + i] = 0
        change = ONE
        while change != np.uint32(0):
            change = np.uint32(0)
            for i in range(ROWS_TOGETHER):
                node = leaves[first + i]
                below = next_mixed_node(rows, first + i, node, steps, is_category, words)
                change |= below ^ node
                leaves[first + i] = below
    for i in range(n_whole, rows.shape[0]):
        node, below = ONE, np.uint32(0)
        while below != node:
            node = below
            below = next_mixed_node(rows, i, node, steps, is_category, words)
        leaves[i] = node


@njit(**_OPTIONS)
def add_values(leaves, values, totals):
    """Add the values of each row's leaf."""
    for i in range(leaves.shape[0]):
        for k in range(totals.shape[1]):
            totals[i, k] += values[leaves[i], k]
