"""Online passes of logistic and linear outputs, compiled."""

import numpy as np
from numba import njit

#: Softmax outputs with cross-entropy.
SOFTMAX = 0
#: One sigmoid for each class with cross-entropy.
SIGMOIDS = 1
#: One sigmoid for each class with squared error.
SQUARED_SIGMOIDS = 2
#: Linear outputs with squared error.
LINEAR = 3


@njit(cache=True, nogil=True)
def online_pass(inputs, targets, order, coefficients, rates, output):  # pragma: no cover
    """Correct the coefficients after each row, in place.

    Parameters
    ----------
    inputs
        Rows.
    targets
        Wished outputs of each row.
    order
        Positions in the order of presentation.
    coefficients
        One row for each output, the bias in front.
    rates
        Learning rate of each step.
    output
        Kind of output and loss.
    """
    n_outputs, n_columns = coefficients.shape[0], inputs.shape[1]
    values = np.empty(n_outputs)
    for place in range(len(order)):
        row = order[place]
        largest = -np.inf
        for unit in range(n_outputs):
            value = coefficients[unit, 0]
            for column in range(n_columns):
                value += coefficients[unit, column + 1] * inputs[row, column]
            values[unit] = value
            largest = max(largest, value)
        if output == SOFTMAX:
            total = 0.0
            for unit in range(n_outputs):
                values[unit] = np.exp(values[unit] - largest)
                total += values[unit]
            for unit in range(n_outputs):
                values[unit] /= total
        elif output != LINEAR:
            for unit in range(n_outputs):
                values[unit] = 1.0 / (1.0 + np.exp(-values[unit]))
        for unit in range(n_outputs):
            step = rates[place] * (targets[row, unit] - values[unit])
            if output == SQUARED_SIGMOIDS:
                step *= values[unit] * (1.0 - values[unit])
            coefficients[unit, 0] += step
            for column in range(n_columns):
                coefficients[unit, column + 1] += step * inputs[row, column]
