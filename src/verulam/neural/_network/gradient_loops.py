"""Back-propagation over batches of rows for a network of any depth, compiled.

Buffers of all layers lie in one flat workspace: nothing is compiled anew for another depth. Of a
layer behind `before` other units, a batch of B rows has its outputs at B * (inputs + before), a
block of B * units further on its errors, and another block further what slopes are made of.
"""

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
def _softmax_errors(sums, bias, codes, weights, rows, errors):
    """Return the cross-entropy of a batch, and leave its derivative by the sums in `errors`."""
    one = sums.dtype.type(1.0)
    n_units, total = bias.shape[0], 0.0
    for place in range(rows.shape[0]):
        row, start = rows[place], place * n_units
        largest = sums[start] + bias[0]
        for unit in range(n_units):
            sums[start + unit] += bias[unit]
            largest = max(largest, sums[start + unit])
        norm = sums.dtype.type(0.0)
        for unit in range(n_units):
            errors[start + unit] = np.exp(sums[start + unit] - largest)
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
        return _softmax_errors(sums, bias, codes, weights, rows, errors)
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
def forward_pass(theta, inputs, targets, codes, weights, rows, table, kinds, gain, workspace):
    """Return the error over a batch, summed, and leave the outputs of all units in the workspace.

    Parameters
    ----------
    theta
        Parameters, flat.
    inputs
        All rows.
    targets, codes
        Numbers to predict, rows by outputs, or the classes of the rows; the other is empty.
    weights
        Weights of the rows; empty where all count alike.
    rows
        The rows of the batch.
    table
        Layers as in `Layout.table`.
    kinds
        Kind of the hidden units, kind of the outputs, place of the skipping weights or -1.
    gain
        Steepness of logistic units.
    workspace
        At least B times (inputs and three times all units) numbers.
    """
    n_rows, n_inputs, n_layers = rows.shape[0], inputs.shape[1], table.shape[0]
    block = n_rows * (table[n_layers - 1, 4] + table[n_layers - 1, 1])
    for place in range(n_rows):
        for column in range(n_inputs):
            workspace[place * n_inputs + column] = inputs[rows[place], column]
    below = workspace[: n_rows * n_inputs].reshape(n_rows, n_inputs)
    total = 0.0
    for layer in range(n_layers):
        n_below, n_units, place, bias, before = table[layer]
        start = n_rows * (n_inputs + before)
        sums = workspace[start : start + n_rows * n_units]
        errors = workspace[start + block : start + block + n_rows * n_units]
        weight = theta[place:bias].reshape(n_below, n_units)
        np.dot(below, weight, sums.reshape(n_rows, n_units))
        biases = theta[bias : bias + n_units]
        if layer < n_layers - 1:
            slopes = workspace[start + 2 * block : start + 2 * block + n_rows * n_units]
            activate_units(sums, slopes, biases, kinds[0], gain)
            below = sums.reshape(n_rows, n_units)
            continue
        if kinds[2] >= 0:
            direct = theta[kinds[2] :].reshape(n_inputs, n_units)
            first = workspace[: n_rows * n_inputs].reshape(n_rows, n_inputs)
            np.dot(first, direct, errors.reshape(n_rows, n_units))
            for entry in range(n_rows * n_units):
                sums[entry] += errors[entry]
        total = output_errors(sums, biases, targets, codes, weights, rows, kinds[1], errors)
    return total


@njit(error_model="numpy")
def backward_pass(theta, gradient, n_rows, n_inputs, table, kinds, gain, workspace):
    """Leave the gradient of the summed error in `gradient`, after a forward pass.

    All errors are computed with the weights as they are, before any step (Alpaydin fig. 11.11).
    """
    n_layers = table.shape[0]
    block = n_rows * (table[n_layers - 1, 4] + table[n_layers - 1, 1])
    first = workspace[: n_rows * n_inputs].reshape(n_rows, n_inputs)
    for layer in range(n_layers - 1, -1, -1):
        n_below, n_units, place, bias, before = table[layer]
        start = n_rows * (n_inputs + before) + block
        errors = workspace[start : start + n_rows * n_units].reshape(n_rows, n_units)
        if layer == n_layers - 1 and kinds[2] >= 0:
            np.dot(first.T, errors, gradient[kinds[2] :].reshape(n_inputs, n_units))
        for unit in range(n_units):
            gradient[bias + unit] = errors[0, unit]
        for row in range(1, n_rows):
            for unit in range(n_units):
                gradient[bias + unit] += errors[row, unit]
        slot = gradient[place:bias].reshape(n_below, n_units)
        if layer == 0:
            np.dot(first.T, errors, slot)
            continue
        start = n_rows * (n_inputs + table[layer - 1, 4])
        stop = start + n_rows * n_below
        values, back = workspace[start:stop], workspace[start + block : stop + block]
        np.dot(values.reshape(n_rows, n_below).T, errors, slot)
        weight = theta[place:bias].reshape(n_below, n_units)
        np.dot(errors, weight.T, back.reshape(n_rows, n_below))
        slopes = workspace[start + 2 * block : stop + 2 * block]
        differentiate(back, values, slopes, kinds[0], gain)


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
