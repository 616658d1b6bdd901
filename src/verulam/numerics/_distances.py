"""Distances between rows, by the names scikit-learn uses."""

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from verulam.base import unknown_name
from verulam.numerics._gaussian import factorise, mahalanobis_squares

#: Names of the metrics, and SciPy's.
_SCIPY_NAMES = {
    "euclidean": "euclidean",
    "sqeuclidean": "sqeuclidean",
    "manhattan": "cityblock",
    "minkowski": "minkowski",
    "chebyshev": "chebyshev",
    "hamming": "hamming",
    "cosine": "cosine",
}


def distances(
    X: np.ndarray,
    centres: np.ndarray,
    metric: str = "euclidean",
    *,
    p: float = 2.0,
    covariance: np.ndarray | None = None,
) -> np.ndarray:
    r"""Return the distance of each row of `X` to each row of `centres`.

    Parameters
    ----------
    X
        One row per point.
    centres
        One row per point to measure from.
    metric
        "euclidean", "sqeuclidean", "manhattan", "minkowski", "chebyshev", "hamming"
        (the share of columns that differ), "cosine" or "mahalanobis".
    p
        The order :math:`p` of Minkowski's distance :math:`(\sum_j |x_j - m_j|^p)^{1/p}`.
    covariance
        The matrix :math:`\Sigma` of Mahalanobis's distance
        :math:`\sqrt{(x - m)^T \Sigma^{-1} (x - m)}`.

    Examples
    --------
    >>> import numpy as np
    >>> distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]), "manhattan")
    array([[7.]])
    """
    if metric == "mahalanobis":
        if covariance is None:
            raise ValueError("metric='mahalanobis' needs the covariance.")
        return np.sqrt(mahalanobis_squares(X, factorise(centres, covariance, "tied")))
    if metric not in _SCIPY_NAMES:
        raise unknown_name("metric", metric, [*_SCIPY_NAMES, "mahalanobis"])
    name: Any = _SCIPY_NAMES[metric]
    options: dict[str, Any] = {"p": p} if metric == "minkowski" else {}
    return cdist(X, centres, name, **options)
