"""The parts of a model that say where sequences begin and how states follow one another."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from verulam.base import DataError, SumRecord
from verulam.sequence._data.sequences import Sequences
from verulam.sequence._model.emission import check_least, check_positive
from verulam.sequence._model.inference import Smoothed
from verulam.sequence._model.transitions import (
    AnyTransitions,
    Transitions,
    check_distribution,
    cyclic,
    left_to_right,
)

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
        stuck = matrix.sum(axis=1) <= 0
        matrix[stuck] = np.eye(len(states))[stuck]
        mask |= matrix > 0
        return Transitions.from_matrix(
            matrix / matrix.sum(axis=1, keepdims=True), mask, parameters.form
        )


def _log_dirichlet(probabilities: np.ndarray, prior: float) -> float:
    return float(prior * np.log(probabilities).sum()) if prior else 0.0
