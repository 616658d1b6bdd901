"""Compiled loops of the dual solver: steps within a block of variables, and sums of kernel rows."""

import numpy as np
from numba import njit

#: Smallest curvature that a step divides by; indefinite kernels may have less.
FLAT = 1e-12
#: What the coefficients must keep: nothing, their sum, or their sum within each of two groups.
FREE, TOTAL, GROUPS = 0, 1, 2
HUGE = 1e150
#: Share of coefficients that is rounding.
ROUNDING = 1e-14


@njit(cache=True, nogil=True)
def solve_block(
    rows,
    slots,
    columns,
    gram,
    lower,
    upper,
    groups,
    constraint,
    tolerance,
    most_steps,
    values,
    violations,
):
    """Improve `values` and `violations` in place until they differ by `tolerance`; count steps.

    Of the cached rows in `slots`, the entries of some columns are the block's Gram matrix. A row
    of it is brought together in `gram` when a step needs it, as many are never needed.
    """
    size = values.shape[0]
    diagonal = np.empty(size)
    ready = np.zeros(size, dtype=np.bool_)
    for k in range(size):
        diagonal[k] = rows[slots[k], columns[k]]
    block = (rows, slots, columns, gram, ready)
    if constraint == FREE:
        return _single_steps(
            block, diagonal, lower, upper, tolerance, most_steps, values, violations
        )
    return _pair_steps(
        block,
        diagonal,
        lower,
        upper,
        groups,
        constraint,
        tolerance,
        most_steps,
        values,
        violations,
    )


@njit(cache=True, nogil=True)
def _gram_row(block, k):
    rows, slots, columns, gram, ready = block
    if not ready[k]:
        ready[k] = True
        source = rows[slots[k]]
        for column in range(columns.shape[0]):
            gram[k, column] = source[columns[column]]
    return gram[k]


@njit(cache=True, nogil=True)
def _single_steps(block, diagonal, lower, upper, tolerance, most_steps, values, violations):
    for steps in range(most_steps):
        best, best_gain = -1, 0.0
        for k in range(values.shape[0]):
            slope = violations[k]
            if (slope > tolerance and values[k] < upper[k]) or (
                slope < -tolerance and values[k] > lower[k]
            ):
                gain = slope * slope / max(diagonal[k], FLAT)
                if gain > best_gain:
                    best, best_gain = k, gain
        if best < 0:
            return steps
        target = values[best] + violations[best] / max(diagonal[best], FLAT)
        target = min(max(target, lower[best]), upper[best])
        step = target - values[best]
        values[best] = target
        row = _gram_row(block, best)
        for k in range(values.shape[0]):
            violations[k] -= step * row[k]
    return most_steps


@njit(cache=True, nogil=True)
def _pair_steps(
    block, diagonal, lower, upper, groups, constraint, tolerance, most_steps, values, violations
):
    """Move weight between pairs of largest gain, to second order (Fan, Chen and Lin 2005).

    Coefficients that may not rise, or not fall, carry a huge handicap rather than a flag: loops
    without branches run in lanes.
    """
    size = values.shape[0]
    n_groups = 2 if constraint == GROUPS else 1
    rise = np.empty((n_groups, size))
    fall = np.empty((n_groups, size))
    for k in range(size):
        for group in range(n_groups):
            own = n_groups == 1 or groups[k] == group
            rise[group, k] = 0.0 if own and values[k] < upper[k] else -HUGE
            fall[group, k] = 0.0 if own and values[k] > lower[k] else HUGE
    scratch = np.empty(size)
    for steps in range(most_steps):
        first, second, best_group, best_gain = -1, -1, 0, 0.0
        for group in range(n_groups):
            i = _highest(violations, rise[group], scratch)
            if rise[group, i] < 0.0:
                continue
            row = _gram_row(block, i)
            j = _best_partner(row, diagonal, i, violations, fall[group], tolerance, scratch)
            if j >= 0 and scratch[j] > best_gain:
                first, second, best_group, best_gain = i, j, group, scratch[j]
        if second < 0:
            return steps
        row = _gram_row(block, first)
        step = _move(row[second], lower, upper, diagonal, first, second, values, violations)
        _lower_slopes(row, _gram_row(block, second), step, violations)
        for k in (first, second):
            rise[best_group, k] = 0.0 if values[k] < upper[k] else -HUGE
            fall[best_group, k] = 0.0 if values[k] > lower[k] else HUGE
    return most_steps


@njit(cache=True, nogil=True, fastmath=True)
def _highest(violations, handicaps, scratch):
    best = -2.0 * HUGE
    for k in range(violations.shape[0]):
        scratch[k] = violations[k] + handicaps[k]
        best = max(best, scratch[k])
    return _place(scratch, best)


@njit(cache=True, nogil=True, fastmath=True)
def _best_partner(row, diagonal, i, violations, handicaps, tolerance, scratch):
    """Return who gains most in a pair with `i`, or -1; `scratch` has the gains."""
    own, slope_of_i = diagonal[i], violations[i]
    best = 0.0
    for k in range(violations.shape[0]):
        slope = max(slope_of_i - violations[k] - handicaps[k], 0.0)
        slope = slope if slope > tolerance else 0.0
        curve = max(own + diagonal[k] - 2.0 * row[k], FLAT)
        scratch[k] = slope * slope / curve
        best = max(best, scratch[k])
    return _place(scratch, best) if best > 0.0 else -1


@njit(cache=True, nogil=True)
def _place(numbers, value):
    for k in range(numbers.shape[0]):
        if numbers[k] == value:
            return k
    return 0


@njit(cache=True, nogil=True)
def _move(product, lower, upper, diagonal, i, j, values, violations):
    """Give weight of `j` to `i`; return how much."""
    curve = max(diagonal[i] + diagonal[j] - 2.0 * product, FLAT)
    room, spare = upper[i] - values[i], values[j] - lower[j]
    step = min((violations[i] - violations[j]) / curve, room, spare)
    # An end that is reached is set to its bound itself: what rounding leaves would count as free.
    remnant = ROUNDING * (abs(values[i]) + abs(values[j]) + step)
    values[i] = upper[i] if room - step <= remnant else values[i] + step
    values[j] = lower[j] if spare - step <= remnant else values[j] - step
    return step


@njit(cache=True, nogil=True, fastmath=True)
def _lower_slopes(first, second, step, violations):
    for k in range(violations.shape[0]):
        violations[k] -= step * (first[k] - second[k])


@njit(cache=True, nogil=True, fastmath=True)
def add_rows(rows, slots, weights, sums):
    """Add the weighted rows of the cache to `sums`, four at a time, so that these are read less."""
    step, size, count = 1024, sums.shape[0], slots.shape[0]
    for left in range(0, size, step):
        right = min(left + step, size)
        part = sums[left:right]
        for r in range(0, count - 3, 4):
            first, second = rows[slots[r], left:right], rows[slots[r + 1], left:right]
            third, fourth = rows[slots[r + 2], left:right], rows[slots[r + 3], left:right]
            a, b, c, d = weights[r], weights[r + 1], weights[r + 2], weights[r + 3]
            for k in range(right - left):
                part[k] += (a * first[k] + b * second[k]) + (c * third[k] + d * fourth[k])
        for r in range(count - count % 4, count):
            first, a = rows[slots[r], left:right], weights[r]
            for k in range(right - left):
                part[k] += a * first[k]
