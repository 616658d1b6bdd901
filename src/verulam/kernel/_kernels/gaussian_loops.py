"""Compiled loops of the Gaussian kernel: exponentials in plain arithmetic without branches.

The compiler turns such loops into vector instructions.
"""

import numpy as np

from verulam.numerics import njit

#: Half of the largest size of a number after it was divided by 1024.
_CENTRE = -0.342
#: Smaller exponents are taken as this one, whose exponential, 1e-304, is next to none.
_SMALLEST = -700.0


@njit(cache=True, nogil=True, fastmath=True)
def gaussian_block(products, left_squares, right_squares, factor, result):
    """Write exp(-factor * squared distance) into `result`, given inner products and squares.

    The exponent is divided by 1024, its exponential taken from the series about the centre, and
    squared ten times, which loses three of sixteen digits and is several times faster than exp.
    """
    shrink = np.exp(_CENTRE)
    for row in range(products.shape[0]):
        square = left_squares[row]
        for column in range(products.shape[1]):
            distance = square + right_squares[column] - 2.0 * products[row, column]
            # Rounding may make the squared distance of two equal rows a little negative.
            exponent = -factor * max(distance, 0.0)
            # Divided by 1024, exponents down to -700 are at most 0.342 from the centre, where
            # twelve terms of the series are enough; smaller ones are taken as -700.
            t = max(exponent, _SMALLEST) * (1.0 / 1024.0) - _CENTRE
            value = 1.0 + t / 12.0
            value = 1.0 + value * t * (1.0 / 11.0)
            value = 1.0 + value * t * (1.0 / 10.0)
            value = 1.0 + value * t * (1.0 / 9.0)
            value = 1.0 + value * t * (1.0 / 8.0)
            value = 1.0 + value * t * (1.0 / 7.0)
            value = 1.0 + value * t * (1.0 / 6.0)
            value = 1.0 + value * t * (1.0 / 5.0)
            value = 1.0 + value * t * (1.0 / 4.0)
            value = 1.0 + value * t * (1.0 / 3.0)
            value = 1.0 + value * t * 0.5
            value = (1.0 + value * t) * shrink
            # Ten squarings make up for the division by 1024 = 2^10; written out, they need no loop.
            value = value * value
            value = value * value
            value = value * value
            value = value * value
            value = value * value
            value = value * value
            value = value * value
            value = value * value
            value = value * value
            result[row, column] = value * value


#: Coefficients of the series of 2^x in single precision.
_SERIES = np.array(
    [
        0.6931471805599453,
        0.2402265069591007,
        0.05550410866482158,
        0.009618129107628477,
        0.0013333558146428443,
        0.00015403530393381608,
        1.525273380405984e-05,
    ],
    dtype=np.float32,
)
#: Smaller powers of two are taken as this one: single precision ends at 2^-126.
_SMALLEST_POWER = np.float32(-125.0)


@njit(cache=True, nogil=True, fastmath=True)
def gaussian_block_single(products, left_squares, right_squares, factor, result):
    """Write what `gaussian_block` does, all in single precision.

    The exponent is parted into a whole power of two, which is added to the bits of the result, and
    a rest, whose power is taken from the series.
    """
    # One over ln 2: the exponent of e becomes one of 2.
    scale = np.float32(-factor * 1.4426950408889634)
    one, two, zero, half = np.float32(1.0), np.float32(2.0), np.float32(0.0), np.float32(0.5)
    c1, c2, c3, c4, c5, c6, c7 = _SERIES
    for row in range(products.shape[0]):
        square = left_squares[row]
        bits = result[row].view(np.int32)
        for column in range(products.shape[1]):
            distance = max(square + right_squares[column] - two * products[row, column], zero)
            exponent = max(distance * scale, _SMALLEST_POWER)
            # The rest is at most one half, where seven terms reach single precision.
            whole = np.floor(exponent + half)
            t = exponent - whole
            inner = c3 + t * (c4 + t * (c5 + t * (c6 + t * c7)))
            result[row, column] = one + t * (c1 + t * (c2 + t * inner))
            # The power of two is stored from bit 23 on in a number of single precision.
            bits[column] += np.int32(whole) << np.int32(23)
