"""Classification by the nearest of several centres per class."""

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import (
    RANDOM_STATE,
    Classifier,
    Interval,
    Seed,
    StrOptions,
    check_is_fitted,
    checked_fit,
    encode_classes,
    spawn_seeds,
    validate_data,
)
from verulam.numerics import factorise, mahalanobis_squares

#: Least variance of a cluster, as a fraction of the mean variance of the columns.
VARIANCE_FLOOR = 1e-6


class NearestCentre(Classifier):
    r"""Cluster each class, and choose the class of the nearest cluster centre.

    Parameters
    ----------
    n_clusters
        Centres for each class; a class with fewer distinct rows has one per row.
    method
        How a class is clustered: "k-means", or "mixture" of Gaussians.
    metric
        "euclidean", or "mahalanobis", where each cluster has its own covariance.
    random_state
        Seed of the clustering.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    centres_ : ndarray of shape (n_centres, n_features)
        Centres :math:`m_j` of all classes.
    codes_ : ndarray of shape (n_centres,)
        Class of each centre, as a position in `classes_`.
    covariances_ : ndarray or None
        Covariance of each cluster, or None for the Euclidean distance.

    Notes
    -----
    .. math:: \hat C(x) = C(\arg\min_j D(x, m_j))

    One centre per class is the nearest-mean rule, one per row the nearest neighbour. See
    Alpaydin 8.5 (8.19).

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.nonparametric import NearestCentre
    >>> X, y = [[0.0], [1.0], [10.0], [11.0], [5.0], [6.0]], ["out"] * 4 + ["in"] * 2
    >>> classifier = NearestCentre(n_clusters=2, random_state=0).fit(X, y)
    >>> np.sort(classifier.centres_[:, 0])
    array([ 0.5,  5. ,  6. , 10.5])
    >>> classifier.predict([[2.0], [4.0], [9.0]]).tolist()
    ['out', 'in', 'out']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "method": [StrOptions({"k-means", "mixture"})],
        "metric": [StrOptions({"euclidean", "mahalanobis"})],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        *,
        n_clusters: int = 3,
        method: str = "k-means",
        metric: str = "euclidean",
        random_state: Seed = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.method = method
        self.metric = metric
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["NearestCentre"]:
        return [cls(random_state=0), cls(method="mixture", metric="mahalanobis", random_state=0)]

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Cluster the rows of each class."""
        inputs, labels = validate_data(self, X, y, dtype=np.float64, order="C")
        codes, self.classes_ = encode_classes(self, labels)
        floor = VARIANCE_FLOOR * float(inputs.var(axis=0).mean()) or VARIANCE_FLOOR
        seeds = spawn_seeds(self.random_state, len(self.classes_))
        centres, covariances, centre_codes = [], [], []
        for code, seed in enumerate(seeds):
            members = inputs[codes == code]
            class_centres = find_centres(members, self.n_clusters, self.method, seed)
            squares = ((members[:, None] - class_centres) ** 2).sum(axis=2)
            clusters = squares.argmin(axis=1)
            centres.append(class_centres)
            centre_codes += [code] * len(class_centres)
            covariances += [
                cluster_covariance(members[clusters == place], centre, floor)
                for place, centre in enumerate(class_centres)
            ]
        self.centres_ = np.concatenate(centres)
        self.codes_ = np.array(centre_codes)
        self.covariances_ = np.stack(covariances) if self.metric == "mahalanobis" else None
        return self

    def distances(self, X: ArrayLike) -> np.ndarray:
        """Return the distance of each row to each centre."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        if self.covariances_ is None:
            factor = factorise(self.centres_, np.ones(len(self.centres_)), "spherical")
        else:
            factor = factorise(self.centres_, self.covariances_, "full")
        return np.sqrt(mahalanobis_squares(inputs, factor))

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the class of the nearest centre."""
        nearest = self.distances(X).argmin(axis=1)
        return self.classes_[self.codes_[nearest]]


def find_centres(rows: np.ndarray, n_clusters: int, method: str, seed: int) -> np.ndarray:
    """Return at most `n_clusters` centres of some rows."""
    from sklearn.cluster import KMeans
    from sklearn.mixture import GaussianMixture

    distinct = np.unique(rows, axis=0)
    if len(distinct) <= n_clusters:
        return distinct
    if method == "k-means":
        return KMeans(n_clusters, n_init=4, random_state=seed).fit(rows).cluster_centers_
    spread = float(rows.var(axis=0).mean())
    mixture = GaussianMixture(
        n_clusters, reg_covar=VARIANCE_FLOOR * spread, random_state=seed, max_iter=500
    )
    return mixture.fit(rows).means_


def cluster_covariance(rows: np.ndarray, centre: np.ndarray, floor: float) -> np.ndarray:
    """Return the covariance of a cluster about its centre, no variance below the floor."""
    centred = rows - centre
    scatter = centred.T @ centred / max(1, len(rows))
    # A cluster of one row, or in a flat, has no spread in some direction: its distances would be
    # infinite there.
    values, vectors = np.linalg.eigh(scatter)
    return (vectors * np.maximum(values, floor)) @ vectors.T
