"""Tails and quantiles, against SciPy's distributions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from verulam.statistics._core.distributions import NORMAL, ChiSquare, Fisher, Student

VALUES = np.array([0.01, 0.5, 1.0, 2.5, 9.0, 40.0])
SHARES = np.array([1e-6, 0.01, 0.05, 0.5, 0.9])


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (NORMAL, stats.norm()),
        (Student(1), stats.t(1)),
        (Student(9), stats.t(9)),
        (Fisher(10, 5), stats.f(10, 5)),
        (Fisher(1, 45), stats.f(1, 45)),
        (ChiSquare(1), stats.chi2(1)),
        (ChiSquare(49), stats.chi2(49)),
    ],
)
def test_matches_scipy(ours, theirs):
    assert_allclose(ours.sf(VALUES), theirs.sf(VALUES), rtol=1e-10, atol=1e-300)
    assert_allclose(ours.isf(SHARES), theirs.isf(SHARES), rtol=1e-8)
    if not isinstance(ours, ChiSquare):
        assert_allclose(ours.cdf(VALUES), theirs.cdf(VALUES), rtol=1e-10)


@pytest.mark.parametrize("distribution", [NORMAL, Student(4)])
def test_symmetry(distribution):
    assert_allclose(distribution.sf(-VALUES), distribution.cdf(VALUES))
    assert_allclose(distribution.isf(1 - SHARES), -distribution.isf(SHARES), rtol=1e-6)
