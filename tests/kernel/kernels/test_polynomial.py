"""Kernels of inner products: worked numbers and explicit features."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import sigmoid_kernel

from verulam.base import DataError
from verulam.kernel import Linear, Polynomial, Sigmoid, polynomial_features


def test_worked_polynomial():
    """(1, 2) and (3, -1): (3 - 2 + 1)^2 = 4."""
    assert_allclose(Polynomial(degree=2)([[1.0, 2.0]], [[3.0, -1.0]]), 4.0)
    root = np.sqrt(2)
    assert_allclose(polynomial_features([[3.0, -1.0]])[0], [1, 3 * root, -root, 9, -3 * root, 1])


@pytest.mark.parametrize(
    "kernel", [Polynomial(3), Polynomial(2, offset=0.0), Polynomial(4, 0.5, 2)]
)
def test_features_have_the_kernels_inner_products(kernel):
    X = np.random.default_rng(0).normal(size=(7, 3))
    features = polynomial_features(X, kernel)
    assert_allclose(features @ features.T, kernel(X), atol=1e-9)


def test_homogeneous_map_has_all_products_of_its_degree():
    assert polynomial_features(np.ones((1, 4)), Polynomial(3, offset=0.0)).shape[1] == 20


def test_sigmoid_equals_scikit_learn():
    X = np.random.default_rng(0).normal(size=(7, 3))
    assert_allclose(Sigmoid()(X), sigmoid_kernel(X, gamma=2, coef0=1))


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(3), Sigmoid()])
def test_diagonals(kernel):
    X = np.random.default_rng(0).normal(size=(7, 3))
    assert_allclose(kernel.diagonal(X), np.diag(kernel(X)))


def test_refusals():
    with pytest.raises(DataError, match="degree must be a whole number"):
        Polynomial(degree=0)
    with pytest.raises(DataError, match="offset must not be negative"):
        Polynomial(offset=-1)
    with pytest.raises(DataError, match="scale must be"):
        Polynomial(scale=0)
