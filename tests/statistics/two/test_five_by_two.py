"""The 5x2 tests: formulas, invariance, and their exact size under independent normals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from verulam.statistics import five_by_two_f_test, five_by_two_t_test, simulate

RNG = np.random.default_rng(4)
FIRST, SECOND = RNG.normal(0.2, 0.02, (5, 2)), RNG.normal(0.23, 0.02, (5, 2))


def by_hand(differences):
    squares, variances = 0.0, 0.0
    for one, other in differences:
        mean = (one + other) / 2
        variances += (one - mean) ** 2 + (other - mean) ** 2
        squares += one**2 + other**2
    return differences / np.sqrt(variances / 5), squares / (2 * variances)


def test_formulas():
    ten, f = by_hand(FIRST - SECOND)
    t_result, f_result = five_by_two_t_test(FIRST, SECOND), five_by_two_f_test(FIRST, SECOND)
    assert_allclose(t_result.details["statistics"], ten)
    assert_allclose(t_result.statistic, ten[0, 0])
    assert_allclose(f_result.statistic, f)
    assert_allclose(t_result.p_value, 2 * stats.t.sf(abs(ten[0, 0]), 5))
    assert_allclose(f_result.p_value, stats.f.sf(f, 10, 5))
    # The combined statistic is the mean of the ten squared ones.
    assert_allclose(f, (ten**2).mean())


def test_ten_values_in_order_are_the_table():
    flat = five_by_two_f_test(FIRST.ravel(), SECOND.ravel())
    assert flat.statistic == five_by_two_f_test(FIRST, SECOND).statistic


def test_f_does_not_depend_on_the_order_but_t_does():
    order = [3, 1, 4, 0, 2]
    assert_allclose(
        five_by_two_f_test(FIRST[order][:, ::-1], SECOND[order][:, ::-1]).statistic,
        five_by_two_f_test(FIRST, SECOND).statistic,
    )
    other = five_by_two_t_test(FIRST[order], SECOND[order])
    assert other.statistic != pytest.approx(five_by_two_t_test(FIRST, SECOND).statistic)


def test_one_sided_t():
    two = five_by_two_t_test(FIRST, SECOND)
    less = five_by_two_t_test(FIRST, SECOND, alternative="less")
    assert_allclose(less.p_value, two.p_value / 2 if two.statistic < 0 else 1 - two.p_value / 2)


def test_size_of_f_is_that_of_its_true_distribution():
    """For independent normals 2f - 1 is F with 5 and 5: the test is conservative."""
    exact = stats.f.sf(2 * stats.f.isf(0.05, 10, 5) - 1, 5, 5)
    assert exact == pytest.approx(0.0175, abs=1e-4)
    rejection_rate = simulate("5x2 F").table["rejection_rate"][0]
    assert rejection_rate == pytest.approx(exact, abs=3 * np.sqrt(exact * (1 - exact) / 10_000))
