"""Kernels of graphs: shared paths, shared walks, and shared neighbourhoods."""

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, ClassVar

import numpy as np
import scipy.linalg
from scipy.sparse.csgraph import shortest_path

from verulam.base import DataError
from verulam.kernel._kernels.base import Kernel, as_objects, positive
from verulam.kernel._object_kernels.bags import Bag, PartKernel


@dataclass(frozen=True, eq=False)
class LabelledGraph:
    """An undirected graph whose nodes may have labels.

    Attributes
    ----------
    adjacency : ndarray of shape (n_nodes, n_nodes)
        Symmetric; zero where there is no edge.
    labels
        One for each node; all nodes are alike if None.
    """

    adjacency: np.ndarray
    labels: tuple[Hashable, ...] | None = None

    @property
    def node_labels(self) -> list[Hashable]:
        """The labels, with one and the same for all nodes where there are none."""
        return [""] * len(self.adjacency) if self.labels is None else list(self.labels)


def as_graph(graph: Any) -> LabelledGraph:
    """Return a graph from an adjacency matrix, or from a NetworkX graph with labels "label".

    Examples
    --------
    >>> from verulam.kernel import as_graph
    >>> as_graph([[0, 1], [1, 0]]).node_labels
    ['', '']
    """
    labels = None
    if isinstance(graph, LabelledGraph):
        matrix, labels = graph.adjacency, graph.labels
    elif hasattr(graph, "nodes") and hasattr(graph, "edges"):
        places = {node: place for place, node in enumerate(graph.nodes)}
        matrix = np.zeros((len(places), len(places)))
        for first, second in graph.edges:
            matrix[places[first], places[second]] = matrix[places[second], places[first]] = 1.0
        named = [graph.nodes[node].get("label", "") for node in places]
        labels = tuple(named) if any(name != "" for name in named) else None
    else:
        matrix = graph
    adjacency = np.asarray(matrix, dtype=np.float64)
    if adjacency.ndim != 2 or not np.array_equal(adjacency, adjacency.T):
        raise DataError(
            f"a graph's adjacency matrix must be square and symmetric; got shape {adjacency.shape}."
        )
    if labels is not None and len(labels) != len(adjacency):
        raise DataError(
            f"labels must be one for each of the {len(adjacency)} nodes; got {len(labels)}."
        )
    return LabelledGraph(adjacency, labels)


def _as_graphs(X: Any) -> np.ndarray:
    return as_objects([as_graph(graph) for graph in as_objects(X)])


@dataclass(frozen=True)
class ShortestPathKernel(PartKernel):
    """Number of shortest paths that two graphs share: of one length, between the same labels.

    Notes
    -----
    An edge has length one. See Alpaydin 13.7.

    Examples
    --------
    A triangle has three paths of length one, a chain of three nodes has two:

    >>> from verulam.kernel import ShortestPathKernel
    >>> triangle, chain = [[0, 1, 1], [1, 0, 1], [1, 1, 0]], [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> ShortestPathKernel()([triangle], [triangle, chain])
    array([[9., 6.]])
    """

    def inputs(self, X: Any) -> np.ndarray:
        return _as_graphs(X)

    def parts(self, structure: Any) -> Bag:
        lengths = shortest_path(structure.adjacency != 0, unweighted=True)
        labels = structure.node_labels
        # Each pair of nodes once; those without a path have none to share.
        rows, columns = np.nonzero(np.triu(np.isfinite(lengths), 1))
        return Counter(
            (lengths[a, b], frozenset((labels[a], labels[b])))
            for a, b in zip(rows.tolist(), columns.tolist(), strict=True)
        )


@dataclass(frozen=True)
class WeisfeilerLehmanKernel(PartKernel):
    """Neighbourhoods that two graphs share, from nodes alone to all within some steps.

    Attributes
    ----------
    n_rounds
        How often each node's label is replaced by one for itself and its neighbours' labels.

    Notes
    -----
    Counts of the labels of all rounds, the original ones included. See Alpaydin 13.7.

    Examples
    --------
    >>> from verulam.kernel import WeisfeilerLehmanKernel
    >>> triangle, chain = [[0, 1, 1], [1, 0, 1], [1, 1, 0]], [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> WeisfeilerLehmanKernel(n_rounds=1)([triangle], [triangle, chain])
    array([[18., 12.]])
    """

    n_rounds: int = 3

    def __post_init__(self) -> None:
        if self.n_rounds < 0:
            raise DataError(f"n_rounds must not be negative; got {self.n_rounds}.")

    def inputs(self, X: Any) -> np.ndarray:
        return _as_graphs(X)

    def parts(self, structure: Any) -> Bag:
        neighbours = [np.flatnonzero(row).tolist() for row in structure.adjacency]
        labels = [_digest("", repr(label)) for label in structure.node_labels]
        counts = Counter((0, label) for label in labels)
        for number in range(1, self.n_rounds + 1):
            # Sorted, as neighbours have no order; digests, as labels would grow with each round.
            labels = [
                _digest(label, *sorted(labels[other] for other in near))
                for label, near in zip(labels, neighbours, strict=True)
            ]
            counts.update((number, label) for label in labels)
        return counts


def _digest(*words: str) -> str:
    """Return a short name for a list of labels, the same in every graph."""
    return blake2b("|".join(words).encode(), digest_size=12).hexdigest()


@dataclass(frozen=True)
class RandomWalkKernel(Kernel):
    r"""Walks that two graphs share, long ones counting less.

    Attributes
    ----------
    decay
        Factor :math:`\lambda` for each step. It must be below one over the largest eigenvalue of
        the two graphs' common graph, or the sum is infinite.

    Notes
    -----
    .. math:: K(G_1, G_2) = \frac{1}{|V|} 1^T (I - \lambda A_\times)^{-1} 1

    where :math:`A_\times` is the adjacency of pairs of nodes with equal labels, linked where both
    are, and :math:`|V|` the product of the numbers of nodes. See Alpaydin 13.7.

    Examples
    --------
    >>> from verulam.kernel import RandomWalkKernel
    >>> edge, chain = [[0, 1], [1, 0]], [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> RandomWalkKernel(decay=0.1)([edge], [edge, chain]).round(4)
    array([[1.1111, 1.1565]])
    """

    decay: float = 0.05

    takes: ClassVar[str] = "objects"

    def __post_init__(self) -> None:
        positive("decay", self.decay)

    def inputs(self, X: Any) -> np.ndarray:
        return _as_graphs(X)

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return np.array(
            [[self._walks(first, second) for second in right] for first in left]
        ).reshape(len(left), len(right))

    def _walks(self, first: LabelledGraph, second: LabelledGraph) -> float:
        pairs = [
            (a, b)
            for a, label in enumerate(first.node_labels)
            for b, other in enumerate(second.node_labels)
            if label == other
        ]
        if not pairs:
            return 0.0
        rows, columns = map(np.array, zip(*pairs, strict=True))
        common = first.adjacency[np.ix_(rows, rows)] * second.adjacency[np.ix_(columns, columns)]
        largest = float(np.abs(common).sum(axis=0).max())
        if self.decay * largest >= 1.0:
            # The largest degree is only a bound; the eigenvalue itself decides.
            largest = float(np.abs(scipy.linalg.eigvalsh(common)).max())
            if self.decay * largest >= 1.0:
                raise DataError(
                    f"decay={self.decay:g} lets the sum over walks grow without end; it must be "
                    f"below {1.0 / largest:.4g} for these graphs."
                )
        # The geometric series of walks of all lengths is the inverse of this matrix.
        system = np.eye(len(pairs)) - self.decay * common
        reached = scipy.linalg.solve(system, np.ones(len(pairs)), assume_a="sym")
        return float(reached.sum()) / (len(first.adjacency) * len(second.adjacency))


@dataclass(frozen=True, eq=False)
class DiffusionKernel(Kernel):
    r"""Nodes of one graph are alike if many short paths link them.

    Attributes
    ----------
    graph
        Adjacency matrix, or a graph.
    spread
        How far similarity spreads, :math:`\beta`; none is left between nodes at zero.
    gram : ndarray or None
        Similarity of all nodes, computed from the others.

    Notes
    -----
    .. math:: K = e^{-\beta L}, \qquad L = D - A

    Inputs are numbers of nodes. The text gives no formula; this is the usual one. See Alpaydin
    13.7.

    Examples
    --------
    >>> from verulam.kernel import DiffusionKernel
    >>> chain = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> DiffusionKernel(chain, spread=0.5)([0], [0, 1, 2]).round(3)
    array([[0.674, 0.259, 0.067]])
    """

    graph: Any
    spread: float = 1.0
    gram: np.ndarray | None = None

    takes: ClassVar[str] = "objects"

    def __post_init__(self) -> None:
        positive("spread", self.spread)
        if self.gram is None:
            adjacency = as_graph(self.graph).adjacency
            laplacian = np.diag(adjacency.sum(axis=0)) - adjacency
            # The exponential of a symmetric matrix has its eigenvectors, and stays symmetric.
            values, vectors = scipy.linalg.eigh(laplacian)
            similarity = (vectors * np.exp(-self.spread * values)) @ vectors.T
            object.__setattr__(self, "gram", 0.5 * (similarity + similarity.T))

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        gram = np.asarray(self.gram)
        rows, columns = map(self._nodes, (left, right))
        return gram[np.ix_(rows, columns)]

    def _nodes(self, inputs: np.ndarray) -> np.ndarray:
        nodes = np.array([int(node) for node in inputs], dtype=np.int64)
        size = len(np.asarray(self.gram))
        if len(nodes) and not (nodes.min() >= 0 and nodes.max() < size):
            raise DataError(f"inputs must be numbers of nodes from 0 to {size - 1}.")
        return nodes
