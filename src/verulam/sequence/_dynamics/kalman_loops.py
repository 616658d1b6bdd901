"""Compiled Kalman filter and smoother: float64 C-arrays in, arrays filled, no checks.

Observations of a step are taken in one number at a time, after their noise has been decorrelated,
so that no matrix is inverted and singular noise does no harm. Parameters have a leading axis, the
regime, of which each step uses one.
"""

from typing import Any

import numpy as np

from verulam.numerics import njit

#: Divisors are looked at before they are used: checks of each by Numba would be more to compile.
_OUTER: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    # No loop makes an array, so that nobody need count who holds the rows that are looked at, which
    # takes as long as to work on small ones.
    "_nrt": False,
}
outer_loop = njit(**_OUTER)
#: For loops that only loops call: they need no entry for Python.
inner_loop = njit(**_OUTER, no_cpython_wrapper=True)
#: For parts that a loop has once: machine code of their own would be made in vain.
part_of_loop = njit(cache=True, nogil=True, inline="always")

LOG_TWO_PI = float(np.log(2.0 * np.pi))
#: A variance below this share of what it was before counts as zero.
NEGLIGIBLE = 1e-14


@inner_loop
def decorrelate(observation, noise, values, rows, variances, factor, places):
    """Fill rows of the observation matrix for which noise is independent; return their number.

    The noise of the numbers that are present is factored as ``L D L'``; `rows` is the inverse of
    L times their rows, `variances` is D, and `factor` is L, to treat the numbers alike. `places`
    is scratch.
    """
    count = np.int64(0)
    for j in range(values.shape[0]):
        if not np.isnan(values[j]):
            places[count] = j
            count += 1
    for i in range(count):
        for j in range(i):
            left = noise[places[i], places[j]]
            for k in range(j):
                left -= factor[i, k] * variances[k] * factor[j, k]
            # Below a pivot of zero a covariance has nothing: its eigenvalues are not negative.
            factor[i, j] = left / variances[j] if variances[j] > 0.0 else 0.0
        before = noise[places[i], places[i]]
        left = before
        for k in range(i):
            left -= factor[i, k] ** 2 * variances[k]
        variances[i] = left if left > NEGLIGIBLE * before else 0.0
        for k in range(rows.shape[1]):
            rows[i, k] = observation[places[i], k]
            for j in range(i):
                rows[i, k] -= factor[i, j] * rows[j, k]
    return count


@inner_loop
def same_gaps(one, other):
    """Return whether two rows miss the same numbers."""
    differ = 0
    for j in range(one.shape[0]):
        differ += np.isnan(one[j]) != np.isnan(other[j])
    return differ == 0


@inner_loop
def multiply(left, right, result):
    """Fill ``left right``, as a loop: the matrices are small, and BLAS compiles slowly."""
    for i in range(left.shape[0]):
        for j in range(right.shape[1]):
            total = 0.0
            for k in range(left.shape[1]):
                total += left[i, k] * right[k, j]
            result[i, j] = total


@part_of_loop
def carry_back(move, pull, precision, buffer, vector):
    """Turn the pull r and the precision N of later steps into ``A' r`` and ``A' N A``."""
    size = pull.shape[0]
    multiply(precision, move, buffer)
    for i in range(size):
        vector[i] = 0.0
        for k in range(size):
            vector[i] += move[k, i] * pull[k]
    for i in range(size):
        pull[i] = vector[i]
        for j in range(size):
            precision[i, j] = 0.0
            for k in range(size):
                precision[i, j] += move[k, i] * buffer[k, j]


@part_of_loop
def correct(mean, covariance, pull, precision, buffer, product):
    """Turn a filtered mean m and covariance V into ``m + V r`` and ``V - V N V``."""
    size = mean.shape[0]
    multiply(precision, covariance, buffer)
    multiply(covariance, buffer, product)
    for i in range(size):
        for k in range(size):
            mean[i] += covariance[i, k] * pull[k]
    for i in range(size):
        for j in range(size):
            covariance[i, j] -= product[i, j]


@part_of_loop
def predict_covariance(transition, noise, covariance, buffer, result):
    """Fill ``A V A' + Q``; `buffer` is left holding ``A V``."""
    size = covariance.shape[0]
    multiply(transition, covariance, buffer)
    for i in range(size):
        for j in range(i + 1):
            total = noise[i, j]
            for k in range(size):
                total += buffer[i, k] * transition[j, k]
            result[i, j] = result[j, i] = total


@part_of_loop
def measurement_update(row, noise, value, mean, covariance, gain):
    """Take one number in; return its innovation, its variance and its log-density."""
    size = mean.shape[0]
    variance, innovation = noise, value
    for i in range(size):
        total = 0.0
        for k in range(size):
            total += covariance[i, k] * row[k]
        gain[i] = total
        variance += row[i] * total
        innovation -= row[i] * mean[i]
    # A number that is known without noise already says nothing new.
    if variance <= 0.0:
        for i in range(size):
            gain[i] = 0.0
        return innovation, 0.0, 0.0
    # One half is computed and copied, so that rounding cannot make the covariance asymmetric.
    for i in range(size):
        for j in range(i + 1):
            covariance[i, j] -= gain[i] * gain[j] / variance
            covariance[j, i] = covariance[i, j]
    for i in range(size):
        gain[i] /= variance
        mean[i] += gain[i] * innovation
    return innovation, variance, -0.5 * (LOG_TWO_PI + np.log(variance) + innovation**2 / variance)


@outer_loop
def filter_steps(
    values, starts, regimes, pushes, system, scratch, means, covariances, gains, innovations, scales
):
    """Fill means and covariances given the steps so far; write each step's log-density.

    Those of the first step of each sequence are there already, before anything is seen.
    `pushes` has what inputs add to the state on its way into each step, or one row for all. What
    each number changed is noted for the way back: its gain, innovation and variance.
    """
    transition, state_noise, observation, offset, noise = system
    rows, factor, variances, places, numbers, buffer, logs = scratch
    size, width = transition.shape[1], values.shape[1]
    prepared, count = -1, 0
    for s in range(starts.shape[0] - 1):
        for t in range(starts[s], starts[s + 1]):
            g = regimes[t]
            if t > starts[s]:
                push = pushes[t if pushes.shape[0] > 1 else 0]
                for i in range(size):
                    means[t, i] = push[i]
                    for k in range(size):
                        means[t, i] += transition[g, i, k] * means[t - 1, k]
                predict_covariance(
                    transition[g], state_noise[g], covariances[t - 1], buffer, covariances[t]
                )
            # Most steps have the regime and the gaps of the step before, and so its factors.
            if prepared < 0 or regimes[prepared] != g or not same_gaps(values[prepared], values[t]):
                count = decorrelate(
                    observation[g], noise[g], values[t], rows, variances, factor, places
                )
                prepared = t
            i = 0
            for j in range(width):
                if not np.isnan(values[t, j]):
                    numbers[i] = values[t, j] - offset[g, j]
                    for k in range(i):
                        numbers[i] -= factor[i, k] * numbers[k]
                    i += 1
            for i in range(count):
                innovation, scale, density = measurement_update(
                    rows[i], variances[i], numbers[i], means[t], covariances[t], gains[t, i]
                )
                innovations[t, i], scales[t, i] = innovation, scale
                logs[t] += density


@part_of_loop
def look_back(row, gain, innovation, scale, pull, precision, buffer):
    """Carry the pull of later steps, and its precision, back over one number (r and N)."""
    size = row.shape[0]
    if scale <= 0.0:
        return
    # r <- c v / F + (I - k c')' r and N <- c c' / F + (I - k c')' N (I - k c'), with the row c of
    # the observation matrix, the gain k, the innovation v and its variance F, multiplied out.
    along = innovation / scale
    for i in range(size):
        along -= gain[i] * pull[i]
    curve = 1.0 / scale
    for i in range(size):
        buffer[i] = 0.0
        for k in range(size):
            buffer[i] += precision[i, k] * gain[k]
        curve += gain[i] * buffer[i]
    for i in range(size):
        pull[i] += row[i] * along
    for i in range(size):
        for j in range(i + 1):
            precision[i, j] += row[i] * row[j] * curve - row[i] * buffer[j] - buffer[i] * row[j]
            precision[j, i] = precision[i, j]


@outer_loop
def smooth_steps(
    values, starts, regimes, system, scratch, means, covariances, gains, innovations, scales, lags
):
    """Turn filtered means and covariances into smoothed ones, in place.

    `lags` is filled with the covariance of each state with the one before it.
    """
    transition, state_noise, observation, _, noise = system
    rows, factor, variances, places, buffer, pull, precision, ahead, product, across = scratch
    size = transition.shape[1]
    prepared, count = -1, 0
    for s in range(starts.shape[0] - 1):
        for i in range(size):
            pull[i] = 0.0
            for j in range(size):
                precision[i, j] = 0.0
        for t in range(starts[s + 1] - 1, starts[s] - 1, -1):
            if t < starts[s + 1] - 1:
                move = transition[regimes[t + 1]]
                predict_covariance(
                    move, state_noise[regimes[t + 1]], covariances[t], product, ahead
                )
                # product is now A V, and A V - P N A V the covariance across the step.
                multiply(precision, product, across)
                multiply(ahead, across, lags[t + 1])
                for i in range(size):
                    for j in range(size):
                        lags[t + 1, i, j] = product[i, j] - lags[t + 1, i, j]
                carry_back(move, pull, precision, across, buffer)
            correct(means[t], covariances[t], pull, precision, across, product)
            g = regimes[t]
            if prepared < 0 or regimes[prepared] != g or not same_gaps(values[prepared], values[t]):
                count = decorrelate(
                    observation[g], noise[g], values[t], rows, variances, factor, places
                )
                prepared = t
            for i in range(count - 1, -1, -1):
                look_back(
                    rows[i], gains[t, i], innovations[t, i], scales[t, i], pull, precision, buffer
                )
