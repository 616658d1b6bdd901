"""Compiled loops behind local fits with windows ``(1 - |u|^a)^b``: sums that slide along the line.

Such a window is a polynomial on each side of the query, so a local fit needs only sums of powers
of the offsets. From one query to the next the sums are shifted, a few points enter and a few
leave: the cost does not grow with the number of points in the window.
"""

import numpy as np

from verulam.numerics import njit

#: Share of the width after which sums are taken afresh: each shift by a width doubles the
#: rounding of a sum of powers once for every power.
FARTHEST = 0.4
#: Points closer together than this share of the squared width leave too few digits in the sums.
LEAST_SPREAD = 1e-5


@njit(cache=True, nogil=True)
def move_end(x, y, prior, old, new, is_start, centre, scale, sums, target_sums):
    """Move one end of the range whose powers of offsets are summed."""
    # Points enter where an end moves outwards, and leave where it moves inwards.
    sign = 1.0 if (new < old) == is_start else -1.0
    for t in range(min(old, new), max(old, new)):
        offset = (x[t] - centre) * scale
        power = sign * prior[t]
        for k in range(sums.shape[0]):
            sums[k] += power
            target_sums[k] += power * y[t]
            power *= offset


@njit(cache=True, nogil=True)
def shift_sums(sums, shift):
    """Turn sums of powers of u into those of ``u + shift``, in place."""
    # Pascal's triangle as repeated additions: after pass j, the sums up to power j are shifted.
    for start in range(sums.shape[0] - 1):
        for k in range(sums.shape[0] - 1, start, -1):
            sums[k] += shift * sums[k - 1]


@njit(cache=True, nogil=True)
def window_moments(sums, ratio, inner, outer, side, moments):
    """Add sums of ``(1 - |u|^inner)^outer u^k`` of one side to `moments`; u in bandwidths."""
    coefficient = 1.0
    for i in range(outer + 1):
        power = inner * i
        factor = coefficient * ratio**power
        # To the left, |u|^power is -(u^power) for odd powers.
        if side == 0 and power % 2 == 1:
            factor = -factor
        for k in range(moments.shape[0]):
            moments[k] += factor * sums[power + k]
            factor *= ratio
        coefficient *= -(outer - i) / (i + 1.0)


@njit(cache=True, nogil=True)
def moment_solution(moments, products, degree):
    """Return value and leverage of a local fit from its sums; NaN where they lose digits."""
    total = moments[0]
    if degree == 0:
        return products[0] / total, 1.0 / total
    mean = moments[1] / total
    square = moments[2] / total
    # A difference of sums: where it is small beside them, its digits are gone.
    spread = square - mean * mean
    if not spread > LEAST_SPREAD:
        return np.nan, np.nan
    first = products[1] - mean * products[0]
    constant, linear, quadratic = 1.0, -mean / spread, 0.0
    second = 0.0
    if degree == 2:
        third = moments[3] / total - 3.0 * mean * square + 2.0 * mean**3
        fourth = moments[4] / total - 4.0 * mean * moments[3] / total
        fourth += 6.0 * mean * mean * square - 3.0 * mean**4
        skew = third / spread
        norm = fourth - skew * third - spread * spread
        if not norm > LEAST_SPREAD:
            return np.nan, np.nan
        quadratic = (mean * mean + skew * mean - spread) / norm
        constant -= quadratic * spread
        linear -= quadratic * skew
        second = products[2] - 2.0 * mean * products[1] + mean * mean * products[0]
    value = (constant * products[0] + linear * first + quadratic * second) / total
    return value, (constant - linear * mean + quadratic * mean * mean) / total


@njit(cache=True, nogil=True)
def sliding_fits(x, y, prior, queries, ends, widths, inner, outer, degree, scratch, result):
    """Write value and leverage of the local fit at each query; NaN where digits are lost.

    Columns of `ends` are where each query's points start and end, in between where those to its
    right begin, if the sides have sums of their own. `scratch` has the sums of both sides, of
    weights and of targets, which are zero at first; then moments and products, and ends before.
    """
    sums, target_sums, moments, products, old = scratch
    n_sides = sums.shape[0]
    centre = origin = 0.0
    unit = -1.0
    for q in range(queries.shape[0]):
        start, stop = ends[q, 0], ends[q, n_sides]
        moves = np.int64(0)
        for side in range(n_sides):
            moves += abs(ends[q, side] - old[side, 0]) + abs(ends[q, side + 1] - old[side, 1])
        near = queries[q] - origin < FARTHEST * unit and 0.5 * unit < widths[q] < 2.0 * unit
        # Afresh where shifts would lose digits, or where it takes no more points than moving.
        afresh = not near or moves > stop - start
        shift = 0.0 if afresh else (centre - queries[q]) / unit
        centre = queries[q]
        if afresh:
            origin, unit = queries[q], widths[q]
        moments[:] = 0.0
        products[:] = 0.0
        total_weight = 0.0
        ratio = unit / widths[q]
        for side in range(n_sides):
            here, there = sums[side], target_sums[side]
            if afresh:
                here[:] = 0.0
                there[:] = 0.0
                old[side, 0] = old[side, 1] = ends[q, side]
            else:
                shift_sums(here, shift)
                shift_sums(there, shift)
            for end in range(2):
                new = ends[q, side + end]
                move_end(
                    x, y, prior, old[side, end], new, end == 0, centre, 1.0 / unit, here, there
                )
                old[side, end] = new
            window_moments(here, ratio, inner, outer, side, moments)
            window_moments(there, ratio, inner, outer, side, products)
            total_weight += here[0]
        # A sum of heights that is small beside the weights is what cancelling left of the powers.
        result[q, 0] = result[q, 1] = np.nan
        if moments[0] > 1e-3 * total_weight and stop > start:
            result[q, 0], result[q, 1] = moment_solution(moments, products, degree)
