"""Online passes of logistic and linear outputs, compiled."""

import numpy as np

from verulam.numerics import njit

#: Softmax outputs with cross-entropy.
SOFTMAX = 0
#: One sigmoid for each class with cross-entropy.
SIGMOIDS = 1
#: One sigmoid for each class with squared error.
SQUARED_SIGMOIDS = 2
#: Linear outputs with squared error.
LINEAR = 3


@njit(cache=True, nogil=True)
def _to_steps(values, targets, rate, output):  # pragma: no cover
    """Turn the linear values of a row into what its inputs are multiplied by, in place."""
    if output == SOFTMAX:
        # Subtracted before the exponential, which could overflow; softmax does not change.
        largest = values[0]
        for unit in range(1, len(values)):
            largest = max(largest, values[unit])
        total = 0.0
        for unit in range(len(values)):
            values[unit] = np.exp(values[unit] - largest)
            total += values[unit]
        for unit in range(len(values)):
            values[unit] /= total
    elif output != LINEAR:
        for unit in range(len(values)):
            values[unit] = 1.0 / (1.0 + np.exp(-values[unit]))
    for unit in range(len(values)):
        step = rate * (targets[unit] - values[unit])
        if output == SQUARED_SIGMOIDS:
            step *= values[unit] * (1.0 - values[unit])
        values[unit] = step


@njit(cache=True, nogil=True)
def online_pass(inputs, targets, order, coefficients, rates, output, values):  # pragma: no cover
    """Correct the coefficients after each row, in place.

    Parameters
    ----------
    inputs
        Rows.
    targets
        Target of each output, for each row.
    order
        Positions in the order of presentation.
    coefficients
        One row for each output, the bias in front.
    rates
        Learning rate of each step.
    output
        Kind of output and loss.
    values
        Scratch, with room for each output.
    """
    n_outputs, n_columns = coefficients.shape[0], inputs.shape[1]
    for place in range(len(order)):
        row = order[place]
        for unit in range(n_outputs):
            value = coefficients[unit, 0]
            for column in range(n_columns):
                value += coefficients[unit, column + 1] * inputs[row, column]
            values[unit] = value
        _to_steps(values, targets[row], rates[place], output)
        for unit in range(n_outputs):
            coefficients[unit, 0] += values[unit]
            for column in range(n_columns):
                coefficients[unit, column + 1] += values[unit] * inputs[row, column]


@njit(cache=True, nogil=True)
def sparse_online_pass(
    entries, columns, starts, targets, order, coefficients, rates, output, values
):  # pragma: no cover
    """Correct the coefficients after each row in sparse (CSR) form; see `online_pass`."""
    n_outputs = coefficients.shape[0]
    for place in range(len(order)):
        row = order[place]
        for unit in range(n_outputs):
            value = coefficients[unit, 0]
            for entry in range(starts[row], starts[row + 1]):
                value += coefficients[unit, columns[entry] + 1] * entries[entry]
            values[unit] = value
        _to_steps(values, targets[row], rates[place], output)
        for unit in range(n_outputs):
            coefficients[unit, 0] += values[unit]
            for entry in range(starts[row], starts[row + 1]):
                coefficients[unit, columns[entry] + 1] += values[unit] * entries[entry]
