"""Compiled loops behind local fits with windows ``(1 - |u|^a)^b``: sums that slide along the line.

Such a window is a polynomial on each side of the query, so a local fit needs only sums of powers
of the offsets. From one query to the next the sums are shifted, a few points enter and a few
leave: the cost does not grow with the number of points in the window.
"""

import numpy as np
from numba import njit

#: Share of the width after which sums are taken afresh: each shift by a width doubles the
#: rounding of a sum of powers once for every power.
FARTHEST = 0.4
#: Points closer together than this share of the squared width leave too few digits in the sums.
LEAST_SPREAD = 1e-5


@njit(cache=True, nogil=True)
def add_points(x, y, prior, first, last, sign, centre, scale, sums, target_sums):
    """Add powers of the offsets of some points to the sums, or take them away."""
    for t in range(first, last):
        offset = (x[t] - centre) * scale
        power = sign * prior[t]
        for k in range(sums.shape[0]):
            sums[k] += power
            target_sums[k] += power * y[t]
            power *= offset


@njit(cache=True, nogil=True)
def move_range(x, y, prior, old, new, centre, scale, sums, target_sums):
    """Change sums over the points from ``old[0]`` to ``old[1]`` into sums over the new range."""
    if new[0] > old[0]:
        add_points(x, y, prior, old[0], new[0], -1.0, centre, scale, sums, target_sums)
    else:
        add_points(x, y, prior, new[0], old[0], 1.0, centre, scale, sums, target_sums)
    if new[1] > old[1]:
        add_points(x, y, prior, old[1], new[1], 1.0, centre, scale, sums, target_sums)
    else:
        add_points(x, y, prior, new[1], old[1], -1.0, centre, scale, sums, target_sums)


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
        if side < 0 and power % 2 == 1:
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
def sliding_fits(x, y, prior, queries, starts, stops, widths, inner, outer, degree):
    """Return value and leverage of the local fit at each query; NaN where digits are lost."""
    # An odd power of |u| has another sign to the left of the query: two sets of sums.
    split = inner % 2 == 1 and outer > 0
    n_sides = 2 if split else 1
    n_sums = inner * outer + 2 * degree + 1
    sums, target_sums = np.zeros((n_sides, n_sums)), np.zeros((n_sides, n_sums))
    old, new = np.zeros((n_sides, 2), dtype=np.int64), np.zeros((n_sides, 2), dtype=np.int64)
    moments, products = np.empty(2 * degree + 1), np.empty(degree + 1)
    result = np.empty((queries.shape[0], 2))
    centre = origin = 0.0
    unit = -1.0
    for q in range(queries.shape[0]):
        new[0, 0], new[n_sides - 1, 1] = starts[q], stops[q]
        if split:
            middle = min(max(np.searchsorted(x, queries[q]), starts[q]), stops[q])
            new[0, 1], new[1, 0] = middle, middle
        moves = np.abs(new - old).sum()
        near = queries[q] - origin < FARTHEST * unit and 0.5 * unit < widths[q] < 2.0 * unit
        # Afresh where shifts would lose digits, or where it takes no more points than moving.
        if not near or moves > stops[q] - starts[q]:
            centre = origin = queries[q]
            unit = widths[q]
            sums[:] = 0.0
            target_sums[:] = 0.0
            old[:] = 0
            for side in range(n_sides):
                old[side, :] = new[side, 0]
        else:
            shift = (centre - queries[q]) / unit
            for side in range(n_sides):
                shift_sums(sums[side], shift)
                shift_sums(target_sums[side], shift)
            centre = queries[q]
        moments[:] = 0.0
        products[:] = 0.0
        total_weight = 0.0
        for side in range(n_sides):
            move_range(
                x, y, prior, old[side], new[side], centre, 1.0 / unit, sums[side], target_sums[side]
            )
            old[side] = new[side]
            sign = -1 if side == 0 else 1
            ratio = unit / widths[q]
            window_moments(sums[side], ratio, inner, outer, sign, moments)
            window_moments(target_sums[side], ratio, inner, outer, sign, products)
            total_weight += sums[side, 0]
        # A sum of heights that is small beside the weights is what cancelling left of the powers.
        result[q] = np.nan
        if moments[0] > 1e-3 * total_weight and stops[q] > starts[q]:
            result[q, 0], result[q, 1] = moment_solution(moments, products, degree)
    return result
