"""Back-propagation one row at a time, each step at once, compiled: no gradient is ever stored."""

from typing import Any

import numpy as np

from verulam.neural._network.exponential_loops import take_exponentials
from verulam.neural._network.gradient_loops import (
    SOFTMAX,
    activate_units,
    differentiate,
    output_errors,
)
from verulam.numerics import njit

#: Weights are kept divided by the share that decay has left of them, until it is as small as this.
LEAST_SHARE = 1e-3
#: Inner loops need no entry for Python, whose arrays take long to compile.
INNER: dict[str, Any] = {
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}


@njit(error_model="numpy")
def run_rows(
    theta, inputs, targets, codes, weights, order, table, turned, kinds, gain, workspace, places,
    decay, bias_decay, first, rate, momentum,
):  # fmt: skip
    """Take a step after each row in order; return the error on the way, summed.

    Parameters
    ----------
    theta
        Parameters, flat; no connection skips layers.
    inputs
        All rows.
    targets, codes
        Numbers to predict, rows by outputs, or the classes of the rows; the other is empty.
    weights
        Weights of the rows; empty where all count alike.
    order
        Rows in the order in which they are taken.
    table
        Layers as in `Layout.table`.
    turned
        Which layers have their weights units by inputs, not inputs by units.
    kinds
        Kind of the hidden units, kind of the outputs.
    gain
        Steepness of logistic units.
    workspace
        Room for three times all units: of a layer behind `before` other units, the outputs are
        from `before` on, a block of all units further on its errors, and another block further
        what slopes are made of. Behind them a one, the input of biases.
    places
        Room for the places of inputs, or of units, that are not zero.
    decay, bias_decay
        Factors of weights and of biases in the gradient of the penalty.
    first
        The last change of each parameter, where there is momentum.
    rate, momentum
        Numbers of the rule.
    """
    n_layers = table.shape[0]
    block = table[n_layers - 1, 4] + table[n_layers - 1, 1]
    always_on = workspace[3 * block : 3 * block + 1]
    always_on[0] = 1.0
    # With momentum, what decay takes away is remembered as well.
    shrink = 0.0 if momentum != 0.0 else rate * decay
    share = 1.0
    total = 0.0
    for place in range(order.shape[0]):
        row = order[place : place + 1]
        values = inputs[row[0]]
        for layer in range(n_layers):
            n_below, n_units, at, bias, before = table[layer]
            sums = workspace[before : before + n_units]
            if turned[layer]:
                multiply(sums, values, theta[at:bias], share)
            else:
                combine(sums, values, theta[at:bias], share, places)
            errors = workspace[block + before : block + before + n_units]
            biases = theta[bias : bias + n_units]
            if layer < n_layers - 1:
                slopes = workspace[2 * block + before : 2 * block + before + n_units]
                activate_units(sums, slopes, biases, kinds[0], gain)
                values = sums
            elif kinds[1] == SOFTMAX:
                total += softmax_row(sums, biases, codes[row[0]], errors)
            else:
                total += output_errors(sums, biases, targets, codes, weights, row, kinds[1], errors)
        rest = share * (1.0 - shrink)
        settles = abs(rest) < LEAST_SHARE
        for layer in range(n_layers - 1, -1, -1):
            n_below, n_units, at, bias, before = table[layer]
            errors = workspace[block + before : block + before + n_units]
            behind = table[layer - 1, 4] if layer else 0
            values = workspace[behind : behind + n_below] if layer else inputs[row[0]]
            matrix, changes = theta[at:bias], first[at:bias]
            if layer:
                # With the weights as they are, before the step.
                back = workspace[block + behind : block + behind + n_below]
                if turned[layer]:
                    combine(back, errors, matrix, share, places)
                else:
                    multiply(back, errors, matrix, share)
                slopes = workspace[2 * block + behind : 2 * block + behind + n_below]
                differentiate(back, values, slopes, kinds[0], gain)
            left, right = (errors, values) if turned[layer] else (values, errors)
            if momentum != 0.0:
                follow(matrix, changes, left, right, rate, rate * decay, momentum)
            elif settles:
                stretch(matrix, rest)
                correct(matrix, left, right, rate)
            else:
                correct(matrix, left, right, rate / rest)
            biases, changes = theta[bias : bias + n_units], first[bias : bias + n_units]
            follow(biases, changes, always_on, errors, rate, rate * bias_decay, momentum)
        share = 1.0 if settles else rest
    for layer in range(n_layers):
        stretch(theta[table[layer, 2] : table[layer, 3]], share)
    return total


@njit(**INNER)
def softmax_row(sums, bias, code, errors):
    """Return the cross-entropy of a row, and leave its derivative by the sums in `errors`."""
    number = sums.dtype.type
    largest, norm = number(-np.inf), number(0.0)
    for unit in range(sums.shape[0]):
        sums[unit] += bias[unit]
        largest = max(largest, sums[unit])
    # Less the largest, no exponential overflows and at least one is 1.
    for unit in range(sums.shape[0]):
        errors[unit] = sums[unit] - largest
    shift = errors[code]
    take_exponentials(errors)
    for unit in range(sums.shape[0]):
        norm += errors[unit]
    for unit in range(sums.shape[0]):
        errors[unit] /= norm
    errors[code] -= number(1.0)
    return np.log(norm) - shift


@njit(**INNER)
def combine(sums, values, weights, share, places):
    """Write the sum of the rows of weights, each times its value and the share."""
    number, n_units = sums.dtype.type, np.uint64(sums.shape[0])
    count = np.uint64(0)
    for source in range(np.uint64(values.shape[0])):
        places[count] = source
        # Many inputs are zero where they are pixels or indicators.
        count += np.uint64(values[source] != number(0.0))
    for unit in range(n_units):
        sums[unit] = number(0.0)
    # Four rows at a time, so that a sum is fetched and stored a fourth as often.
    whole = count - count % np.uint64(4)
    for place in range(np.uint64(0), whole, np.uint64(4)):
        a, b = places[place], places[place + np.uint64(1)]
        c, d = places[place + np.uint64(2)], places[place + np.uint64(3)]
        value_a, value_b = number(share) * values[a], number(share) * values[b]
        value_c, value_d = number(share) * values[c], number(share) * values[d]
        a, b, c, d = a * n_units, b * n_units, c * n_units, d * n_units
        for unit in range(n_units):
            one = value_a * weights[a + unit] + value_b * weights[b + unit]
            other = value_c * weights[c + unit] + value_d * weights[d + unit]
            sums[unit] += one + other
    for place in range(whole, count):
        start, value = places[place] * n_units, number(share) * values[places[place]]
        for unit in range(n_units):
            sums[unit] += value * weights[start + unit]


# The sum of products may be taken in any order, so that it becomes vector instructions.
@njit(fastmath={"reassoc", "contract"}, **INNER)
def multiply(products, values, weights, share):
    """Write the inner product of each row of weights with the values, times the share."""
    number, n_units = products.dtype.type, np.uint64(values.shape[0])
    for source in range(np.uint64(products.shape[0])):
        total = number(0.0)
        for unit in range(n_units):
            total += values[unit] * weights[source * n_units + unit]
        products[source] = number(share) * total


@njit(fastmath={"contract"}, **INNER)
def correct(weights, left, right, rate):
    """Take the step of the weights between two layers along the products of left and right."""
    number, n_units = weights.dtype.type, np.uint64(right.shape[0])
    for source in range(np.uint64(left.shape[0])):
        step = number(rate) * left[source]
        if step != number(0.0):
            for unit in range(n_units):
                weights[source * n_units + unit] -= step * right[unit]


@njit(**INNER)
def follow(weights, changes, left, right, rate, shrink, momentum):
    """Take the step where the last one goes on, or where weights shrink here and now."""
    number, n_units = weights.dtype.type, np.uint64(right.shape[0])
    rest, shrink, momentum = number(1.0 - shrink), number(shrink), number(momentum)
    for source in range(np.uint64(left.shape[0])):
        step, start = number(rate) * left[source], source * n_units
        if momentum != number(0.0):
            for unit in range(n_units):
                change = momentum * changes[start + unit] - step * right[unit]
                change -= shrink * weights[start + unit]
                changes[start + unit] = change
                weights[start + unit] += change
        else:
            for unit in range(n_units):
                weights[start + unit] = rest * weights[start + unit] - step * right[unit]


@njit(**INNER)
def stretch(weights, factor):
    """Multiply all weights by a factor."""
    if factor != 1.0:
        for place in range(weights.shape[0]):
            weights[place] *= weights.dtype.type(factor)
