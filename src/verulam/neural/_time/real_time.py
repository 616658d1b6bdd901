r"""Real-time recurrent learning: derivatives of all units carried forward, without unfolding.

A network of n units and P weights keeps n by P derivatives, whatever the length of a sequence.
"""

import numpy as np
from numpy.typing import NDArray

from verulam.neural._network.network import unit_outputs
from verulam.neural._time.recurrence import Floats, RecurrentLayout, RecurrentNetwork


class Sensitivities:
    r"""Derivatives of hidden units and outputs by all weights, from step to step.

    .. math::
        \frac{\partial z_t}{\partial\theta} = s'(a_t) \left( \frac{\partial^+ a_t}{\partial\theta}
        + U^T \frac{\partial z_{t-1}}{\partial\theta}
        + F^T \frac{\partial y_{t-1}}{\partial\theta} \right)

    where :math:`\partial^+` holds the states of the step before fixed (Williams and Zipser, 1989).

    Parameters
    ----------
    network
        The network, at its first step: no unit has said anything yet.
    dtype
        Type of the numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.neural import RecurrentNetwork, Sensitivities, recurrent_layout
    >>> network = RecurrentNetwork(recurrent_layout((1, 1, 1), "hidden"), "identity")
    >>> state = Sensitivities(network, np.dtype(float))
    >>> theta = np.array([1.0, 0.0, 1.0, 0.0, 0.5])  # into and out of the unit, and its feedback
    >>> for row in ([1.0], [0.0]):
    ...     state.advance(theta, np.array(row))
    >>> state.outputs.tolist(), state.by_outputs[0].tolist()
    ([0.5], [0.5, 1.5, 0.5, 1.0, 1.0])
    """

    def __init__(self, network: RecurrentNetwork, dtype: np.dtype) -> None:
        self.network = network
        layout = network.layout
        _, n_hidden, n_outputs = layout.sizes
        self.hidden = np.zeros(n_hidden, dtype=dtype)
        self.outputs = np.zeros(n_outputs, dtype=dtype)
        self.sums = np.zeros(n_outputs, dtype=dtype)
        self.by_hidden = np.zeros((n_hidden, layout.n_parameters), dtype=dtype)
        self.by_outputs = np.zeros((n_outputs, layout.n_parameters), dtype=dtype)
        self.by_sums = np.zeros_like(self.by_outputs)
        self._hidden_places, self._output_places = _places(layout)

    def advance(self, theta: Floats, row: Floats) -> None:
        """Take one step of the sequence."""
        layout = self.network.layout
        base = layout.perceptron
        hidden_feedback = layout.feedback_weights(theta, "hidden")
        output_feedback = layout.feedback_weights(theta, "output")
        mixed_feedback = layout.feedback_weights(theta, "output-hidden")
        sources = [row, np.ones(1, dtype=row.dtype)]
        sums = row @ base.weights(theta, 0) + base.biases(theta, 0)
        changes = np.zeros_like(self.by_hidden)
        if hidden_feedback is not None:
            sums = sums + self.hidden @ hidden_feedback
            changes += hidden_feedback.T @ self.by_hidden
            sources.append(self.hidden)
        if mixed_feedback is not None:
            sums = sums + self.outputs @ mixed_feedback
            changes += mixed_feedback.T @ self.by_outputs
            sources.append(self.outputs)
        changes[np.arange(len(changes))[:, None], self._hidden_places] += np.concatenate(sources)
        self.hidden = unit_outputs(sums, self.network.activation)
        changes *= self.network.hidden_slopes(self.hidden)[:, None]
        self.by_hidden = changes
        sources = [self.hidden, np.ones(1, dtype=row.dtype)]
        self.sums = self.hidden @ base.weights(theta, 1) + base.biases(theta, 1)
        self.by_sums = base.weights(theta, 1).T @ changes
        if output_feedback is not None:
            self.sums = self.sums + self.outputs @ output_feedback
            self.by_sums += output_feedback.T @ self.by_outputs
            sources.append(self.outputs)
        self.by_sums[np.arange(len(self.sums))[:, None], self._output_places] += np.concatenate(
            sources
        )
        self.outputs = self.network.answer(self.sums[None])[0]
        # The derivatives of a function of the outputs' sums, column by column.
        self.by_outputs = self.network.pull_back(self.outputs[None], self.by_sums.T).T


def _places(layout: RecurrentLayout) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return for hidden units and for outputs the places of the weights that lead into each."""
    numbers = np.arange(layout.n_parameters)
    base = layout.perceptron
    into_hidden = [base.weights(numbers, 0), base.biases(numbers, 0)[None]]
    into_outputs = [base.weights(numbers, 1), base.biases(numbers, 1)[None]]
    for kind, target in (
        ("hidden", into_hidden), ("output-hidden", into_hidden), ("output", into_outputs)
    ):  # fmt: skip
        weights = layout.feedback_weights(numbers, kind)
        if weights is not None:
            target.append(weights)
    return np.vstack(into_hidden).T, np.vstack(into_outputs).T
