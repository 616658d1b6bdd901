"""Sums, products, views, cosines and centring: each against its formula."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.preprocessing import KernelCenterer

from verulam.base import DataError
from verulam.kernel import Gaussian, Linear, ObjectKernel, Polynomial, gram_report


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(20, 3)), np.random.default_rng(1).normal(
        size=(4, 3)
    )


def test_sum_is_the_kernel_of_features_side_by_side(rows):
    X, Y = rows
    both = Linear().on_columns([0]) + Linear().on_columns([1, 2])
    assert_allclose(both(X, Y), X @ Y.T)


def test_algebra_by_formula(rows):
    X, Y = rows
    first, second = Gaussian(1.3), Polynomial(degree=2)
    nested = 0.5 * (first * second) + 2 * first.on_columns([2, 0])
    expected = 0.5 * first(X, Y) * second(X, Y) + 2 * first(X[:, [2, 0]], Y[:, [2, 0]])
    assert_allclose(nested(X, Y), expected)
    assert_allclose(nested.diagonal(X), np.diag(nested(X)))
    assert gram_report(nested(X))


def test_normalised_is_the_cosine(rows):
    X, Y = rows
    lengths = np.linalg.norm(X, axis=1)[:, None] * np.linalg.norm(Y, axis=1)
    assert_allclose(Linear().normalised()(X, Y), X @ Y.T / lengths)
    assert_allclose(Linear().normalised()([[0.0, 0.0]], [[1.0, 0.0]]), 0.0)


def test_centred_equals_scikit_learn(rows):
    X, Y = rows
    kernel = Polynomial(degree=2)
    ours = kernel.centred().adapted(X)
    centring = KernelCenterer().fit(kernel(X))
    assert_allclose(ours(X), centring.transform(kernel(X)), atol=1e-10)
    assert_allclose(ours(Y, X), centring.transform(kernel(Y, X)), atol=1e-10)
    assert_allclose(ours.diagonal(Y), np.diag(ours(Y)), atol=1e-10)


def test_widths_from_the_data_reach_inner_kernels(rows):
    X, _ = rows
    kernel = (Gaussian().on_columns([0, 1]) + Linear()).adapted(X)
    assert kernel.first.kernel.width == pytest.approx(np.sqrt(X[:, :2].var()))


def test_refusals(rows):
    X, _ = rows
    with pytest.raises(DataError, match="factor must be a finite number above 0"):
        -1 * Linear()
    with pytest.raises(DataError, match="positions below 3"):
        Linear().on_columns([3])(X)
    with pytest.raises(DataError, match="one column or more"):
        Linear().on_columns([])
    with pytest.raises(DataError, match="kernel of rows with one of objects"):
        Linear() + ObjectKernel(lambda a, b: 1.0)
    with pytest.raises(DataError, match="adapted"):
        Linear().centred()(X)
