"""Compiled sums of windows over stored points: arrays in, arrays out, no checks.

The exponential is written out as a polynomial and a shift of bits, in loops over short arrays
that the compiler turns into vector instructions; the library's scalar function is several times
slower.
"""

import math
from typing import Any

import numpy as np

from verulam.nonparametric._windows.functions import EXPONENTIAL, GAUSSIAN, POWERS
from verulam.numerics import njit

#: Stored points of one block; a block has one bounding box.
BLOCK = 64

_LOG2_E = 1.0 / math.log(2.0)
#: Adding and subtracting this rounds a number to the nearest integer, which its bits then hold.
_ROUNDER = 1.5 * 2.0**52
_C = tuple(math.log(2.0) ** power / math.factorial(power) for power in range(13))

#: Additions may be reordered, and fused with products; no value here is ever NaN.
_FREE = {"contract", "reassoc", "nsz"}
#: Inner loops need no entry for Python, whose arrays take long to compile.
_INNER: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}


@njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")
def exponentials(values, powers):
    """Replace values of at most 0 by polynomials which, times the powers of two, are their exp."""
    bits = powers.view(np.int64)
    for place in range(values.shape[0]):
        exponent = values[place] * _LOG2_E
        exponent = exponent if exponent > -1020.0 else -1020.0
        shifted = exponent + _ROUNDER
        powers[place] = shifted
        rest = exponent - (shifted - _ROUNDER)
        # Taylor's series of 2^rest, whose rest is at most 1/2 in size: the first term that is left
        # out is below 2e-16.
        value = _C[10] + rest * (_C[11] + rest * _C[12])
        value = _C[8] + rest * (_C[9] + rest * value)
        value = _C[6] + rest * (_C[7] + rest * value)
        value = _C[4] + rest * (_C[5] + rest * value)
        value = _C[2] + rest * (_C[3] + rest * value)
        values[place] = _C[0] + rest * (_C[1] + rest * value)
    # The low bits hold the integer part; with the bias of 1023 and shifted into the exponent's
    # field, they are the power of two itself.
    for place in range(values.shape[0]):
        bits[place] = (bits[place] + 1023) << 52


@njit(fastmath=_FREE, **_INNER)
def heights(squares, powers, code, inner, outer):
    """Replace squared distances by heights of the window, up to the factors in `powers`."""
    count = squares.shape[0]
    if code in (GAUSSIAN, EXPONENTIAL):
        for place in range(count):
            square = squares[place]
            squares[place] = -0.5 * square if code == GAUSSIAN else -math.sqrt(square)
        exponentials(squares, powers)
    elif code == POWERS:
        for place in range(count):
            square = squares[place]
            inside = 1.0 if square <= 1.0 else 0.0
            base = square
            if inner == 1.0:
                base = math.sqrt(square)
            elif inner == 3.0:
                base = square * math.sqrt(square)
            base = 1.0 - base
            # Whole powers are products; outside of the window all of them are times zero.
            value = inside
            for _ in range(int(outer)):
                value *= base
            squares[place] = value
            powers[place] = 1.0
    else:
        for place in range(count):
            square = squares[place]
            height = math.cos(0.5 * math.pi * math.sqrt(square))
            squares[place] = height if square <= 1.0 else 0.0
            powers[place] = 1.0


@njit(fastmath=_FREE, **_INNER)
def _block_total(query, scale, tile, precisions, weights, code, inner, outer, squares, powers):
    """Return the exact sum over one block of stored points."""
    for place in range(BLOCK):
        difference = query[0] - tile[0, place]
        squares[place] = difference * difference
    for column in range(1, len(query)):
        value = query[column]
        for place in range(BLOCK):
            difference = value - tile[column, place]
            squares[place] += difference * difference
    for place in range(BLOCK):
        squares[place] *= precisions[place] * scale
    heights(squares, powers, code, inner, outer)
    total = 0.0
    for place in range(BLOCK):
        total += weights[place] * (squares[place] * powers[place])
    return total


@njit(fastmath=_FREE, **_INNER)
def _box_bounds(query, scale, boxes, ranges, nearest, farthest):
    """Write the least and greatest scaled squared distance from a query to each block."""
    n_blocks = boxes.shape[2]
    nearest[:] = 0.0
    farthest[:] = 0.0
    for column in range(len(query)):
        value = query[column]
        for block in range(n_blocks):
            below = boxes[0, column, block] - value
            above = value - boxes[1, column, block]
            # Written out: `max` takes Numba long to compile.
            gap = below if below > above else above
            gap = gap if gap > 0.0 else 0.0
            reach = -below if below < above else -above
            nearest[block] += gap * gap
            farthest[block] += reach * reach
    for block in range(n_blocks):
        nearest[block] *= ranges[0, block] * scale
        farthest[block] *= ranges[1, block] * scale


@njit(cache=True, nogil=True, error_model="numpy")
def window_sums(
    queries, scales, tiles, precisions, weights, boxes, ranges, totals, window, rtol, scratch, sums
):
    """Sum the windows of all stored points at each query, within a relative error of `rtol`.

    A block of stored points is replaced by the mean of its two bounds where their difference,
    summed over all blocks, cannot amount to more than the error allowed. `window` has the code of
    the window and its exponents `inner` and `outer`; `scratch` is two arrays as long as a block
    and three with a place for each block.
    """
    n_blocks = len(tiles)
    squares, powers, bound_powers, upper, lower = scratch
    code, inner, outer = int(window[0]), window[1], window[2]
    whole = 0.0
    for block in range(n_blocks):
        whole += totals[block]
    for number in range(len(queries)):
        query, scale = queries[number], scales[number]
        # Windows fall with the distance: the nearest corner gives the upper bound. Squared
        # distances first, which `heights` replaces in place.
        _box_bounds(query, scale, boxes, ranges, upper, lower)
        nearest = np.int64(0)
        for block in range(n_blocks):
            nearest = np.int64(block) if upper[block] < upper[nearest] else nearest
        for bounds in (upper, lower):
            heights(bounds, bound_powers, code, inner, outer)
            for block in range(n_blocks):
                bounds[block] *= bound_powers[block]
        # Its exact sum is in `certain` already.
        lower[nearest] = 0.0
        total = certain = 0.0
        # The nearest before anything is skipped: what is near says how much may be skipped.
        for turn in range(-1, n_blocks):
            near = nearest if turn < 0 else np.int64(turn)
            if turn >= 0:
                if near == nearest or upper[near] <= 0.0:
                    continue
                # The middle of the bounds is off by half their difference, times the block's
                # weight. Within its share of all weight, blocks together are off by rtol times a
                # sure part.
                if 0.5 * whole * (upper[near] - lower[near]) <= rtol * certain:
                    total += 0.5 * totals[near] * (upper[near] + lower[near])
                    continue
            exact = _block_total(
                query,
                scale,
                tiles[near],
                precisions[near],
                weights[near],
                code,
                inner,
                outer,
                squares,
                powers,
            )
            total += exact
            certain += exact - totals[near] * lower[near]
            if turn < 0:
                for other in range(n_blocks):
                    certain += totals[other] * lower[other]
        sums[number] = total
