"""Models made of models: phones into words, words into sentences, decoded as one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from verulam.base import DataError
from verulam.sequence._hidden_markov import HiddenMarkovModel
from verulam.sequence._inference import best_paths
from verulam.sequence._sequences import Sequences
from verulam.sequence._transitions import Transitions, check_distribution


@dataclass(frozen=True)
class Composite:
    """Several models joined into one by the probabilities of one following another.

    Attributes
    ----------
    names
        Name of each part.
    owners : ndarray of shape (n_states,)
        Part that each state belongs to.
    entries : ndarray of shape (n_states,)
        Whether a state can begin its part, so that going there from the same part's end counts
        as a new beginning.
    initial : ndarray of shape (n_states,)
        Probability of each first state.
    transitions
        Transitions among all states.
    returns : ndarray of shape (n_states, n_states)
        Share of each transition that leaves a part and enters one (maybe the same) anew.
    parts
        The fitted models.
    """

    names: tuple[str, ...]
    owners: np.ndarray
    entries: np.ndarray
    initial: np.ndarray
    transitions: Transitions
    returns: np.ndarray
    parts: tuple[HiddenMarkovModel, ...]

    def log_emissions(self, X: Any) -> tuple[np.ndarray, Sequences]:
        """Return the logarithm of each state's emission at each step, and the sequences."""
        columns = []
        for part in self.parts:
            sequences = part._read(X, None)
            columns.append(part.model_.log_emissions(sequences))
        return np.hstack(columns), sequences

    def decode(self, X: Any) -> list[list["Segment"]]:
        """Return which parts each sequence consists of, by the best path through all states.

        Parameters
        ----------
        X
            One sequence or a list of them.
        """
        logarithms, sequences = self.log_emissions(X)
        best = best_paths(logarithms, sequences.starts, self.initial, self.transitions)
        if np.isneginf(best.log_probabilities).any():
            raise DataError("A sequence is impossible under the composite model.")
        return [
            self._segments(best.states[a:b])
            for a, b in zip(sequences.starts[:-1], sequences.starts[1:], strict=True)
        ]

    def _segments(self, path: np.ndarray) -> "list[Segment]":
        cuts = [0]
        for t in range(1, len(path)):
            source, target = path[t - 1], path[t]
            if self.owners[source] != self.owners[target] or self.returns[source, target] > 0.5:
                cuts.append(t)
        cuts.append(len(path))
        return [Segment(self.names[self.owners[path[a]]], a, b) for a, b in pairwise(cuts)]


@dataclass(frozen=True)
class Segment:
    """A stretch of a sequence and the part that explains it.

    Attributes
    ----------
    name
        Name of the part.
    start, stop
        First step, and the step after the last.
    """

    name: str
    start: int
    stop: int


def compose_models(
    parts: Mapping[str, HiddenMarkovModel],
    grammar: Any = None,
    *,
    initial: Any = None,
    leave: float = 0.1,
) -> Composite:
    r"""Join fitted models into one: after the end of a part comes another.

    Parameters
    ----------
    parts
        The fitted models by name. A model from left to right is left from its last state, any
        other from every state.
    grammar
        Probability of each part after each other, one row per part; None for equal ones.
    initial
        Probability of each first part; None for equal ones.
    leave
        Probability of leaving a part from a state where it can be left.

    Notes
    -----
    The composite is one flat model, so that recognising connected parts and finding where each
    begins is one run of the Viterbi algorithm (Alpaydin 15.10): from a state :math:`i` that can
    be left, :math:`a_{ij} = (1 - \ell) a_{ij}^{(w)}` within part :math:`w`, and
    :math:`\ell\, g_{wv} \pi_j^{(v)}` into part :math:`v`.

    Examples
    --------
    >>> from verulam.sequence import CategoricalEmission, HiddenMarkovModel, compose_models
    >>> def word(symbols):
    ...     n = len(symbols)
    ...     steps = np.eye(n, k=1) + np.diag([0.0] * (n - 1) + [1.0])
    ...     table = 0.9 * np.eye(4)[symbols] + 0.025
    ...     return HiddenMarkovModel.from_parameters(
    ...         np.eye(n)[0], steps, CategoricalEmission(probabilities=table)
    ...     )
    >>> words = compose_models({"ab": word([0, 1]), "cd": word([2, 3])}, leave=0.9)
    >>> [segment.name for segment in words.decode([0, 1, 2, 3, 0, 1])[0]]
    ['ab', 'cd', 'ab']
    """
    names, models = tuple(parts), tuple(parts.values())
    n_parts = len(models)
    equal = np.full(n_parts, 1.0 / n_parts)
    rules = check_distribution(
        np.tile(equal, (n_parts, 1)) if grammar is None else grammar, "grammar", (n_parts, n_parts)
    )
    first = check_distribution(equal if initial is None else initial, "initial", (n_parts,))
    sizes = [model.n_states_ for model in models]
    ends = np.cumsum(sizes)
    owners = np.repeat(np.arange(n_parts), sizes)
    begin = np.concatenate([model.initial_ for model in models])
    matrix = np.zeros((ends[-1], ends[-1]))
    leaving = np.concatenate([leave * _exits(model.transitions_) for model in models])
    for model, end, size in zip(models, ends, sizes, strict=True):
        block = slice(end - size, end)
        matrix[block, block] = (1 - leaving[block, None]) * model.transitions_
    entering = leaving[:, None] * rules[owners][:, owners] * begin
    total = matrix + entering
    returns = np.divide(entering, total, out=np.zeros_like(total), where=total > 0)
    return Composite(
        names,
        owners,
        begin > 0,
        first[owners] * begin,
        Transitions.from_matrix(total),
        returns,
        models,
    )


def _exits(matrix: np.ndarray) -> np.ndarray:
    """Return 1 for states that a part can be left from."""
    ordered = not np.tril(matrix, -1).any() and len(matrix) > 1
    return np.eye(len(matrix))[-1] if ordered else np.ones(len(matrix))


def parallel_paths(
    parts: Sequence[HiddenMarkovModel], shares: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return initial probabilities and transitions of alternatives side by side.

    Each alternative, such as one pronunciation of a word, is a path of its own through the
    states; which one is taken is decided at the start.

    Parameters
    ----------
    parts
        The fitted alternatives.
    shares
        Probability of each; None for equal ones.

    Examples
    --------
    >>> from verulam.sequence import CategoricalEmission, HiddenMarkovModel, parallel_paths
    >>> one = HiddenMarkovModel.from_parameters(
    ...     [1.0], [[1.0]], CategoricalEmission(probabilities=[[1.0]])
    ... )
    >>> parallel_paths([one, one])[0]
    array([0.5, 0.5])
    """
    chosen = check_distribution(
        np.full(len(parts), 1.0 / len(parts)) if shares is None else shares,
        "shares",
        (len(parts),),
    )
    sizes = [part.n_states_ for part in parts]
    matrix = np.zeros((sum(sizes), sum(sizes)))
    initial, end = [], 0
    for share, part, size in zip(chosen, parts, sizes, strict=True):
        matrix[end : end + size, end : end + size] = part.transitions_
        initial.append(share * part.initial_)
        end += size
    return np.concatenate(initial), matrix
