"""Units and errors of a batch of rows, compiled: for flat arrays, so for networks of any depth."""

import numpy as np

from verulam.numerics import njit

#: Hidden units.
IDENTITY, LOGISTIC, TANH, RELU, GAUSSIAN = range(5)
#: Outputs with their errors.
SQUARED, CROSS_ENTROPY, SOFTMAX, SQUARED_LOGISTIC, SQUARED_TANH = range(5)


@njit(error_model="numpy")
def activate_units(values, slopes, bias, activation, gain):
    """Add the biases and put the units' function in place of the sums."""
    number = values.dtype.type
    one, half = number(1.0), number(0.5)
    gain = number(gain)
    n_units = bias.shape[0]
    for row in range(values.shape[0] // n_units):
        for unit in range(n_units):
            place = row * n_units + unit
            total = values[place] + bias[unit]
            if activation == LOGISTIC:
                total = one / (one + np.exp(-gain * total))
            elif activation == TANH:
                total = np.tanh(total)
            elif activation == RELU:
                total = max(total, number(0.0))
            elif activation == GAUSSIAN:
                slopes[place] = -total
                total = np.exp(-half * total * total)
            values[place] = total


@njit(error_model="numpy")
def place_arguments(values, slopes, bias, activation, gain, largest):
    """Add the biases and put in place of the sums what an exponential or a tangent is taken of.

    No argument exceeds `largest`, of which the exponential is still a number.
    """
    number = values.dtype.type
    half, gain, largest = number(0.5), number(gain), number(largest)
    n_units = bias.shape[0]
    for row in range(values.shape[0] // n_units):
        for unit in range(n_units):
            place = row * n_units + unit
            total = values[place] + bias[unit]
            if activation == LOGISTIC:
                total = min(-gain * total, largest)
            elif activation == GAUSSIAN:
                slopes[place] = -total
                total = -half * total * total
            values[place] = total


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
def shift_sums(sums, bias, errors):
    """Add the biases, and leave in `errors` by how much sums fall short of the largest of a row."""
    n_units = bias.shape[0]
    for row in range(sums.shape[0] // n_units):
        start = row * n_units
        largest = sums[start] + bias[0]
        for unit in range(n_units):
            sums[start + unit] += bias[unit]
            largest = max(largest, sums[start + unit])
        for unit in range(n_units):
            errors[start + unit] = sums[start + unit] - largest


@njit(error_model="numpy")
def softmax_errors(sums, codes, weights, rows, errors):
    """Return the cross-entropy of a batch, and leave its derivative by the sums in `errors`.

    There are the exponentials of the sums, less the largest of each row.
    """
    one, n_units, total = sums.dtype.type(1.0), sums.shape[0] // rows.shape[0], 0.0
    for place in range(rows.shape[0]):
        row, start = rows[place], place * n_units
        largest, norm = sums[start], sums.dtype.type(0.0)
        for unit in range(n_units):
            largest = max(largest, sums[start + unit])
            norm += errors[start + unit]
        weight = sums.dtype.type(weights[row]) if weights.shape[0] else one
        total += weight * (np.log(norm) + largest - sums[start + codes[row]])
        for unit in range(n_units):
            errors[start + unit] *= weight / norm
        errors[start + codes[row]] -= weight
    return total


@njit(error_model="numpy")
def output_errors(sums, bias, targets, codes, weights, rows, output, errors):
    """Return the error of a batch, and leave its derivative by the outputs' sums in `errors`."""
    if output == SOFTMAX:
        shift_sums(sums, bias, errors)
        for place in range(errors.shape[0]):
            errors[place] = np.exp(errors[place])
        return softmax_errors(sums, codes, weights, rows, errors)
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
