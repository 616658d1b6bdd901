"""Tests over data sets: worked numbers, SciPy, corrected tails, identities."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from statsmodels.stats.descriptivestats import sign_test as their_sign_test

from verulam.statistics import (
    friedman_test,
    iman_davenport_test,
    kruskal_wallis,
    sign_test,
)

LOSSES = np.arange(10.0)


def second_with(wins):
    """Return results that the first learner undercuts `wins` times in ten."""
    return LOSSES + np.where(np.arange(10) < wins, 1.0, -1.0)


@pytest.mark.parametrize(("wins", "tail"), [(8, 0.0547), (9, 0.0107)])
def test_wins_speak_for_a_smaller_error(wins, tail):
    less = sign_test(LOSSES, second_with(wins), alternative="less")
    assert less.p_value == pytest.approx(tail, abs=5e-5)
    assert sign_test(LOSSES, second_with(wins)).p_value == pytest.approx(2 * tail, abs=1e-4)
    assert sign_test(LOSSES, second_with(wins), alternative="greater").p_value > 0.9


def test_two_sided_matches_statsmodels():
    first, second = np.random.default_rng(0).normal(size=(2, 17))
    assert_allclose(sign_test(first, second).p_value, their_sign_test(first - second)[1])


@pytest.mark.parametrize(("ties", "total", "count"), [(2, 10, 8), (3, 10, 8), (1, 8, 7)])
def test_ties_are_split_and_an_odd_one_dropped(ties, total, count):
    first = np.r_[np.zeros(7), 1.0, np.zeros(ties)]
    second = np.r_[np.ones(7), 0.0, np.zeros(ties)]
    result = sign_test(first, second)
    assert result.statistic == count
    assert result.effect_size.value == count / total
    assert_allclose(result.p_value, stats.binomtest(count, total).pvalue)
    assert result.details["ties"] == ties


def test_normal_approximation():
    """Exercise 6: mean N/2 and variance N/4."""
    first, second = np.random.default_rng(1).normal(size=(2, 60))
    wins = np.sum(first < second)
    result = sign_test(first, second, method="normal", alternative="less")
    assert_allclose(result.statistic, (wins - 30) / np.sqrt(15))
    assert_allclose(result.p_value, stats.norm.sf(result.statistic))


@pytest.mark.parametrize("ties", [2, 3])
def test_normal_approximation_splits_ties(ties):
    """Ten data sets count, of which the first learner has seven and half of two ties."""
    first = np.r_[np.zeros(7), 1.0, np.zeros(ties)]
    second = np.r_[np.ones(7), 0.0, np.zeros(ties)]
    result = sign_test(first, second, method="normal", alternative="less")
    assert_allclose(result.statistic, (8 - 5) / np.sqrt(10 / 4))
    assert_allclose(result.p_value, stats.norm.sf(3 / np.sqrt(2.5)))


def test_against_a_constant():
    values = np.r_[np.full(9, 0.01), 0.05]
    assert sign_test(values, 0.02, alternative="less").p_value == pytest.approx(0.0107, abs=5e-5)


def test_critical_number_of_wins():
    assert sign_test(LOSSES, second_with(9), alternative="less").critical_value == 9
    assert sign_test(LOSSES, second_with(1), alternative="greater").critical_value == 1


@pytest.mark.parametrize("ties", [False, True])
def test_kruskal_wallis_matches_scipy(ties):
    values = np.random.default_rng(2).normal(size=(9, 4))
    values = np.round(values, 0) if ties else values
    result = kruskal_wallis(values)
    expected = stats.kruskal(*values.T)
    assert_allclose([result.statistic, result.p_value], expected, rtol=1e-10)
    if not ties:
        ranks = stats.rankdata(values).reshape(9, 4).mean(axis=0)
        assert_allclose(result.statistic, 12 / (37 * 4) * ((ranks - 37 / 2) ** 2).sum())


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("greater", [False, True])
def test_friedman_matches_scipy(ties, greater):
    values = np.random.default_rng(3).normal(size=(12, 5))
    values = np.round(values, 0) if ties else values
    result = friedman_test(values, greater_is_better=greater)
    expected = stats.friedmanchisquare(*values.T)
    assert_allclose([result.statistic, result.p_value], expected, rtol=1e-10)
    ranks = result.details["average_ranks"]
    assert_allclose(ranks.mean(), 3.0)
    if not ties:
        assert_allclose(result.statistic, 12 * 12 / (5 * 6) * ((ranks - 3) ** 2).sum())


@pytest.mark.parametrize("test", [friedman_test, iman_davenport_test])
def test_names_say_that_ties_are_corrected_for(test):
    values = np.random.default_rng(3).normal(size=(12, 5))
    assert "ties" not in str(test(values))
    assert test(values.round(0)).name == f"{test(values).name} (corrected for ties)"
    # Equal values on different data sets are no ties.
    assert "ties" not in str(test(np.tile(np.arange(5.0), (12, 1)) + (np.arange(12) % 2)[:, None]))


def test_iman_davenport_of_ties_is_the_analysis_of_variance_of_ranks():
    values = np.random.default_rng(4).integers(0, 4, (10, 4))
    ranks = stats.rankdata(values, axis=1)
    columns = ((ranks.mean(axis=0) - 2.5) ** 2).sum() * 10 / 3
    rest = ranks - ranks.mean(axis=0) - ranks.mean(axis=1, keepdims=True) + 2.5
    result = iman_davenport_test(values)
    assert_allclose(result.statistic, columns / ((rest**2).sum() / 27))


def test_iman_davenport_is_the_analysis_of_variance_of_ranks():
    values = np.random.default_rng(4).normal(size=(10, 4))
    chi_square = friedman_test(values).statistic
    result = iman_davenport_test(values)
    assert_allclose(result.statistic, 9 * chi_square / (30 - chi_square))
    assert result.degrees_of_freedom == (3, 27)
    assert result.p_value < friedman_test(values).p_value + 0.05


def test_perfect_agreement():
    values = np.arange(3.0) + np.random.default_rng(0).normal(size=(8, 1))
    result = iman_davenport_test(values)
    assert result.statistic == np.inf
    assert result.p_value == pytest.approx(6.0**-7)
    assert "all data sets agree" in result.caveats[0]
    ties = np.minimum(values, values[:, 1:2])
    assert iman_davenport_test(ties).p_value == pytest.approx(3.0**-7)
    assert friedman_test(values).effect_size.value == pytest.approx(1.0)


def test_ranks_ignore_the_scale_of_each_data_set():
    rng = np.random.default_rng(5)
    values = rng.uniform(size=(10, 4))
    scaled = values * rng.uniform(1, 1000, (10, 1))
    assert_allclose(friedman_test(scaled).p_value, friedman_test(values).p_value)


@pytest.mark.parametrize("unit", [1e-14, 1.0, 1e9])
def test_units_do_not_change_ties(unit):
    values = np.random.default_rng(6).integers(0, 4, (12, 3)) / 10
    assert_allclose(friedman_test(values * unit).p_value, friedman_test(values).p_value)
    test = sign_test(values[:, 0] * unit, values[:, 1] * unit, alpha=0.5)
    assert test.details == sign_test(values[:, 0], values[:, 1], alpha=0.5).details


def test_sums_of_decimals_tie_in_the_sign_test():
    result = sign_test([0.1 + 0.2] * 2 + [0.1] * 8, [0.3] * 2 + [0.2] * 8)
    assert result.details == {"wins": 8, "losses": 0, "ties": 2}
