"""Kernels of distances: formulas, scikit-learn's, and refused widths."""

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import chi2_kernel, laplacian_kernel, rbf_kernel

from verulam.base import DataError
from verulam.kernel import (
    ChiSquare,
    DistanceKernel,
    ExponentialRadial,
    Gaussian,
    Laplace,
    Mahalanobis,
)
from verulam.kernel._kernels.exponential_loops import gaussian_block
from verulam.numerics import distances

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(30, 4)) + 100.0, RNG.normal(size=(9, 4)) + 100.0


def test_gaussian_equals_scikit_learn():
    assert_allclose(Gaussian(width=0.7)(X, Y), rbf_kernel(X, Y, gamma=1 / (2 * 0.49)), rtol=1e-9)
    scaled = Gaussian().adapted(X)
    assert_allclose(scaled(X, Y), rbf_kernel(X, Y, gamma=1 / (4 * X.var())), rtol=1e-9)
    assert_allclose(np.diag(Gaussian(0.1)(X)), 1.0, rtol=1e-12)


def test_far_inputs_are_not_alike():
    values = Gaussian(width=1.0)([[0.0]], [[20.0], [1e6]])
    assert_allclose(values, [[np.exp(-200), 0.0]], rtol=1e-10, atol=1e-300)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_compiled_exponential_equals_its_python_source():
    products, squares = X[:5] @ Y.T, (X[:5] ** 2).sum(axis=1)
    columns = (Y**2).sum(axis=1)
    results = np.empty((2, 5, len(Y)))
    gaussian_block(products, squares, columns, 0.5, results[0])
    gaussian_block.py_func(products, squares, columns, 0.5, results[1])
    # Squared norms near 40,000 leave eleven digits of the distances.
    assert_allclose(results[0], results[1], rtol=1e-8)


def test_widths_by_column():
    widths = np.array([0.5, 1.0, 2.0, 4.0])
    assert_allclose(Gaussian(width=widths)(X, Y), Gaussian(1.0)(X / widths, Y / widths))
    with pytest.raises(DataError, match="2 entries, but X has 4 columns"):
        Gaussian(width=[1.0, 2.0])(X)


def test_mahalanobis_by_formula():
    covariance = np.cov(X.T, bias=True)
    gaps = X[:, None] - Y[None]
    squares = np.einsum("ijk,kl,ijl->ij", gaps, np.linalg.inv(covariance), gaps)
    kernel = Mahalanobis(ridge=0.0).adapted(X)
    assert_allclose(kernel(X, Y), np.exp(-0.5 * squares), rtol=1e-8)
    sphere = Mahalanobis(covariance=0.49 * np.eye(4), ridge=0.0)
    assert_allclose(sphere(X, Y), Gaussian(0.7)(X, Y), rtol=1e-8)


def test_mahalanobis_needs_a_covariance():
    with pytest.raises(DataError, match="positive definite"):
        Mahalanobis(covariance=[[1.0, 2.0], [2.0, 1.0]])([[0.0, 0.0]])
    with pytest.raises(DataError, match="square and symmetric"):
        Mahalanobis(covariance=[[1.0, 2.0]])
    with pytest.raises(DataError, match="adapted"):
        Mahalanobis()([[0.0, 0.0]])


def test_other_distances():
    assert_allclose(Laplace(2.0)(X, Y), laplacian_kernel(X, Y, gamma=0.5))
    gaps = np.linalg.norm(X[:, None] - Y, axis=2)
    assert_allclose(ExponentialRadial(1.5)(X, Y), np.exp(-gaps / 4.5))
    assert_allclose(ChiSquare(0.3)(X, Y), chi2_kernel(X, Y, gamma=0.3))
    squares = DistanceKernel(lambda a, b: distances(a, b, "squared euclidean"), width=0.7)
    assert_allclose(squares(X, Y), Gaussian(0.7)(X, Y), rtol=1e-8)


@pytest.mark.parametrize("kernel", [Gaussian, Laplace, ExponentialRadial])
def test_width_must_be_positive(kernel):
    for width in (0.0, -1.0, np.nan):
        with pytest.raises(DataError, match="width must be a finite number above 0"):
            kernel(width=width)
    with pytest.raises(DataError, match="scale"):
        kernel(width="wide")
    with pytest.raises(DataError, match="adapted"):
        kernel()(X)


def test_histograms_are_not_negative():
    with pytest.raises(DataError, match="smallest entry is -1"):
        ChiSquare()([[-1.0]])
