"""Graphs of nearest neighbours, and partitions of them that cut little."""

from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
from scipy.sparse import coo_array, csgraph, csr_array
from scipy.sparse import diags_array as diagonal
from scipy.sparse.linalg import eigsh
from sklearn.neighbors import NearestNeighbors

from verulam.cluster._hierarchy.single_link_loops import shortest_euclidean_tree

#: Each half of a bisection has this share of the rows at least.
LEAST_SHARE = 0.25
#: Up to so many rows all eigenvectors are as quick as two.
DENSE_ROWS = 200
#: Moves the Laplacian off its eigenvalue of zero, as a share of the mean degree.
_SHIFT = 1e-3


@dataclass(frozen=True)
class Bisection:
    """A graph in two parts.

    Attributes
    ----------
    second : ndarray of bool
        Which rows are in the second part.
    cut
        Sum of the weights of the edges between both parts.
    n_cut
        Number of those edges.
    """

    second: np.ndarray
    cut: float
    n_cut: int

    @property
    def mean_weight(self) -> float:
        """Mean weight of the edges between both parts; 0 where there are none."""
        return self.cut / self.n_cut if self.n_cut else 0.0


def neighbour_graph(rows: np.ndarray, n_neighbors: int) -> csr_array:
    r"""Return the graph that joins rows, one of which is among the nearest of the other.

    The weight of an edge is :math:`1 / (1 + d / \bar d)`, where :math:`\bar d` is the mean length
    of the edges. Where the graph falls apart, the shortest edges that join its pieces are added.

    Parameters
    ----------
    rows
        Two at least.
    n_neighbors
        Number of neighbours of each row; all others where there are fewer.
    """
    n_rows = len(rows)
    # Squares of very large or small numbers would overflow or vanish.
    rows = np.ascontiguousarray(rows / (np.abs(rows).max() or 1.0))
    n_neighbors = min(n_neighbors, n_rows - 1)
    search = NearestNeighbors(n_neighbors=n_neighbors).fit(rows)
    lengths, ends = search.kneighbors()
    edges = np.column_stack([np.repeat(np.arange(n_rows), n_neighbors), ends.ravel()])
    lengths = lengths.ravel()
    pieces = csgraph.connected_components(_joined(edges, np.ones(len(edges)), n_rows))[1]
    if pieces.any():
        tree, steps = _shortest_tree(rows)
        between = pieces[tree[:, 0]] != pieces[tree[:, 1]]
        edges = np.concatenate([edges, tree[between]])
        lengths = np.concatenate([lengths, steps[between]])
    return _joined(edges, 1.0 / (1.0 + lengths / (lengths.mean() or 1.0)), n_rows)


def _joined(edges: np.ndarray, weights: np.ndarray, n_rows: int) -> csr_array:
    """Return the symmetric matrix of edges that may be there in one direction or in both."""
    graph = coo_array((weights, (edges[:, 0], edges[:, 1])), shape=(n_rows, n_rows)).tocsr()
    return graph.maximum(graph.T).tocsr()


def _shortest_tree(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    n_rows = len(rows)
    edges, squares = np.empty((n_rows - 1, 2), dtype=np.int64), np.empty(n_rows - 1)
    shortest_euclidean_tree(
        np.array(rows.T, order="C"), np.arange(n_rows), np.full(n_rows, np.inf),
        np.zeros(n_rows, dtype=np.int64), edges, squares,
    )  # fmt: skip
    return edges, np.sqrt(squares)


def spectral_order(graph: csr_array) -> np.ndarray:
    """Return the rows along the Fiedler vector, one connected piece after the other.

    Neighbours in the graph are near in this order, so that a cut of it cuts few edges.
    """
    n_pieces, pieces = csgraph.connected_components(graph, directed=False)
    places = np.empty(graph.shape[0])
    for piece in range(n_pieces):
        members = np.flatnonzero(pieces == piece)
        places[members] = fiedler_vector(graph[members][:, members])
    return np.lexsort((places, pieces))


def fiedler_vector(graph: csr_array) -> np.ndarray:
    r"""Return the second eigenvector of the Laplacian :math:`D - W` of a connected graph.

    Of all vectors with mean 0 and length 1 it has the least :math:`\sum_{ij} w_{ij} (v_i-v_j)^2`.
    """
    n_rows = graph.shape[0]
    if n_rows <= 2:
        return np.arange(n_rows, dtype=float)
    degrees = np.asarray(graph.sum(axis=1))
    laplacian = diagonal(degrees) - graph
    if n_rows <= DENSE_ROWS:
        return np.linalg.eigh(laplacian.toarray())[1][:, 1]
    # A start of its own makes the search the same each time.
    start = np.random.default_rng(0).normal(size=n_rows)
    shift = -_SHIFT * float(degrees.mean())
    values, vectors = eigsh(laplacian.tocsc(), k=2, sigma=shift, v0=start)
    return vectors[:, int(values.argmax())]


def bisect(graph: csr_array) -> Bisection:
    """Return the part of a graph after the best place of its spectral order.

    Of the places that leave each part a quarter of the rows, the one that cuts the least weight.

    Parameters
    ----------
    graph
        Symmetric weights of two rows at least.
    """
    n_rows = graph.shape[0]
    order = spectral_order(graph)
    ranks = np.empty(n_rows, dtype=np.int64)
    ranks[order] = np.arange(n_rows)
    edges = graph.tocoo()
    first, last = ranks[edges.row], ranks[edges.col]
    forward = first < last
    first, last, weights = first[forward], last[forward], edges.data[forward]
    # An edge is cut by every place after its first end and before its last.
    opened = np.bincount(first, weights, minlength=n_rows)
    cuts = np.cumsum(opened - np.bincount(last, weights, minlength=n_rows))
    least = max(1, int(LEAST_SHARE * n_rows))
    size = least + int(cuts[least - 1 : n_rows - least].argmin())
    crossing = (first < size) & (last >= size)
    return Bisection(ranks >= size, float(weights[crossing].sum()), int(crossing.sum()))


def partition_graph(graph: csr_array, part_size: int, n_parts: int) -> np.ndarray:
    """Return the part of each row after repeated bisection of the largest part.

    Parameters
    ----------
    graph
        Symmetric weights.
    part_size
        Parts with more rows are bisected.
    n_parts
        Least number of parts.
    """
    n_rows = graph.shape[0]
    # Ties are decided by the first row.
    queue = [(-n_rows, 0, np.arange(n_rows))]
    while len(queue) < n_parts or -queue[0][0] > part_size:
        rows = heappop(queue)[2]
        second = bisect(graph[rows][:, rows]).second
        for part in (rows[~second], rows[second]):
            heappush(queue, (-len(part), int(part[0]), part))
    labels = np.empty(n_rows, dtype=np.int64)
    for number, rows in enumerate(sorted((part for *_, part in queue), key=lambda part: part[0])):
        labels[rows] = number
    return labels
