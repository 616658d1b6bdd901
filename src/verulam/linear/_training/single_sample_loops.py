"""Passes that correct the weights after each row, compiled."""

import numpy as np

from verulam.numerics import njit

#: Correct by a multiple of the row where the product does not exceed the margin.
PERCEPTRON = 0
#: Correct as far as brings the product to the margin, times the rate.
RELAXATION = 1
#: Correct in proportion to the distance from the margin, on either side.
LEAST_MEAN_SQUARES = 2

# The sum of a product may be reordered, which lets the compiler use wide registers; nothing
# else of IEEE arithmetic is given up, so infinities are still seen.
_REORDER = {"reassoc", "contract"}


@njit(cache=True, nogil=True, inline="always")
def _coefficient(rule, product, square, rate, margin):  # pragma: no cover
    if rule == LEAST_MEAN_SQUARES:
        return rate * (margin - product)
    if product > margin:
        return 0.0
    if rule == PERCEPTRON:
        return rate
    return rate * (margin - product) / square


@njit(cache=True, nogil=True, fastmath=_REORDER)
def dense_pass(
    inputs,
    signs,
    order,
    weights,
    drift,
    rule,
    margins,
    rates,
    by_correction,
    clock,
    history,
    smallest,
):  # pragma: no cover
    """Go once through the rows, in place.

    Parameters
    ----------
    inputs, signs
        Rows and their signs.
    order
        Positions in the order of presentation.
    weights, drift
        Bias and weights, and the sum of corrections each times its moment, from which the mean
        of all weights follows; an empty `drift` is not kept.
    rule, margins, rates
        Kind of correction, the margin of all rows or those of each, and the rates of the steps to
        come.
    by_correction
        Whether rates count corrections instead of rows.
    clock
        Rows seen before this pass.
    history
        Weights after each correction, until it is full.
    smallest
        The first correction that is shorter than this is the last; zero for none.

    Returns
    -------
    Number of corrections in this pass, and of rows seen where it ended early; zero otherwise.
    """
    n_columns = inputs.shape[1]
    own_margins = len(margins) > 1
    corrections = 0
    for place in range(len(order)):
        row = order[place]
        sign = signs[row]
        value = weights[0]
        for column in range(n_columns):
            value += weights[column + 1] * inputs[row, column]
        square = 1.0
        # Others than relaxation are spared a second sum where lengths do not matter.
        if rule == RELAXATION or smallest > 0.0:
            for column in range(n_columns):
                square += inputs[row, column] * inputs[row, column]
        rate = rates[corrections] if by_correction else rates[place]
        margin = margins[row] if own_margins else margins[0]
        step = sign * _coefficient(rule, sign * value, square, rate, margin)
        short = step * step * square < smallest * smallest
        if step == 0.0 and not short:
            continue
        corrections += 1
        weights[0] += step
        for column in range(n_columns):
            weights[column + 1] += step * inputs[row, column]
        if len(drift):
            # A sum over corrections, from which the mean follows at the end; adding all weights
            # after each row would cost as much as the products.
            moment = step * (clock + place)
            drift[0] += moment
            for column in range(n_columns):
                drift[column + 1] += moment * inputs[row, column]
        if corrections <= len(history):
            for column in range(len(weights)):
                history[corrections - 1, column] = weights[column]
        if short:
            return corrections, place + 1
    return corrections, 0


@njit(cache=True, nogil=True)
def sparse_pass(
    values,
    columns,
    starts,
    signs,
    order,
    weights,
    drift,
    rule,
    margins,
    rates,
    by_correction,
    clock,
    history,
    smallest,
):  # pragma: no cover
    """Go once through rows in sparse (CSR) form; see `dense_pass`."""
    own_margins = len(margins) > 1
    corrections = 0
    for place in range(len(order)):
        row = order[place]
        sign = signs[row]
        value = weights[0]
        square = 1.0
        for entry in range(starts[row], starts[row + 1]):
            value += weights[columns[entry] + 1] * values[entry]
            square += values[entry] * values[entry]
        rate = rates[corrections] if by_correction else rates[place]
        margin = margins[row] if own_margins else margins[0]
        step = sign * _coefficient(rule, sign * value, square, rate, margin)
        short = step * step * square < smallest * smallest
        if step == 0.0 and not short:
            continue
        corrections += 1
        weights[0] += step
        for entry in range(starts[row], starts[row + 1]):
            weights[columns[entry] + 1] += step * values[entry]
        if len(drift):
            moment = step * (clock + place)
            drift[0] += moment
            for entry in range(starts[row], starts[row + 1]):
                drift[columns[entry] + 1] += moment * values[entry]
        if corrections <= len(history):
            for column in range(len(weights)):
                history[corrections - 1, column] = weights[column]
        if short:
            return corrections, place + 1
    return corrections, 0


@njit(cache=True, nogil=True)
def winnow_pass(
    inputs, signs, order, positive, negative, weights, factor, both, history
):  # pragma: no cover
    """Go once through the rows multiplying balanced weights, in place; see `dense_pass`.

    The columns of `positive` and `negative` are the logarithms of the two weights, the bias
    first, so that repeated corrections neither overflow nor vanish; `weights` gets the difference
    of the weights themselves. Without `both` a correction
    leaves the weights of the other class alone.
    """
    n_columns = inputs.shape[1]
    logarithm = np.log(factor)
    # Recomputed after corrections only, which get rare as training goes on.
    for column in range(n_columns + 1):
        weights[column] = np.exp(positive[column]) - np.exp(negative[column])
    corrections = 0
    for place in range(len(order)):
        row = order[place]
        value = weights[0]
        for column in range(n_columns):
            value += weights[column + 1] * inputs[row, column]
        if signs[row] * value > 0:
            continue
        corrections += 1
        rise = logarithm if signs[row] > 0 else (-logarithm if both else 0.0)
        fall = -logarithm if signs[row] < 0 else (logarithm if both else 0.0)
        positive[0] += rise
        negative[0] -= fall
        for column in range(n_columns):
            positive[column + 1] += rise * inputs[row, column]
            negative[column + 1] -= fall * inputs[row, column]
        for column in range(n_columns + 1):
            weights[column] = np.exp(positive[column]) - np.exp(negative[column])
        if corrections <= len(history):
            for column in range(len(weights)):
                history[corrections - 1, column] = weights[column]
    return corrections
