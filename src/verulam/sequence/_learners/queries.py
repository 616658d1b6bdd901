"""What a fitted model of sequences answers: scores, paths, posteriors, forecasts, samples."""

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from verulam.base import DataError, DataWarning, Seed, check_is_fitted, generator
from verulam.sequence._data.sequences import Sequences, check_count, input_rows
from verulam.sequence._learners.forecasting import Forecast, OnlineFilter, forecast_steps
from verulam.sequence._model.forward_backward import ForwardBackward, forward_backward
from verulam.sequence._model.inference import (
    BestPath,
    Smoothed,
    best_paths,
    draw_paths,
    filter_states,
    sums_by_sequence,
)
from verulam.sequence._model.parameters import HMMParameters, describe_impossible, refuse_impossible
from verulam.sequence._model.transitions import Transitions


@dataclass(frozen=True)
class SampledSequences:
    """Sequences drawn from a model.

    Attributes
    ----------
    observations
        List of arrays, one per sequence.
    states
        List of the states behind them.
    """

    observations: list[np.ndarray]
    states: list[np.ndarray]


@dataclass(frozen=True)
class PathProbabilities:
    r"""How probable a given path of states is, in logarithms, one number per sequence.

    Attributes
    ----------
    path : ndarray of shape (n_sequences,)
        :math:`\ln P(Q)`.
    observations : ndarray of shape (n_sequences,)
        :math:`\ln P(O \mid Q)`.
    joint : ndarray of shape (n_sequences,)
        :math:`\ln P(O, Q)`, their sum.
    """

    path: np.ndarray
    observations: np.ndarray

    @property
    def joint(self) -> np.ndarray:
        """Return the logarithm of the joint probability."""
        return self.path + self.observations


class HMMQueries:
    """Mixin: what can be asked of a fitted model that has `model_` and `_read`."""

    model_: HMMParameters
    n_parameters_: int

    @abstractmethod
    def _read(self, X: Any, lengths: Any, inputs: Any = None) -> Sequences:
        """Return the sequences of a question."""

    def score(self, X: Any, y: Any = None, *, lengths: Any = None, inputs: Any = None) -> float:
        """Return the log-likelihood of all sequences together."""
        return float(self.score_sequences(X, lengths, inputs).sum())

    def score_sequences(self, X: Any, lengths: Any = None, inputs: Any = None) -> np.ndarray:
        """Return the log-likelihood of each sequence; minus infinity where it is impossible."""
        sequences = self._read(X, lengths, inputs)
        filtered = self._filtered(sequences)
        message = describe_impossible(filtered, sequences)
        if message:
            warnings.warn(message, DataWarning, stacklevel=2)
        return filtered.log_likelihoods

    def _filtered(self, sequences: Sequences) -> Any:
        model = self.model_
        return filter_states(
            model.emissions(sequences), sequences.starts, model.initial, model.moves(sequences)
        )

    def predict(self, X: Any, lengths: Any = None, inputs: Any = None) -> Any:
        """Return the states of the most probable path of each sequence."""
        sequences = self._read(X, lengths, inputs)
        return sequences.give_back(self._best(sequences).states)

    def best_path(self, X: Any, lengths: Any = None, inputs: Any = None) -> BestPath:
        """Return the most probable paths and the logarithms of their joint probabilities."""
        return self._best(self._read(X, lengths, inputs))

    def _best(self, sequences: Sequences) -> BestPath:
        model = self.model_
        best = best_paths(
            model.log_emissions(sequences), sequences.starts, model.initial, model.moves(sequences)
        )
        wrong = np.flatnonzero(np.isneginf(best.log_probabilities))
        if len(wrong):
            raise DataError(
                f"Sequence {wrong[0]} (counted from 0) is impossible under the model: no path of "
                "states shows what was observed. Allow more transitions, or give symbols a prior."
            )
        return best

    def path_probabilities(
        self, X: Any, states: Any, lengths: Any = None, inputs: Any = None
    ) -> PathProbabilities:
        """Return how probable given states are, and the observations given them.

        Parameters
        ----------
        X, lengths, inputs
            As in `score_sequences`.
        states
            The state at each step, in the form of X: a list of paths, or one array.
        """
        sequences = self._read(X, lengths, inputs)
        paths = states if sequences.form == "rows" else np.concatenate([*map(np.ravel, states)])
        path = np.asarray(paths).ravel()
        n_states, model = self.model_.n_states, self.model_
        if path.shape != (sequences.n_steps,):
            raise DataError(f"states has {len(path)} steps, but X has {sequences.n_steps}.")
        if path.dtype.kind not in "iu" or path.min() < 0 or path.max() >= n_states:
            raise DataError(f"states needs whole numbers from 0 to {n_states - 1}.")
        moves, starts = model.moves(sequences), sequences.starts
        steps = np.arange(len(path))
        chances = np.empty(len(path))
        matrix = moves.matrix if isinstance(moves, Transitions) else moves.matrices[1:]
        before = (path[:-1], path[1:])
        chances[1:] = matrix[before] if matrix.ndim == 2 else matrix[(steps[:-1], *before)]
        chances[starts[:-1]] = model.initial[path[starts[:-1]]]
        with np.errstate(divide="ignore"):
            logarithms = np.log(chances)
        shown = model.log_emissions(sequences)[steps, path]
        return PathProbabilities(
            sums_by_sequence(logarithms, starts), sums_by_sequence(shown, starts)
        )

    def predict_proba(self, X: Any, lengths: Any = None, inputs: Any = None) -> Any:
        """Return the probability of each state at each step, given the whole sequence."""
        sequences = self._read(X, lengths, inputs)
        smoothed = self.model_.smooth(sequences)
        refuse_impossible(smoothed, sequences)
        return sequences.give_back(smoothed.probabilities)

    def smooth(self, X: Any, lengths: Any = None, inputs: Any = None) -> Smoothed:
        """Return the posteriors of states and transitions as a record."""
        sequences = self._read(X, lengths, inputs)
        return self.model_.smooth(sequences)

    def forward_backward(
        self, X: Any, lengths: Any = None, inputs: Any = None, *, pairs: bool = False
    ) -> ForwardBackward | list[ForwardBackward]:
        """Return the forward and backward variables of a sequence, or of each of several.

        Parameters
        ----------
        X
            One sequence; or several, for which a list of records is returned.
        lengths, inputs
            As in `fit`.
        pairs
            Whether to compute the posterior of each transition as well.

        Examples
        --------
        >>> import numpy as np
        >>> from verulam.sequence import CategoricalEmission, HiddenMarkovModel
        >>> model = HiddenMarkovModel.from_parameters(
        ...     [0.5, 0.5],
        ...     [[0.9, 0.1], [0.2, 0.8]],
        ...     CategoricalEmission(probabilities=[[0.9, 0.1], [0.3, 0.7]]),
        ... )
        >>> both = model.forward_backward([0, 0, 1])
        >>> both.alpha[-1].sum().round(4), np.exp(model.score([0, 0, 1])).round(4)
        (np.float64(0.0913), np.float64(0.0913))
        """
        sequences, model = self._read(X, lengths, inputs), self.model_
        several = sequences.form == "list" or lengths is not None
        refuse_impossible(self._filtered(sequences), sequences)
        parts = (sequences[s : s + 1] for s in range(len(sequences)))
        records = [
            forward_backward(
                model.log_emissions(part), model.initial, model.moves(part), pairs=pairs
            )
            for part in parts
        ]
        return records if several else records[0]

    def filter(self, X: Any, lengths: Any = None, inputs: Any = None) -> Any:
        """Return the probability of each state at each step, given the sequence up to it."""
        sequences = self._read(X, lengths, inputs)
        filtered = self._filtered(sequences)
        refuse_impossible(filtered, sequences)
        return sequences.give_back(filtered.probabilities)

    def online(self) -> OnlineFilter:
        """Return a filter that takes one observation at a time."""
        check_is_fitted(self)
        return OnlineFilter(self.model_, self._read_rows)

    def _read_rows(self, rows: np.ndarray, inputs: Any) -> Sequences:
        """Return rows without names as one sequence; the model may know their names."""
        names = getattr(self, "feature_names_in_", None)
        is_table = names is not None and rows.shape[1] == len(names)
        return self._read(pd.DataFrame(rows, columns=names) if is_table else rows, None, inputs)

    def sample_states(
        self, X: Any, lengths: Any = None, inputs: Any = None, *, random_state: Seed = None
    ) -> Any:
        """Return one path per sequence drawn from the joint posterior of its states."""
        sequences = self._read(X, lengths, inputs)
        model = self.model_
        refuse_impossible(self._filtered(sequences), sequences)
        paths = draw_paths(
            model.emissions(sequences),
            sequences.starts,
            model.initial,
            model.moves(sequences),
            generator(random_state),
        )
        return sequences.give_back(paths)

    def forecast(
        self,
        X: Any,
        n_ahead: int = 1,
        *,
        lengths: Any = None,
        inputs: Any = None,
        inputs_ahead: Any = None,
    ) -> Forecast | list[Forecast]:
        """Return what is to come after the last step of a sequence, or of each of several.

        Parameters
        ----------
        X
            One sequence; or several, for which a list of forecasts is returned.
        n_ahead
            Number of steps to come.
        lengths, inputs
            As in `fit`.
        inputs_ahead
            What is known at the steps to come, where the model uses inputs: one row per step, a
            list of such arrays for several sequences.
        """
        count = check_count(n_ahead, "n_ahead")
        sequences = self._read(X, lengths, inputs)
        several = sequences.form == "list" or lengths is not None
        known = list(inputs_ahead) if several and inputs_ahead is not None else [inputs_ahead]
        if inputs_ahead is not None and len(known) != len(sequences):
            raise DataError(
                f"inputs_ahead needs one array per sequence: {len(sequences)}, not {len(known)}."
            )
        filtered = self._filtered(sequences)
        refuse_impossible(filtered, sequences)
        forecasts = [
            forecast_steps(
                self.model_,
                sequences[s : s + 1],
                filtered.probabilities[sequences.starts[s + 1] - 1],
                count,
                None if inputs_ahead is None else input_rows(known[s], "inputs_ahead"),
            )
            for s in range(len(sequences))
        ]
        return forecasts if several else forecasts[0]

    def sample(
        self,
        n_steps: int = 1,
        n_sequences: int = 1,
        *,
        inputs: Any = None,
        random_state: Seed = None,
    ) -> SampledSequences:
        """Return sequences drawn from the model.

        Parameters
        ----------
        n_steps
            Steps of each sequence.
        n_sequences
            Number of sequences.
        inputs
            What is known at each step, one array for all sequences, where the model uses inputs.
        random_state
            Seed of the draws.
        """
        check_is_fitted(self)
        random = generator(random_state)
        check_count(n_steps, "n_steps")
        check_count(n_sequences, "n_sequences")
        known = None if inputs is None else input_rows(inputs, "inputs")
        if known is not None and len(known) != n_steps:
            raise DataError(f"inputs has {len(known)} steps, but n_steps is {n_steps}.")
        observations, states = [], []
        for _ in range(n_sequences):
            path = draw_states(self.model_, n_steps, known, random)
            shared = self.model_.parts.shared
            shown = path if shared is None else shared[path]
            part = self.model_.parts.emission
            extra = {} if known is None or not part.uses_inputs else {"inputs": known}
            observations.append(part.sample(self.model_.emission, shown, random, **extra))
            states.append(path)
        return SampledSequences(observations, states)

    def bic(self, X: Any, lengths: Any = None, inputs: Any = None) -> float:
        """Return the Bayesian information criterion; lower is better."""
        sequences = self._read(X, lengths, inputs)
        loglik = float(self._filtered(sequences).log_likelihoods.sum())
        return self.n_parameters_ * float(np.log(sequences.n_steps)) - 2 * loglik

    def aic(self, X: Any, lengths: Any = None, inputs: Any = None) -> float:
        """Return Akaike's information criterion; lower is better."""
        return 2 * self.n_parameters_ - 2 * self.score(X, lengths=lengths, inputs=inputs)


def draw_states(
    model: HMMParameters, n_steps: int, inputs: np.ndarray | None, random: np.random.Generator
) -> np.ndarray:
    """Return a path of states drawn from the chain."""
    sequences = Sequences(np.empty((n_steps, 1)), np.array([0, n_steps]), inputs)
    moves = model.moves(sequences)
    cumulative = (
        np.cumsum(moves.matrix, axis=1)[None]
        if isinstance(moves, Transitions)
        else np.cumsum(moves.matrices, axis=2)
    )
    uniforms = random.random(n_steps)
    path = np.empty(n_steps, dtype=np.int64)
    row = np.cumsum(model.initial)
    for t in range(n_steps):
        if t:
            row = cumulative[t if len(cumulative) > 1 else 0, path[t - 1]]
        # Scaled by the last entry, which rounding may leave just below one.
        path[t] = np.searchsorted(row, uniforms[t] * row[-1], side="right")
    return np.minimum(path, model.n_states - 1)
