"""Tails and quantiles, against SciPy's distributions."""

from math import factorial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from verulam.statistics._core.distributions import NORMAL, ChiSquare, Fisher, OrderedRange, Student

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


@pytest.mark.parametrize("freedom", [1, 5, 300])
def test_two_means_are_the_one_sided_t_test(freedom):
    falls = np.array([-2.0, -0.3, 0.0, 0.5, 2.0, 4.0])
    expected = stats.t.sf(falls / np.sqrt(2), freedom)
    assert_allclose(OrderedRange(2, freedom).sf(falls), expected, atol=3e-6)


@pytest.mark.parametrize("count", [2, 3, 4, 6])
def test_no_fall_at_all_is_one_order_of_all(count):
    assert_allclose(OrderedRange(count, 10).sf(0.0), 1 - 1 / factorial(count), atol=3e-6)


def test_as_often_as_in_simulated_means():
    rng = np.random.default_rng(0)
    means = rng.normal(size=(100_000, 4))
    errors = np.sqrt(rng.chisquare(12, len(means)) / 12)
    largest = np.maximum.accumulate(means, axis=1)
    falls = (largest[:, :-1] - means[:, 1:]).max(axis=1) / errors
    for fall in (-0.5, 1.0, 2.0, 3.5):
        assert_allclose(OrderedRange(4, 12).sf(fall), np.mean(falls > fall), atol=0.006)


def test_between_one_pair_and_all_pairs_both_ways():
    for fall in (1.0, 3.0, 5.0):
        chance = OrderedRange(5, 20).sf(fall)
        assert stats.t.sf(fall / np.sqrt(2), 20) < chance
        assert chance < stats.studentized_range.sf(fall, 5, 20)


@pytest.mark.parametrize(("count", "freedom"), [(3, 2), (4, 12), (8, 100)])
def test_quantiles_are_the_inverse(count, freedom):
    ranges = OrderedRange(count, freedom)
    for share in (0.001, 0.05, 0.5):
        assert_allclose(ranges.sf(ranges.isf(share)), share, rtol=1e-6)
