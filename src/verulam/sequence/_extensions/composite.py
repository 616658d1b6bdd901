"""Models made of models: phones into words, words into sentences, decoded as one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

import numpy as np

from verulam.base import DataError, check_is_fitted
from verulam.sequence._data.sequences import Sequences
from verulam.sequence._learners.hidden_markov import HiddenMarkovModel
from verulam.sequence._model.inference import best_paths
from verulam.sequence._model.transitions import Transitions, check_distribution


@dataclass(frozen=True)
class CompositeHMM:
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
    exits : ndarray of shape (n_states,)
        1 for states that the whole can be left from, where it is a part in its turn; else 0.
    parts
        The fitted models, or composites.
    """

    names: tuple[str, ...]
    owners: np.ndarray
    entries: np.ndarray
    initial: np.ndarray
    transitions: Transitions
    returns: np.ndarray
    exits: np.ndarray
    parts: "tuple[HiddenMarkovModel | CompositeHMM, ...]"

    def log_emissions(self, X: Any, lengths: Any = None) -> tuple[np.ndarray, Sequences]:
        """Return the logarithm of each state's emission at each step, and the sequences."""
        columns = []
        for part in self.parts:
            if isinstance(part, CompositeHMM):
                logarithms, sequences = part.log_emissions(X, lengths)
            else:
                sequences = part._read(X, lengths)
                logarithms = part.model_.log_emissions(sequences)
            columns.append(logarithms)
        return np.hstack(columns), sequences

    def decode(self, X: Any, lengths: Any = None) -> list[list["CompositeSegment"]]:
        """Return which parts each sequence consists of, by the best path through all states.

        Parameters
        ----------
        X
            One sequence or a list of them.
        lengths
            Steps of each sequence, where X is one array.
        """
        logarithms, sequences = self.log_emissions(X, lengths)
        best = best_paths(logarithms, sequences.starts, self.initial, self.transitions)
        if np.isneginf(best.log_probabilities).any():
            raise DataError("A sequence is impossible under the composite model.")
        return [
            self._segments(best.states[a:b])
            for a, b in zip(sequences.starts[:-1], sequences.starts[1:], strict=True)
        ]

    def _segments(self, path: np.ndarray, start: int = 0) -> "list[CompositeSegment]":
        cuts = [0]
        for t in range(1, len(path)):
            source, target = path[t - 1], path[t]
            if self.owners[source] != self.owners[target] or self.returns[source, target] > 0.5:
                cuts.append(t)
        cuts.append(len(path))
        return [self._segment(path[a:b], start + a) for a, b in pairwise(cuts)]

    def _segment(self, path: np.ndarray, start: int) -> "CompositeSegment":
        owner = self.owners[path[0]]
        part = self.parts[owner]
        inner: list[CompositeSegment] = []
        if isinstance(part, CompositeHMM):
            # States of a part are numbered from its first one.
            inner = part._segments(path - np.searchsorted(self.owners, owner), start)
        return CompositeSegment(self.names[owner], start, start + len(path), tuple(inner))


@dataclass(frozen=True)
class CompositeSegment:
    """A stretch of a sequence and the part that explains it.

    Attributes
    ----------
    name
        Name of the part.
    start, stop
        First step, and the step after the last.
    inner
        The segments that it consists of, where its part is a composite.
    """

    name: str
    start: int
    stop: int
    inner: "tuple[CompositeSegment, ...]" = ()


def compose_models(
    parts: Mapping[str, HiddenMarkovModel | CompositeHMM],
    grammar: Any = None,
    *,
    initial: Any = None,
    leave: float = 0.1,
) -> CompositeHMM:
    r"""Join fitted models into one: after the end of a part comes another.

    Parameters
    ----------
    parts
        The fitted models by name, or composites, so that phones make words and words make
        sentences. A model from left to right is left from its last state, any other from every
        state.
    grammar
        Probability of each part after each other, one row per part; None for equal ones. After a
        part whose row is zero nothing follows: the composite, as a part, can be left there, and
        only there. Without such a row it can be left from the end of every part.
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
    >>> import numpy as np
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

    Two levels more: words in a fixed order make a phrase, and phrases follow one another.

    >>> in_order = np.array([[0.0, 1.0], [0.0, 0.0]])
    >>> parts = {"ab": word([0, 1]), "cd": word([2, 3])}
    >>> phrase = compose_models(parts, in_order, initial=[1.0, 0.0], leave=0.9)
    >>> speech = compose_models({"abcd": phrase, "b": word([1, 1])}, leave=0.9)
    >>> for segment in speech.decode([0, 1, 2, 3, 1, 1, 0, 1, 2, 3])[0]:
    ...     print(segment.name, [part.name for part in segment.inner])
    abcd ['ab', 'cd']
    b []
    abcd ['ab', 'cd']
    """
    names, models = tuple(parts), tuple(parts.values())
    _check_parts(models)
    if not 0 < leave <= 1:
        raise DataError(f"leave is {leave!r}; expected a probability above 0.")
    n_parts = len(models)
    equal = np.full(n_parts, 1.0 / n_parts)
    rules, ends_here = _rules(np.tile(equal, (n_parts, 1)) if grammar is None else grammar, n_parts)
    first = check_distribution(equal if initial is None else initial, "initial", (n_parts,))
    chains = [_Chain.of(model) for model in models]
    sizes = [len(chain.initial) for chain in chains]
    ends = np.cumsum(sizes)
    owners = np.repeat(np.arange(n_parts), sizes)
    begin = np.concatenate([chain.initial for chain in chains])
    exits = np.concatenate([chain.exits for chain in chains])
    matrix = np.zeros((ends[-1], ends[-1]))
    # A part after which nothing follows is left only together with the whole.
    leaving = leave * exits * ~ends_here[owners]
    for chain, end, size in zip(chains, ends, sizes, strict=True):
        block = slice(end - size, end)
        matrix[block, block] = (1 - leaving[block, None]) * chain.matrix
    entering = leaving[:, None] * rules[owners][:, owners] * begin
    total = matrix + entering
    # A transition within a part may as well be an end and a new beginning: this is the share.
    returns = np.divide(entering, total, out=np.zeros_like(total), where=total > 0)
    return CompositeHMM(
        names,
        owners,
        begin > 0,
        first[owners] * begin,
        Transitions.from_matrix(total),
        returns,
        exits * ends_here[owners] if ends_here.any() else exits,
        models,
    )


@dataclass(frozen=True)
class _Chain:
    """A part's chain: where it begins, how it goes on, and where it can be left."""

    initial: np.ndarray
    matrix: np.ndarray
    exits: np.ndarray

    @classmethod
    def of(cls, part: HiddenMarkovModel | CompositeHMM) -> "_Chain":
        if isinstance(part, CompositeHMM):
            whole = cast(CompositeHMM, part)
            return cls(whole.initial, whole.transitions.matrix, whole.exits)
        return cls(part.initial_, part.transitions_, _exits(part.transitions_))


def _rules(grammar: Any, n_parts: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of a grammar, and after which parts nothing follows."""
    rules = np.array(grammar, dtype=np.float64)
    if rules.shape != (n_parts, n_parts):
        raise DataError(f"grammar has shape {rules.shape}; expected {(n_parts, n_parts)}.")
    ends_here = (rules == 0).all(axis=1)
    checked = np.where(ends_here[:, None], 1.0 / n_parts, rules)
    return check_distribution(checked, "grammar", rules.shape), ends_here


def _check_parts(parts: Sequence[Any]) -> None:
    """Raise where there are no parts, or some that are no fitted models of a fixed chain."""
    if not parts:
        raise DataError("There are no parts to join.")
    for part in parts:
        if isinstance(part, CompositeHMM):
            continue
        if not isinstance(part, HiddenMarkovModel):
            raise DataError(f"A part is {type(part).__name__}; expected a HiddenMarkovModel.")
        check_is_fitted(part)
        if not isinstance(part.model_.transitions, Transitions):
            raise DataError("Parts need transitions that are the same at every step.")


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
    _check_parts(parts)
    priors = check_distribution(
        np.full(len(parts), 1.0 / len(parts)) if shares is None else shares,
        "shares",
        (len(parts),),
    )
    sizes = [part.n_states_ for part in parts]
    matrix = np.zeros((sum(sizes), sum(sizes)))
    initial, end = [], 0
    for share, part, size in zip(priors, parts, sizes, strict=True):
        matrix[end : end + size, end : end + size] = part.transitions_
        initial.append(share * part.initial_)
        end += size
    return np.concatenate(initial), matrix
