"""Kernels of distances: formulas, scikit-learn's, refused widths, and single precision."""

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
from verulam.kernel._kernels.gaussian_loops import gaussian_block, gaussian_block_single
from verulam.kernel._kernels.radial import _fill_single
from verulam.kernel._tuning import GAUSSIAN_TILE_COLUMNS
from verulam.numerics import distances

RNG = np.random.default_rng(0)
TILE_RNG = np.random.default_rng(0)
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
    kernel = Mahalanobis(alpha=0.0).adapted(X)
    assert_allclose(kernel(X, Y), np.exp(-0.5 * squares), rtol=1e-8)
    sphere = Mahalanobis(covariance=0.49 * np.eye(4), alpha=0.0)
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
    squares = DistanceKernel(lambda a, b: distances(a, b, "sqeuclidean"), width=0.7)
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


def single(kernel, left, right):
    result = np.empty((len(left), len(right)), dtype=np.float32)
    kernel.fill(left, right, result)
    return result


@pytest.mark.parametrize("width", [2.0, (1.0, 5.0, 2.0)])
def test_single_precision_agrees_with_double(width):
    X = TILE_RNG.normal(size=(GAUSSIAN_TILE_COLUMNS + 50, 3))
    kernel = Gaussian(width)
    assert_allclose(single(kernel, X[:70], X), kernel(X[:70], X), atol=2e-6)


@pytest.mark.parametrize("width", [2.0, 0.2])
def test_half_of_a_gram_matrix_is_the_other_turned_round(width):
    """In single precision, and narrow in double; rows of several tiles, the last not full."""
    X = TILE_RNG.normal(size=(GAUSSIAN_TILE_COLUMNS + 70, 3))
    gram = single(Gaussian(width), X, X)
    assert_allclose(gram, gram.T, atol=1e-6)
    assert_allclose(gram, single(Gaussian(width), X, X.copy()), atol=1e-6)
    assert_allclose(gram[:5], Gaussian(width)(X[:5], X), atol=2e-6)


def test_far_from_the_origin_and_narrow():
    """Distances of large rows would lose all single digits: they are taken in double ones."""
    X = 1e4 * TILE_RNG.normal(size=(40, 2))
    X[20:] = X[:20] + 0.01 * TILE_RNG.normal(size=(20, 2))
    kernel = Gaussian(0.01)
    assert_allclose(single(kernel, X, X), kernel(X), atol=1e-6)
    assert kernel(X)[0, 20] > 0.01


def test_small_values_end_at_zero_and_equal_rows_at_one():
    rows = np.array([[0.0], [3.0], [1e3]])
    result = np.empty((3, 3), dtype=np.float32)
    _fill_single(rows, rows, 0.5, result)
    assert_allclose(np.diag(result), 1.0)
    assert 0.0 <= result[0, 2] < 1e-30


def test_compiled_single_precision_loop_equals_plain_python():
    X = TILE_RNG.normal(size=(6, 2)).astype(np.float32)
    squares = (X**2).sum(axis=1)
    results = np.empty((2, 6, 6), dtype=np.float32)
    for function, result in zip(
        (gaussian_block_single, gaussian_block_single.py_func), results, strict=True
    ):
        function(X @ X.T, squares, squares, 0.5, result)
    assert_allclose(results[0], results[1], rtol=1e-6)
    assert_allclose(results[0], Gaussian(1.0)(X.astype(float)), atol=1e-6)
