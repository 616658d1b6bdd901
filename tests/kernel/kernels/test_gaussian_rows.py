"""Gaussian rows in single precision: right to its digits, and safe where these do not suffice."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.kernel import Gaussian
from verulam.kernel._kernels.exponential_loops import gaussian_block_single
from verulam.kernel._kernels.gaussian_rows import TILE_COLUMNS, fill_single

RNG = np.random.default_rng(0)


def single(kernel, left, right):
    result = np.empty((len(left), len(right)), dtype=np.float32)
    kernel.fill(left, right, result)
    return result


@pytest.mark.parametrize("width", [2.0, (1.0, 5.0, 2.0)])
def test_agrees_with_double_precision(width):
    X = RNG.normal(size=(TILE_COLUMNS + 50, 3))
    kernel = Gaussian(width)
    assert_allclose(single(kernel, X[:70], X), kernel(X[:70], X), atol=2e-6)


@pytest.mark.parametrize("width", [2.0, 0.2])
def test_half_of_a_gram_matrix_is_the_other_turned_round(width):
    """In single precision, and narrow in double; rows of several tiles, the last not full."""
    X = RNG.normal(size=(TILE_COLUMNS + 70, 3))
    found = single(Gaussian(width), X, X)
    assert_allclose(found, found.T, atol=1e-6)
    assert_allclose(found, single(Gaussian(width), X, X.copy()), atol=1e-6)
    assert_allclose(found[:5], Gaussian(width)(X[:5], X), atol=2e-6)


def test_far_from_the_origin_and_narrow():
    """Distances of large rows would lose all single digits: they are taken in double ones."""
    X = 1e4 * RNG.normal(size=(40, 2))
    X[20:] = X[:20] + 0.01 * RNG.normal(size=(20, 2))
    kernel = Gaussian(0.01)
    assert_allclose(single(kernel, X, X), kernel(X), atol=1e-6)
    assert kernel(X)[0, 20] > 0.01


def test_small_values_end_at_zero_and_equal_rows_at_one():
    rows = np.array([[0.0], [3.0], [1e3]])
    result = np.empty((3, 3), dtype=np.float32)
    fill_single(rows, rows, 0.5, result)
    assert_allclose(np.diag(result), 1.0)
    assert 0.0 <= result[0, 2] < 1e-30


def test_compiled_loop_equals_plain_python():
    X = RNG.normal(size=(6, 2)).astype(np.float32)
    squares = (X**2).sum(axis=1)
    results = np.empty((2, 6, 6), dtype=np.float32)
    for function, result in zip(
        (gaussian_block_single, gaussian_block_single.py_func), results, strict=True
    ):
        function(X @ X.T, squares, squares, 0.5, result)
    assert_allclose(results[0], results[1], rtol=1e-6)
    assert_allclose(results[0], Gaussian(1.0)(X.astype(float)), atol=1e-6)
