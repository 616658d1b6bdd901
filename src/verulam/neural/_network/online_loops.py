"""Back-propagation one row at a time, each step at once, compiled: no gradient is ever stored."""

from verulam.neural._network.gradient_loops import activate_units, differentiate, output_errors
from verulam.numerics import njit


@njit(error_model="numpy")
def run_rows(
    theta, inputs, targets, codes, weights, order, table, kinds, gain, workspace, decay, bias_decay,
    always_on, first, rate, momentum,
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
    table
        Layers as in `Layout.table`.
    kinds
        Kind of the hidden units, kind of the outputs.
    gain
        Steepness of logistic units.
    workspace
        Room for the inputs and three times all units: of a layer behind `before` other units, the
        outputs are at inputs + before, a block of all units further on its errors, and another
        block further what slopes are made of.
    order
        Rows in the order in which they are taken.
    decay, bias_decay
        Factors of weights and of biases in the gradient of the penalty.
    always_on
        The input of biases: a single one.
    first
        The last change of each parameter, where there is momentum.
    rate, momentum
        Numbers of the rule.
    """
    number = theta.dtype.type
    n_inputs, n_layers = inputs.shape[1], table.shape[0]
    block = table[n_layers - 1, 4] + table[n_layers - 1, 1]
    total = 0.0
    for place in range(order.shape[0]):
        row = order[place : place + 1]
        for column in range(n_inputs):
            workspace[column] = inputs[row[0], column]
        below = workspace[:n_inputs]
        for layer in range(n_layers):
            n_below, n_units, at, bias, before = table[layer]
            start = n_inputs + before
            sums = workspace[start : start + n_units]
            sums[:] = number(0.0)
            _add_products(sums, below, theta[at:bias].reshape(n_below, n_units))
            errors = workspace[start + block : start + block + n_units]
            if layer < n_layers - 1:
                slopes = workspace[start + 2 * block : start + 2 * block + n_units]
                activate_units(sums, slopes, theta[bias : bias + n_units], kinds[0], gain)
                below = sums
            else:
                biases = theta[bias : bias + n_units]
                total += output_errors(sums, biases, targets, codes, weights, row, kinds[1], errors)
        for layer in range(n_layers - 1, -1, -1):
            n_below, n_units, at, bias, before = table[layer]
            start = n_inputs + before + block
            errors = workspace[start : start + n_units]
            start = n_inputs + table[layer - 1, 4] if layer else 0
            values = workspace[start : start + n_below]
            back = workspace[start + block : start + block + n_below]
            if layer:
                # With the weights as they are, before the step.
                _pass_back(back, errors, theta[at:bias].reshape(n_below, n_units))
                slopes = workspace[start + 2 * block : start + 2 * block + n_below]
                differentiate(back, values, slopes, kinds[0], gain)
            weights_of = theta[at:bias].reshape(n_below, n_units)
            changes = first[at:bias].reshape(n_below, n_units)
            _correct(weights_of, changes, errors, values, decay, rate, momentum)
            biases = theta[bias : bias + n_units].reshape(1, n_units)
            changes = first[bias : bias + n_units].reshape(1, n_units)
            _correct(biases, changes, errors, always_on, bias_decay, rate, momentum)
    return total


@njit(error_model="numpy")
def _add_products(sums, values, weights):
    for source in range(weights.shape[0]):
        value = values[source]
        # Many inputs are zero where they are pixels or indicators.
        if value != 0.0:
            for unit in range(weights.shape[1]):
                sums[unit] += value * weights[source, unit]


# The sum of products may be taken in any order, so that it becomes vector instructions.
@njit(fastmath={"reassoc", "contract"})
def _pass_back(back, errors, weights):
    for source in range(weights.shape[0]):
        total = errors.dtype.type(0.0)
        for unit in range(weights.shape[1]):
            total += errors[unit] * weights[source, unit]
        back[source] = total


@njit(error_model="numpy")
def _correct(weights, changes, errors, values, decay, rate, momentum):
    """Take the step of the weights between two layers."""
    number = weights.dtype.type
    shrink, follow = number(rate * decay), number(momentum)
    rest = number(1.0) - shrink
    for source in range(weights.shape[0]):
        step = number(rate) * values[source]
        if momentum != 0.0:
            for unit in range(weights.shape[1]):
                change = follow * changes[source, unit] - step * errors[unit]
                change -= shrink * weights[source, unit]
                changes[source, unit] = change
                weights[source, unit] += change
        elif shrink != 0.0 or step != 0.0:
            for unit in range(weights.shape[1]):
                weights[source, unit] = rest * weights[source, unit] - step * errors[unit]
