"""Back-propagation over a batch of rows: matrix products between layers, compiled loops at units.

The products are NumPy's, because a loop over layers would take longer to compile than it saves.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.neural._network.gradient_loops import differentiate
from verulam.neural._network.layout import Layout, Parts
from verulam.neural._network.units import activate_batch, batch_errors

Floats = NDArray[np.floating]


class Workspace:
    """Values, errors and slopes of all units for the rows of a batch.

    Parameters
    ----------
    layout
        Layers of the network.
    buffer
        Numbers to write to, at least `buffer_size` for so many rows.
    n_rows
        Rows of the batch.
    """

    def __init__(self, layout: Layout, buffer: Floats, n_rows: int) -> None:
        self.layout, self.n_rows = layout, n_rows
        ends = np.cumsum([n_rows * size for size in (layout.sizes[0], *layout.sizes[1:] * 3)])
        blocks = np.split(buffer[: ends[-1]], ends[:-1])
        n_layers = layout.n_layers
        self.inputs, self.ones = blocks[0].reshape(n_rows, -1), np.ones(n_rows, buffer.dtype)
        # Compiled loops take flat arrays, products take tables; both are views.
        self.values, self.errors, self.slopes = (
            blocks[1 + kind * n_layers : 1 + (kind + 1) * n_layers] for kind in range(3)
        )
        self.value_tables = [block.reshape(n_rows, -1) for block in self.values]
        self.error_tables = [block.reshape(n_rows, -1) for block in self.errors]

    @staticmethod
    def buffer_size(layout: Layout, n_rows: int) -> int:
        """Return how many numbers a batch needs."""
        return n_rows * (layout.sizes[0] + 3 * sum(layout.sizes[1:]))

    def forward(
        self,
        theta: Parts,
        inputs: Floats,
        targets: tuple[Floats, NDArray[np.int64], NDArray[np.float64]],
        rows: NDArray[np.int64],
        kinds: tuple[int, int],
        gain: float,
    ) -> float:
        """Return the error over a batch, summed, and remember the outputs of all units.

        Parameters
        ----------
        theta
            Parameters.
        inputs
            All rows.
        targets
            Numbers to predict, rows by outputs, and classes of the rows, one of which is empty; and
            weights of the rows, empty where all count alike.
        rows
            The rows of the batch.
        kinds
            Kinds of the hidden units and of the outputs.
        gain
            Steepness of logistic units.
        """
        last = self.layout.n_layers - 1
        # With checks of its bounds it would go through a buffer.
        np.take(inputs, rows, axis=0, out=self.inputs, mode="clip")
        below = self.inputs
        for layer in range(last):
            np.dot(below, theta.weights[layer], out=self.value_tables[layer])
            activate_batch(
                self.values[layer], self.slopes[layer], theta.biases[layer], kinds[0], gain
            )
            below = self.value_tables[layer]
        np.dot(below, theta.weights[last], out=self.value_tables[last])
        if theta.skip is not None:
            self.value_tables[last] += self.inputs @ theta.skip
        biases, errors = theta.biases[last], self.errors[last]
        return batch_errors(self.values[last], biases, *targets, rows, kinds[1], errors)

    def backward(self, theta: Parts, gradient: Parts, activation: int, gain: float) -> None:
        """Leave the gradient of the summed error in `gradient`, after a forward pass.

        All errors are computed with the weights as they are, before any step (Alpaydin fig. 11.11).
        """
        last = self.layout.n_layers - 1
        if gradient.skip is not None:
            np.dot(self.inputs.T, self.error_tables[last], out=gradient.skip)
        for layer in range(last, -1, -1):
            errors = self.error_tables[layer]
            below: Any = self.value_tables[layer - 1] if layer else self.inputs
            np.dot(below.T, errors, out=gradient.weights[layer])
            np.dot(self.ones, errors, out=gradient.biases[layer])
            if layer:
                np.dot(errors, theta.weights[layer].T, out=self.error_tables[layer - 1])
                differentiate(
                    self.errors[layer - 1], self.values[layer - 1], self.slopes[layer - 1],
                    activation, gain,
                )  # fmt: skip
