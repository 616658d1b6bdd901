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
    """Inputs that move the transitions, and the posteriors of these, one row per transition."""

    inputs: np.ndarray
    shares: np.ndarray

    def __add__(self, other: "SoftTransitions") -> "SoftTransitions":
        return SoftTransitions(
            np.concatenate([self.inputs, other.inputs]), np.concatenate([self.shares, other.shares])
        )


@dataclass(frozen=True)
class LogisticTransitions:
    r"""Where the chain goes depends on what is known at a step: a Markov mixture of experts.

    Parameters
    ----------
    penalty
        Strength of the ridge on the weights, which also settles the one that is free.
    weights
        Values to start from.
    fixed
        Whether to hold them.
    inputs_at
        Which step's inputs move a transition: "source" for the step that it leaves, "target" for
        the step that it enters.

    Notes
    -----
    :math:`P(q_{t+1} = j \mid q_t = i, x_t) = e^{v_{ij}^T x_t} / \sum_l e^{v_{il}^T x_t}` (Alpaydin
    15.9), so that the inputs of the last step move no transition; with "target",
    :math:`x_{t+1}` takes the place of :math:`x_t`, and it is those of the first step that move
    none. Each pass fits one softmax regression per source to the posteriors of the transitions,
    by L-BFGS with the gradient
    :math:`\sum_t x_t (\xi_t(i, j) - \gamma_t(i) P(j \mid i, x_t))`.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import HiddenMarkovModel, LogisticTransitions
    >>> x = np.repeat([-1.0, 1.0, -1.0, 1.0], 30)
    >>> y = 5.0 * np.append(0.0, x[:-1] > 0) + np.tile([0.1, -0.1], 60)
    >>> model = HiddenMarkovModel(2, transitions=LogisticTransitions(), random_state=0)
    >>> model = model.fit(y, inputs=x)
    >>> model.transitions_.weights.shape
    (2, 2, 2)

    What is known at the last step says where the chain goes next:

    >>> [model.forecast(y, inputs=np.append(x[:-1], last)).expected.item() > 2 for last in (-1, 1)]
    [False, True]
    """

    penalty: float = 1e-3
    weights: Any = None
    fixed: bool = False
    inputs_at: str = "source"

    def __post_init__(self) -> None:
        check_penalty(self.penalty)
        if self.inputs_at not in ("source", "target"):
            raise DataError(
                f"inputs_at of LogisticTransitions is {self.inputs_at!r}; expected 'source' (the "
                "step that a transition leaves) or 'target' (the step that it enters)."
            )

    def start(self, n_states: int, random: np.random.Generator) -> LogisticWeights:
        """Return weights that only favour staying; inputs come in with the first pass."""
        if self.weights is not None:
            weights = np.array(self.weights, dtype=np.float64)
            shape = weights.shape
            if len(shape) != 3 or shape[0] != n_states or shape[2] != n_states or shape[1] < 1:
                raise DataError(
                    f"weights of LogisticTransitions has shape {shape}; expected ({n_states}, "
                    f"number of inputs + 1, {n_states})."
                )
            return LogisticWeights(weights)
        weights = np.zeros((n_states, 1, n_states))
        weights[:, 0] = np.eye(n_states)
        return LogisticWeights(weights)

    def prepared(self, parameters: LogisticWeights, sequences: Sequences) -> VaryingTransitions:
        """Return the matrix into each step; that of a first step is not used."""
        if sequences.inputs is None:
            raise DataError("LogisticTransitions needs inputs: pass inputs= beside X.")
        width = parameters.weights.shape[1]
        if width > 1:
            # Weights of width 1 are those before the first pass.
            check_input_width(sequences.inputs, width - 1)
        rows = _design(sequences.inputs, width)[self._movers(np.arange(len(sequences.inputs)))]
        return VaryingTransitions(
            softmax(np.einsum("tp,ipj->tij", rows, parameters.weights), axis=2)
        )

    def _movers(self, steps: np.ndarray) -> np.ndarray:
        """Return the steps whose inputs move the transitions into some steps."""
        return np.maximum(steps - 1, 0) if self.inputs_at == "source" else steps

    def statistics(
        self, parameters: LogisticWeights, smoothed: Smoothed, sequences: Sequences
    ) -> SoftTransitions:
        """Return the inputs with the posteriors of the transitions."""
        inside = np.delete(np.arange(sequences.n_steps), sequences.starts[:-1])
        known = sequences.inputs
        assert known is not None
        return SoftTransitions(known[self._movers(inside)], smoothed.transition_sums[inside])

    def update(self, parameters: LogisticWeights, sums: SoftTransitions) -> LogisticWeights:
        """Return the softmax regressions of the posteriors."""
        if self.fixed:
            return parameters
        rows = _design(sums.inputs, sums.inputs.shape[1] + 1)
        n_states = len(parameters.weights)
        old = np.zeros((n_states, rows.shape[1], n_states))
        old[:, : parameters.weights.shape[1]] = parameters.weights
        # From the weights of the last pass: they are near the optimum of this one (warm start).
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
    # Each row of targets has a weight in all, that of being in the source: the gradient is that of
    # the softmax for one label, in expectation over labels.
    expected = shares.sum(axis=1, keepdims=True) * np.exp(logarithms)
    loss = -(shares * logarithms).sum() + 0.5 * penalty * (weights**2).sum()
    return float(loss), (rows.T @ (expected - shares) + penalty * weights).ravel()


def _design(inputs: np.ndarray, width: int) -> np.ndarray:
    return np.hstack([np.ones((len(inputs), 1)), inputs])[:, :width]
