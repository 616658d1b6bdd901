"""A hidden Markov model as a value: its parts, its parameters, and the sums that change them."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from verulam.base import DataError
from verulam.sequence._data.sequences import Sequences
from verulam.sequence._model.emission import Emission
from verulam.sequence._model.inference import Emissions, Smoothed, smooth_states
from verulam.sequence._model.initial_and_transition import InitialProbabilities
from verulam.sequence._model.transitions import AnyTransitions
from verulam.sequence._recursions.scratch import Scratch


@dataclass(frozen=True)
class Parts:
    """What a model is composed of.

    Attributes
    ----------
    initial, transitions, emission
        The parts, which know how to start, to add up and to update their parameters.
    shared : ndarray of shape (n_states,) or None
        Which emission each state has, where states share some; None where each has its own.
    """

    initial: InitialProbabilities
    transitions: Any
    emission: Emission
    shared: np.ndarray | None = None


@dataclass(frozen=True)
class Model:
    """A hidden Markov model: parts and their parameters.

    Attributes
    ----------
    parts
        The parts.
    initial : ndarray of shape (n_states,)
        Probability of each first state.
    transitions
        Parameters of the transitions.
    emission
        Parameters of the emissions.
    """

    parts: Parts
    initial: np.ndarray
    transitions: Any
    emission: Any

    @property
    def n_states(self) -> int:
        """Number of states."""
        return len(self.initial)

    @property
    def n_parameters(self) -> int:
        """Number of free numbers."""
        return (
            self.parts.initial.n_parameters(self.initial)
            + self.parts.transitions.n_parameters(self.transitions)
            + self.parts.emission.n_parameters(self.emission)
        )

    def log_prior(self) -> float:
        """Return the logarithm of the priors, up to a constant."""
        return (
            self.parts.initial.log_prior(self.initial)
            + self.parts.transitions.log_prior(self.transitions)
            + self.parts.emission.log_prior(self.emission)
        )

    def emissions(self, sequences: Sequences, scratch: Scratch | None = None) -> Emissions:
        """Return the emissions of the states at each step."""
        table = self.parts.emission.emissions(self.emission, sequences.values, scratch)
        shared = self.parts.shared
        if shared is None:
            return table
        return Emissions(
            np.ascontiguousarray(table.relative[:, shared]),
            table.log_peaks,
            lambda start, stop: table.logarithms(start, stop)[:, shared],
        )

    def log_emissions(self, sequences: Sequences) -> np.ndarray:
        """Return the logarithms of the emissions."""
        table = self.parts.emission.log_likelihoods(self.emission, sequences.values)
        return table if self.parts.shared is None else table[:, self.parts.shared]

    def moves(self, sequences: Sequences) -> AnyTransitions:
        """Return the transitions over the steps of the sequences."""
        return self.parts.transitions.prepared(self.transitions, sequences)

    def smooth(self, sequences: Sequences, scratch: Scratch | None = None) -> Smoothed:
        """Return the posteriors of states and transitions."""
        return smooth_states(
            self.emissions(sequences, scratch),
            sequences.starts,
            self.initial,
            self.moves(sequences),
            scratch=scratch,
        )

    def take(self, states: np.ndarray) -> "Model":
        """Return the model of some states, in the order given."""
        initial = self.initial[states]
        total = initial.sum()
        shared = self.parts.shared
        return Model(
            self.parts if shared is None else replace(self.parts, shared=shared[states]),
            initial / total if total > 0 else np.full(len(states), 1.0 / len(states)),
            self.parts.transitions.take(self.transitions, states),
            self.emission
            if shared is not None
            else self.parts.emission.take(self.emission, states),
        )


@dataclass(frozen=True)
class ModelSums:
    """What one pass of Baum-Welch adds up.

    Attributes
    ----------
    model
        The model that the pass was made under.
    log_likelihood
        Of all sequences.
    n_steps
        Steps of all sequences.
    firsts : ndarray of shape (n_states,)
        Expected number of sequences that begin in each state.
    visits : ndarray of shape (n_states,)
        Expected number of steps in each state.
    transitions, emission
        Sums of the parts.
    """

    model: Model
    log_likelihood: float
    n_steps: int
    firsts: np.ndarray
    visits: np.ndarray
    transitions: Any
    emission: Any

    def __add__(self, other: "ModelSums") -> "ModelSums":
        return ModelSums(
            self.model,
            self.log_likelihood + other.log_likelihood,
            self.n_steps + other.n_steps,
            self.firsts + other.firsts,
            self.visits + other.visits,
            self.transitions + other.transitions,
            self.emission + other.emission,
        )


def by_emission(probabilities: np.ndarray, shared: np.ndarray | None) -> np.ndarray:
    """Return the shares of the emissions from those of the states."""
    if shared is None:
        return probabilities
    members = (shared[:, None] == np.arange(shared.max() + 1)).astype(np.float64)
    return probabilities @ members


def updated(sums: ModelSums) -> Model:
    """Return the model that the sums give: the M-step of Baum-Welch."""
    model, parts = sums.model, sums.model.parts
    return Model(
        parts,
        parts.initial.update(model.initial, sums.firsts),
        parts.transitions.update(model.transitions, sums.transitions),
        parts.emission.update(model.emission, sums.emission),
    )


def describe_impossible(smoothed: Any, sequences: Sequences) -> str:
    """Return which sequences are impossible, and where; empty where none is."""
    wrong = np.flatnonzero(smoothed.impossible >= 0)
    if not len(wrong):
        return ""
    place = int(smoothed.impossible[wrong[0]] - sequences.starts[wrong[0]])
    return (
        f"Sequence {wrong[0]} (counted from 0) is impossible under the model from step {place} "
        "on: no state that can be reached by then shows what was observed, so its log-likelihood "
        "is minus infinity. Allow more transitions, or give symbols a prior."
    )


def refuse_impossible(smoothed: Smoothed, sequences: Sequences) -> None:
    """Raise where a sequence is impossible."""
    message = describe_impossible(smoothed, sequences)
    if message:
        raise DataError(message)
