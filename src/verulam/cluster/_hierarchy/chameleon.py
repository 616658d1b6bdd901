"""CHAMELEON: cut a graph of neighbours into many parts, then merge those that belong together."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClusterMixin

from verulam.base import Interval, check_is_fitted, checked_fit, validate_data
from verulam.cluster._hierarchy.merge_tree import MergeTree
from verulam.cluster._hierarchy.neighbour_graph import bisect, neighbour_graph, partition_graph
from verulam.cluster._seeding import check_enough_rows, row_keys, warn_of_equal_rows

#: Largest part of the first partition where no size is set: a share of the rows, and a number.
PART_SHARE, PART_ROWS = 0.025, 10


@dataclass(frozen=True)
class Ties:
    """How parts of a graph hang together; arrays over parts are changed by `merge`.

    Attributes
    ----------
    weights, counts : ndarray of shape (n_parts, n_parts)
        Sums of the weights of the edges between two parts, and their numbers.
    inner_weights, inner_means : ndarray of shape (n_parts,)
        Sum and mean of the weights that a bisection of the part cuts.
    sizes : ndarray of shape (n_parts,)
        Numbers of rows.
    """

    weights: np.ndarray
    counts: np.ndarray
    inner_weights: np.ndarray
    inner_means: np.ndarray
    sizes: np.ndarray

    def interconnectivity(self) -> np.ndarray:
        """Return the relative interconnectivity of each two parts."""
        inner = (self.inner_weights[:, None] + self.inner_weights) / 2.0
        return self.weights / np.maximum(inner, _least(self.weights))

    def closeness(self) -> np.ndarray:
        """Return the relative closeness of each two parts."""
        means = self.weights / np.maximum(self.counts, 1.0)
        totals = self.sizes * self.inner_means
        inner = (totals[:, None] + totals) / (self.sizes[:, None] + self.sizes)
        return means / np.maximum(inner, _least(means))


def _least(weights: np.ndarray) -> float:
    """Return what stands for the inner ties of parts that have none, such as single rows."""
    return 1e-9 * float(weights.max(initial=0.0)) or 1.0


def graph_ties(graph: csr_array, labels: np.ndarray) -> Ties:
    """Return the ties of the parts of a graph."""
    n_parts = int(labels.max()) + 1
    edges = graph.tocoo()
    pairs = labels[edges.row] * n_parts + labels[edges.col]
    shape = (n_parts, n_parts)
    weights = np.bincount(pairs, edges.data, minlength=n_parts**2).reshape(shape)
    counts = np.bincount(pairs, minlength=n_parts**2).astype(float).reshape(shape)
    np.fill_diagonal(weights, 0.0)
    np.fill_diagonal(counts, 0.0)
    inner = np.array([inner_ties(graph, np.flatnonzero(labels == k)) for k in range(n_parts)])
    return Ties(weights, counts, inner[:, 0], inner[:, 1], np.bincount(labels).astype(float))


def inner_ties(graph: csr_array, rows: np.ndarray) -> tuple[float, float]:
    """Return the sum and the mean of the weights that bisecting these rows cuts."""
    if len(rows) == 1:
        return 0.0, 0.0
    halves = bisect(graph[rows][:, rows])
    return halves.cut, halves.mean_weight


def merge_parts(graph: csr_array, labels: np.ndarray, closeness_power: float) -> MergeTree:
    """Return the merges of parts, the best first; heights are their scores, which may fall or rise.

    Parameters
    ----------
    graph
        Symmetric weights; connected.
    labels
        Part of each row.
    closeness_power
        Power of relative closeness in the score.
    """
    ties = graph_ties(graph, labels)
    n_parts = len(ties.sizes)
    names = np.arange(n_parts)
    members = {name: np.flatnonzero(labels == name) for name in range(n_parts)}
    merges = np.empty((n_parts - 1, 4))
    for step in range(n_parts - 1):
        scores = ties.interconnectivity() * ties.closeness() ** closeness_power
        first, second = sorted(divmod(int(scores.argmax()), len(names)))
        merges[step] = *sorted((names[first], names[second])), scores[first, second], 0.0
        whole = np.sort(np.r_[members.pop(int(names[first])), members.pop(int(names[second]))])
        merges[step, 3] = len(whole)
        names[first] = n_parts + step
        members[n_parts + step] = whole
        ties = _merged(ties, first, second, inner_ties(graph, whole))
        names = np.delete(names, second)
    return MergeTree(merges)


def _merged(ties: Ties, first: int, second: int, inner: tuple[float, float]) -> Ties:
    """Return the ties after the second of two parts has joined the first."""
    tables = []
    for table in (ties.weights, ties.counts):
        joined = table.copy()
        joined[first] += joined[second]
        joined[:, first] = joined[first]
        joined[first, first] = 0.0
        tables.append(np.delete(np.delete(joined, second, axis=0), second, axis=1))
    rows = np.array([ties.inner_weights, ties.inner_means, ties.sizes])
    rows[:, first] = *inner, ties.sizes[first] + ties.sizes[second]
    return Ties(*tables, *np.delete(rows, second, axis=1))


class Chameleon(ClusterMixin, BaseEstimator):
    r"""Find clusters of any shape: cut a graph of neighbours, then merge by how parts are tied.

    Parameters
    ----------
    n_clusters
        Number of clusters that `labels_` shows.
    n_neighbors
        Number of nearest rows that each row is joined to in the graph.
    part_size
        Most rows of a part before merging; None for 2.5 per cent of the rows, 10 at least.
    closeness_power
        Power :math:`\alpha` of relative closeness: above 1 it counts more than relative
        interconnectivity, below 1 less.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, numbered by their first rows.
    n_clusters_ : int
        Number of clusters in `labels_`.
    graph_ : sparse array of shape (n_samples, n_samples)
        Weights of the edges between neighbours.
    parts_ : ndarray of shape (n_samples,)
        Part of each row before merging.
    merges_ : ndarray of shape (n_parts - 1, 4)
        The merges of parts in SciPy's form, with scores in place of heights: two clusters,
        :math:`RI \cdot RC^\alpha`, number of rows.

    Notes
    -----
    .. math:: RI(A, B) = \frac{E(A, B)}{\frac12 (E(A) + E(B))}, \qquad
              RC(A, B) = \frac{\bar e(A, B)}{\frac{|A|}{|A| + |B|} \bar e(A) +
              \frac{|B|}{|A| + |B|} \bar e(B)}

    :math:`E(A, B)` is the sum of the weights of the edges between two clusters,
    :math:`E(A)` that of the edges that the best bisection of one cuts, and :math:`\bar e` are
    means of the same edges. The two with the largest :math:`RI \cdot RC^\alpha` are merged
    [karypis1999]_: those that are tied to each other as closely as within themselves, be they
    dense or sparse. Bisections follow the second eigenvector of the graph's Laplacian and leave
    each half a quarter of the rows. Distances are Euclidean: bring columns to a common scale
    first. Where the graph falls apart, the shortest edges between its pieces are added. See
    SIT1305 III.

    References
    ----------
    .. [karypis1999] G. Karypis, E.-H. Han and V. Kumar, "Chameleon: hierarchical clustering
       using dynamic modeling", Computer, 32(8), 1999.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.cluster import Chameleon
    >>> angles = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    >>> ring = np.column_stack([np.cos(angles), np.sin(angles)])
    >>> learner = Chameleon(n_neighbors=5).fit(np.r_[ring, 3 * ring])
    >>> np.bincount(learner.labels_[:60]), np.bincount(learner.labels_[60:])
    (array([60]), array([ 0, 60]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "part_size": [Interval(Integral, 1, None, closed="left"), None],
        "closeness_power": [Interval(Real, 0, None, closed="left")],
    }
    _skipped_checks: ClassVar[dict[str, str]] = {}

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        n_neighbors: int = 10,
        part_size: int | None = None,
        closeness_power: float = 2.0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.part_size = part_size
        self.closeness_power = closeness_power

    @checked_fit
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Cut the graph of the rows of `X` into parts, and merge them.

        Parameters
        ----------
        X
            Rows of numbers, on a common scale.
        y
            Not used.
        """
        rows = validate_data(self, X, dtype=np.float64, order="C")
        n_rows = len(rows)
        check_enough_rows(self.n_clusters, n_rows, "n_clusters")
        warn_of_equal_rows(self.n_clusters, len(np.unique(row_keys(rows, 0))))
        part_size = self.part_size or max(PART_ROWS, int(PART_SHARE * n_rows))
        self.graph_ = csr_array((1, 1)) if n_rows == 1 else neighbour_graph(rows, self.n_neighbors)
        self.parts_ = partition_graph(self.graph_, part_size, self.n_clusters)
        self._part_tree = merge_parts(self.graph_, self.parts_, float(self.closeness_power))
        self.merges_ = self._part_tree.merges
        self.labels_ = self.cut(self.n_clusters)
        self.n_clusters_ = int(self.labels_.max()) + 1
        return self

    def cut(self, n_clusters: int) -> np.ndarray:
        """Return the cluster of each row when so many are left, numbered by their first rows.

        Parameters
        ----------
        n_clusters
            From 1 to the number of parts.
        """
        check_is_fitted(self)
        return self._part_tree.cut(n_clusters=n_clusters)[self.parts_]
