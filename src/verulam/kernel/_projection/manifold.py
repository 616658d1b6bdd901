"""Gram matrices that turn kernel principal components into Isomap and locally linear embedding."""

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import shortest_path
from sklearn.neighbors import NearestNeighbors, kneighbors_graph

from verulam.base import DataError
from verulam.kernel._kernels.base import as_rows
from verulam.kernel._kernels.gram import centre_gram


def isomap_gram(X: ArrayLike, n_neighbors: int = 5) -> np.ndarray:
    r"""Return the Gram matrix of geodesic distances, whose components are Isomap's.

    Parameters
    ----------
    X
        Rows.
    n_neighbors
        Neighbours that a row is linked with; paths along links are the distances.

    Notes
    -----
    .. math:: K = -\tfrac12 H D^2 H, \qquad H = I - \tfrac1N 1 1^T

    It is indefinite in general; its negative directions are of no use. See Alpaydin 13.14, 6.10.

    Examples
    --------
    >>> from verulam.kernel import isomap_gram
    >>> isomap_gram([[0.0], [1.0], [2.0]], n_neighbors=1).diagonal().round(12)
    array([1., 0., 1.])
    """
    rows = _checked(X, n_neighbors)
    links = kneighbors_graph(rows, n_neighbors, mode="distance")
    geodesic = shortest_path(links, directed=False)
    if not np.isfinite(geodesic).all():
        raise DataError(
            f"the neighbourhood graph falls apart with n_neighbors={n_neighbors}; take more."
        )
    # Classical scaling: centred, squared distances become inner products.
    return centre_gram(-0.5 * geodesic**2)


def locally_linear_gram(X: ArrayLike, n_neighbors: int = 5, *, reg: float = 1e-3) -> np.ndarray:
    r"""Return the Gram matrix whose components are those of locally linear embedding.

    Parameters
    ----------
    X
        Rows.
    n_neighbors
        Neighbours that a row is rebuilt from.
    reg
        Added to the diagonal of a neighbourhood's covariances, as a share of their trace.

    Notes
    -----
    .. math:: K = \lambda_{\max} I - (I - W)^T (I - W)

    where row :math:`t` of :math:`W` rebuilds :math:`x^t` from its neighbours. See Alpaydin 13.14,
    6.11 (6.58).

    Examples
    --------
    >>> from verulam.kernel import locally_linear_gram
    >>> gram = locally_linear_gram([[0.0], [1.0], [2.0], [3.0]], n_neighbors=2)
    >>> gram.shape, bool((gram == gram.T).all())
    ((4, 4), True)
    """
    rows = _checked(X, n_neighbors)
    size = len(rows)
    finder = NearestNeighbors(n_neighbors=n_neighbors).fit(rows)
    neighbours = finder.kneighbors(return_distance=False)
    differences = rows[neighbours] - rows[:, None]
    covariances = differences @ differences.transpose(0, 2, 1)
    traces = np.trace(covariances, axis1=1, axis2=2)
    # More neighbours than columns make the covariances singular.
    floors = reg * np.where(traces > 0, traces, 1.0)
    covariances[:, np.arange(n_neighbors), np.arange(n_neighbors)] += floors[:, None]
    weights = np.linalg.solve(covariances, np.ones((size, n_neighbors, 1)))[..., 0]
    # Weights that sum to one do not depend on the origin.
    weights /= weights.sum(axis=1, keepdims=True)
    residual = np.eye(size)
    np.put_along_axis(residual, neighbours, -weights, axis=1)
    cost = residual.T @ residual
    largest = scipy.linalg.eigh(cost, eigvals_only=True, subset_by_index=(size - 1, size - 1))[0]
    # The least eigenvectors of the cost become the largest ones of a Gram matrix.
    gram = largest * np.eye(size) - cost
    return 0.5 * (gram + gram.T)


def _checked(X: ArrayLike, n_neighbors: int) -> np.ndarray:
    rows = as_rows(X)
    if not 1 <= n_neighbors < len(rows):
        raise DataError(
            f"n_neighbors must be from 1 to {len(rows) - 1}, one less than rows; got {n_neighbors}."
        )
    return rows
