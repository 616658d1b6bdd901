"""Hard clusters that grow in number: the Dirichlet-process mixture where variances vanish."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from sklearn.base import ClusterMixin

from verulam.base import (
    Interval,
    StrOptions,
    Transformer,
    check_is_fitted,
    checked_fit,
    validate_data,
)
from verulam.numerics import announced, njit


@njit(cache=True, nogil=True)
def lead_rows(X, limit, labels, centres, counts, n_clusters, moving):
    """Assign rows to the nearest centre, or begin a cluster beyond the squared limit.

    Where centres move, each is the mean of the rows that it has so far. Return the number of
    clusters; where there is no room for one more, that number with a minus, less one.
    """
    n_columns = X.shape[1]
    for i in range(X.shape[0]):
        if labels[i] >= 0:
            continue
        nearest, least = np.int64(-1), np.inf
        for k in range(n_clusters):
            square = 0.0
            for j in range(n_columns):
                square += (X[i, j] - centres[k, j]) ** 2
            if square < least:
                nearest, least = np.int64(k), square
        if nearest < 0 or least > limit:
            if n_clusters == centres.shape[0]:
                return -n_clusters - 1
            nearest = n_clusters
            n_clusters += 1
            counts[nearest] = 0
            for j in range(n_columns):
                centres[nearest, j] = X[i, j]
        labels[i] = nearest
        counts[nearest] += 1
        if moving:
            for j in range(n_columns):
                centres[nearest, j] += (X[i, j] - centres[nearest, j]) / counts[nearest]
    return n_clusters


class LeaderClustering(ClusterMixin, Transformer):
    r"""Clusters around leaders: a row too far from all of them leads a new cluster.

    Parameters
    ----------
    vigilance
        Largest distance of a row from the centre of its cluster; beyond it a new one is begun.
    method
        "sequential" for one pass, in which a centre is the mean of the rows it has so far;
        "dp_means" for passes that assign all rows, add clusters where rows are too far from every
        centre, and then move the centres to the means, until nothing changes.
    max_iter
        Most passes of "dp_means".

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centres.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row.
    n_clusters_ : int
        Number of clusters.
    objective_curve_ : list of float
        Squared distances from the centres plus the squared vigilance for each cluster, after each
        pass; with "dp_means" it never rises.
    n_iter_ : int
        Number of passes.

    Notes
    -----
    Adaptive resonance adds a cluster where the nearest centre is farther than a vigilance
    (Alpaydin 12.2.2), and a Dirichlet-process mixture does nearly the same (16.10). The limit makes
    it exact: with spherical components of variance :math:`\sigma^2 \to 0` and
    :math:`\alpha \propto e^{-\lambda / 2\sigma^2}`, the most probable seat of a row is the nearest
    centre if the squared distance is below :math:`\lambda`, and a new one otherwise; a
    vigilance is :math:`\sqrt\lambda` [kulis2012]_.

    References
    ----------
    .. [kulis2012] B. Kulis and M. I. Jordan, "Revisiting k-means: new algorithms via Bayesian
       nonparametrics", International Conference on Machine Learning, 2012.

    Examples
    --------
    >>> from verulam.bayes import LeaderClustering
    >>> leader = LeaderClustering(vigilance=2.0).fit([[0.0], [1.0], [7.0], [8.0], [0.5]])
    >>> leader.labels_, leader.cluster_centers_.ravel()
    (array([0, 0, 1, 1, 0]), array([0.5, 7.5]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "vigilance": [Interval(Real, 0, None, closed="neither")],
        "method": [StrOptions({"sequential", "dp_means"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self, vigilance: float = 1.0, *, method: str = "sequential", max_iter: int = 100
    ) -> None:
        self.vigilance = vigilance
        self.method = method
        self.max_iter = max_iter

    @classmethod
    def _example_learners(cls) -> list["LeaderClustering"]:
        return [cls(vigilance=2.0), cls(vigilance=2.0, method="dp_means")]

    @checked_fit
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the clusters."""
        X = validate_data(self, X, dtype=np.float64, order="C")
        limit = float(self.vigilance) ** 2
        moving = self.method == "sequential"
        with announced("verulam.bayes"):
            labels = np.full(len(X), -1, dtype=np.int64)
            # The first pass of DP-means starts from one centre: the mean of all rows.
            centres = X[:0] if moving else X.mean(axis=0)[None]
            centres = _lead(X, limit, labels, centres, moving)
            self.objective_curve_ = [_objective(X, labels, centres, limit)]
            if not moving:
                labels, centres = self._settle(X, limit, labels, centres)
        self.cluster_centers_, self.labels_ = centres, labels.astype(np.intp)
        self.n_clusters_ = len(centres)
        self.n_iter_ = len(self.objective_curve_)
        return self

    def _settle(
        self, X: np.ndarray, limit: float, labels: np.ndarray, centres: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        for _ in range(self.max_iter - 1):
            centres, labels = _means(X, labels)
            following = np.full(len(X), -1, dtype=np.int64)
            centres = _lead(X, limit, following, centres, False)
            unchanged = bool((following == labels).all())
            labels = following
            self.objective_curve_.append(_objective(X, labels, centres, limit))
            if unchanged:
                break
        centres, labels = _means(X, labels)
        return labels, centres

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Return the distance of each row from each centre."""
        check_is_fitted(self)
        inputs = validate_data(self, X, reset=False, dtype=np.float64, order="C")
        return cdist(inputs, self.cluster_centers_)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the nearest cluster of each row, -1 where the row is too far from all."""
        distances = self.transform(X)
        nearest = distances.argmin(axis=1)
        return np.where(distances.min(axis=1) > self.vigilance, -1, nearest)


def _lead(
    X: np.ndarray, limit: float, labels: np.ndarray, centres: np.ndarray, moving: bool
) -> np.ndarray:
    """Label all rows, and return the centres that there are then."""
    n_clusters = len(centres)
    buffer = np.zeros((n_clusters + 64, X.shape[1]))
    buffer[:n_clusters] = centres
    counts = np.zeros(len(buffer), dtype=np.int64)
    while True:
        n_clusters = lead_rows(X, limit, labels, buffer, counts, n_clusters, moving)
        if n_clusters >= 0:
            return buffer[:n_clusters].copy()
        n_clusters = -n_clusters - 1
        buffer = np.concatenate([buffer, np.zeros_like(buffer)])
        counts = np.concatenate([counts, np.zeros_like(counts)])


def _means(X: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the means of the clusters that have rows, and labels that number these."""
    used, labels = np.unique(labels, return_inverse=True)
    sums = np.zeros((len(used), X.shape[1]))
    np.add.at(sums, labels, X)
    return sums / np.bincount(labels)[:, None], labels


def _objective(X: np.ndarray, labels: np.ndarray, centres: np.ndarray, limit: float) -> float:
    return float(((X - centres[labels]) ** 2).sum() + limit * len(centres))
