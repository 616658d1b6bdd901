"""Second derivatives of a network: products with the Hessian, and its diagonal."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from verulam.base import DataError
from verulam.neural._network.network import Network, TrainingError, activate
from verulam.numerics import softmax

Array = NDArray[np.float64]


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
    weight = np.full(error.n_rows, 1.0) if error.weights is None else error.weights
    values, changes, slopes, bends = _forward(error.network, theta, direction, error.inputs)
    delta, delta_change = _output_derivatives(error, slopes[-1], bends[-1], weight)
    product = np.empty_like(theta)
    for layer in range(layout.n_layers - 1, -1, -1):
        layout.weights(product, layer)[:] = (
            changes[layer].T @ delta + values[layer].T @ delta_change
        )
        layout.biases(product, layer)[:] = delta_change.sum(axis=0)
        if layer == layout.n_layers - 1 and layout.skip:
            layout.skip_weights(product)[:] = values[0].T @ delta_change
        if layer == 0:
            break
        weights, moved = layout.weights(theta, layer), layout.weights(direction, layer)
        back = delta @ weights.T
        back_change = delta_change @ weights.T + delta @ moved.T
        slope, bend = slopes[layer - 1], bends[layer - 1]
        delta, delta_change = back * slope, back_change * slope + back * bend
    product /= error.mass
    product += error.decay * direction
    return _projected(layout, product)


def _forward(
    network: Network, theta: Array, direction: Array, rows: NDArray[Any]
) -> tuple[Any, ...]:
    """Return values and their changes by layer, and slopes and their changes of the units.

    Of the outputs, slopes and their changes are the sums and the changes of the sums instead.
    """
    layout = network.layout
    values, changes = [np.asarray(rows, np.float64)], [np.zeros(rows.shape)]
    slopes: list[Array] = []
    bends: list[Array] = []
    for layer in range(layout.n_layers):
        weights, moved = layout.weights(theta, layer), layout.weights(direction, layer)
        sums = values[-1] @ weights + layout.biases(theta, layer)
        change = changes[-1] @ weights + values[-1] @ moved + layout.biases(direction, layer)
        if layer == layout.n_layers - 1:
            if layout.skip:
                sums = sums + values[0] @ layout.skip_weights(theta)
                change = change + values[0] @ layout.skip_weights(direction)
            return values, changes, [*slopes, sums], [*bends, change]
        value, slope, bend = unit_derivatives(sums, network.activation, network.gain)
        values.append(value)
        changes.append(slope * change)
        slopes.append(slope)
        bends.append(bend * change)
    raise AssertionError("a network has at least one layer of weights")


def unit_derivatives(sums: Array, activation: str, gain: float) -> tuple[Array, Array, Array]:
    """Return the outputs of units with their first and second derivatives."""
    value = activate(sums, activation, gain)
    if activation == "logistic":
        slope = gain * value * (1.0 - value)
        return value, slope, gain * slope * (1.0 - 2.0 * value)
    if activation == "tanh":
        slope = 1.0 - value**2
        return value, slope, -2.0 * value * slope
    if activation == "relu":
        return value, (sums > 0.0).astype(np.float64), np.zeros_like(sums)
    if activation == "gaussian":
        return value, -sums * value, (sums**2 - 1.0) * value
    return value, np.ones_like(sums), np.zeros_like(sums)


def _output_derivatives(
    error: TrainingError, sums: Array, change: Array, weight: Array
) -> tuple[Array, Array]:
    """Return the derivative of the error by the outputs' sums, and its change."""
    output, targets = error.network.output, error.targets
    if output == "softmax":
        shares = softmax(sums, axis=1)
        residual = shares - np.eye(sums.shape[1])[targets]
        moved = shares * (change - (shares * change).sum(axis=1, keepdims=True))
    elif output == "binary":
        shares = expit(sums)
        residual, moved = shares - targets[:, None], shares * (1.0 - shares) * change
    else:
        value, slope, bend = unit_derivatives(sums, output, 1.0)
        difference = value - targets
        residual, moved = difference * slope, (slope**2 + difference * bend) * change
    return weight[:, None] * residual, weight[:, None] * moved


def _projected(layout: Any, product: Array) -> Array:
    """Return a product with absent weights at zero and tied ones combined."""
    if len(layout.mask):
        product[~layout.mask] = 0.0
    if len(layout.groups):
        tied = layout.groups >= 0
        groups = layout.groups[tied]
        product[tied] = (np.bincount(groups, product[tied]) / layout.group_divisors)[groups]
    return product


def hessian_diagonal(error: TrainingError, theta: Array) -> Array:
    """Return the diagonal of the Hessian of the mean error, one product for each weight.

    Parameters
    ----------
    error, theta
        As in `hessian_product`.

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
    diagonal, direction = np.empty(len(theta)), np.zeros(len(theta))
    for place in range(len(theta)):
        direction[place] = 1.0
        diagonal[place] = hessian_product(error, theta, direction)[place]
        direction[place] = 0.0
    return diagonal
