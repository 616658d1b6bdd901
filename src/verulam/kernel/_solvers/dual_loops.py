"""Compiled loops of the dual solver: SMO steps within a working set, and sums of kernel rows."""

import numpy as np
from numba import njit

#: Smallest curvature that a step divides by; indefinite kernels may have less.
FLAT = 1e-12
#: What is constant: nothing, the sum of the coefficients, or their sum within each of two groups.
UNCONSTRAINED, TOTAL, GROUPS = 0, 1, 2
#: Handicap of a coefficient at its bound: above any gradient, and finite, as fastmath needs.
HUGE = 1e150
#: Share of coefficients that is rounding.
ROUNDING = 1e-14


@njit(cache=True, nogil=True)
def solve_working_set(
    rows,
    slots,
    columns,
    gram,
    lower,
    upper,
    groups,
    constraint,
    tol,
    max_steps,
    beta,
    gradient,
):
    """Improve `beta` and `gradient` in place until the KKT violation is below `tol`; count steps.

    The gradient is that of the dual objective, which is maximised. Of the cached rows in `slots`,
    the entries of some columns are the working set's Gram matrix. A row of it is brought together
    in `gram` when a step needs it, as many are never needed.
    """
    size = beta.shape[0]
    diagonal = np.empty(size)
    ready = np.zeros(size, dtype=np.bool_)
    for k in range(size):
        diagonal[k] = rows[slots[k], columns[k]]
    working_set = (rows, slots, columns, gram, ready)
    if constraint == UNCONSTRAINED:
        return _single_steps(working_set, diagonal, lower, upper, tol, max_steps, beta, gradient)
    return _pair_steps(
        working_set,
        diagonal,
        lower,
        upper,
        groups,
        constraint,
        tol,
        max_steps,
        beta,
        gradient,
    )


@njit(cache=True, nogil=True)
def _gram_row(working_set, k):
    rows, slots, columns, gram, ready = working_set
    if not ready[k]:
        ready[k] = True
        source = rows[slots[k]]
        for column in range(columns.shape[0]):
            gram[k, column] = source[columns[column]]
    return gram[k]


@njit(cache=True, nogil=True)
def _single_steps(working_set, diagonal, lower, upper, tol, max_steps, beta, gradient):
    for steps in range(max_steps):
        best, best_gain = -1, 0.0
        for k in range(beta.shape[0]):
            slope = gradient[k]
            if (slope > tol and beta[k] < upper[k]) or (slope < -tol and beta[k] > lower[k]):
                # Twice what the objective gains by a Newton step of this coefficient alone.
                gain = slope * slope / max(diagonal[k], FLAT)
                if gain > best_gain:
                    best, best_gain = k, gain
        if best < 0:
            return steps
        # Newton's step of one coefficient, cut off at its bounds.
        target = beta[best] + gradient[best] / max(diagonal[best], FLAT)
        target = min(max(target, lower[best]), upper[best])
        step = target - beta[best]
        beta[best] = target
        row = _gram_row(working_set, best)
        for k in range(beta.shape[0]):
            gradient[k] -= step * row[k]
    return max_steps


@njit(cache=True, nogil=True)
def _pair_steps(
    working_set, diagonal, lower, upper, groups, constraint, tol, max_steps, beta, gradient
):
    """Sequential minimal optimisation: move weight between the pairs that gain most.

    Pairs are selected to second order (Fan, Chen and Lin 2005): the first is the most violating
    one, the second gains most with it.

    Coefficients that may not rise, or not fall, carry a huge handicap rather than a flag: loops
    without branches become vector instructions.
    """
    size = beta.shape[0]
    n_groups = 2 if constraint == GROUPS else 1
    rise_handicaps = np.empty((n_groups, size))
    fall_handicaps = np.empty((n_groups, size))
    for k in range(size):
        for group in range(n_groups):
            member = n_groups == 1 or groups[k] == group
            rise_handicaps[group, k] = 0.0 if member and beta[k] < upper[k] else -HUGE
            fall_handicaps[group, k] = 0.0 if member and beta[k] > lower[k] else HUGE
    scratch = np.empty(size)
    for steps in range(max_steps):
        first, second, best_group, best_gain = -1, -1, 0, 0.0
        for group in range(n_groups):
            i = _highest(gradient, rise_handicaps[group], scratch)
            if rise_handicaps[group, i] < 0.0:
                continue
            row = _gram_row(working_set, i)
            j = _best_partner(row, diagonal, i, gradient, fall_handicaps[group], tol, scratch)
            if j >= 0 and scratch[j] > best_gain:
                first, second, best_group, best_gain = i, j, group, scratch[j]
        if second < 0:
            return steps
        row = _gram_row(working_set, first)
        step = _move(row[second], lower, upper, diagonal, first, second, beta, gradient)
        _update_gradient(row, _gram_row(working_set, second), step, gradient)
        # Of the two that moved, bounds may have been reached or left.
        for k in (first, second):
            rise_handicaps[best_group, k] = 0.0 if beta[k] < upper[k] else -HUGE
            fall_handicaps[best_group, k] = 0.0 if beta[k] > lower[k] else HUGE
    return max_steps


@njit(cache=True, nogil=True, fastmath=True)
def _highest(gradient, handicaps, scratch):
    """Return which coefficient that may rise has the largest gradient."""
    best = -2.0 * HUGE
    for k in range(gradient.shape[0]):
        scratch[k] = gradient[k] + handicaps[k]
        best = max(best, scratch[k])
    return _index_of(scratch, best)


@njit(cache=True, nogil=True, fastmath=True)
def _best_partner(row, diagonal, i, gradient, handicaps, tol, scratch):
    """Return who gains most in a pair with `i`, or -1; `scratch` has the gains."""
    diagonal_i, gradient_i = diagonal[i], gradient[i]
    best = 0.0
    for k in range(gradient.shape[0]):
        violation = max(gradient_i - gradient[k] - handicaps[k], 0.0)
        violation = violation if violation > tol else 0.0
        # Of the objective along the pair: the squared distance of both in the kernel's space.
        curvature = max(diagonal_i + diagonal[k] - 2.0 * row[k], FLAT)
        scratch[k] = violation * violation / curvature
        best = max(best, scratch[k])
    return _index_of(scratch, best) if best > 0.0 else -1


@njit(cache=True, nogil=True)
def _index_of(numbers, value):
    for k in range(numbers.shape[0]):
        if numbers[k] == value:
            return k
    return 0


@njit(cache=True, nogil=True)
def _move(product, lower, upper, diagonal, i, j, beta, gradient):
    """Give weight of `j` to `i`; return how much."""
    curvature = max(diagonal[i] + diagonal[j] - 2.0 * product, FLAT)
    room, spare = upper[i] - beta[i], beta[j] - lower[j]
    # The optimum along the pair, or the first bound on the way.
    step = min((gradient[i] - gradient[j]) / curvature, room, spare)
    # An end that is reached is set to its bound itself: what rounding leaves would count as free.
    remnant = ROUNDING * (abs(beta[i]) + abs(beta[j]) + step)
    beta[i] = upper[i] if room - step <= remnant else beta[i] + step
    beta[j] = lower[j] if spare - step <= remnant else beta[j] - step
    return step


@njit(cache=True, nogil=True, fastmath=True)
def _update_gradient(first, second, step, gradient):
    for k in range(gradient.shape[0]):
        gradient[k] -= step * (first[k] - second[k])


@njit(cache=True, nogil=True, fastmath=True)
def add_rows(rows, slots, weights, sums):
    """Add weighted rows of the cache to `sums`."""
    # A stretch of the sums that stays in the processor's first cache while all rows go by.
    step, size, count = 1024, sums.shape[0], slots.shape[0]
    for left in range(0, size, step):
        right = min(left + step, size)
        part = sums[left:right]
        # Four rows at once: the sums are read and written a quarter as often.
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
