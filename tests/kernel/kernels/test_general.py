"""Kernels by name, from functions and from matrices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError, UnknownNameError
from verulam.kernel import KERNELS, FunctionKernel, Kernel, Precomputed, as_kernel


def test_every_name_stands_for_a_kernel():
    assert all(isinstance(as_kernel(name), Kernel) for name in KERNELS)
    with pytest.raises(UnknownNameError, match="gaussian"):
        as_kernel("gausian")
    with pytest.raises(DataError, match="a name, a kernel or a function"):
        as_kernel(3)


def test_functions():
    kernel = as_kernel(lambda X, Y: X @ Y.T + 1)
    X = np.arange(6.0).reshape(3, 2)
    assert_allclose(kernel(X), X @ X.T + 1)
    assert_allclose(kernel.diagonal(X), np.diag(X @ X.T + 1))


def test_functions_must_return_the_right_numbers():
    with pytest.raises(DataError, match=r"shape \(2, 2\)"):
        FunctionKernel(lambda X, Y: np.ones(3))([[1.0], [2.0]])
    with pytest.raises(DataError, match="returned nan for row 0"):
        FunctionKernel(lambda X, Y: np.full((len(X), len(Y)), np.nan))([[1.0]])


def test_precomputed():
    gram = np.array([[2.0, 1.0], [1.0, 3.0]])
    assert_allclose(Precomputed()(gram), gram)
    assert_allclose(Precomputed().diagonal(gram), [2, 3])
    with pytest.raises(DataError, match="one argument"):
        Precomputed()(gram, gram)
