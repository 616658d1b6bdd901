"""Divisive clustering (DIANA): split the most diverse cluster until every row is alone."""

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import squareform
from sklearn.base import BaseEstimator, ClusterMixin

from verulam.base import checked_fit
from verulam.cluster._hierarchy.agglomerative import HIERARCHY_CONSTRAINTS, HierarchyMixin
from verulam.cluster._hierarchy.merge_tree import MergeTree, checked_rows, condensed_distances


def splinter(distances: np.ndarray) -> np.ndarray:
    """Return which rows leave a cluster: the most distant one, and those that are nearer to it.

    Parameters
    ----------
    distances
        Of the rows of the cluster, two at least.
    """
    n_rows = len(distances)
    to_rest = distances.sum(axis=1)
    to_splinter = np.zeros(n_rows)
    leaves = np.zeros(n_rows, dtype=bool)
    place = int(to_rest.argmax())
    while True:
        leaves[place] = True
        to_rest -= distances[place]
        to_splinter += distances[place]
        n_left = n_rows - int(leaves.sum())
        if n_left == 1:
            return leaves
        # How much nearer, on average, a row is to those that have left than to those that stay.
        gains = to_rest / (n_left - 1) - to_splinter / (n_rows - n_left)
        gains[leaves] = -np.inf
        place = int(gains.argmax())
        if not gains[place] > 0:
            return leaves


def split_rows(distances: np.ndarray) -> MergeTree:
    """Return the hierarchy of splits, heights being the diameters of the clusters that split."""
    n_rows = len(distances)
    clusters = {0: np.arange(n_rows)}
    diameters = {0: float(distances.max())}
    # The widest first; of equals the larger, so that equal rows are divided too.
    queue = [(-diameters[0], -n_rows, 0)]
    splits: list[tuple[int, int, int]] = []
    while len(clusters) < n_rows:
        whole = heappop(queue)[2]
        rows = clusters.pop(whole)
        leaves = splinter(distances[np.ix_(rows, rows)])
        names = 2 * len(splits) + 1, 2 * len(splits) + 2
        for name, part in zip(names, (rows[~leaves], rows[leaves]), strict=True):
            clusters[name] = part
            if len(part) > 1:
                diameters[name] = float(distances[np.ix_(part, part)].max())
                heappush(queue, (-diameters[name], -len(part), name))
        splits.append((whole, *names))
    # A cluster of one row is that row; the last split is the first merge.
    numbers = {name: int(rows[0]) for name, rows in clusters.items()}
    sizes = dict.fromkeys(numbers, 1)
    merges = np.empty((n_rows - 1, 4))
    for step, (whole, first, second) in enumerate(reversed(splits)):
        sizes[whole] = sizes[first] + sizes[second]
        pair = sorted((numbers[first], numbers[second]))
        merges[step] = *pair, diameters[whole], sizes[whole]
        numbers[whole] = n_rows + step
    return MergeTree(merges)


class DivisiveClustering(HierarchyMixin, ClusterMixin, BaseEstimator):
    r"""Split the widest cluster in two, from all rows down to single ones.

    Parameters
    ----------
    n_clusters
        Number of clusters that `labels_` shows; None to go by `distance_threshold`.
    distance_threshold
        Diameter up to which clusters stay whole in `labels_`; None to go by `n_clusters`.
    metric
        Distance of two rows: "euclidean", "manhattan", "chebyshev", "cosine", "hamming",
        "sqeuclidean", a function of two rows, or "precomputed", where `X` is a square matrix of
        distances.

    Attributes
    ----------
    merges_ : ndarray of shape (n_samples - 1, 4)
        The splits in reverse, in SciPy's form: two clusters, diameter of both together, number
        of rows.
    merge_tree_ : MergeTree
        The same with its methods.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, numbered by their first rows.
    n_clusters_ : int
        Number of clusters in `labels_`.
    divisive_coefficient_ : float
        Mean over the rows of 1 less the diameter of the last cluster a row was split from, as a
        share of the whole diameter: near 1 where there is structure, near 0 where not.

    Notes
    -----
    The row with the largest mean distance from the others leaves; others follow while they are
    nearer, on average, to those that left than to those that stay [kaufman1990]_. See SIT1305 III.

    References
    ----------
    .. [kaufman1990] L. Kaufman and P. J. Rousseeuw, "Finding Groups in Data", Wiley, 1990.

    Examples
    --------
    >>> from verulam.cluster import DivisiveClustering
    >>> learner = DivisiveClustering(n_clusters=2).fit([[0.0], [1.0], [4.0], [4.5], [9.0]])
    >>> learner.labels_, learner.merges_[:, 2]
    (array([0, 0, 0, 0, 1]), array([0.5, 1. , 4.5, 9. ]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = dict(HIERARCHY_CONSTRAINTS)
    _skipped_checks: ClassVar[dict[str, str]] = {}

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        distance_threshold: float | None = None,
        metric: str | Callable[..., float] = "euclidean",
    ) -> None:
        self.n_clusters = n_clusters
        self.distance_threshold = distance_threshold
        self.metric = metric

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
        rows = checked_rows(self, X, self.metric)
        self._check_cut(len(rows))
        distances = rows
        if self.metric != "precomputed":
            distances = np.zeros((1, 1))
            if len(rows) > 1:
                distances = squareform(condensed_distances(rows, self.metric))
        self._take(split_rows(distances))
        self.divisive_coefficient_ = _divisive_coefficient(self.merge_tree_)
        return self


def _divisive_coefficient(tree: MergeTree) -> float:
    if tree.n_rows == 1 or not tree.heights[-1] > 0:
        return 0.0
    diameters = np.zeros(tree.n_rows)
    for first, second, height, _ in tree.merges:
        for name in (int(first), int(second)):
            if name < tree.n_rows:
                diameters[name] = height
    return float(np.mean(1.0 - diameters / tree.heights[-1]))
