"""Agglomerative clustering (AGNES): merge the two nearest clusters until one is left."""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import squareform
from sklearn.base import BaseEstimator, ClusterMixin

from verulam.base import DataError, Interval, StrOptions, checked_fit
from verulam.cluster._hierarchy.merge_tree import (
    METRICS,
    MergeTree,
    checked_rows,
    condensed_distances,
)
from verulam.cluster._hierarchy.single_link_loops import (
    merges_of_tree,
    shortest_euclidean_tree,
    shortest_tree,
)
from verulam.cluster._seeding import check_enough_rows, warn_of_equal_rows

LINKAGES = ("single", "complete", "average", "centroid", "ward")
#: What `_parameter_constraints` says of the parameters that hierarchies share.
HIERARCHY_CONSTRAINTS: dict[str, Any] = {
    "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
    "distance_threshold": [Interval(Real, 0, None, closed="left"), None],
    "metric": [StrOptions({*METRICS, "precomputed"}), callable],
}


def single_link(rows: np.ndarray, metric: Any = "euclidean") -> np.ndarray:
    """Return the merges of single link: the shortest tree that joins all rows, edge by edge.

    Parameters
    ----------
    rows
        One row per point, or a square matrix of distances.
    metric
        "euclidean", "precomputed" or another that `condensed_distances` knows.
    """
    n_rows = len(rows)
    parents, lengths = np.empty((n_rows - 1, 2), dtype=np.int64), np.empty(n_rows - 1)
    if isinstance(metric, str) and metric == "euclidean":
        shortest_euclidean_tree(
            np.array(rows.T, order="C"), np.arange(n_rows), np.full(n_rows, np.inf),
            np.zeros(n_rows, dtype=np.int64), parents, lengths,
        )  # fmt: skip
        np.sqrt(lengths, out=lengths)
    else:
        precomputed = isinstance(metric, str) and metric == "precomputed"
        square = rows if precomputed else squareform(condensed_distances(rows, metric))
        shortest_tree(np.ascontiguousarray(square), parents, lengths)
    merges = np.empty((n_rows - 1, 4))
    merges_of_tree(parents, lengths, np.argsort(lengths, kind="stable"), merges)
    return merges


def merge_rows(rows: np.ndarray, linkage: str, metric: Any = "euclidean") -> MergeTree:
    """Return the hierarchy of rows, or of a square matrix of distances."""
    if len(rows) == 1:
        return MergeTree(np.empty((0, 4)))
    if linkage == "single":
        return MergeTree(single_link(rows, metric))
    method: Any = linkage
    return MergeTree(scipy_linkage(condensed_distances(rows, metric), method))


class HierarchyMixin:
    """A fitted hierarchy can be cut anywhere, and measured along."""

    merge_tree_: MergeTree
    n_clusters: int | None
    distance_threshold: float | None

    def _check_cut(self, n_rows: int) -> None:
        if (self.n_clusters is None) == (self.distance_threshold is None):
            raise DataError(
                "Exactly one of n_clusters and distance_threshold must be a number, the other "
                f"None; got n_clusters={self.n_clusters} and "
                f"distance_threshold={self.distance_threshold}."
            )
        if self.n_clusters is not None:
            check_enough_rows(self.n_clusters, n_rows, "n_clusters")

    def _take(self, tree: MergeTree) -> None:
        self.merge_tree_ = tree
        self.merges_ = tree.merges
        self.labels_ = tree.cut(height=self.distance_threshold, n_clusters=self.n_clusters)
        self.n_clusters_ = int(self.labels_.max()) + 1
        if self.n_clusters is not None:
            warn_of_equal_rows(self.n_clusters, 1 + int(np.count_nonzero(tree.heights)))

    def cut(self, *, height: float | None = None, n_clusters: int | None = None) -> np.ndarray:
        """Return the cluster of each row where the tree is cut, numbered by their first rows.

        Parameters
        ----------
        height
            Keep the merges up to this height: what they connect are the clusters.
        n_clusters
            Undo the last merges until there are so many.
        """
        return self.merge_tree_.cut(height=height, n_clusters=n_clusters)

    def cophenetic(self) -> np.ndarray:
        """Return the height at which each two rows come together, as a square matrix."""
        return self.merge_tree_.cophenetic()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc] # of the estimator
        tags.input_tags.pairwise = self.metric == "precomputed"  # type: ignore[attr-defined]
        return tags


class AgglomerativeClustering(HierarchyMixin, ClusterMixin, BaseEstimator):
    r"""Merge the two nearest clusters, from single rows up to one that holds all.

    Parameters
    ----------
    n_clusters
        Number of clusters that `labels_` shows; None to go by `distance_threshold`.
    distance_threshold
        Height up to which merges count for `labels_`; None to go by `n_clusters`.
    linkage
        Distance of two clusters: "single", the least between their rows; "complete", the
        largest; "average"; "centroid", between their means; "ward", by how much merging would
        raise the squared error.
    metric
        Distance of two rows: "euclidean", "manhattan", "chebyshev", "cosine", "hamming",
        "sqeuclidean", a function of two rows, or "precomputed", where `X` is a square matrix of
        distances. Centroids and Ward's criterion need Euclidean distances.

    Attributes
    ----------
    merges_ : ndarray of shape (n_samples - 1, 4)
        The merges in SciPy's form: two clusters, height, number of rows.
    merge_tree_ : MergeTree
        The same with its methods.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, numbered by their first rows.
    n_clusters_ : int
        Number of clusters in `labels_`.

    Notes
    -----
    .. math:: d_\text{single}(A, B) = \min_{a \in A, b \in B} d(a, b), \qquad
              d_\text{complete}(A, B) = \max_{a \in A, b \in B} d(a, b), \qquad
              d_\text{average}(A, B) = \frac1{|A||B|} \sum_{a, b} d(a, b)

    Single link is the shortest tree that joins all rows; with Euclidean distances it needs no
    table of them. The height at which two rows come together is their cophenetic distance. See
    SIT1305 III.

    Examples
    --------
    >>> from verulam.cluster import AgglomerativeClustering
    >>> rows = [[0.0], [1.0], [4.0], [4.5], [9.0]]
    >>> learner = AgglomerativeClustering(n_clusters=3, linkage="single").fit(rows)
    >>> learner.labels_, learner.merges_[:, 2]
    (array([0, 0, 1, 1, 2]), array([0.5, 1. , 3. , 4.5]))
    >>> learner.cut(height=3.5)
    array([0, 0, 0, 0, 1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **HIERARCHY_CONSTRAINTS,
        "linkage": [StrOptions(set(LINKAGES))],
    }
    _skipped_checks: ClassVar[dict[str, str]] = {}

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        distance_threshold: float | None = None,
        linkage: str = "average",
        metric: str | Callable[..., float] = "euclidean",
    ) -> None:
        self.n_clusters = n_clusters
        self.distance_threshold = distance_threshold
        self.linkage = linkage
        self.metric = metric

    @classmethod
    def _example_learners(cls) -> list["AgglomerativeClustering"]:
        return [cls(linkage=linkage) for linkage in ("average", "single")]

    @checked_fit
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Build the hierarchy of the rows of `X`, or of a matrix of distances.

        Parameters
        ----------
        X
            Rows, or a square matrix where `metric` is "precomputed".
        y
            Not used.
        """
        if self.linkage in ("centroid", "ward") and self.metric not in ("euclidean", "precomputed"):
            raise DataError(
                f"linkage={self.linkage!r} needs Euclidean distances; metric={self.metric!r} is "
                "not: choose another linkage, or metric='euclidean'."
            )
        rows = checked_rows(self, X, self.metric)
        self._check_cut(len(rows))
        self._take(merge_rows(rows, self.linkage, self.metric))
        return self
