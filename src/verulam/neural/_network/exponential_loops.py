"""The exponential written out, which the compiler computes for several units at once.

A loop that calls the library's function takes them one by one, which needs several times as long.
"""

import math

import numpy as np

from verulam.numerics import njit

#: Beyond, the exponential is as good as zero, or no number any more.
SMALLEST, LARGEST = -709.0, 709.0
LOG2_E = 1.0 / math.log(2.0)
#: Adding and subtracting this rounds a number to the nearest whole one, which its bits then hold.
ROUNDER = 1.5 * 2.0**52
#: The logarithm of 2 in two parts, so that a multiple of the first is exact.
LOG_2_HIGH, LOG_2_LOW = 0.6931471803691238, 1.9082149292705877e-10
#: What the least exponent of a number in double precision is counted from, and its place.
BIAS, EXPONENT_BIT = 1023, 52


@njit(fastmath={"contract"}, error_model="numpy")
def take_exponentials(values):
    """Put exponentials, to the last digit or two, in place of numbers; they are at most e^709."""
    for place in range(values.shape[0]):
        exponent = np.float64(values[place])
        # Comparisons that let pass what is no number.
        value = SMALLEST if exponent < SMALLEST else exponent
        value = LARGEST if exponent > LARGEST else value
        # exp(x) = 2^n exp(r) with |r| <= ln(2) / 2, where the series up to r^12 is enough.
        shifted = value * LOG2_E + ROUNDER
        whole = shifted - ROUNDER
        rest = (value - whole * LOG_2_HIGH) - whole * LOG_2_LOW
        series = 1.0 / 39916800.0 + rest * (1.0 / 479001600.0)
        series = 1.0 / 362880.0 + rest * (1.0 / 3628800.0 + rest * series)
        series = 1.0 / 5040.0 + rest * (1.0 / 40320.0 + rest * series)
        series = 1.0 / 120.0 + rest * (1.0 / 720.0 + rest * series)
        series = 1.0 / 6.0 + rest * (1.0 / 24.0 + rest * series)
        series = 1.0 + rest * (1.0 + rest * (0.5 + rest * series))
        bits = (np.float64(shifted).view(np.int64) + BIAS) << EXPONENT_BIT
        values[place] = series * np.int64(bits).view(np.float64)
