"""Compiled loops behind the local smoothers of one input: sorted float64 arrays in, arrays out."""

import numpy as np

from verulam.nonparametric._windows.functions import COSINE, EXPONENTIAL, GAUSSIAN
from verulam.numerics import njit

#: Sums may be taken in any order, which lets them use vector instructions.
_FAST = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, nogil=True, fastmath=_FAST)
def fill_weights(x, start, stop, query, width, code, inner, outer, offsets, weights):
    """Write scaled offsets and window heights of the inputs from `start` to `stop`.

    One loop for each kind of window, because a choice inside would keep it from vectorising.
    """
    count = stop - start
    scale = 1.0 / width
    for t in range(count):
        offsets[t] = (x[start + t] - query) * scale
    if code == COSINE:
        for t in range(count):
            weights[t] = max(0.0, np.cos(0.5 * np.pi * min(1.0, abs(offsets[t]))))
    elif inner == 3.0:
        for t in range(count):
            weights[t] = max(0.0, 1.0 - abs(offsets[t]) * offsets[t] * offsets[t])
    elif inner == 2.0:
        for t in range(count):
            weights[t] = max(0.0, 1.0 - offsets[t] * offsets[t])
    else:
        for t in range(count):
            weights[t] = max(0.0, 1.0 - abs(offsets[t]))
    if code != COSINE:
        raise_weights(weights, count, outer)


@njit(cache=True, nogil=True, fastmath=_FAST)
def raise_weights(weights, count, power):
    """Raise the first `count` weights to a power: 0, 1, 2 or 3."""
    if power == 0.0:
        for t in range(count):
            weights[t] = 1.0
    elif power == 2.0:
        for t in range(count):
            weights[t] *= weights[t]
    elif power == 3.0:
        for t in range(count):
            weights[t] = weights[t] * weights[t] * weights[t]


@njit(cache=True, nogil=True)
def fill_tails(x, start, stop, query, width, code, skipped, offsets, weights):
    """Write offsets and heights of a window with tails, the largest height being one.

    Measured from the nearest input, the sum of heights cannot vanish, however far the query.
    """
    nearest = np.inf
    for t in range(stop - start):
        offsets[t] = (x[start + t] - query) / width
        if start + t != skipped:
            nearest = min(nearest, abs(offsets[t]))
    if code == GAUSSIAN:
        for t in range(stop - start):
            # A product, not a difference of squares, which would cancel far from all inputs.
            weights[t] = np.exp(0.5 * (nearest - offsets[t]) * (nearest + offsets[t]))
    else:
        for t in range(stop - start):
            weights[t] = np.exp(nearest - abs(offsets[t]))


@njit(cache=True, nogil=True, fastmath=_FAST)
def local_solution(offsets, weights, targets, count, degree, with_squares):
    """Return value, weight of a unit point at the query, and sum of squared weights of a local fit.

    The polynomial is written in orthogonal terms 1, p1 and p2 of the offsets v from their mean.
    """
    total = first = 0.0
    for t in range(count):
        total += weights[t]
        first += weights[t] * offsets[t]
    if not total > 0.0:
        return np.nan, np.nan, np.nan
    # Orthogonal to the constant about their mean, offsets need no matrix to be solved.
    mean = first / total if degree > 0 else 0.0
    second = third = fourth = 0.0
    product0 = product1 = product2 = 0.0
    if degree < 2:
        for t in range(count):
            v = offsets[t] - mean
            weighted = weights[t] * v
            second += weighted * v
            product0 += weights[t] * targets[t]
            product1 += weighted * targets[t]
    else:
        for t in range(count):
            v = offsets[t] - mean
            weighted = weights[t] * v
            square = weighted * v
            second += square
            third += square * v
            fourth += square * v * v
            product0 += weights[t] * targets[t]
            product1 += weighted * targets[t]
            product2 += square * targets[t]
    # Coefficients of the weights in powers of v, divided by the total weight.
    constant, linear, quadratic = 1.0, 0.0, 0.0
    spread = second / total
    # Points that hardly spread beside their distance leave a line undetermined: it is left out.
    largest = max(1e-300, offsets[0] ** 2, offsets[count - 1] ** 2)
    if degree > 0 and spread > 1e-24 * largest:
        linear = -mean / spread
        if degree > 1:
            skew = third / second
            norm = fourth / total - skew * third / total - spread * spread
            if norm > 1e-12 * spread * spread:
                at_query = (mean * mean + skew * mean - spread) / norm
                constant -= at_query * spread
                linear -= at_query * skew
                quadratic = at_query
    value = (constant * product0 + linear * product1 + quadratic * product2) / total
    leverage = (constant - linear * mean + quadratic * mean * mean) / total
    squares = np.nan
    if with_squares:
        squares = 0.0
        for t in range(count):
            v = offsets[t] - mean
            weight = weights[t] * (constant + linear * v + quadratic * v * v)
            squares += weight * weight
        squares /= total * total
    return value, leverage, squares


@njit(cache=True, nogil=True)
def local_fits(
    x,
    y,
    prior,
    queries,
    starts,
    stops,
    widths,
    skipped,
    code,
    inner,
    outer,
    degree,
    with_squares,
    offsets,
    weights,
    result,
):
    """Write value, weight at the query and sum of squared weights for each query.

    NaN where a neighbourhood has no weight. `offsets` and `weights` are scratch.
    """
    for q in range(queries.shape[0]):
        start, stop = starts[q], stops[q]
        count = stop - start
        result[q, 0] = result[q, 1] = result[q, 2] = np.nan
        if count <= 0:
            continue
        if code in (GAUSSIAN, EXPONENTIAL):
            fill_tails(x, start, stop, queries[q], widths[q], code, skipped[q], offsets, weights)
        else:
            fill_weights(
                x, start, stop, queries[q], widths[q], code, inner, outer, offsets, weights
            )
        for t in range(count):
            weights[t] *= prior[start + t]
        if skipped[q] >= start and skipped[q] < stop:
            weights[skipped[q] - start] = 0.0
        result[q, 0], result[q, 1], result[q, 2] = local_solution(
            offsets, weights, y[start:stop], count, degree, with_squares
        )


@njit(cache=True, nogil=True)
def nearest_windows(x, queries, count, starts):
    """Write the start of the `count` inputs nearest to each query; both are sorted."""
    start = np.int64(0)
    for q in range(queries.shape[0]):
        # Both are sorted, so that the window only moves on: O(n + m) for all queries together.
        while start + count < x.shape[0] and queries[q] > (x[start] + x[start + count]) / 2.0:
            start += 1
        starts[q] = start


@njit(cache=True, nogil=True)
def gaussian_moments(x, y, queries, width, n_powers, n_target_powers, n_terms):
    """Return sums of ``w u^k`` and ``w u^k y`` at each query, w a Gaussian of the offset u.

    In the manner of the fast Gauss transform, inputs are gathered in boxes as wide as the window.
    The exponential of the product of both offsets from a box's centre is expanded in a power
    series, so a query costs boxes times terms, however many the inputs. Weights below 1e-17 are
    left out.
    """
    low = x[0]
    n_boxes = int((x[-1] - low) / width) + 1
    n_stored = n_terms + n_powers
    sums = np.zeros((n_boxes, n_stored))
    target_sums = np.zeros((n_boxes, n_stored))
    filled = np.zeros(n_boxes, dtype=np.bool_)
    for t in range(x.shape[0]):
        box = min(n_boxes - 1, int((x[t] - low) / width))
        v = (x[t] - low) / width - box - 0.5
        term = np.exp(-0.5 * v * v)
        filled[box] = True
        for m in range(n_stored):
            sums[box, m] += term
            target_sums[box, m] += term * y[t]
            term *= v
    moments = np.empty((queries.shape[0], n_powers + n_target_powers))
    sums_here = np.empty(n_powers)
    target_sums_here = np.empty(n_powers)
    for q in range(queries.shape[0]):
        moments[q, :] = 0.0
        place = (queries[q] - low) / width
        first = max(0, int(place - 10.0))
        last = min(n_boxes - 1, int(place + 10.0))
        for box in range(first, last + 1):
            if not filled[box]:
                continue
            z = place - box - 0.5
            # exp(-9^2 / 2) is below 1e-17, and a box reaches half a width from its centre.
            if abs(z) > 9.5:
                continue
            sums_here[:] = 0.0
            target_sums_here[:] = 0.0
            factor = np.exp(-0.5 * z * z)
            for m in range(n_terms):
                for k in range(n_powers):
                    sums_here[k] += factor * sums[box, m + k]
                for k in range(n_target_powers):
                    target_sums_here[k] += factor * target_sums[box, m + k]
                factor *= z / (m + 1.0)
            # The offset from the query is v - z: sums of its powers follow from those of v.
            add_shifted(sums_here, z, n_powers, moments[q], 0)
            add_shifted(target_sums_here, z, n_target_powers, moments[q], n_powers)
    return moments


@njit(cache=True, nogil=True)
def add_shifted(powers, z, count, moments, start):
    """Add sums of ``(v - z)^k``, given those of ``v^k``, to `moments` from `start` on."""
    for k in range(count):
        binomial, total = 1.0, 0.0
        shift = 1.0
        for i in range(k, -1, -1):
            total += binomial * powers[i] * shift
            binomial *= i / (k - i + 1.0)
            shift *= -z
        moments[start + k] += total
