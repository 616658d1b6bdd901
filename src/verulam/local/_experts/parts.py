r"""Experts that are linear or have a hidden layer, and gates of planes in a tree."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from verulam.local._radial.gates import Shares, log_normalised, row_sums
from verulam.local._radial.objective import Outputs
from verulam.local._radial.units import FloatArray

#: A tree of gates: a leaf is None, a node is a tuple of its branches.
Branches = Any


def even_tree(branching: tuple[int, ...]) -> Branches:
    """Return the tree with so many branches at every node of each level.

    Examples
    --------
    >>> even_tree((2, 1))
    ((None,), (None,))
    """
    if not branching:
        return None
    return tuple(even_tree(branching[1:]) for _ in range(branching[0]))


def planes(theta: FloatArray, X: FloatArray) -> FloatArray:
    """Return linear functions of rows; the first row of the table has their intercepts."""
    return X @ theta[1:] + theta[0]


def plane_gradient(X: FloatArray, slopes: FloatArray) -> FloatArray:
    """Return the gradient by the table of `planes`."""
    gradient = np.empty((X.shape[1] + 1, slopes.shape[1]))
    np.matmul(np.ones(len(X)), slopes, out=gradient[0])
    np.matmul(X.T, slopes, out=gradient[1:])
    return gradient


@dataclass(frozen=True)
class LinearExperts:
    r"""Outputs :math:`w_{ih} = v_{ih}^T x` (Alpaydin 12.47).

    Attributes
    ----------
    n_inputs, n_units, n_outputs
        Their numbers.
    """

    n_inputs: int
    n_units: int
    n_outputs: int

    @property
    def n_parameters(self) -> int:
        """Length of the vector."""
        return (self.n_inputs + 1) * self.n_units * self.n_outputs

    def table(self, theta: FloatArray) -> FloatArray:
        """Return the weights, intercepts first: inputs by units times outputs."""
        return theta.reshape(self.n_inputs + 1, -1)

    def outputs(self, theta: FloatArray, X: FloatArray) -> Outputs:
        """Return the outputs of all experts for all rows."""
        values = planes(self.table(theta), X)
        return Outputs(values.reshape(len(X), self.n_units, self.n_outputs))

    def gradient(
        self, theta: FloatArray, X: FloatArray, outputs: Outputs, slopes: FloatArray
    ) -> FloatArray:
        """Return the gradient of an error from its slopes by the outputs."""
        return plane_gradient(X, slopes.reshape(len(X), -1)).ravel()


@dataclass(frozen=True)
class HiddenExperts:
    r"""Experts with a hidden layer: perceptrons, or linear ones of a low rank.

    Attributes
    ----------
    n_inputs, n_units, n_outputs, n_hidden
        Numbers of columns, experts, outputs, and hidden units of an expert.
    activation
        "tanh", or "identity" for functions of a few directions.
    """

    n_inputs: int
    n_units: int
    n_outputs: int
    n_hidden: int
    activation: str = "tanh"

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Numbers of weights of the first layer, of the second, and of its intercepts."""
        hidden = self.n_units * self.n_hidden
        return (
            (self.n_inputs + 1) * hidden,
            hidden * self.n_outputs,
            self.n_units * self.n_outputs,
        )

    @property
    def n_parameters(self) -> int:
        """Length of the vector."""
        return sum(self.sizes)

    def split(self, theta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the tables of both layers and the intercepts."""
        first, second, intercepts = np.split(theta, np.cumsum(self.sizes)[:-1])
        return (
            first.reshape(self.n_inputs + 1, -1),
            second.reshape(self.n_units, self.n_hidden, self.n_outputs),
            intercepts.reshape(self.n_units, 1, self.n_outputs),
        )

    def outputs(self, theta: FloatArray, X: FloatArray) -> Outputs:
        """Return the outputs of all experts for all rows."""
        first, second, intercepts = self.split(theta)
        hidden = planes(first, X)
        if self.activation == "tanh":
            hidden = np.tanh(hidden)
        # Experts first: one batch of products for all of them.
        by_expert = hidden.reshape(len(X), self.n_units, -1).transpose(1, 0, 2)
        values = (by_expert @ second + intercepts).transpose(1, 0, 2)
        return Outputs(np.ascontiguousarray(values), by_expert)

    def gradient(
        self, theta: FloatArray, X: FloatArray, outputs: Outputs, slopes: FloatArray
    ) -> FloatArray:
        """Return the gradient of an error from its slopes by the outputs."""
        _, second, _ = self.split(theta)
        hidden, by_expert = outputs.state, slopes.transpose(1, 0, 2)
        by_hidden = by_expert @ second.transpose(0, 2, 1)
        if self.activation == "tanh":
            by_hidden = by_hidden * (1.0 - hidden * hidden)
        flat = by_hidden.transpose(1, 0, 2).reshape(len(X), -1)
        return np.concatenate(
            [
                plane_gradient(X, flat).ravel(),
                (hidden.transpose(0, 2, 1) @ by_expert).ravel(),
                by_expert.sum(axis=1).ravel(),
            ]
        )


@dataclass(frozen=True)
class TreeGate:
    r"""Softmax gates at the nodes of a tree; a leaf's share is their product on its path.

    A single node with a branch for each expert is the gate of (12.49).

    Attributes
    ----------
    n_inputs
        Number of columns.
    tree
        Branches of the nodes.
    n_hidden
        Hidden units, whose outputs all gates see instead of the columns; 0 for none.
    """

    n_inputs: int
    tree: Branches
    n_hidden: int = 0

    @cached_property
    def nodes(self) -> tuple[slice, ...]:
        """The branches of each node, counted from the root over all of them."""
        return self._walk[0]

    @cached_property
    def paths(self) -> FloatArray:
        """Which branches lead to which leaf: branches by leaves, of zeros and ones."""
        return self._walk[1]

    @cached_property
    def _walk(self) -> tuple[tuple[slice, ...], FloatArray]:
        nodes: list[slice] = []
        leaves: list[list[int]] = []
        waiting: list[tuple[Branches, list[int]]] = [(self.tree, [])]
        n_branches = 0
        while waiting:
            node, path = waiting.pop(0)
            if node is None:
                leaves.append(path)
                continue
            nodes.append(slice(n_branches, n_branches + len(node)))
            # Depth first, so that leaves come in the order in which the tree is written.
            waiting = [
                (child, [*path, n_branches + place]) for place, child in enumerate(node)
            ] + waiting
            n_branches += len(node)
        paths = np.zeros((n_branches, len(leaves)))
        for leaf, path in enumerate(leaves):
            paths[path, leaf] = 1.0
        return tuple(nodes), paths

    @property
    def n_units(self) -> int:
        """Number of leaves."""
        return self.paths.shape[1]

    @property
    def n_branches(self) -> int:
        """Number of branches of all nodes."""
        return self.paths.shape[0]

    @property
    def n_seen(self) -> int:
        """Numbers that the gates see of a row."""
        return self.n_hidden or self.n_inputs

    @property
    def n_parameters(self) -> int:
        """Length of the vector."""
        hidden = (self.n_inputs + 1) * self.n_hidden
        return hidden + (self.n_seen + 1) * self.n_branches

    def split(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the tables of the hidden layer, which may be empty, and of the planes."""
        end = (self.n_inputs + 1) * self.n_hidden
        return theta[:end].reshape(-1, max(self.n_hidden, 1)), theta[end:].reshape(
            self.n_seen + 1, -1
        )

    def shares(self, theta: FloatArray, X: FloatArray) -> Shares:
        """Return the shares of all leaves in all rows, which sum to 1."""
        first, table = self.split(theta)
        seen = np.tanh(planes(first, X)) if self.n_hidden else X
        branches = planes(table, seen)
        for node in self.nodes:
            branches[:, node] = log_normalised(branches[:, node])
        logarithms = branches if len(self.nodes) == 1 else branches @ self.paths
        return Shares(logarithms, (seen, branches))

    def gradient(
        self, theta: FloatArray, X: FloatArray, shares: Shares, slopes: FloatArray
    ) -> FloatArray:
        """Return the gradient of an error from its slopes by the logarithms of the shares."""
        _, table = self.split(theta)
        seen, branches = shares.state
        by_branch = slopes.copy() if len(self.nodes) == 1 else slopes @ self.paths.T
        for node in self.nodes:
            part = by_branch[:, node]
            # A plane that rises takes from the shares of all branches of its node.
            part -= np.exp(branches[:, node]) * row_sums(part)
        by_plane = plane_gradient(seen, by_branch).ravel()
        if not self.n_hidden:
            return by_plane
        by_hidden = (by_branch @ table[1:].T) * (1.0 - seen * seen)
        return np.concatenate([plane_gradient(X, by_hidden).ravel(), by_plane])
