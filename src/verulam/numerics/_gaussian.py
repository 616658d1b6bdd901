"""Gaussian log-densities for the covariance families, by Cholesky factors."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from verulam.base import map_rows
from verulam.numerics._loop_cache import njit

LOG_TWO_PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True)
class GaussianFactor:
    r"""What evaluating :math:`\mathcal N(\mu_k, \Sigma_k)` needs, prepared once.

    Attributes
    ----------
    means : ndarray of shape (n_components, n_columns)
        Means :math:`\mu_k`.
    roots : ndarray
        For matrices, :math:`U_k` with :math:`\Sigma_k^{-1} = U_k U_k^T`, of shape
        (n_components, n_columns, n_columns), or a single one that all components share; for
        diagonal and spherical covariances, the inverse variances, of the shape of `means`.
    log_determinants : ndarray of shape (n_components,)
        :math:`\ln|\Sigma_k|`.
    family
        "full", "tied", "diagonal" or "spherical".
    """

    means: np.ndarray
    roots: np.ndarray
    log_determinants: np.ndarray
    family: str


def factorise(means: np.ndarray, covariances: np.ndarray, family: str) -> GaussianFactor:
    """Prepare Gaussian components for evaluation.

    Parameters
    ----------
    means
        One row per component.
    covariances
        For "full" of shape (n_components, n_columns, n_columns), for "tied" (n_columns,
        n_columns), for "diagonal" (n_components, n_columns), for "spherical" (n_components,).
    family
        One of those words.

    Raises
    ------
    scipy.linalg.LinAlgError
        Where a covariance is not positive definite.

    Examples
    --------
    >>> import numpy as np
    >>> factor = factorise(np.zeros((1, 2)), np.array([[[4.0, 0.0], [0.0, 1.0]]]), "full")
    >>> gaussian_log_density(np.array([[2.0, 0.0]]), factor).round(4)
    array([[-3.031]])
    """
    means = np.ascontiguousarray(means, dtype=np.float64)
    n_components, n_columns = means.shape
    if family in ("diagonal", "spherical"):
        variances = np.asarray(covariances, dtype=np.float64)
        if family == "spherical":
            variances = np.repeat(variances[:, None], n_columns, axis=1)
        if not (variances > 0).all():
            raise LinAlgError("A variance is not positive.")
        return GaussianFactor(
            means, np.ascontiguousarray(1.0 / variances), np.log(variances).sum(axis=1), family
        )
    if family == "tied":
        root, log_determinant = precision_root(covariances)
        return GaussianFactor(means, root, np.full(n_components, log_determinant), family)
    pairs = [precision_root(covariance) for covariance in covariances]
    roots = np.ascontiguousarray([root for root, _ in pairs])
    return GaussianFactor(means, roots, np.array([logarithm for _, logarithm in pairs]), family)


def precision_root(covariance: np.ndarray) -> tuple[np.ndarray, float]:
    r"""Return :math:`U` with :math:`\Sigma^{-1} = UU^T`, and :math:`\ln|\Sigma|`."""
    # Sigma = L L^T, so its inverse is U U^T with U = L^-T, and its determinant the squared product
    # of the diagonal of L.
    lower = cholesky(covariance, lower=True)
    root = solve_triangular(lower, np.eye(len(lower)), lower=True).T
    return np.ascontiguousarray(root), 2.0 * float(np.log(np.diag(lower)).sum())


def gaussian_log_density(X: np.ndarray, factor: GaussianFactor) -> np.ndarray:
    r"""Return :math:`\ln \mathcal N(x \mid \mu_k, \Sigma_k)` for each row and component.

    Parameters
    ----------
    X
        Rows of float64 numbers.
    factor
        The components, from `factorise`.
    """
    # In place: the array of rows by components may be large, and copies of it cost memory.
    constants = -0.5 * (X.shape[1] * LOG_TWO_PI + factor.log_determinants)
    result = mahalanobis_squares(X, factor)
    result *= -0.5
    result += constants
    return result


def mahalanobis_squares(X: np.ndarray, factor: GaussianFactor) -> np.ndarray:
    r"""Return :math:`(x-\mu_k)^T \Sigma_k^{-1} (x-\mu_k)` for each row and component."""
    X = np.ascontiguousarray(X, dtype=np.float64)
    shape = (len(X), len(factor.means))
    if factor.family == "full":
        return map_rows(lambda rows: _full_squares(rows, factor), X, shape)
    if factor.family != "tied":
        return map_rows(lambda rows: _weighted_squares(rows, factor.means, factor.roots), X, shape)
    # Deviations from one common point keep large offsets out of the product.
    origin = factor.means.mean(axis=0)
    whitened_means = (factor.means - origin) @ factor.roots
    ones = np.ones_like(whitened_means)
    return map_rows(
        lambda rows: _weighted_squares((rows - origin) @ factor.roots, whitened_means, ones),
        X,
        shape,
    )


def _weighted_squares(
    rows: np.ndarray, means: np.ndarray, inverse_variances: np.ndarray
) -> np.ndarray:
    squares = np.empty((len(rows), len(means)))
    squared_distances(rows, means, inverse_variances, squares)
    return squares


def _full_squares(rows: np.ndarray, factor: GaussianFactor) -> np.ndarray:
    result = np.empty((len(rows), len(factor.means)))
    # Whitening by a matrix product per component lets BLAS do the work.
    for k, (mean, root) in enumerate(zip(factor.means, factor.roots, strict=True)):
        whitened = (rows - mean) @ root
        np.einsum("ij,ij->i", whitened, whitened, out=result[:, k])
    return result


# Sums may be reordered, so that they run in vector registers; NaN and infinity keep their meaning.
@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def squared_distances(X, means, inverse_variances, result):
    """Write each row's squared distance to each mean, columns weighted per mean."""
    for i in range(X.shape[0]):
        for k in range(means.shape[0]):
            total = 0.0
            for j in range(X.shape[1]):
                deviation = X[i, j] - means[k, j]
                total += inverse_variances[k, j] * deviation * deviation
            result[i, k] = total
