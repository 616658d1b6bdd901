"""The protocol of kernels and their algebra, each operation against its formula."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.preprocessing import KernelCenterer

from verulam.base import DataError
from verulam.kernel import (
    Centred,
    Columns,
    Gaussian,
    Kernel,
    Linear,
    Normalised,
    ObjectKernel,
    Polynomial,
    Product,
    Scaled,
    Sum,
    gram_report,
)
from verulam.kernel._tuning import GRAM_BLOCK_ENTRIES


class MinimumKernel(Kernel):
    def _values(self, left, right):
        return np.minimum(left[:, None], right[None]).sum(axis=2)


def test_a_kernel_of_ones_own_needs_its_values_only():
    X = np.random.default_rng(0).uniform(size=(5, 2))
    kernel = MinimumKernel()
    assert_allclose(kernel.diagonal(X), X.sum(axis=1))
    assert_allclose((kernel + 2 * Linear())(X), kernel(X) + 2 * X @ X.T)


def test_blocks_make_the_same_matrix():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(300, 2)), rng.normal(size=(GRAM_BLOCK_ENTRIES // 100, 2))
    assert_allclose(Linear()(X, Y), X @ Y.T)


def test_rows_must_be_numbers():
    with pytest.raises(DataError, match="table of numbers"):
        Linear()([["red"], ["blue"]])
    with pytest.raises(DataError, match="two dimensions"):
        Linear()([1.0, 2.0])


def test_objects_of_any_kind():
    kernel = ObjectKernel(lambda first, second: float(len(first) * len(second)))
    gram = kernel(["a", "bcd"], [["x", "y"], ("z",)])
    assert_allclose(gram, [[2, 1], [6, 3]])
    assert_allclose(kernel.diagonal(["a", "bcd"]), [1, 9])


def test_only_kernels_and_numbers_combine():
    with pytest.raises(TypeError):
        Gaussian(1.0) + 3
    with pytest.raises(TypeError):
        Gaussian(1.0) * "a"


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


def test_operators_and_methods_make_the_kernels_of_the_algebra():
    first, second = Gaussian(1.0), Polynomial(2)
    assert first + second == Sum(first, second)
    assert first * second == Product(first, second)
    assert 2 * first == first * 2.0 == Scaled(first, 2.0)
    assert first.on_columns([1, 0]) == Columns(first, (1, 0))
    assert second.normalised() == Normalised(second)
    assert second.centred() == Centred(second)
