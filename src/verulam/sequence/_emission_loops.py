"""Compiled loops of the emissions: float64 C-arrays in, arrays out, no checks."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, fastmath={"contract", "nsz"})
def diagonal_logarithms(values, means, inverse_variances, constants, result):
    """Fill the Gaussian log-densities of the columns that are present; arrays by column first."""
    n_states = result.shape[1]
    for t in range(values.shape[0]):
        row = result[t]
        for k in range(n_states):
            row[k] = 0.0
        for j in range(values.shape[1]):
            value = values[t, j]
            if not np.isnan(value):
                for k in range(n_states):
                    deviation = value - means[j, k]
                    row[k] += constants[j, k] - inverse_variances[j, k] * deviation * deviation


@njit(cache=True, nogil=True)
def to_relative(logarithms, peaks):
    """Replace logarithms by numbers relative to the largest of their row, which is noted."""
    for t in range(logarithms.shape[0]):
        peak = -np.inf
        for k in range(logarithms.shape[1]):
            peak = max(peak, logarithms[t, k])
        if peak == -np.inf:
            peak = 0.0
        peaks[t] = peak
        for k in range(logarithms.shape[1]):
            logarithms[t, k] = np.exp(logarithms[t, k] - peak)


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
