"""Forward and backward passes for errors of any kind, in plain NumPy."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from verulam.neural._network.curvature import unit_derivatives
from verulam.neural._network.network import Network
from verulam.numerics import softmax

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DualPass:
    """Values of all layers for some rows, and their changes along directions of the inputs.

    Attributes
    ----------
    values, changes
        Outputs of the units by layer, from the inputs on, and their changes.
    slopes, bends
        First derivatives of the hidden units, and how these change.
    sums, sum_changes
        Weighted sums of the outputs and their changes.
    """

    values: list[Array]
    changes: list[Array]
    slopes: list[Array]
    bends: list[Array]
    sums: Array
    sum_changes: Array


def dual_forward(network: Network, theta: Array, rows: Array, directions: Array | None) -> DualPass:
    """Return what all units give for rows, and how fast that changes along directions."""
    layout = network.layout
    values, changes = [rows], [np.zeros_like(rows) if directions is None else directions]
    slopes: list[Array] = []
    bends: list[Array] = []
    sums, change = rows, rows
    for layer in range(layout.n_layers):
        weights = layout.weights(theta, layer)
        sums = values[-1] @ weights + layout.biases(theta, layer)
        change = changes[-1] @ weights
        if layer < layout.n_layers - 1:
            value, slope, bend = unit_derivatives(sums, network.activation, network.gain)
            values.append(value)
            changes.append(slope * change)
            slopes.append(slope)
            bends.append(bend * change)
    if layout.skip:
        direct = layout.skip_weights(theta)
        sums, change = sums + values[0] @ direct, change + changes[0] @ direct
    return DualPass(values, changes, slopes, bends, sums, change)


def dual_backward(
    network: Network, theta: Array, run: DualPass, error: Array, moved: Array
) -> Array:
    """Return the gradient by all weights, from derivatives by the outputs' sums and their changes.

    Parameters
    ----------
    network, theta, run
        The network, its weights, and its forward pass.
    error, moved
        Derivatives by the sums, and by the changes of the sums.
    """
    layout, gradient = network.layout, np.zeros_like(theta)
    for layer in range(layout.n_layers - 1, -1, -1):
        values, changes = run.values[layer], run.changes[layer]
        layout.weights(gradient, layer)[:] = values.T @ error + changes.T @ moved
        layout.biases(gradient, layer)[:] = error.sum(axis=0)
        if layer == layout.n_layers - 1 and layout.skip:
            layout.skip_weights(gradient)[:] = run.values[0].T @ error + run.changes[0].T @ moved
        if layer:
            weights = layout.weights(theta, layer)
            back, moved = error @ weights.T, moved @ weights.T
            # Values and changes both pass through the slope, which itself changes by the second
            # derivative: `bends` has that times the change.
            slope, bend = run.slopes[layer - 1], run.bends[layer - 1]
            error, moved = back * slope + moved * bend, moved * slope
    return gradient


def answers(network: Network, sums: Array) -> Array:
    if network.output == "softmax":
        return softmax(sums, axis=1)
    if network.output == "binary":
        return expit(sums)
    return unit_derivatives(sums, network.output, 1.0)[0]


def pulled_back(network: Network, sums: Array, slopes: Array) -> Array:
    """Return derivatives by the sums of the outputs, from those by the outputs."""
    if network.output == "softmax":
        shares = softmax(sums, axis=1)
        return shares * (slopes - (slopes * shares).sum(axis=1, keepdims=True))
    kind = "logistic" if network.output == "binary" else network.output
    return slopes * unit_derivatives(sums, kind, 1.0)[1]
