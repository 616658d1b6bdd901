"""The row-by-row loop of the resource-allocating network, compiled."""

import numpy as np

from verulam.numerics import njit

#: Places in the numbers of the loop.
LEAST_ERROR, DISTANCE, LEAST_DISTANCE, SHRINKING, OVERLAP, RATE, INTERCEPT = range(7)


@njit(error_model="numpy")
def learn_rows(X, targets, order, centers, widths, weights, numbers, n_units, bells):
    """Go through rows in order: add a unit where error and distance are large, else step.

    Parameters
    ----------
    X, targets, order
        Rows, what is to be predicted, and their order.
    centers, widths, weights
        The network, with room for more units; changed in place.
    numbers
        Numbers of the rule, by the places above; distance and intercept change here.
    n_units
        Units in use.
    bells
        Room for the activations of one row.

    Returns
    -------
    Units in use, and the sum of squared errors.
    """
    total = 0.0
    for place in range(order.shape[0]):
        row = order[place]
        nearest, error = np.inf, targets[row] - numbers[INTERCEPT]
        for unit in range(n_units):
            square = 0.0
            for column in range(X.shape[1]):
                deviation = X[row, column] - centers[unit, column]
                square += deviation * deviation
            nearest = min(nearest, square)
            bells[unit] = np.exp(-0.5 * square / (widths[unit] * widths[unit]))
            error -= weights[unit] * bells[unit]
        nearest = np.sqrt(nearest)
        total += error * error
        new = abs(error) > numbers[LEAST_ERROR] and nearest > numbers[DISTANCE]
        numbers[DISTANCE] = max(numbers[LEAST_DISTANCE], numbers[DISTANCE] * numbers[SHRINKING])
        if new and n_units < centers.shape[0]:
            for column in range(X.shape[1]):
                centers[n_units, column] = X[row, column]
            weights[n_units] = error
            # The first unit has no neighbour to overlap with.
            widths[n_units] = numbers[OVERLAP] * (nearest if n_units > 0 else numbers[DISTANCE])
            n_units += 1
            continue
        step = numbers[RATE] * error
        for unit in range(n_units):
            pull = step * weights[unit] * bells[unit] / (widths[unit] * widths[unit])
            weights[unit] += step * bells[unit]
            for column in range(X.shape[1]):
                centers[unit, column] += pull * (X[row, column] - centers[unit, column])
        numbers[INTERCEPT] += step
    return n_units, total
