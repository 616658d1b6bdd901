"""One learner against a value: formulas, SciPy, and the acceptance case of the specification."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from statsmodels.stats.weightstats import ztest

from verulam.base import DataWarning
from verulam.statistics import (
    binomial_test,
    normal_approximation_test,
    runs_t_test,
    t_test,
    z_test,
)

VALUES = np.random.default_rng(3).normal(0.3, 1.0, 20)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_z_formula(alternative):
    result = z_test(VALUES, 0.0, 1.5, alternative=alternative)
    z = np.sqrt(20) * VALUES.mean() / 1.5
    expected = {
        "two-sided": 2 * stats.norm.sf(abs(z)),
        "less": stats.norm.cdf(z),
        "greater": stats.norm.sf(z),
    }
    assert_allclose(result.statistic, z)
    assert_allclose(result.p_value, expected[alternative])
    assert result.reject == (0.0 not in result.interval)


def test_z_with_estimated_spread_matches_statsmodels():
    spread = VALUES.std(ddof=1)
    assert_allclose(z_test(VALUES, 0.1, spread).p_value, ztest(VALUES, value=0.1)[1])


def test_lower_tail_keeps_above_minus_z():
    """Exercise 3: keep when z lies above -z_alpha."""
    result = z_test([-0.9], 0.0, 1.0, alternative="less")
    assert result.critical_value == pytest.approx(-1.645, abs=1e-3)
    assert not result.reject
    assert z_test([-1.7], 0.0, 1.0, alternative="less").reject


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("function", [t_test, runs_t_test])
def test_t_matches_scipy(function, alternative):
    result = function(VALUES, 0.1, alternative=alternative)
    expected = stats.ttest_1samp(VALUES, 0.1, alternative=alternative)
    assert_allclose([result.statistic, result.p_value], expected, rtol=1e-12)
    assert result.degrees_of_freedom == (19,)
    interval = expected.confidence_interval()
    assert_allclose([result.interval.low, result.interval.high], interval)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_binomial_matches_scipy(alternative):
    result = binomial_test(7, 60, 0.05, alternative=alternative)
    expected = stats.binomtest(7, 60, 0.05, alternative)
    assert_allclose(result.p_value, expected.pvalue)
    assert_allclose(result.interval.low, expected.proportion_ci(method="exact").low)


def test_acceptance_case_of_five_errors_in_a_hundred():
    """The exact test keeps what the approximation rejects, and the guard warns."""
    exact = binomial_test(5, 100, 0.02)
    assert exact.p_value == pytest.approx(0.0508, abs=5e-5)
    assert not exact.reject
    with pytest.warns(DataWarning, match="Only 2 are expected .* needs 5: use the binomial"):
        approximate = normal_approximation_test(5, 100, 0.02)
    assert approximate.statistic == pytest.approx(2.14, abs=0.005)
    assert approximate.reject
    assert approximate.assumptions[0].holds is False
    assert binomial_test(6, 100, 0.02).p_value == pytest.approx(0.0155, abs=5e-5)
    assert exact.critical_value == 6


def test_critical_count_is_the_first_that_rejects():
    for alternative, step in (("greater", -1), ("less", 1)):
        limit = binomial_test(3, 50, 0.2, alternative=alternative).critical_value
        assert binomial_test(int(limit), 50, 0.2, alternative=alternative).reject
        assert not binomial_test(int(limit) + step, 50, 0.2, alternative=alternative).reject
    assert np.isnan(binomial_test(0, 5, 0.1, alternative="less").critical_value)


def test_approximation_without_warning_when_counts_are_large():
    result = normal_approximation_test(60, 1000, 0.05)
    assert_allclose(result.statistic, 0.01 / np.sqrt(0.05 * 0.95 / 1000))
    assert result.assumptions[0].holds
    assert_allclose(result.p_value, binomial_test(60, 1000, 0.05).p_value, atol=0.015)
