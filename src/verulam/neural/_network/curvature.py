"""Second derivatives of a network: products with the Hessian, and its diagonal."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from verulam.base import VECTOR, DataError, checked_arguments
from verulam.neural._network.network import (
    TRAINING_ERROR,
    Network,
    TrainingError,
    unit_outputs,
)
from verulam.numerics import softmax

Array = NDArray[np.float64]

#: Numbers of the matrices over the units of a layer that some rows have, in all.
MATRIX_NUMBERS = 2**22
#: Rows whose values, slopes and changes at all units should fit the cache together.
CHUNK_ROWS = 512


@checked_arguments(error=TRAINING_ERROR, theta=VECTOR, direction=VECTOR)
def hessian_product(error: TrainingError, theta: Array, direction: Array) -> Array:
    r"""Return the Hessian of the mean error times a vector, exactly.

    Parameters
    ----------
    error
        The error, with its network and rows.
    theta
        Weights and biases, flat.
    direction
        The vector.

    Notes
    -----
    The derivative along the direction is carried through the forward and the backward pass
    (Pearlmutter, 1994), for about the cost of two gradients; no Hessian is stored.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.neural import Network, TrainingError, hessian_product, layout_of
    >>> error = TrainingError(
    ...     Network(layout_of((1, 1, 1)), "identity"), np.array([[1.0], [2.0]]), np.zeros((2, 1))
    ... )
    >>> hessian_product(error, np.array([1.0, 0.0, 1.0, 0.0]), np.array([0.0, 0.0, 0.0, 1.0]))
    array([1.5, 1. , 1.5, 1. ])
    """
    layout = error.network.layout
    theta, direction = np.asarray(theta, np.float64), np.asarray(direction, np.float64)
    if theta.shape != (layout.n_parameters,) or direction.shape != theta.shape:
        raise DataError(
            f"theta and direction: expected {layout.n_parameters} numbers each, got {theta.shape} "
            f"and {direction.shape}."
        )
    product = np.zeros_like(theta)
    for start in range(0, error.n_rows, CHUNK_ROWS):
        _add_product(error, theta, direction, slice(start, start + CHUNK_ROWS), product)
    product /= error.mass
    product += error.decay * direction
    return _projected(layout, product)


def _add_product(
    error: TrainingError, theta: Array, direction: Array, part: slice, product: Array
) -> None:
    """Add what some of the rows give to the product for the summed error."""
    layout, rows = error.network.layout, np.asarray(error.inputs[part], np.float64)
    values, changes, slopes, bends = _forward(error.network, theta, direction, rows)
    delta, delta_change = _output_derivatives(error, part, slopes[-1], bends[-1])
    for layer in range(layout.n_layers - 1, -1, -1):
        slot = layout.weights(product, layer)
        slot += values[layer].T @ delta_change
        layout.biases(product, layer)[:] += delta_change.sum(axis=0)
        if layer == layout.n_layers - 1 and layout.skip:
            layout.skip_weights(product)[:] += rows.T @ delta_change
        if layer == 0:
            return
        slot += changes[layer - 1].T @ delta
        weights, moved = layout.weights(theta, layer), layout.weights(direction, layer)
        # The product rule, for errors times weights and then for what comes back times the slope.
        back, back_change = delta @ weights.T, delta_change @ weights.T
        back_change += delta @ moved.T
        slope, bend = slopes[layer - 1], bends[layer - 1]
        back_change *= slope
        back_change += back * bend
        back *= slope
        delta, delta_change = back, back_change


def _forward(
    network: Network, theta: Array, direction: Array, rows: Array
) -> tuple[list[Array], list[Array], list[Array], list[Array]]:
    """Return values from the inputs on, changes, slopes and changes of slopes of the hidden units.

    Of the outputs, slopes and their changes are the sums and the changes of the sums instead.
    """
    layout = network.layout
    values: list[Array] = [rows]
    changes: list[Array] = []
    slopes: list[Array] = []
    bends: list[Array] = []
    for layer in range(layout.n_layers):
        weights, moved = layout.weights(theta, layer), layout.weights(direction, layer)
        sums, change = values[-1] @ weights, values[-1] @ moved
        sums += layout.biases(theta, layer)
        change += layout.biases(direction, layer)
        if layer:
            # The inputs do not change.
            change += changes[-1] @ weights
        if layer == layout.n_layers - 1:
            if layout.skip:
                sums += rows @ layout.skip_weights(theta)
                change += rows @ layout.skip_weights(direction)
            slopes.append(sums)
            bends.append(change)
            break
        value, slope, bend = unit_derivatives(sums, network.activation, network.gain)
        bend *= change
        change *= slope
        values.append(value)
        changes.append(change)
        slopes.append(slope)
        bends.append(bend)
    return values, changes, slopes, bends


def unit_derivatives(sums: Array, activation: str, gain: float) -> tuple[Array, Array, Array]:
    """Return the outputs of units with their first and second derivatives."""
    value = unit_outputs(sums, activation, gain)
    if activation == "logistic":
        slope = gain * value * (1.0 - value)
        return value, slope, gain * slope * (1.0 - 2.0 * value)
    if activation == "tanh":
        slope = 1.0 - value * value
        return value, slope, -2.0 * value * slope
    if activation == "relu":
        return value, (sums > 0.0).astype(np.float64), np.zeros_like(sums)
    if activation == "gaussian":
        return value, -sums * value, (sums**2 - 1.0) * value
    return value, np.ones_like(sums), np.zeros_like(sums)


def _output_derivatives(
    error: TrainingError, part: slice, sums: Array, change: Array
) -> tuple[Array, Array]:
    """Return the derivative of the error of some rows by the outputs' sums, and its change."""
    output, targets = error.network.output, error.targets[part]
    if output == "softmax":
        # The Jacobian of a softmax, diag(p) - p p', times the change.
        shares = softmax(sums, axis=1)
        moved = shares * (change - (shares * change).sum(axis=1, keepdims=True))
        residual = shares
        residual[np.arange(len(targets)), targets] -= 1.0
    elif output == "binary":
        shares = expit(sums)
        residual, moved = shares - targets[:, None], shares * (1.0 - shares) * change
    else:
        value, slope, bend = unit_derivatives(sums, output, 1.0)
        # Of half the squared difference, twice by the chain rule.
        difference = value - targets
        residual, moved = difference * slope, (slope**2 + difference * bend) * change
    if error.weights is None:
        return residual, moved
    weight = error.weights[part, None]
    return weight * residual, weight * moved


def _projected(layout: Any, product: Array) -> Array:
    """Return a product with absent weights at zero and tied ones combined."""
    if len(layout.mask):
        product[~layout.mask] = 0.0
    if len(layout.groups):
        tied = layout.groups >= 0
        groups = layout.groups[tied]
        product[tied] = (np.bincount(groups, product[tied]) / layout.group_divisors)[groups]
    return product


@checked_arguments(error=TRAINING_ERROR, theta=VECTOR)
def hessian_diagonal(error: TrainingError, theta: Array) -> Array:
    r"""Return the diagonal of the Hessian of the mean error, exactly.

    Parameters
    ----------
    error, theta
        As in `hessian_product`.

    Notes
    -----
    A weight reaches the error through the sum :math:`a_j` of its unit alone, so that its second
    derivative is that of :math:`a_j` times the square of what comes in. The derivatives of a
    layer's sums follow from those of the layer above. Where weights are tied, a product for each
    weight is needed, which takes far longer.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.neural import Network, TrainingError, hessian_diagonal, layout_of
    >>> error = TrainingError(
    ...     Network(layout_of((1, 1, 1)), "identity"), np.array([[1.0], [2.0]]), np.zeros((2, 1))
    ... )
    >>> hessian_diagonal(error, np.array([1.0, 0.0, 1.0, 0.0]))
    array([2.5, 1. , 2.5, 1. ])
    """
    layout, theta = error.network.layout, np.asarray(theta, np.float64)
    if theta.shape != (layout.n_parameters,):
        raise DataError(f"theta: expected {layout.n_parameters} numbers; got {theta.shape}.")
    if len(layout.groups):
        return _diagonal_by_products(error, theta)
    diagonal = np.zeros_like(theta)
    # A matrix over the units of a layer for each row: large layers take few rows at a time.
    size = min(CHUNK_ROWS, max(1, MATRIX_NUMBERS // max(layout.sizes[1:]) ** 2))
    for start in range(0, error.n_rows, size):
        _add_diagonal(error, theta, slice(start, start + size), diagonal)
    diagonal /= error.mass
    diagonal += error.decay
    return _projected(layout, diagonal)


def _diagonal_by_products(error: TrainingError, theta: Array) -> Array:
    diagonal, direction = np.empty(len(theta)), np.zeros(len(theta))
    for place in range(len(theta)):
        direction[place] = 1.0
        diagonal[place] = hessian_product(error, theta, direction)[place]
        direction[place] = 0.0
    return diagonal


def _add_diagonal(error: TrainingError, theta: Array, part: slice, diagonal: Array) -> None:
    """Add what some of the rows give to the diagonal for the summed error."""
    layout, rows = error.network.layout, np.asarray(error.inputs[part], np.float64)
    values, sums, output_sums = [rows], [], rows
    for layer in range(layout.n_layers):
        output_sums = values[-1] @ layout.weights(theta, layer) + layout.biases(theta, layer)
        if layer < layout.n_layers - 1:
            sums.append(output_sums)
            values.append(unit_outputs(output_sums, error.network.activation, error.network.gain))
    if layout.skip:
        output_sums = output_sums + rows @ layout.skip_weights(theta)
    delta, matrices = _output_matrices(error, part, output_sums)
    for layer in range(layout.n_layers - 1, -1, -1):
        seconds = np.einsum("tjj->tj", matrices)
        layout.weights(diagonal, layer)[:] += (values[layer] ** 2).T @ seconds
        layout.biases(diagonal, layer)[:] += seconds.sum(axis=0)
        if layer == layout.n_layers - 1 and layout.skip:
            layout.skip_weights(diagonal)[:] += (rows**2).T @ seconds
        if layer:
            weights, network = layout.weights(theta, layer), error.network
            _, slope, bend = unit_derivatives(sums[layer - 1], network.activation, network.gain)
            # By the sums of the layer below, the Hessian of a row's error is D W H W' D with the
            # slopes D, and on the diagonal the second derivatives of the units besides.
            back = delta @ weights.T
            matrices = weights @ matrices @ weights.T
            matrices *= slope[:, :, None] * slope[:, None, :]
            np.einsum("tjj->tj", matrices)[:] += bend * back
            delta = back * slope


def _output_matrices(error: TrainingError, part: slice, sums: Array) -> tuple[Array, Array]:
    """Return first and second derivatives of the error of each row by the outputs' sums."""
    n_rows, n_outputs = sums.shape
    matrices = np.empty((n_rows, n_outputs, n_outputs))
    for unit, direction in enumerate(np.eye(n_outputs)):
        along = np.broadcast_to(direction, sums.shape)
        delta, matrices[:, unit] = _output_derivatives(error, part, sums, along)
    return delta, matrices
