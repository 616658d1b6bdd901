"""How good a clustering is: cohesion within, separation between, silhouettes, agreement."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from verulam.base import (
    FUNCTION,
    LABELS,
    TABLE,
    TEXT,
    DataError,
    checked_arguments,
    column_or_1d,
)
from verulam.cluster._hierarchy.merge_tree import METRICS, checked_distances
from verulam.cluster._quality_loops import euclidean_sums_by_cluster, sums_by_cluster

#: Distances held at a time, so that they are still in the cache when they are added up.
DISTANCES_AT_ONCE = 2**17


@dataclass(frozen=True, eq=False)
class ClusterQuality:
    r"""How tight clusters are, and how far apart.

    Attributes
    ----------
    labels : ndarray
        Label of each cluster.
    sizes : ndarray
        Number of rows of each.
    cohesion : ndarray
        Sum of squared distances of its rows from its mean, of each.
    separation : ndarray
        Squared distance of its mean from the mean of all rows, times its size, of each.
    silhouettes : ndarray of shape (n_samples,)
        Silhouette of each row.
    row_labels : ndarray of shape (n_samples,)
        Cluster of each row, as a place in `labels`.
    """

    labels: np.ndarray
    sizes: np.ndarray
    cohesion: np.ndarray
    separation: np.ndarray
    silhouettes: np.ndarray
    row_labels: np.ndarray

    @property
    def sse(self) -> float:
        """Sum of squared errors: cohesion of all clusters, which less is better of."""
        return float(self.cohesion.sum())

    @property
    def between(self) -> float:
        """Separation of all clusters; with `sse` it is the total sum of squares."""
        return float(self.separation.sum())

    @property
    def silhouette(self) -> float:
        """Mean silhouette of all rows, from -1 to 1."""
        return float(self.silhouettes.mean())

    @property
    def calinski_harabasz(self) -> float:
        """Ratio of separation to cohesion, each by its degrees of freedom."""
        n_rows, n_clusters = len(self.silhouettes), len(self.labels)
        if not self.sse > 0:
            return float("inf")
        return self.between / (n_clusters - 1) / (self.sse / (n_rows - n_clusters))

    def to_frame(self) -> pd.DataFrame:
        """Return one row per cluster: size, cohesion, separation, mean silhouette."""
        totals = np.bincount(self.row_labels, self.silhouettes, minlength=len(self.labels))
        return pd.DataFrame(
            {
                "size": self.sizes,
                "cohesion": self.cohesion,
                "separation": self.separation,
                "silhouette": totals / self.sizes,
            },
            index=pd.Index(self.labels, name="cluster"),
        )


@checked_arguments(X=TABLE, labels=LABELS, metric=TEXT | FUNCTION)
def cluster_quality(
    X: ArrayLike, labels: ArrayLike, *, metric: Any = "euclidean"
) -> ClusterQuality:
    r"""Measure how tight clusters are and how far apart.

    Parameters
    ----------
    X
        Rows.
    labels
        Cluster of each row; two clusters at least.
    metric
        Of the silhouettes, as for `silhouettes`.

    Notes
    -----
    With :math:`m` the mean of all rows, :math:`m_i` of cluster :math:`i` and :math:`N_i` its size,

    .. math:: \text{cohesion}_i = \sum_{t \in i} \|x^t - m_i\|^2, \qquad
              \text{separation}_i = N_i \|m_i - m\|^2

    and the sums of both over the clusters are together :math:`\sum_t \|x^t - m\|^2`, whatever the
    clusters. See SIT1305 III.

    Examples
    --------
    >>> from verulam.cluster import cluster_quality
    >>> quality = cluster_quality([[0.0], [2.0], [10.0], [14.0]], [0, 0, 1, 1])
    >>> print(quality.to_frame().rename_axis(None).round(3))
       size  cohesion  separation  silhouette
    0     2       2.0        60.5       0.817
    1     2       8.0        60.5       0.624
    """
    rows, names, codes = _checked(X, labels)
    sizes = np.bincount(codes)
    if isinstance(metric, str) and metric == "precomputed":
        cohesion, separation = _from_distances(checked_distances(rows), codes, sizes)
        values = silhouettes(rows, codes, metric=metric)
        return ClusterQuality(names, sizes, cohesion, separation, values, codes)
    means = np.zeros((len(names), rows.shape[1]))
    np.add.at(means, codes, rows)
    means /= sizes[:, None]
    squares = np.einsum("ij,ij->i", rows - means[codes], rows - means[codes])
    away = means - rows.mean(axis=0)
    return ClusterQuality(
        names,
        sizes,
        np.bincount(codes, squares),
        sizes * np.einsum("kj,kj->k", away, away),
        silhouettes(rows, codes, metric=metric),
        codes,
    )


@checked_arguments(X=TABLE, labels=LABELS, metric=TEXT | FUNCTION)
def silhouettes(X: ArrayLike, labels: ArrayLike, *, metric: Any = "euclidean") -> np.ndarray:
    r"""Return how much nearer each row is to its own cluster than to the next one.

    Parameters
    ----------
    X
        Rows, or a square matrix of distances where `metric` is "precomputed".
    labels
        Cluster of each row; two clusters at least.
    metric
        "euclidean", "manhattan", "chebyshev", "cosine", "hamming", "sqeuclidean", a function of
        two rows, or "precomputed".

    Notes
    -----
    With :math:`a` the mean distance of a row from the others of its cluster and :math:`b` the least
    mean distance from another cluster, the silhouette is :math:`(b - a) / \max(a, b)`, and 0 for a
    row that is alone [rousseeuw1987]_. See SIT1305 III.

    References
    ----------
    .. [rousseeuw1987] P. J. Rousseeuw, "Silhouettes: a graphical aid to the interpretation and
       validation of cluster analysis", Journal of Computational and Applied Mathematics 20, 1987.

    Examples
    --------
    >>> from verulam.cluster import silhouettes
    >>> silhouettes([[0.0], [2.0], [10.0], [14.0]], [0, 0, 1, 1]).round(3)
    array([0.833, 0.8  , 0.556, 0.692])
    """
    rows, names, codes = _checked(X, labels)
    precomputed = isinstance(metric, str) and metric == "precomputed"
    if precomputed:
        rows = checked_distances(rows)
    name: Any = metric
    if isinstance(metric, str) and not precomputed:
        if metric not in METRICS:
            raise DataError(
                f"metric={metric!r} is unknown; choose one of {', '.join(METRICS)}, precomputed."
            )
        name = METRICS[metric]
    # Rows in the order of their clusters: sums over a cluster are sums over neighbours in memory.
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes))
    sums = np.empty((len(rows), len(names)))
    if name == "euclidean":
        _euclidean_sums(rows, order, ends, sums)
        return _from_sums(sums, codes)
    block = max(1, DISTANCES_AT_ONCE // len(rows))
    ordered = rows[:, order] if precomputed else rows[order]
    for start in range(0, len(rows), block):
        part = slice(start, start + block)
        distances = ordered[part] if precomputed else cdist(rows[part], ordered, name)
        sums_by_cluster(distances, ends, sums[part])
    return _from_sums(sums, codes)


def _euclidean_sums(
    rows: np.ndarray, order: np.ndarray, ends: np.ndarray, sums: np.ndarray
) -> None:
    # Deviations from the mean keep large offsets out of the products.
    rows = rows - rows.mean(axis=0)
    squares = np.einsum("ij,ij->i", rows, rows)
    columns = np.ascontiguousarray(rows[order].T)
    block = max(1, DISTANCES_AT_ONCE // len(rows))
    for start in range(0, len(rows), block):
        part = slice(start, start + block)
        euclidean_sums_by_cluster(
            rows[part] @ columns, squares[part], squares[order], ends, sums[part]
        )


def _from_distances(
    distances: np.ndarray, codes: np.ndarray, sizes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    r"""Return cohesion and separation from distances alone.

    Half the mean square of all distances is the mean square about the centre, so that
    :math:`\sum_{s \in i} \sum_t d_{st}^2 / N N_i` is cohesion by row, spread of all, and the square
    of :math:`\|m_i - m\|`.
    """
    n_rows, squares = len(distances), distances**2
    sums = np.zeros((len(sizes), n_rows))
    np.add.at(sums, codes, squares)
    within = np.array([sums[code, codes == code].sum() for code in range(len(sizes))])
    cohesion = within / (2.0 * sizes)
    spread = squares.sum() / (2.0 * n_rows**2)
    away = sums.sum(axis=1) / (n_rows * sizes) - cohesion / sizes - spread
    return cohesion, sizes * away


def _from_sums(sums: np.ndarray, codes: np.ndarray) -> np.ndarray:
    if not np.isfinite(sums).all():
        raise DataError(
            "The metric gives missing or infinite distances between some rows; a row of zeros has "
            "no direction, for example."
        )
    sizes, everyone = np.bincount(codes), np.arange(len(codes))
    within = sums[everyone, codes] / np.maximum(sizes[codes] - 1, 1)
    means = sums / sizes
    means[everyone, codes] = np.inf
    nearest = means.min(axis=1)
    largest = np.maximum(within, nearest)
    shares = np.divide(nearest - within, largest, out=np.zeros(len(codes)), where=largest > 0)
    return np.where(sizes[codes] > 1, shares, 0.0)


def _checked(X: ArrayLike, labels: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, the different labels, and the place of each row's label among them."""
    rows = np.ascontiguousarray(X, dtype=np.float64)
    names, codes = np.unique(column_or_1d(labels), return_inverse=True)
    if rows.ndim != 2 or len(rows) != len(codes):
        raise DataError(
            f"X has shape {rows.shape} and there are {len(codes)} labels; expected a table with a "
            "row for each label."
        )
    if not np.isfinite(rows).all():
        raise DataError("X has missing or infinite values; fill them or leave those rows out.")
    if not 2 <= len(names) < len(rows):
        raise DataError(
            f"labels name {len(names)} clusters of {len(rows)} rows; silhouettes need from 2 to "
            f"{len(rows) - 1}."
        )
    return rows, names, codes
