"""The one-sided studentised range: limits, simulation, its quantiles."""

from math import factorial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from verulam.statistics._several.ordered_range import OrderedRange


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
