"""Sequences drawn from Markov chains, with states seen or hidden."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from verulam.data._dataset import Dataset
from verulam.data._generators.generator_helpers import Seed, checked_count, generator

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class SequenceSample:
    """Sequences of the same length, as numbers counted from 0.

    Attributes
    ----------
    observations
        What was seen, one array per sequence.
    states
        The state at each step; for a chain whose states are seen, the observations themselves.
    """

    observations: list[Integers]
    states: list[Integers]

    def to_dataset(self, name: str = "sequences") -> Dataset:
        """Return a long table: sequence, step, state and observation."""
        frame = pd.DataFrame(
            {
                "sequence": np.repeat(
                    np.arange(len(self.states)), [len(states) for states in self.states]
                ),
                "step": np.concatenate([np.arange(len(states)) for states in self.states]),
                "state": np.concatenate(self.states),
                "observation": np.concatenate(self.observations),
            }
        )
        return Dataset.from_frame(
            frame,
            categorical=["state", "observation"],
            identifiers=["sequence", "step"],
            name=name,
        )


@dataclass(frozen=True)
class UrnChain:
    """The Markov chain of three urns: initial and transition probabilities, and their colours."""

    initial: tuple[float, ...] = (0.5, 0.2, 0.3)
    transition: tuple[tuple[float, ...], ...] = ((0.4, 0.3, 0.3), (0.2, 0.6, 0.2), (0.1, 0.1, 0.8))
    states: tuple[str, ...] = ("red", "blue", "green")


#: The worked example of Alpaydin 15.2.
URN_CHAIN = UrnChain()


def markov_chain(
    initial: ArrayLike = URN_CHAIN.initial,
    transition: ArrayLike = URN_CHAIN.transition,
    *,
    n_sequences: int = 100,
    length: int = 1000,
    random_state: Seed = None,
) -> SequenceSample:
    """Return sequences of states of a Markov chain.

    Parameters
    ----------
    initial
        Probability of each state at the first step.
    transition
        Row ``i`` holds the probabilities of the states that follow state ``i``.
    n_sequences, length
        How many sequences, and how many steps each.
    random_state
        Seed.

    Examples
    --------
    >>> from verulam.data import markov_chain
    >>> markov_chain(n_sequences=2, length=5, random_state=0).states
    [array([1, 0, 2, 2, 2]), array([0, 0, 2, 2, 2])]
    """
    random = generator(random_state)
    states = _state_paths(initial, transition, n_sequences, length, random)
    return SequenceSample(list(states), list(states))


def hidden_markov(
    initial: ArrayLike,
    transition: ArrayLike,
    emission: ArrayLike,
    *,
    n_sequences: int = 100,
    length: int = 100,
    random_state: Seed = None,
) -> SequenceSample:
    """Return sequences of symbols, each emitted by the hidden state of a Markov chain.

    Parameters
    ----------
    initial, transition, n_sequences, length, random_state
        As for :func:`markov_chain`.
    emission
        Row ``i`` holds the probabilities of the symbols in state ``i``.
    """
    random = generator(random_state)
    states = _state_paths(initial, transition, n_sequences, length, random)
    emissions = _probability_rows(emission, "emission", n_rows=len(np.atleast_1d(initial)))
    symbols = _drawn(emissions.cumsum(axis=1)[states.ravel()], random).reshape(states.shape)
    return SequenceSample(list(symbols), list(states))


def _state_paths(
    initial: ArrayLike,
    transition: ArrayLike,
    n_sequences: int,
    length: int,
    random: np.random.Generator,
) -> Integers:
    """Return the states, one row per sequence; all sequences take each step together."""
    start = _probability_rows(np.atleast_2d(initial), "initial", n_rows=1)
    n_states = start.shape[1]
    moves = _probability_rows(transition, "transition", n_rows=n_states)
    if moves.shape[1] != n_states:
        raise ValueError(f"transition has shape {moves.shape}; expected {n_states} by {n_states}.")
    shape = (checked_count(n_sequences, "n_sequences"), checked_count(length, "length"))
    states = np.empty(shape, dtype=np.int64)
    cumulative = moves.cumsum(axis=1)
    states[:, 0] = _drawn(np.repeat(start.cumsum(axis=1), n_sequences, axis=0), random)
    for step in range(1, length):
        states[:, step] = _drawn(cumulative[states[:, step - 1]], random)
    return states


def _drawn(cumulative: NDArray[np.float64], random: np.random.Generator) -> Integers:
    """Return one number per row, drawn with that row's cumulative probabilities."""
    uniform = random.uniform(size=(len(cumulative), 1))
    # Rounding may leave the last sum a little below 1.
    return np.minimum((uniform >= cumulative).sum(axis=1), cumulative.shape[1] - 1)


def _probability_rows(values: ArrayLike, argument: str, n_rows: int) -> NDArray[np.float64]:
    rows = np.asarray(values, dtype=float)
    if rows.ndim != 2 or len(rows) != n_rows:
        raise ValueError(f"{argument} has shape {rows.shape}; expected {n_rows} rows.")
    if (rows < 0).any() or not np.allclose(rows.sum(axis=1), 1):
        raise ValueError(f"{argument}: each row must hold probabilities that add up to 1.")
    return rows
