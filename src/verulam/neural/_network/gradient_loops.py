"""Units and errors of a batch of rows, compiled: for flat arrays, so for networks of any depth."""

import numpy as np

from verulam.neural._network.exponential_loops import take_exponentials
from verulam.numerics import njit

#: Hidden units.
IDENTITY, LOGISTIC, TANH, RELU, GAUSSIAN = range(5)
#: Outputs with their errors.
SQUARED, CROSS_ENTROPY, SOFTMAX, SQUARED_LOGISTIC, SQUARED_TANH = range(5)


@njit(error_model="numpy")
def activate_units(values, slopes, bias, activation, gain):
    """Add the biases and put the units' function in place of the sums."""
    one = values.dtype.type(1.0)
    place_arguments(values, slopes, bias, activation, gain, np.inf)
    if activation in (LOGISTIC, GAUSSIAN):
        take_exponentials(values)
    if activation == LOGISTIC:
        for place in range(values.shape[0]):
            values[place] = one / (one + values[place])
    elif activation == TANH:
        for place in range(values.shape[0]):
            values[place] = np.tanh(values[place])


@njit(error_model="numpy")
def place_arguments(values, slopes, bias, activation, gain, largest):
    """Add the biases and put in place of the sums what an exponential or a tangent is taken of.

    No argument of an exponential exceeds `largest`. Other units are done.
    """
    number = values.dtype.type
    zero, half, gain, largest = number(0.0), number(0.5), number(gain), number(largest)
    n_units = np.uint64(bias.shape[0])
    for start in range(np.uint64(0), np.uint64(values.shape[0]), n_units):
        for unit in range(n_units):
            values[start + unit] += bias[unit]
    for place in range(values.shape[0]):
        total = values[place]
        if activation == RELU:
            # What is no number stays none.
            values[place] = zero if total < zero else total
        elif activation == LOGISTIC:
            total = -gain * total
            values[place] = largest if total > largest else total
        elif activation == GAUSSIAN:
            slopes[place] = -total
            values[place] = -half * total * total


@njit(error_model="numpy")
def differentiate(errors, values, slopes, activation, gain):
    """Multiply the errors that come back by the slope of the units' function."""
    number = values.dtype.type
    one, gain = number(1.0), number(gain)
    for place in range(errors.shape[0]):
        value = values[place]
        if activation == LOGISTIC:
            errors[place] *= gain * value * (one - value)
        elif activation == TANH:
            errors[place] *= one - value * value
        elif activation == RELU:
            if value <= number(0.0):
                errors[place] = number(0.0)
        elif activation == GAUSSIAN:
            errors[place] *= slopes[place] * value


@njit(error_model="numpy")
def shift_sums(sums, bias, codes, weights, rows, errors):
    """Add the biases, and leave in `errors` by how much sums fall short of the largest of a row.

    Returns that of the outputs of the rows' classes, summed: part of the cross-entropy.
    """
    n_units, total = np.uint64(bias.shape[0]), 0.0
    for place in range(np.uint64(rows.shape[0])):
        start = place * n_units
        largest = sums[start] + bias[0]
        for unit in range(n_units):
            sums[start + unit] += bias[unit]
            if sums[start + unit] > largest:
                largest = sums[start + unit]
        for unit in range(n_units):
            errors[start + unit] = sums[start + unit] - largest
        weight = weights[rows[place]] if weights.shape[0] else 1.0
        total -= weight * errors[start + np.uint64(codes[rows[place]])]
    return total


@njit(error_model="numpy")
def softmax_errors(codes, weights, rows, errors):
    """Turn the exponentials of shifted sums into derivatives; return the rest of the error."""
    n_units = np.uint64(errors.shape[0] // rows.shape[0])
    number, total = errors.dtype.type, 0.0
    for place in range(np.uint64(rows.shape[0])):
        start, norm = place * n_units, number(0.0)
        for unit in range(n_units):
            norm += errors[start + unit]
        weight = weights[rows[place]] if weights.shape[0] else 1.0
        total += weight * np.log(norm)
        share = number(weight) / norm
        for unit in range(n_units):
            errors[start + unit] *= share
        errors[start + np.uint64(codes[rows[place]])] -= number(weight)
    return total


@njit(error_model="numpy")
def output_errors(sums, bias, targets, codes, weights, rows, output, errors):
    """Return the error of a batch, and leave its derivative by the outputs' sums in `errors`.

    Outputs are of any kind but softmax.
    """
    number = sums.dtype.type
    one, n_units, total = number(1.0), bias.shape[0], 0.0
    for place in range(rows.shape[0]):
        row = rows[place]
        weight = number(weights[row]) if weights.shape[0] else one
        for unit in range(n_units):
            value = sums[place * n_units + unit] + bias[unit]
            if output == CROSS_ENTROPY:
                target = number(codes[row])
                # log(1 + e^a) - r a, without overflow for either sign.
                total += weight * (max(value, number(0.0)) - target * value)
                total += weight * np.log1p(np.exp(-abs(value)))
                error = one / (one + np.exp(-value)) - target
            else:
                slope = one
                if output == SQUARED_LOGISTIC:
                    value = one / (one + np.exp(-value))
                    slope = value * (one - value)
                elif output == SQUARED_TANH:
                    value = np.tanh(value)
                    slope = one - value * value
                error = value - number(targets[row, unit])
                total += 0.5 * weight * error * error
                error *= slope
            errors[place * n_units + unit] = weight * error
    return total


@njit(error_model="numpy")
def finish_gradient(gradient, theta, mass, decay, mask, groups, sums, counts):
    """Turn the gradient of a summed error into that of its mean, with decay, masks and ties.

    Parameters
    ----------
    gradient
        Changed in place.
    theta
        Parameters.
    mass
        Weight of the rows of the batch.
    decay
        Factor of each parameter in the gradient of the penalty; empty for no penalty.
    mask
        Which parameters there are, the others staying where they are; empty for all.
    groups, sums, counts
        Group of each tied parameter, whose gradients are averaged; room for the sums of groups,
        and their sizes. Empty where nothing is tied.
    """
    share = theta.dtype.type(1.0 / mass)
    for place in range(theta.shape[0]):
        gradient[place] *= share
    for place in range(decay.shape[0]):
        gradient[place] += decay[place] * theta[place]
    for place in range(mask.shape[0]):
        if not mask[place]:
            gradient[place] = 0.0
    if groups.shape[0]:
        sums[:] = 0.0
        for place in range(groups.shape[0]):
            if groups[place] >= 0:
                sums[groups[place]] += gradient[place]
        for place in range(groups.shape[0]):
            if groups[place] >= 0:
                gradient[place] = sums[groups[place]] / counts[groups[place]]
