"""The present and the future of a sequence: filtering one step at a time, and forecasts."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from verulam.base import DataError
from verulam.sequence._data.sequences import Sequences
from verulam.sequence._model.emission import Ahead
from verulam.sequence._model.parameters import HMMParameters
from verulam.sequence._model.transitions import AnyTransitions, Transitions


@dataclass(frozen=True)
class Forecast:
    """What is to come after the last step of a sequence.

    Attributes
    ----------
    states : ndarray of shape (n_ahead, n_states)
        Probability of each state.
    expected : ndarray of shape (n_ahead, n_columns)
        Expected observation: numbers, or the probabilities of symbols.
    """

    states: np.ndarray
    expected: np.ndarray


def matrix_into(moves: AnyTransitions, step: int) -> np.ndarray:
    """Return the transition matrix into a step."""
    return moves.matrix if isinstance(moves, Transitions) else moves.matrices[step]


def forecast_steps(
    model: HMMParameters,
    sequence: Sequences,
    last: np.ndarray,
    n_ahead: int,
    inputs: np.ndarray | None,
) -> Forecast:
    """Return what is to come after one sequence.

    Parameters
    ----------
    model
        The model.
    sequence
        The sequence, encoded.
    last
        Probability of each state at its last step.
    n_ahead
        Number of steps to come.
    inputs
        What is known at each of them.
    """
    if inputs is not None and len(inputs) != n_ahead:
        raise DataError(f"inputs_ahead has {len(inputs)} steps, but n_ahead is {n_ahead}.")
    moves = model.moves(_last_and_ahead(model, sequence, n_ahead, inputs))
    states: list[np.ndarray] = []
    for step in range(1, n_ahead + 1):
        before = states[-1] if states else last
        matrix = matrix_into(moves, step)
        states.append(before @ matrix)
    shape = (n_ahead, model.n_states, model.n_states)
    matrices = matrix if isinstance(moves, Transitions) else moves.matrices[1:]
    ahead = Ahead(last, np.array(states), np.broadcast_to(matrices, shape), sequence.values, inputs)
    emission, parameters = model.parts.emission, model.emission
    if model.parts.shared is not None:
        parameters = emission.take(parameters, model.parts.shared)
    return Forecast(ahead.states, emission.expected_ahead(parameters, ahead))


def _last_and_ahead(
    model: HMMParameters, sequence: Sequences, n_ahead: int, inputs: np.ndarray | None
) -> Sequences:
    """Return the last step and those to come, whose inputs say where the chain goes."""
    known = sequence.inputs
    if known is not None and inputs is not None:
        if inputs.shape[1] != known.shape[1]:
            raise DataError(
                f"inputs_ahead has {inputs.shape[1]} columns, but inputs has {known.shape[1]}."
            )
        known = np.concatenate([known[-1:], inputs])
    elif known is not None and not isinstance(model.transitions, Transitions):
        # One step is moved by inputs that are known already, where those of its source count.
        if n_ahead > 1 or getattr(model.parts.transitions, "inputs_at", "") != "source":
            raise DataError("forecast needs inputs_ahead: pass what is known at each step to come.")
        known = known[[-1, -1]]
    else:
        known = None
    return Sequences(np.empty((n_ahead + 1, 0)), np.array([0, n_ahead + 1]), known)


class OnlineFilter:
    """The posterior of the present state, kept up to date one observation at a time.

    Parameters
    ----------
    model
        A fitted model.
    encode
        Turns rows of observations, and what is known beside them, into sequences that the
        model's emission reads.

    Examples
    --------
    >>> from verulam.sequence import CategoricalEmission, HiddenMarkovModel
    >>> model = HiddenMarkovModel.from_parameters(
    ...     [0.5, 0.5],
    ...     [[0.9, 0.1], [0.2, 0.8]],
    ...     CategoricalEmission(probabilities=[[0.9, 0.1], [0.3, 0.7]]),
    ... )
    >>> online = model.online()
    >>> online.update(1).round(3)
    array([0.125, 0.875])
    >>> round(online.log_likelihood, 4)
    -0.9163
    """

    def __init__(
        self, model: HMMParameters, encode: Callable[[np.ndarray, Any], Sequences]
    ) -> None:
        self.model = model
        self.log_likelihood = 0.0
        self._encode = encode
        self._shares: np.ndarray | None = None
        self._rows: list[np.ndarray] = []
        self._inputs: list[np.ndarray] = []
        self._last_inputs: np.ndarray | None = None

    def update(self, observation: Any, inputs: Any = None) -> np.ndarray:
        """Return the probability of each state after one more observation.

        Parameters
        ----------
        observation
            One number or symbol, or one row of them; NaN where it is missing.
        inputs
            What is known at this step beside it, where the model uses inputs.
        """
        rows = [*self._rows, np.atleast_2d(observation)]
        known = [] if inputs is None else [*self._inputs, np.atleast_2d(inputs)]
        sequences = self._encode(np.concatenate(rows), np.concatenate(known) if known else None)
        if len(sequences.values) != len(rows):
            raise DataError("update takes one observation at a time: one value, or one row.")
        ahead = self._ahead(sequences)
        table = self.model.emissions(sequences)
        joint = ahead * table.relative[-1]
        total = joint.sum()
        if total <= 0:
            last = len(rows) - 1
            logarithms = table.logarithms(last, last + 1)[0]
            with np.errstate(divide="ignore"):
                joint = np.log(ahead) + logarithms
            peak = joint.max()
            if np.isneginf(peak):
                raise DataError(f"The observation {observation!r} is impossible at this step.")
            joint = np.exp(joint - peak)
            self.log_likelihood += float(peak - table.log_peaks[-1])
            total = joint.sum()
        self.log_likelihood += float(np.log(total) + table.log_peaks[-1])
        self._shares = joint / total
        memory = self.model.parts.emission.memory
        self._rows, self._inputs = (part[-memory:] if memory else [] for part in (rows, known))
        self._last_inputs = sequences.inputs
        return self._shares

    def _ahead(self, sequences: Sequences) -> np.ndarray:
        """Return the probability of each state before the observation."""
        if self._shares is None:
            return self.model.initial
        known, before = sequences.inputs, self._last_inputs
        both = (
            None if known is None or before is None else np.concatenate([before[-1:], known[-1:]])
        )
        moves = self.model.moves(Sequences(np.empty((2, 0)), np.array([0, 2]), both))
        if isinstance(moves, Transitions):
            return moves.step(self._shares)
        return self._shares @ moves.matrices[1]
