"""The signed rank test: exact with ties and zeros, against SciPy and enumeration."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from verulam.statistics import sign_test, wilcoxon_holm, wilcoxon_test
from verulam.statistics._datasets.wilcoxon import fewest_pairs, signed_ranks, wilcoxon_p_values


def test_ranks_of_the_text():
    ranks, _ = signed_ranks(np.array([[2.0], [-1.0], [-2.0], [4.0]]), "wilcox")
    assert_array_equal(ranks[:, 0], [2.5, 1, 2.5, 4])


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("count", [6, 13, 25, 50])
def test_exact_without_ties_matches_scipy(alternative, count):
    first, second = np.random.default_rng(count).normal(size=(2, count))
    result = wilcoxon_test(first, second, alternative=alternative)
    expected = stats.wilcoxon(first, second, alternative=alternative, method="exact")
    assert_allclose(result.p_value, expected.pvalue, rtol=1e-10)
    if alternative == "two-sided":
        assert result.statistic == expected.statistic


@pytest.mark.parametrize("zeros", ["wilcox", "pratt", "zsplit"])
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_exact_with_ties_and_zeros_by_enumeration(zeros, alternative):
    differences = np.array([1, -1, 2, 0, 3, 3, -2, 0, 4, 5.0])
    ranks, split = signed_ranks(differences[:, None], zeros)
    positive_ranks = ranks[ranks > 0]
    sums = np.array(
        [
            positive_ranks[list(map(bool, s))].sum()
            for s in product([0, 1], repeat=len(positive_ranks))
        ]
    )
    observed = ranks[differences > 0].sum()
    upper, lower = np.mean(sums >= observed - 1e-9), np.mean(sums <= observed + 1e-9)
    expected = {"greater": upper, "less": lower, "two-sided": min(1, 2 * min(upper, lower))}
    result = wilcoxon_test(differences, np.zeros(10), zeros=zeros, alternative=alternative)
    assert_allclose(result.p_value, expected[alternative])
    total = result.details["positive_ranks"] + result.details["negative_ranks"]
    assert total == (ranks.sum() + 2 * split[0])


@pytest.mark.parametrize("zeros", ["wilcox", "pratt"])
def test_normal_approximation_with_ties_matches_scipy(zeros):
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 6, (2, 80)).astype(float)
    result = wilcoxon_test(first, second, zeros=zeros, method="normal")
    expected = stats.wilcoxon(first, second, zero_method=zeros, method="asymptotic")
    assert_allclose(result.p_value, expected.pvalue, rtol=1e-10)


def test_ties_up_to_thirteen_match_scipys_permutations():
    rng = np.random.default_rng(2)
    first, second = rng.integers(0, 5, (2, 12)).astype(float)
    expected = stats.wilcoxon(first, second, method=stats.PermutationMethod(n_resamples=5000))
    assert_allclose(wilcoxon_test(first, second).p_value, expected.pvalue, rtol=1e-9)


def test_exact_and_normal_meet_for_many_pairs():
    first, second = np.random.default_rng(3).normal(size=(2, 50))
    exact = wilcoxon_test(first, second, method="exact").p_value
    assert_allclose(exact, wilcoxon_test(first, second, method="normal").p_value, atol=0.01)


def test_many_columns_at_once():
    table = np.random.default_rng(4).integers(-3, 4, (20, 30)).astype(float)
    table[:, 7] = 0.0
    p_values = wilcoxon_p_values(table)
    assert p_values[7] == 1.0
    for column in (0, 11, 29):
        single = wilcoxon_test(table[:, column], np.zeros(20))
        assert_allclose(p_values[column], single.p_value)


def test_decimals_that_tie_on_paper_tie():
    first = [0.32, 0.12, 0.5, 0.4, 0.3, 0.7]
    second = [0.30, 0.10, 0.48, 0.38, 0.28, 0.68]
    result = wilcoxon_test(first, second)
    assert result.details["positive_ranks"] == 21
    assert result.p_value == pytest.approx(2 / 64)


@pytest.mark.parametrize(
    ("alternative", "alpha", "fewest"),
    [("two-sided", 0.05, 6), ("less", 0.05, 5), ("two-sided", 0.01, 8), ("greater", 0.25, 3)],
)
def test_fewest_pairs(alternative, alpha, fewest):
    assert fewest_pairs(alternative, alpha) == fewest
    first = np.arange(1.0, fewest + 1) * (-1 if alternative == "less" else 1)
    options = {"alternative": alternative, "alpha": alpha}
    assert wilcoxon_test(first, np.zeros(fewest), **options).reject


@pytest.mark.parametrize("test", [wilcoxon_test, sign_test])
@pytest.mark.parametrize("method", ["exact", "normal"])
@pytest.mark.parametrize(
    ("count", "alternative", "p_value", "fewest"),
    [(1, "two-sided", 1.0, 6), (3, "two-sided", 0.25, 6), (4, "greater", 1 / 16, 5)],
)
def test_few_pairs_have_their_exact_p_value_and_a_caveat(
    test, method, count, alternative, p_value, fewest
):
    first = np.arange(1.0, count + 1)
    result = test(first, np.zeros(count), method=method, alternative=alternative)
    assert result.p_value == pytest.approx(p_value)
    assert not result.reject
    assert result.caveats[0].startswith(f"with {count} pair")
    assert f"the smallest p-value is {p_value:.4g}" in result.caveats[0]
    assert f"at least {fewest} are needed" in result.caveats[0]
    assert "no result can reject" in " ".join(str(result).split())
    many = test(np.arange(1.0, fewest + 1), np.zeros(fewest), alternative=alternative)
    assert many.caveats == ()


def test_ties_leave_few_pairs():
    result = wilcoxon_test([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1.0, 2.0, 3.0, 4.0, 5.5, 7.0])
    assert result.p_value == 0.5
    assert result.caveats[0].startswith("with 2 pairs that differ no result can reject")
    assert result.caveats[1] == "4 ties"


def test_one_large_data_set_does_not_dominate():
    """Nine small training times favour the first, one of a day the second."""
    first = np.r_[np.linspace(1, 3, 9), 1500.0]
    second = np.r_[np.linspace(2, 5, 9), 1400.0]
    assert np.mean(first) > np.mean(second)
    result = wilcoxon_test(first, second, alternative="less")
    assert result.details["positive_ranks"] == 10
    assert result.p_value < 0.05


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("zeros", ["wilcox", "zsplit"])
def test_critical_sum_decides_as_the_p_value_does(alternative, zeros):
    decisions = set()
    for seed in range(60):
        rng = np.random.default_rng(seed)
        values = rng.integers(-4, 5, 12) + rng.choice([-2.0, 0.0, 2.0])
        result = wilcoxon_test(values, np.zeros(12), alternative=alternative, zeros=zeros)
        if alternative == "greater":
            rejects = result.statistic >= result.critical_value
        else:
            rejects = result.statistic <= result.critical_value
        assert rejects == result.reject
        decisions.add(result.reject)
    assert decisions == {True, False}


def test_one_sided_statistic_is_the_positive_sum():
    result = wilcoxon_test(np.arange(1.0, 7), np.zeros(6), alternative="less")
    assert (result.statistic, result.statistic_name, result.p_value) == (21, "W+", 1.0)


@pytest.mark.parametrize("unit", [1e-14, 1.0, 1e9])
def test_units_do_not_change_ties(unit):
    first = np.array([0.32, 0.12, 0.5, 0.4, 0.3, 0.7, 0.2]) * unit
    second = np.array([0.30, 0.10, 0.48, 0.38, 0.28, 0.68, 0.2]) * unit
    result = wilcoxon_test(first, second)
    assert result.details["positive_ranks"] == 21
    assert result.caveats == ("1 ties",)
    table = np.column_stack([first, second])
    assert wilcoxon_holm(table).table["p_value"][0] == result.p_value
