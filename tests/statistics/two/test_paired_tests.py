"""Two learners over splits: SciPy, formulas, and limits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from verulam.base import DataError, generator
from verulam.statistics import (
    corrected_t_test,
    cv_t_test,
    permutation_test,
    simulate,
    variance_ratio_test,
)
from verulam.statistics._two import paired_tests
from verulam.statistics._two.paired_tests import permute_signs

RNG = np.random.default_rng(1)
FIRST, SECOND = RNG.normal(0.2, 0.02, 10), RNG.normal(0.21, 0.02, 10)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_cv_t_is_the_paired_t_test(alternative):
    result = cv_t_test(FIRST, SECOND, alternative=alternative)
    expected = stats.ttest_rel(FIRST, SECOND, alternative=alternative)
    assert_allclose([result.statistic, result.p_value], expected, rtol=1e-10)
    interval = expected.confidence_interval()
    assert_allclose([result.interval.low, result.interval.high], interval)
    assert "rejections too frequent" in str(result.caveats)


def test_corrected_variance():
    result = corrected_t_test(FIRST, SECOND, test_share=0.25)
    differences = FIRST - SECOND
    variance = (1 / 10 + 1 / 3) * differences.var(ddof=1)
    assert_allclose(result.statistic, differences.mean() / np.sqrt(variance))
    assert_allclose(result.p_value, 2 * stats.t.sf(abs(result.statistic), 9))
    assert result.interval.width > cv_t_test(FIRST, SECOND).interval.width


def test_default_share_is_that_of_k_fold():
    tenth = corrected_t_test(FIRST, SECOND, test_share=0.1)
    assert corrected_t_test(FIRST, SECOND).p_value == tenth.p_value


def test_no_overlap_gives_the_plain_test():
    tiny = corrected_t_test(FIRST, SECOND, test_share=1e-12)
    assert_allclose(tiny.p_value, cv_t_test(FIRST, SECOND).p_value)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_permutation_by_enumeration(alternative):
    first, second = FIRST[:7], SECOND[:7]
    differences = first - second
    signs = 1 - 2 * ((np.arange(128)[:, None] >> np.arange(7)) & 1)
    means = (signs * differences).mean(axis=1)
    above, below = np.mean(means >= means[0] - 1e-15), np.mean(means <= means[0] + 1e-15)
    expected = {"greater": above, "less": below, "two-sided": min(1, 2 * min(above, below))}
    result = permutation_test(first, second, alternative=alternative)
    assert_allclose(result.p_value, expected[alternative])
    assert result.details["exchanges"] == 128


def test_permutation_draws_when_there_are_too_many():
    first, second = np.random.default_rng(0).normal(size=(2, 40))
    result = permutation_test(first, second, resamples=999, random_state=1)
    assert result.details["exchanges"] == 999
    again = permutation_test(first, second, resamples=999, random_state=1)
    assert result.p_value == again.p_value
    assert_allclose(result.p_value, cv_t_test(first, second).p_value, atol=0.06)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_variance_ratio(alternative):
    one, other = RNG.normal(0, 2, 30), RNG.normal(0, 1, 20)
    result = variance_ratio_test(one, other, alternative=alternative)
    assert_allclose(result.statistic, np.mean(one**2) / np.mean(other**2))
    swapped = {"less": "greater", "greater": "less"}.get(alternative, alternative)
    upper = stats.f.sf(result.statistic, 30, 20)
    expected = {"greater": upper, "less": 1 - upper, "two-sided": 2 * min(upper, 1 - upper)}
    assert_allclose(result.p_value, expected[alternative])
    mirrored = variance_ratio_test(other, one, alternative=swapped)
    assert_allclose(result.p_value, mirrored.p_value)
    assert result.degrees_of_freedom == (30, 20)
    beyond = result.statistic > result.critical_value
    assert result.reject == (beyond if alternative != "less" else not beyond)


def test_rewards_of_two_agents_are_compared_like_errors():
    """Exercise 10: any response can be paired, with seeds as blocks."""
    rng = np.random.default_rng(2)
    blocks = rng.normal(100, 30, 12)
    first, second = blocks + rng.normal(3, 2, 12), blocks + rng.normal(0, 2, 12)
    assert cv_t_test(first, second, alternative="greater").reject
    assert not stats.ttest_ind(first, second).pvalue < 0.05


def test_risk_per_instance_recovers_the_error():
    """With zero-one loss the paired test on losses compares error rates."""
    rng = np.random.default_rng(3)
    true, first, second = rng.integers(0, 2, (3, 200))
    losses = (first != true).astype(float), (second != true).astype(float)
    gap = cv_t_test(*losses).interval.estimate
    assert gap == pytest.approx(np.mean(first != true) - np.mean(second != true))


def test_uncorrected_test_rejects_too_often_on_overlapping_splits():
    plain = simulate("cv t", correlation=0.1).table["rejection_rate"][0]
    corrected = simulate("corrected t", correlation=0.1).table["rejection_rate"][0]
    assert plain > 0.13
    assert corrected == pytest.approx(0.05, abs=0.007)


@pytest.mark.parametrize("perfect", [0, 1])
def test_errors_that_are_all_zero_have_no_ratio(perfect):
    errors = [[1.0, 2.0], [1.0, 2.0]]
    errors[perfect] = [0.0, 0.0]
    with pytest.raises(DataError, match=r"mean square of (first|second)_errors must be positive"):
        variance_ratio_test(*errors)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("shift", [-0.25, 0.0, 0.25])
def test_means_agree_with_scipy(alternative, shift):
    differences = np.random.default_rng(0).normal(shift, size=60)
    theirs = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", alternative=alternative, rng=1
    )
    ours = permute_signs(differences, np.mean, alternative, 9999, generator(2))
    assert ours.statistic == pytest.approx(theirs.statistic)
    error = 5 * np.sqrt(theirs.pvalue * (1 - theirs.pvalue) / 9999) + 2e-3
    assert ours.p_value == pytest.approx(theirs.pvalue, abs=error)
    assert ours.exchanges == 9999


def test_all_exchanges_of_few_pairs_are_tried():
    permutation = permute_signs(np.ones(6), np.mean, "two-sided", 9999, generator(0))
    assert permutation.p_value == pytest.approx(2 / 64)
    assert permutation.exchanges == 64


def test_pairs_without_a_difference_change_only_the_mean():
    some = np.random.default_rng(3).normal(0.3, size=40)
    more = np.concatenate([some, np.zeros(60)])
    one, other = (
        permute_signs(differences, np.mean, "less", 999, generator(4))
        for differences in (some, more)
    )
    assert one.p_value == other.p_value
    assert one.statistic == pytest.approx(other.statistic * 100 / 40)


def test_blocks_do_not_matter(monkeypatch):
    differences = np.random.default_rng(5).normal(0.2, size=40)
    whole = permute_signs(differences, np.mean, "greater", 2000, generator(6))
    monkeypatch.setattr(paired_tests, "BLOCK", 40 * 64)
    assert permute_signs(differences, np.mean, "greater", 2000, generator(6)) == whole


def test_other_statistics_take_bounded_blocks():
    differences = np.random.default_rng(7).normal(1.0, size=30)
    permutation = permute_signs(differences, np.median, "greater", 500, generator(8))
    assert permutation.p_value < 0.05
