"""Conditional distributions of a node given its parents: tables, noisy-OR, sigmoid and softmax."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import DataError
from verulam.graphical._factor import SUM_TOLERANCE, state_position
from verulam.graphical._inference.junction_tree import MOST_ENTRIES
from verulam.numerics import softmax

#: Labels of the states of each parent, in order.
ParentStates = Sequence[tuple[Any, ...]]


class Conditional(Protocol):
    """What a network needs of the distribution of a node given its parents."""

    @property
    def states(self) -> tuple[Any, ...]:
        """Labels of the node's states."""

    @property
    def parents(self) -> tuple[str, ...]:
        """Names of the parents."""

    @property
    def n_parameters(self) -> int:
        """How many numbers are free."""

    def table(self, parent_states: ParentStates, name: str) -> np.ndarray:
        """Return the probabilities, with the states of the node along the last axis."""


@dataclass(frozen=True, eq=False)
class Table:
    """A node's probabilities for each combination of its parents' states.

    Attributes
    ----------
    states
        Labels of the node's states.
    probabilities
        Array with one axis for each parent, in order, and the node's states along the last.
    parents
        Names of the parents.

    Examples
    --------
    >>> from verulam.graphical import Table
    >>> wet = Table(("no", "yes"), [[0.8, 0.2], [0.1, 0.9]], parents=("rain",))
    >>> wet.n_parameters
    2
    """

    states: tuple[Any, ...]
    probabilities: Any
    parents: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "states", _checked_states(self.states))
        object.__setattr__(self, "parents", _checked_parents(self.parents))
        try:
            values = np.asarray(self.probabilities, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(f"probabilities: expected an array of numbers ({error}).") from error
        object.__setattr__(self, "probabilities", values)

    @property
    def n_parameters(self) -> int:
        """Rows of the table times the states that are free in each."""
        return int(self.probabilities.size // len(self.states)) * (len(self.states) - 1)

    def table(self, parent_states: ParentStates, name: str) -> np.ndarray:
        """Return the probabilities, after a check of their shape and sums.

        Parameters
        ----------
        parent_states
            Labels of the states of each parent.
        name
            The node, for messages.
        """
        values = self.probabilities
        shape = (*map(len, parent_states), len(self.states))
        if values.shape != shape:
            raise DataError(
                f"{name!r}: probabilities have the shape {values.shape}; parents "
                f"({', '.join(self.parents) or 'none'}) and states ask for {shape}."
            )
        if not np.isfinite(values).all() or (values < 0).any():
            raise DataError(f"{name!r}: probabilities must be finite and at least 0.")
        sums = values.sum(axis=-1)
        wrong = np.argwhere(np.abs(sums - 1.0) > SUM_TOLERANCE)
        if len(wrong):
            row = tuple(wrong[0])
            where = ", ".join(
                f"{parent} = {labels[k]}"
                for parent, labels, k in zip(self.parents, parent_states, row, strict=True)
            )
            raise DataError(
                f"{name!r}: the probabilities{' for ' + where if where else ''} sum to "
                f"{sums[row]:.6g}, not to 1."
            )
        # Probabilities of three digits, as in files, miss the one by a little.
        return values / sums[..., np.newaxis]


def _refuse_large(sizes: Sequence[int], name: str) -> None:
    """Refuse parents so many that their table, which every method sums over, has no room."""
    entries = math.prod(sizes)
    if entries > MOST_ENTRIES:
        raise DataError(
            f"{name!r}: with {len(sizes) - 1} parents its table has {entries:,} entries, more than "
            f"{MOST_ENTRIES:,}; put nodes between it and its parents, each for some of them."
        )


@dataclass(frozen=True, eq=False)
class NoisyOr:
    r"""A node of two states that any of its parents can bring about by itself.

    Attributes
    ----------
    causes
        For each parent the probability that its last state alone brings the node about.
    leak
        Probability of the node where no parent is active.
    states
        Labels of the node's states: without and with the effect.

    Notes
    -----
    With :math:`q_i = 1 - p_i` the probability that cause :math:`i` is inhibited,
    :math:`P(X \mid U) = 1 - (1 - p_0) \prod_{i \in T} q_i` over the active parents T; k parents
    need k numbers instead of :math:`2^k`. See Alpaydin 14.5.3 (14.28-14.29), whose indices are
    corrected here. A parent is active in its last state.

    Examples
    --------
    >>> from verulam.graphical import NoisyOr
    >>> fever = NoisyOr({"flu": 0.8, "cold": 0.4}, leak=0.05)
    >>> fever.table([("no", "yes"), ("no", "yes")], "fever")[..., 1].round(3)
    array([[0.05 , 0.43 ],
           [0.81 , 0.886]])
    """

    causes: Mapping[str, float]
    leak: float = 0.0
    states: tuple[Any, ...] = ("no", "yes")

    def __post_init__(self) -> None:
        object.__setattr__(self, "states", _checked_states(self.states))
        if len(self.states) != 2:
            raise DataError(f"A noisy-OR has two states, and there are {len(self.states)}.")
        if not isinstance(self.causes, Mapping) or not self.causes:
            raise DataError("causes: expected a dictionary from parents to probabilities.")
        for name, value in {**self.causes, "leak": self.leak}.items():
            if not 0 <= value <= 1:
                raise DataError(f"Noisy-OR: the probability of {name!r} is {value}, outside 0..1.")

    @property
    def parents(self) -> tuple[str, ...]:
        """Names of the parents."""
        return tuple(self.causes)

    @property
    def n_parameters(self) -> int:
        """One number for each parent, and the leak if there is one."""
        return len(self.causes) + (self.leak > 0)

    def table(self, parent_states: ParentStates, name: str) -> np.ndarray:
        """Return the full table.

        Parameters
        ----------
        parent_states
            Labels of the two states of each parent, the active one last.
        name
            The node, for messages.
        """
        for parent, labels in zip(self.causes, parent_states, strict=True):
            if len(labels) != 2:
                raise DataError(
                    f"{name!r}: a noisy-OR needs parents of two states, and {parent!r} has "
                    f"{len(labels)}."
                )
        _refuse_large([2] * (len(self.causes) + 1), name)
        # Causes act each by itself: the effect stays away if every one that is present fails.
        absent = np.full((2,) * len(self.causes), 1.0 - self.leak)
        for axis, strength in enumerate(self.causes.values()):
            inhibited = np.array([1.0, 1.0 - strength])
            absent = absent * inhibited.reshape(
                [-1 if k == axis else 1 for k in range(absent.ndim)]
            )
        return np.stack([absent, 1.0 - absent], axis=-1)


@dataclass(frozen=True, eq=False)
class SoftmaxTable:
    r"""A node whose log-odds are a sum of contributions of its parents.

    Attributes
    ----------
    states
        Labels of the node's states.
    weights
        For each parent an array of shape (states of the parent, states of the node): what its
        state adds to the score of each state of the node. For a node and a parent of two states,
        a single number is what the parent's last state adds to the log-odds (a sigmoid).
    bias
        Score of each state of the node where the parents add nothing, or for two states the
        log-odds.

    Notes
    -----
    :math:`P(X = k \mid U) = \exp(b_k + \sum_j w_{jk}(u_j)) / \sum_l \exp(\cdot)`: Alpaydin 14.5.3
    (14.30) and exercise 14.4.

    Examples
    --------
    >>> from verulam.graphical import SoftmaxTable
    >>> node = SoftmaxTable(("no", "yes"), {"rain": 3.0, "sprinkler": 2.0}, bias=-1.0)
    >>> node.table([("no", "yes"), ("no", "yes")], "wet")[..., 1].round(3)
    array([[0.269, 0.731],
           [0.881, 0.982]])
    """

    states: tuple[Any, ...]
    weights: Mapping[str, ArrayLike]
    bias: ArrayLike = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "states", _checked_states(self.states))
        if not isinstance(self.weights, Mapping):
            raise DataError("weights: expected a dictionary from parents to numbers or arrays.")

    @property
    def parents(self) -> tuple[str, ...]:
        """Names of the parents."""
        return tuple(self.weights)

    @property
    def n_parameters(self) -> int:
        """Free scores: one for each further state of the node, by each further one of a parent."""
        free = len(self.states) - 1
        return free + sum(
            1 if np.ndim(weight) == 0 else (len(np.asarray(weight)) - 1) * free
            for weight in self.weights.values()
        )

    def table(self, parent_states: ParentStates, name: str) -> np.ndarray:
        """Return the full table.

        Parameters
        ----------
        parent_states
            Labels of the states of each parent.
        name
            The node, for messages.
        """
        n_states = len(self.states)
        bias = np.asarray(self.bias, dtype=np.float64)
        scores = np.array([0.0, float(bias)]) if bias.ndim == 0 and n_states == 2 else bias
        scores = np.broadcast_to(scores, (n_states,))
        shape = tuple(map(len, parent_states))
        _refuse_large([*shape, n_states], name)
        total = np.zeros((*shape, n_states)) + scores
        for axis, (parent, weight) in enumerate(self.weights.items()):
            part = np.asarray(weight, dtype=np.float64)
            if part.ndim == 0 and n_states == 2 and shape[axis] == 2:
                part = np.array([[0.0, 0.0], [0.0, float(part)]])
            if part.shape != (shape[axis], n_states):
                raise DataError(
                    f"{name!r}: the weights of {parent!r} have the shape {part.shape}; expected "
                    f"{(shape[axis], n_states)}."
                )
            places = [shape[k] if k == axis else 1 for k in range(len(shape))]
            total = total + part.reshape(*places, n_states)
        if not np.isfinite(total).all():
            raise DataError(f"{name!r}: bias and weights must be finite numbers.")
        return np.asarray(softmax(total, axis=-1))


def tabulate(function: Any, states: Sequence[Any], parents: Mapping[str, Sequence[Any]]) -> Table:
    """Return the table of a rule: a function from the parents' states to a state of the node.

    Parameters
    ----------
    function
        Called with one state of each parent by position; returns a state of the node.
    states
        Labels of the node's states.
    parents
        Labels of the states of each parent, by name.

    Examples
    --------
    >>> from verulam.graphical import tabulate
    >>> either = tabulate(max, (0, 1), {"a": (0, 1), "b": (0, 1)})
    >>> either.probabilities[..., 1]
    array([[0., 1.],
           [1., 1.]])
    """
    shape = tuple(len(labels) for labels in parents.values())
    rows = np.zeros((*shape, len(states)))
    for place, labels in zip(np.ndindex(shape), product(*parents.values()), strict=True):
        rows[(*place, state_position("the node", states, function(*labels)))] = 1.0
    return Table(tuple(states), rows, tuple(parents))


def _checked_states(states: Any) -> tuple[Any, ...]:
    if isinstance(states, str) or not hasattr(states, "__iter__"):
        raise DataError(f"states: expected a sequence of labels, not {states!r}.")
    labels = tuple(states)
    if not labels or len(set(labels)) < len(labels):
        raise DataError(f"states: expected different labels, at least one, not {labels!r}.")
    return labels


def _checked_parents(parents: Any) -> tuple[str, ...]:
    if isinstance(parents, str):
        raise DataError(f"parents: expected a sequence of names, such as ({parents!r},).")
    return tuple(parents)
