"""Transitions that depend on inputs: a logistic regression out of each state."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from verulam.base import DataError
from verulam.numerics import log_softmax, softmax
from verulam.sequence._data.sequences import Sequences, check_input_width
from verulam.sequence._model.inference import Smoothed
from verulam.sequence._model.transitions import VaryingTransitions


@dataclass(frozen=True)
class LogisticWeights:
    """Parameters of logistic transitions.

    Attributes
    ----------
    weights : ndarray of shape (n_states, n_inputs + 1, n_states)
        For each source, intercept and weights of the inputs towards each target.
    """

    weights: np.ndarray


@dataclass(frozen=True)
class SoftTransitions:
    """Inputs and the posteriors of the transitions into the steps, one row per step."""

    inputs: np.ndarray
    shares: np.ndarray

    def __add__(self, other: "SoftTransitions") -> "SoftTransitions":
        return SoftTransitions(
            np.concatenate([self.inputs, other.inputs]), np.concatenate([self.shares, other.shares])
        )


@dataclass(frozen=True)
class LogisticTransitions:
    r"""Where the chain goes depends on what is known at the step: a Markov mixture of experts.

    Parameters
    ----------
    penalty
        Strength of the ridge on the weights, which also settles the one that is free.
    weights
        Values to start from.
    fixed
        Whether to hold them.

    Notes
    -----
    :math:`P(q_t = j \mid q_{t-1} = i, x_t) = e^{v_{ij}^T x_t} / \sum_l e^{v_{il}^T x_t}` (Alpaydin
    15.9). Each pass fits one softmax regression per source to the posteriors of the
    transitions, by L-BFGS with the gradient
    :math:`\sum_t x_t (\xi_{t-1}(i, j) - \gamma_{t-1}(i) P(j \mid i, x_t))`.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import HiddenMarkovModel, LogisticTransitions
    >>> x = np.repeat([-1.0, 1.0, -1.0, 1.0], 30)
    >>> y = (x > 0) * 5.0 + np.tile([0.1, -0.1], 60)
    >>> model = HiddenMarkovModel(2, transitions=LogisticTransitions(), random_state=0)
    >>> model = model.fit(y, inputs=x)
    >>> model.transitions_.weights.shape
    (2, 2, 2)
    """

    penalty: float = 1e-3
    weights: Any = None
    fixed: bool = False

    def __post_init__(self) -> None:
        check_penalty(self.penalty)

    def start(self, n_states: int, random: np.random.Generator) -> LogisticWeights:
        """Return weights that only favour staying; inputs come in with the first pass."""
        if self.weights is not None:
            return LogisticWeights(np.array(self.weights, dtype=np.float64))
        weights = np.zeros((n_states, 1, n_states))
        weights[:, 0] = np.eye(n_states)
        return LogisticWeights(weights)

    def prepared(self, parameters: LogisticWeights, sequences: Sequences) -> VaryingTransitions:
        """Return the matrix at each step."""
        if sequences.inputs is None:
            raise DataError("LogisticTransitions needs inputs: pass inputs= beside X.")
        width = parameters.weights.shape[1]
        if width > 1:
            # Weights of width 1 are those before the first pass.
            check_input_width(sequences.inputs, width - 1)
        rows = _design(sequences.inputs, width)
        return VaryingTransitions(
            softmax(np.einsum("tp,ipj->tij", rows, parameters.weights), axis=2)
        )

    def statistics(
        self, parameters: LogisticWeights, smoothed: Smoothed, sequences: Sequences
    ) -> SoftTransitions:
        """Return the inputs with the posteriors of the transitions."""
        inside = np.ones(sequences.n_steps, dtype=bool)
        inside[sequences.starts[:-1]] = False
        known = sequences.inputs
        assert known is not None
        return SoftTransitions(known[inside], smoothed.transition_sums[inside])

    def update(self, parameters: LogisticWeights, sums: SoftTransitions) -> LogisticWeights:
        """Return the softmax regressions of the posteriors."""
        if self.fixed:
            return parameters
        rows = _design(sums.inputs, sums.inputs.shape[1] + 1)
        n_states = len(parameters.weights)
        old = np.zeros((n_states, rows.shape[1], n_states))
        old[:, : parameters.weights.shape[1]] = parameters.weights
        fits = [
            minimize(
                logistic_loss,
                old[i].ravel(),
                (rows, sums.shares[:, i], self.penalty),
                jac=True,
                method="L-BFGS-B",
            ).x.reshape(old[i].shape)
            for i in range(n_states)
        ]
        return LogisticWeights(np.array(fits))

    def log_prior(self, parameters: LogisticWeights) -> float:
        """Return the ridge as the logarithm of a Gaussian prior."""
        return float(-0.5 * self.penalty * (parameters.weights**2).sum())

    def n_parameters(self, parameters: LogisticWeights) -> int:
        """Return the free weights: one target per source is the reference."""
        n_states, n_inputs, _ = parameters.weights.shape
        return 0 if self.fixed else n_states * n_inputs * (n_states - 1)

    def take(self, parameters: LogisticWeights, states: np.ndarray) -> LogisticWeights:
        """Return the weights among some states."""
        return LogisticWeights(parameters.weights[states][:, :, states])


def check_penalty(penalty: float) -> None:
    """Raise where a ridge would reward weights without end instead of holding them."""
    if not 0.0 <= penalty < np.inf:
        raise DataError(f"penalty must be a number of at least 0; got {penalty!r}.")


def logistic_loss(
    flat: np.ndarray, rows: np.ndarray, shares: np.ndarray, penalty: float
) -> tuple[float, np.ndarray]:
    """Return the loss of a softmax regression on soft targets, and its gradient.

    Parameters
    ----------
    flat
        Weights, one row per input, one column per target, in one dimension.
    rows
        Inputs with a leading one.
    shares
        Weight of each target at each step.
    penalty
        Strength of the ridge.
    """
    weights = flat.reshape(rows.shape[1], shares.shape[1])
    logarithms = log_softmax(rows @ weights, axis=1)
    expected = shares.sum(axis=1, keepdims=True) * np.exp(logarithms)
    loss = -(shares * logarithms).sum() + 0.5 * penalty * (weights**2).sum()
    return float(loss), (rows.T @ (expected - shares) + penalty * weights).ravel()


def _design(inputs: np.ndarray, width: int) -> np.ndarray:
    return np.hstack([np.ones((len(inputs), 1)), inputs])[:, :width]
