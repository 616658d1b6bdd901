"""Gaussian densities of the four families against SciPy's."""

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import LinAlgError
from scipy.stats import multivariate_normal

from verulam.numerics import (
    GaussianFactor,
    factorise,
    gaussian_log_density,
    mahalanobis_squares,
    precision_root,
)
from verulam.numerics._gaussian import squared_distances


@pytest.fixture
def parts():
    rng = np.random.default_rng(0)
    roots = rng.normal(size=(3, 4, 4))
    matrices = roots @ roots.transpose(0, 2, 1) + np.eye(4)
    return rng.normal(size=(50, 4)), rng.normal(size=(3, 4)), matrices


def scipy_log_density(X, means, matrices):
    pairs = zip(means, matrices, strict=True)
    columns = [multivariate_normal(mean, matrix).logpdf(X) for mean, matrix in pairs]
    return np.column_stack(columns)


@pytest.mark.parametrize("family", ["full", "tied", "diagonal", "spherical"])
def test_families_agree_with_scipy(parts, family):
    X, means, matrices = parts
    variances = np.array([[1.0, 2.0, 3.0, 0.5], [0.1, 1.0, 4.0, 2.0], [1.0, 1.0, 1.0, 1.0]])
    families = {
        "full": (matrices, matrices),
        "tied": (matrices[0], np.repeat(matrices[:1], 3, axis=0)),
        "diagonal": (variances, np.array([np.diag(row) for row in variances])),
        "spherical": (variances[:, 1], np.array([value * np.eye(4) for value in variances[:, 1]])),
    }
    covariances, as_matrices = families[family]
    log_density = gaussian_log_density(X, factorise(means, covariances, family))
    assert_allclose(log_density, scipy_log_density(X, means, as_matrices), rtol=1e-10)


def test_far_from_the_origin_nothing_is_lost(parts):
    X, means, matrices = parts
    near = mahalanobis_squares(X, factorise(means, matrices[0], "tied"))
    far = mahalanobis_squares(X + 1e6, factorise(means + 1e6, matrices[0], "tied"))
    assert_allclose(far, near, rtol=1e-6)


def test_precision_root(parts):
    matrix = parts[2][0]
    root, log_determinant = precision_root(matrix)
    assert_allclose(root @ root.T, np.linalg.inv(matrix))
    assert log_determinant == pytest.approx(np.linalg.slogdet(matrix)[1])


@pytest.mark.parametrize(
    ("covariances", "family"),
    [(np.array([[1.0, 0.0]]), "diagonal"), (np.array([[[1.0, 2.0], [2.0, 1.0]]]), "full")],
)
def test_not_positive_definite(covariances, family):
    with pytest.raises(LinAlgError):
        factorise(np.zeros((1, 2)), covariances, family)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_compiled_loop_equals_its_python_source(parts):
    X, means, _ = parts
    inverse = np.abs(means) + 1.0
    fast, slow = np.empty((len(X), len(means))), np.empty((len(X), len(means)))
    squared_distances(X, means, inverse, fast)
    squared_distances.py_func(X, means, inverse, slow)
    assert_allclose(fast, slow)


def test_a_factor_holds_roots_of_the_precision():
    covariance = np.array([[2.0, 0.5], [0.5, 1.0]])
    factor = factorise(np.zeros((1, 2)), covariance[None], "full")
    assert isinstance(factor, GaussianFactor)
    assert_allclose(factor.roots[0] @ factor.roots[0].T, np.linalg.inv(covariance))
    assert_allclose(factor.log_determinants, np.log(np.linalg.det(covariance)))
