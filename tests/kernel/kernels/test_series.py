"""Kernels column by column, against integrals, sums and enumeration."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad

from verulam.base import DataError
from verulam.kernel import Anova, BSpline, Fourier, Spline, gram_report

X = np.random.default_rng(0).uniform(size=(12, 3))


@pytest.mark.parametrize("kernel", [Spline(), BSpline(1), BSpline(0), Fourier(2), Anova(2)])
def test_inner_products_and_diagonals(kernel):
    gram = kernel(X)
    assert gram_report(gram)
    assert_allclose(kernel.diagonal(X), np.diag(gram), rtol=1e-12)


def test_spline_is_its_integral():
    u, v = 0.7, 0.4
    integral, _ = quad(lambda t: max(u - t, 0) * max(v - t, 0), 0, v)
    assert_allclose(Spline()([[u]], [[v]]), 1 + u * v + integral)
    with pytest.raises(DataError, match="scale the columns"):
        Spline()([[-0.1]])


def test_b_spline_of_degree_one_is_a_tent():
    values = BSpline(order=0)([[0.0]], [[-0.25], [0.5], [1.5]])
    assert_allclose(values, [[0.75, 0.5, 0.0]], atol=1e-12)
    with pytest.raises(DataError, match="order must be"):
        BSpline(order=-1)


def test_fourier_is_a_sum_of_cosines():
    gap = X[:, None, 0] - X[None, :, 0]
    expected = 1 + 2 * sum(np.cos(k * gap) for k in range(1, 5))
    assert_allclose(Fourier(order=4)(X[:, :1]), expected)
    with pytest.raises(DataError, match="order must be"):
        Fourier(order=0)


def test_anova_lists_all_sets_of_columns():
    columns = np.exp(-0.5 * ((X[:, None] - X[None]) / 0.6) ** 2)
    expected = sum(
        columns[..., list(columns_of_set)].prod(axis=2)
        for columns_of_set in combinations(range(3), 2)
    )
    assert_allclose(Anova(order=2, width=0.6)(X), expected)
    with pytest.raises(DataError, match="at most 3"):
        Anova(order=4)(X)
    with pytest.raises(DataError, match="order must be a whole"):
        Anova(order=0)
