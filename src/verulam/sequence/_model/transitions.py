"""Transitions between states: dense, along a few diagonals, or a list of edges."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import DataError
from verulam.sequence._recursions.inference_loops import DENSE, DIAGONALS, EDGES, Layout
from verulam.sequence._tuning import DENSE_SHARE, DENSE_STATES, DIAGONAL_WASTE

#: How far the sum of probabilities may be from one.
ROW_TOLERANCE = 1e-8


@dataclass(frozen=True)
class Transitions:
    r"""Probabilities :math:`a_{ij}` of the transitions that are allowed, sorted by row.

    Attributes
    ----------
    n_states
        Number of states.
    sources, targets : ndarray of shape (n_edges,)
        The states :math:`i` and :math:`j` of each transition.
    weights : ndarray of shape (n_edges,)
        Their probabilities.
    form
        "dense", "diagonals" or "edges" to choose how the loops store them; "" for the quickest.

    Examples
    --------
    >>> from verulam.sequence import Transitions
    >>> moves = Transitions.from_matrix([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0]])
    >>> moves.weights.tolist()
    [0.5, 0.5, 0.5, 0.5, 1.0]
    """

    n_states: int
    sources: np.ndarray
    targets: np.ndarray
    weights: np.ndarray
    form: str = ""

    @classmethod
    def from_matrix(
        cls, matrix: ArrayLike, mask: ArrayLike | None = None, form: str = ""
    ) -> "Transitions":
        """Return the transitions of a matrix; those outside the mask are none."""
        dense = np.asarray(matrix, dtype=np.float64)
        allowed = dense > 0 if mask is None else np.asarray(mask, dtype=bool)
        sources, targets = np.nonzero(allowed)
        return cls(len(dense), sources, targets, dense[sources, targets], form)

    @property
    def matrix(self) -> np.ndarray:
        """The whole matrix."""
        dense = np.zeros((self.n_states, self.n_states))
        dense[self.sources, self.targets] = self.weights
        return dense

    def with_weights(self, weights: np.ndarray) -> "Transitions":
        """Return the same transitions with other weights."""
        return Transitions(self.n_states, self.sources, self.targets, weights, self.form)

    @cached_property
    def kind(self) -> int:
        """How the loops store these transitions."""
        if self.form:
            return {"dense": DENSE, "diagonals": DIAGONALS, "edges": EDGES}[self.form]
        n_edges = len(self.sources)
        if self.n_states <= DENSE_STATES or n_edges >= DENSE_SHARE * self.n_states**2:
            return DENSE
        n_diagonals = len(np.unique(self.targets - self.sources))
        if n_diagonals * self.n_states <= DIAGONAL_WASTE * n_edges:
            return DIAGONALS
        return EDGES

    @cached_property
    def layouts(self) -> tuple[Layout, Layout]:
        """The transitions and their transpose, for the loops."""
        return self._layout(self.weights, False), self._layout(self.weights, True)

    @cached_property
    def log_layouts(self) -> tuple[Layout, Layout]:
        """The logarithms of the transitions and their transpose, for the loops."""
        with np.errstate(divide="ignore"):
            logarithms = np.log(self.weights)
        return tuple(self._layout(logarithms, transposed, -np.inf) for transposed in (False, True))  # type: ignore[return-value] # two of them

    def _layout(self, weights: np.ndarray, transposed: bool, empty: float = 0.0) -> Layout:
        sources, targets = self.sources, self.targets
        if transposed:
            order = self._back_order
            sources, targets, weights = targets[order], sources[order], weights[order]
        sources, targets = (part.astype(np.int64) for part in (sources, targets))
        offsets, diagonals = np.empty(0, np.int64), np.empty((0, self.n_states))
        dense = np.empty((1, 0, 0))
        if self.kind == DENSE:
            dense = np.full((1, self.n_states, self.n_states), empty)
            dense[0, sources, targets] = weights
        elif self.kind == DIAGONALS:
            offsets, place = np.unique(targets - sources, return_inverse=True)
            diagonals = np.full((len(offsets), self.n_states), empty)
            diagonals[place, sources] = weights
        pointers = np.searchsorted(sources, np.arange(self.n_states + 1))
        return Layout(self.kind, dense, offsets, diagonals, sources, targets, weights, pointers)

    def step(self, shares: np.ndarray) -> np.ndarray:
        """Return the shares of the next step before its observation."""
        moved = shares[self.sources] * self.weights
        return np.bincount(self.targets, moved, minlength=self.n_states)

    @cached_property
    def _back_order(self) -> np.ndarray:
        """The edges in the order of the transposed transitions."""
        return np.lexsort((self.sources, self.targets))

    @cached_property
    def transposed(self) -> "Transitions":
        """The same transitions as they look backwards in time; their weights are no rows."""
        order = self._back_order
        edges = self.targets[order], self.sources[order], self.weights[order]
        return Transitions(self.n_states, *edges, self.form)

    def from_transposed(self, sums: np.ndarray) -> np.ndarray:
        """Return sums per edge from those of the transposed transitions."""
        result = np.empty_like(sums)
        result[self._back_order] = sums
        return result

    def edge_sums(self, products: np.ndarray) -> np.ndarray:
        """Return sums per edge from what the loops leave, in the form that they use."""
        if self.kind == DENSE:
            return products[self.sources, self.targets] * self.weights
        if self.kind == DIAGONALS:
            _, place = np.unique(self.targets - self.sources, return_inverse=True)
            return products[place * self.n_states + self.sources] * self.weights
        return products * self.weights

    def normalised(self, counts: np.ndarray) -> np.ndarray:
        """Return weights in proportion to counts; a row without counts keeps its weights."""
        totals = np.bincount(self.sources, counts, minlength=self.n_states)[self.sources]
        return np.divide(counts, totals, out=self.weights.copy(), where=totals > 0)


@dataclass(frozen=True)
class VaryingTransitions:
    """A matrix of transitions for each step, such as inputs bring about.

    Attributes
    ----------
    matrices : ndarray of shape (n_steps, n_states, n_states)
        The matrix at a step leads into it; at the first step of a sequence it is not used.
    """

    matrices: np.ndarray

    @property
    def n_states(self) -> int:
        """Number of states."""
        return self.matrices.shape[1]

    @cached_property
    def layouts(self) -> tuple[Layout, Layout]:
        """The matrices and their transposes, for the loops."""
        return _varying(self.matrices)

    @cached_property
    def log_layouts(self) -> tuple[Layout, Layout]:
        """The logarithms of the matrices and their transposes, for the loops."""
        with np.errstate(divide="ignore"):
            return _varying(np.log(self.matrices))


AnyTransitions = Transitions | VaryingTransitions


def _varying(matrices: np.ndarray) -> tuple[Layout, Layout]:
    no_numbers, no_places = np.empty(0), np.empty(0, np.int64)
    rest = (no_places, np.empty((0, 0)), no_places, no_places, no_numbers, no_places)
    # A single matrix would be read as one for all steps, which is the same here.
    both = (np.ascontiguousarray(matrices), np.ascontiguousarray(matrices.transpose(0, 2, 1)))
    return Layout(DENSE, both[0], *rest), Layout(DENSE, both[1], *rest)


def left_to_right(n_states: int, jump: int = 1) -> np.ndarray:
    r"""Return the mask of a model that never goes back: :math:`i \le j \le i + \tau`.

    Parameters
    ----------
    n_states
        Number of states.
    jump
        Longest jump :math:`\tau`.

    Notes
    -----
    Alpaydin 15.10 (fig. 15.7).

    Examples
    --------
    >>> from verulam.sequence import left_to_right
    >>> left_to_right(4, jump=2).astype(int)
    array([[1, 1, 1, 0],
           [0, 1, 1, 1],
           [0, 0, 1, 1],
           [0, 0, 0, 1]])
    """
    steps = np.arange(n_states)[None, :] - np.arange(n_states)[:, None]
    return (steps >= 0) & (steps <= jump)


def cyclic(n_states: int, jump: int = 1) -> np.ndarray:
    """Return the mask of a model that goes round: after the last state comes the first.

    Parameters
    ----------
    n_states
        Number of states.
    jump
        Longest jump.

    Examples
    --------
    >>> from verulam.sequence import cyclic
    >>> cyclic(3).astype(int)
    array([[1, 1, 0],
           [0, 1, 1],
           [1, 0, 1]])
    """
    steps = (np.arange(n_states)[None, :] - np.arange(n_states)[:, None]) % n_states
    return steps <= jump


def check_distribution(values: Any, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Return probabilities as an array whose rows sum to one, or raise."""
    array = np.array(values, dtype=np.float64)
    if array.shape != shape:
        raise DataError(f"{name} has shape {array.shape}; expected {shape}.")
    if not (np.isfinite(array).all() and (array >= 0).all()):
        raise DataError(f"{name} holds numbers that are no probabilities (negative or not finite).")
    totals = array.sum(axis=-1)
    wrong = np.flatnonzero(np.abs(np.atleast_1d(totals) - 1.0) > ROW_TOLERANCE)
    if len(wrong):
        where = f"row {wrong[0]} of {name}" if array.ndim > 1 else name
        raise DataError(f"{where} sums to {np.atleast_1d(totals)[wrong[0]]:.6g}, not to 1.")
    return array / totals[..., None] if array.ndim > 1 else array / totals
