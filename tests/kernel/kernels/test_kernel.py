"""The protocol of kernels: blocks, threads, what is compared, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.kernel import Gaussian, Kernel, Linear, ObjectKernel
from verulam.kernel._kernels.kernel import BLOCK_ENTRIES


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
    X, Y = rng.normal(size=(300, 2)), rng.normal(size=(BLOCK_ENTRIES // 100, 2))
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
