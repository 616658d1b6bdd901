"""Compiled loops of the dual solver: SMO steps within a working set, and sums of kernel rows."""

import numpy as np

from verulam.numerics import njit

#: Smallest curvature that a step divides by; indefinite kernels may have less.
FLAT = 1e-12
#: Handicap of a coefficient at its bound: above any gradient, and finite, as fastmath needs.
HUGE = 1e150
#: Share of coefficients that is rounding.
ROUNDING = 1e-14


@njit(cache=True, nogil=True)
def single_steps(
    rows, slots, columns, gram, ready, diagonal, lower, upper, tol, max_steps, beta, gradient
):
    """Improve `beta` and `gradient` in place until the KKT violation is below `tol`; count steps.

    The gradient is that of the dual objective, which is maximised. Of the cached rows in `slots`,
    the entries of some columns are the working set's Gram matrix. A row of it is brought together
    in `gram` when a step needs it, as many are never needed.
    """
    for steps in range(max_steps):
        best, best_gain = np.int64(-1), 0.0
        for k in range(beta.shape[0]):
            slope = gradient[k]
            if (slope > tol and beta[k] < upper[k]) or (slope < -tol and beta[k] > lower[k]):
                # Twice what the objective gains by a Newton step of this coefficient alone.
                gain = slope * slope / max(diagonal[k], FLAT)
                if gain > best_gain:
                    best, best_gain = np.int64(k), gain
        if best < 0:
            return steps
        # Newton's step of one coefficient, cut off at its bounds.
        target = beta[best] + gradient[best] / max(diagonal[best], FLAT)
        target = min(max(target, lower[best]), upper[best])
        step = target - beta[best]
        beta[best] = target
        _bring_row(rows, slots, columns, gram, ready, best)
        for k in range(beta.shape[0]):
            gradient[k] -= step * gram[best, k]
    return max_steps


@njit(cache=True, nogil=True)
def pair_steps(
    rows, slots, columns, gram, ready, diagonal, lower, upper, tol, max_steps, beta, gradient,
    rise_handicaps, fall_handicaps, gains,
):  # fmt: skip
    """Sequential minimal optimisation: move weight between the pairs that gain most.

    Pairs are selected to second order (Fan, Chen and Lin 2005): the first is the most violating
    one, the second gains most with it. See `single_steps` for the arguments.

    Coefficients that may not rise, or not fall, carry a huge handicap rather than a flag: loops
    without branches become vector instructions. The handicaps have a row for each group of
    coefficients whose sum is constant.
    """
    for steps in range(max_steps):
        first, second, best_group, best_gain = np.int64(-1), np.int64(-1), np.int64(0), 0.0
        for group in range(rise_handicaps.shape[0]):
            i = _highest(gradient, rise_handicaps[group], gains)
            if rise_handicaps[group, i] < 0.0:
                continue
            _bring_row(rows, slots, columns, gram, ready, i)
            j = _best_partner(gram[i], diagonal, i, gradient, fall_handicaps[group], tol, gains)
            if j >= 0 and gains[j] > best_gain:
                first, second, best_group, best_gain = i, j, np.int64(group), gains[j]
        if second < 0:
            return steps
        _bring_row(rows, slots, columns, gram, ready, second)
        curvature = diagonal[first] + diagonal[second] - 2.0 * gram[first, second]
        curvature = curvature if curvature > FLAT else FLAT
        room, spare = upper[first] - beta[first], beta[second] - lower[second]
        # The optimum along the pair, or the first bound on the way.
        step = (gradient[first] - gradient[second]) / curvature
        step = step if step < room else room
        step = step if step < spare else spare
        # An end that is reached is set to its bound: what rounding leaves would count as free.
        remnant = ROUNDING * (np.abs(beta[first]) + np.abs(beta[second]) + step)
        beta[first] = upper[first] if room - step <= remnant else beta[first] + step
        beta[second] = lower[second] if spare - step <= remnant else beta[second] - step
        _update_gradient(gram[first], gram[second], step, gradient)
        # Of the two that moved, bounds may have been reached or left.
        for k in (first, second):
            rise_handicaps[best_group, k] = 0.0 if beta[k] < upper[k] else -HUGE
            fall_handicaps[best_group, k] = 0.0 if beta[k] > lower[k] else HUGE
    return max_steps


@njit(cache=True, nogil=True)
def _bring_row(rows, slots, columns, gram, ready, k):
    if not ready[k]:
        ready[k] = True
        slot = slots[k]
        for column in range(columns.shape[0]):
            gram[k, column] = rows[slot, columns[column]]


@njit(cache=True, nogil=True, fastmath=True)
def _highest(gradient, handicaps, scratch):
    """Return which coefficient that may rise has the largest gradient."""
    best = -2.0 * HUGE
    for k in range(gradient.shape[0]):
        scratch[k] = gradient[k] + handicaps[k]
        best = max(best, scratch[k])
    # Looked up afterwards: a maximum without its place is a vector instruction.
    for k in range(gradient.shape[0]):
        if scratch[k] == best:
            return k
    return 0


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
    if best > 0.0:
        for k in range(gradient.shape[0]):
            if scratch[k] == best:
                return k
    return -1


@njit(cache=True, nogil=True, fastmath=True)
def _update_gradient(first, second, step, gradient):
    for k in range(gradient.shape[0]):
        gradient[k] -= step * (first[k] - second[k])


@njit(cache=True, nogil=True, fastmath=True)
def add_rows(rows, slots, weights, sums):
    """Add weighted rows of the cache to `sums`."""
    # A stretch of the sums that stays in the processor's first cache while all rows go by.
    size, count = sums.shape[0], slots.shape[0]
    for left in range(0, size, 1024):
        right = left + 1024 if left + 1024 < size else size
        # Four rows at once: the sums are read and written a quarter as often.
        for r in range(0, count - 3, 4):
            i, j, k, m = slots[r], slots[r + 1], slots[r + 2], slots[r + 3]
            a, b, c, d = weights[r], weights[r + 1], weights[r + 2], weights[r + 3]
            for t in range(left, right):
                sums[t] += (a * rows[i, t] + b * rows[j, t]) + (c * rows[k, t] + d * rows[m, t])
        for r in range(count - count % 4, count):
            i, a = slots[r], weights[r]
            for t in range(left, right):
                sums[t] += a * rows[i, t]
