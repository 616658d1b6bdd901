"""A hidden Markov model as a value: its parts, their parameters, and the M-step of Baum-Welch.

The initial probabilities and the transition matrix are parts that every model has; what states show
is an `Emission`.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from verulam.base import DataError, SumRecord
from verulam.sequence._data.sequences import Sequences
from verulam.sequence._model.emission import Emission, check_least, check_positive
from verulam.sequence._model.inference import EmissionLikelihoods, Smoothed, smooth_states
from verulam.sequence._model.transitions import (
    AnyTransitions,
    Transitions,
    check_distribution,
    cyclic,
    left_to_right,
)
from verulam.sequence._recursions.scratch import Scratch

TOPOLOGIES = ("ergodic", "left-to-right", "cyclic")


@dataclass(frozen=True)
class InitialProbabilities:
    """Where sequences begin.

    Parameters
    ----------
    values
        Probabilities to start from; None for equal ones, or the first state where the topology
        goes from left to right.
    prior
        Pseudo-count of each state.
    fixed
        Whether to hold them.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import InitialProbabilities
    >>> InitialProbabilities(prior=1.0).update(np.array([0.5, 0.5]), np.array([3.0, 0.0]))
    array([0.8, 0.2])
    """

    values: Any = None
    prior: float = 0.0
    fixed: bool = False

    def __post_init__(self) -> None:
        check_least(self, "prior", 0.0)

    def start(self, n_states: int, transitions: Any) -> np.ndarray:
        """Return the probabilities to start from."""
        if self.values is not None:
            return check_distribution(self.values, "initial", (n_states,))
        topology = getattr(transitions, "topology", None)
        if isinstance(topology, str) and topology == "left-to-right":
            return np.eye(n_states)[0]
        return np.full(n_states, 1.0 / n_states)

    def update(self, old: np.ndarray, sums: np.ndarray) -> np.ndarray:
        """Return the shares of sequences that begin in each state."""
        # A state that cannot be first stays so.
        counts = np.where(old > 0, sums + self.prior, 0.0)
        return old if self.fixed or counts.sum() <= 0 else counts / counts.sum()

    def log_prior(self, probabilities: np.ndarray) -> float:
        """Return the logarithm of the prior, up to a constant."""
        return _log_dirichlet(probabilities[probabilities > 0], self.prior)

    def n_parameters(self, probabilities: np.ndarray) -> int:
        """Return the number of free probabilities."""
        return 0 if self.fixed else max(0, int((probabilities > 0).sum()) - 1)


@dataclass(frozen=True)
class TransitionSums(SumRecord):
    """Expected number of each transition."""

    sums: np.ndarray


@dataclass(frozen=True)
class TransitionMatrix:
    r"""Transitions with the same probabilities at every step.

    Parameters
    ----------
    topology
        "ergodic" (all transitions), "left-to-right", "cyclic", or a mask of the transitions
        that are allowed. Those that are not stay impossible.
    jump
        Longest jump :math:`\tau` from left to right or round the cycle.
    values
        Matrix to start from; its zeros stay zero.
    prior
        Pseudo-count of each allowed transition, one number or a matrix.
    stay_prior
        Pseudo-count that is added for staying in a state.
    fixed
        Whether to hold the matrix.
    form
        "dense", "diagonals" or "edges" to choose how it is stored; "" for the quickest.

    Notes
    -----
    :math:`\hat a_{ij} = \sum_t \xi_t(i, j) / \sum_t \gamma_t(i)`, Alpaydin 15.7 (15.32); with
    :math:`N'` transitions per state a pass costs :math:`O(N N' T)`.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import TransitionMatrix
    >>> matrix = TransitionMatrix("left-to-right", jump=2)
    >>> matrix.start(4, np.random.default_rng(0)).matrix.round(2)
    array([[0.33, 0.33, 0.33, 0.  ],
           [0.  , 0.33, 0.33, 0.33],
           [0.  , 0.  , 0.5 , 0.5 ],
           [0.  , 0.  , 0.  , 1.  ]])
    """

    topology: Any = "ergodic"
    jump: int = 1
    values: Any = None
    prior: Any = 0.0
    stay_prior: float = 0.0
    fixed: bool = False
    form: str = ""

    def __post_init__(self) -> None:
        check_least(self, "jump", 0, whole=True)
        check_least(self, "stay_prior", 0.0)
        check_positive(self, "prior", zero=True)

    def mask(self, n_states: int) -> np.ndarray:
        """Return which transitions are allowed."""
        if not isinstance(self.topology, str):
            mask = np.asarray(self.topology, dtype=bool)
            if mask.shape != (n_states, n_states):
                raise DataError(
                    f"topology has shape {mask.shape}; expected {(n_states, n_states)}."
                )
            stuck = np.flatnonzero(~mask.any(axis=1))
            if len(stuck):
                raise DataError(f"topology leaves state {stuck[0]} without any transition.")
            return mask
        if self.topology not in TOPOLOGIES:
            raise DataError(
                f"topology is {self.topology!r}; expected {', '.join(TOPOLOGIES)} or a mask."
            )
        if self.topology == "left-to-right":
            return left_to_right(n_states, self.jump)
        if self.topology == "cyclic":
            return cyclic(n_states, self.jump)
        return np.ones((n_states, n_states), dtype=bool)

    def start(self, n_states: int, random: np.random.Generator) -> Transitions:
        """Return the transitions to start from: equal ones, or, among all, mostly staying."""
        mask = self.mask(n_states)
        if self.values is not None:
            matrix = check_distribution(self.values, "transitions", (n_states, n_states))
            return Transitions.from_matrix(matrix, mask & (matrix > 0), self.form)
        matrix = mask.astype(np.float64)
        if isinstance(self.topology, str) and self.topology == "ergodic" and n_states > 1:
            # Observations grouped at random leave staying as the only thing known of a chain.
            matrix += np.eye(n_states) * (n_states - 2)
        return Transitions.from_matrix(matrix / matrix.sum(axis=1, keepdims=True), mask, self.form)

    def prepared(self, parameters: Transitions, sequences: Sequences) -> AnyTransitions:
        """Return the transitions over the steps of some sequences."""
        return parameters

    def statistics(
        self, parameters: Transitions, smoothed: Smoothed, sequences: Sequences
    ) -> TransitionSums:
        """Return the expected number of each transition."""
        return TransitionSums(smoothed.transition_sums)

    def update(self, parameters: Transitions, sums: TransitionSums) -> Transitions:
        """Return the shares of the transitions out of each state."""
        if self.fixed:
            return parameters
        return parameters.with_weights(parameters.normalised(sums.sums + self._pseudo(parameters)))

    def _pseudo(self, parameters: Transitions) -> np.ndarray:
        i, j = parameters.sources, parameters.targets
        n_states = parameters.n_states
        prior = np.broadcast_to(np.asarray(self.prior, dtype=np.float64), (n_states, n_states))
        return prior[i, j] + self.stay_prior * (i == j)

    def log_prior(self, parameters: Transitions) -> float:
        """Return the logarithm of the prior, up to a constant."""
        pseudo = self._pseudo(parameters)
        used = pseudo > 0
        if not used.any():
            return 0.0
        with np.errstate(divide="ignore"):
            return float((pseudo[used] * np.log(parameters.weights[used])).sum())

    def n_parameters(self, parameters: Transitions) -> int:
        """Return the number of free probabilities."""
        return 0 if self.fixed else len(parameters.weights) - parameters.n_states

    def take(self, parameters: Transitions, states: np.ndarray) -> Transitions:
        """Return the transitions among some states, each row again a distribution."""
        matrix = parameters.matrix[np.ix_(states, states)]
        mask = np.zeros_like(matrix, dtype=bool)
        whole = np.zeros((parameters.n_states, parameters.n_states), dtype=bool)
        whole[parameters.sources, parameters.targets] = True
        mask = whole[np.ix_(states, states)]
        # A state that led to removed states only has nowhere to go but itself.
        stuck = matrix.sum(axis=1) <= 0
        matrix[stuck] = np.eye(len(states))[stuck]
        mask |= matrix > 0
        return Transitions.from_matrix(
            matrix / matrix.sum(axis=1, keepdims=True), mask, parameters.form
        )


@dataclass(frozen=True)
class HMMParts:
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
class HMMParameters:
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

    parts: HMMParts
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

    def emissions(
        self, sequences: Sequences, scratch: Scratch | None = None
    ) -> EmissionLikelihoods:
        """Return the emissions of the states at each step."""
        table = self.parts.emission.emissions(self.emission, sequences.values, scratch)
        shared = self.parts.shared
        if shared is None:
            return table
        return EmissionLikelihoods(
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

    def take(self, states: np.ndarray) -> "HMMParameters":
        """Return the model of some states, in the order given."""
        initial = self.initial[states]
        total = initial.sum()
        shared = self.parts.shared
        return HMMParameters(
            self.parts if shared is None else replace(self.parts, shared=shared[states]),
            initial / total if total > 0 else np.full(len(states), 1.0 / len(states)),
            self.parts.transitions.take(self.transitions, states),
            self.emission
            if shared is not None
            else self.parts.emission.take(self.emission, states),
        )


@dataclass(frozen=True)
class HMMStatistics:
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

    model: HMMParameters
    log_likelihood: float
    n_steps: int
    firsts: np.ndarray
    visits: np.ndarray
    transitions: Any
    emission: Any

    def __add__(self, other: "HMMStatistics") -> "HMMStatistics":
        return HMMStatistics(
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


def updated(sums: HMMStatistics) -> HMMParameters:
    """Return the model that the sums give: the M-step of Baum-Welch."""
    model, parts = sums.model, sums.model.parts
    return HMMParameters(
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


def check_shared(shared_emissions: Any, n_states: int) -> np.ndarray | None:
    """Return which emission each state has, or None where each has its own."""
    if shared_emissions is None:
        return None
    shared = np.asarray(shared_emissions)
    is_whole = shared.dtype.kind in "iu" and shared.shape == (n_states,)
    if not is_whole or set(shared) != set(range(shared.max() + 1)):
        raise DataError(
            "shared_emissions needs one number per state, and every number from 0 up to the "
            "largest."
        )
    return shared


def _log_dirichlet(probabilities: np.ndarray, prior: float) -> float:
    return float(prior * np.log(probabilities).sum()) if prior else 0.0
