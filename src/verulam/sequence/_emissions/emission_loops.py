"""Compiled loops of the emissions: float64 C-arrays in, arrays out, no checks."""

import numpy as np

from verulam.numerics import njit


@njit(cache=True, nogil=True, fastmath={"contract", "nsz"})
def diagonal_logarithms(values, means, inverse_variances, constants, result):
    """Fill the Gaussian log-densities of the columns that are present; arrays by column first."""
    n_states = result.shape[1]
    for t in range(values.shape[0]):
        row = result[t]
        for k in range(n_states):
            row[k] = 0.0
        # States innermost: their parameters lie side by side, and a gap is looked for once a value.
        for j in range(values.shape[1]):
            value = values[t, j]
            if not np.isnan(value):
                for k in range(n_states):
                    deviation = value - means[j, k]
                    row[k] += constants[j, k] - inverse_variances[j, k] * deviation * deviation


#: Powers of one half, the last ones zero.
HALVES = 2.0 ** -np.arange(1080.0)
#: log2(e): how many halvings a value is in the exponent.
LOG2_E = 1.4426950408889634
#: The logarithm of 2 in two parts, so that a multiple of the first is exact.
LOG_2_HIGH, LOG_2_LOW = 0.6931471803691238, 1.9082149292705877e-10


@njit(cache=True, nogil=True, fastmath={"contract", "nsz"}, inline="always")
def exp_of_negative(value):
    """Return the exponential of a number that is not positive, to the last digit or two.

    Written out it can be computed for several states at once, which a call cannot.
    """
    # Below, the exponential is as good as zero, and the table of powers would end.
    value = max(value, -745.0)
    # exp(x) = 2^n exp(r) with |r| <= ln(2) / 2, where the series up to r^12 is enough.
    halvings = np.floor(value * LOG2_E + 0.5)
    rest = (value - halvings * LOG_2_HIGH) - halvings * LOG_2_LOW
    series = 1.0 / 479001600.0
    series = series * rest + 1.0 / 39916800.0
    series = series * rest + 1.0 / 3628800.0
    series = series * rest + 1.0 / 362880.0
    series = series * rest + 1.0 / 40320.0
    series = series * rest + 1.0 / 5040.0
    series = series * rest + 1.0 / 720.0
    series = series * rest + 1.0 / 120.0
    series = series * rest + 1.0 / 24.0
    series = series * rest + 1.0 / 6.0
    series = series * rest + 0.5
    series = series * rest + 1.0
    series = series * rest + 1.0
    return series * HALVES[np.uint64(-halvings)]


@njit(cache=True, nogil=True, fastmath={"contract", "nsz"})
def to_relative(logarithms, peaks):
    """Replace logarithms by numbers relative to the largest of their row, which is noted."""
    for t in range(logarithms.shape[0]):
        peak = -np.inf
        for k in range(logarithms.shape[1]):
            peak = max(peak, logarithms[t, k])
        # A step that no state can show: relative to zero all its numbers are zero, not NaN.
        if peak == -np.inf:
            peak = 0.0
        peaks[t] = peak
        for k in range(logarithms.shape[1]):
            logarithms[t, k] = exp_of_negative(logarithms[t, k] - peak)


@njit(cache=True, nogil=True)
def gather_columns(codes, table, result):
    """Fill row ``codes[t]`` of the table; ones where the code is negative."""
    for t in range(codes.shape[0]):
        code = codes[t]
        for k in range(table.shape[1]):
            result[t, k] = table[code, k] if code >= 0 else 1.0


@njit(cache=True, nogil=True)
def count_symbols(codes, weights, counts):
    """Add each step's shares to the row of its symbol."""
    for t in range(codes.shape[0]):
        code = codes[t]
        if code >= 0:
            for k in range(weights.shape[1]):
                counts[code, k] += weights[t, k]
