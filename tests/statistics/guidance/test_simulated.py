"""Simulated p-values agree with the tests they stand for, and every test holds its level."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from verulam.statistics import (
    corrected_t_test,
    cv_t_test,
    five_by_two_f_test,
    five_by_two_t_test,
    hotelling_test,
    mcnemar,
    permutation_test,
    sign_test,
    simulate,
    variance_ratio_test,
)
from verulam.statistics._guidance import simulated

#: Tests whose null distribution is exact and continuous.
EXACT = ["z", "t", "cv t", "corrected t", "variance ratio", "hotelling"]
#: Tests that approximate, with a design that is large enough for them to be right.
LARGE = {"runs t": {"trials": 10_000}, "delong": {"size": 100}}


def signed_rank_level(rows, alpha=0.05):
    """Return how often the two-sided signed rank test rejects, by trying all signs."""
    signs = (np.arange(2**rows)[:, None] >> np.arange(rows)) & 1
    sums = signs @ np.arange(1, rows + 1)
    counts = np.bincount(sums) / len(sums)
    tails = np.minimum(np.cumsum(counts), np.cumsum(counts[::-1])[::-1])
    return counts[2 * tails < alpha].sum()


def mcnemar_level(rejects, trials=500, rate=0.2):
    """Return how often McNemar's test rejects, over all counts of disagreements."""
    total, first = np.meshgrid(np.arange(trials + 1), np.arange(trials + 1), indexing="ij")
    chances = stats.binom.pmf(total, trials, 2 * rate * (1 - rate))
    chances = chances * stats.binom.pmf(first, total, 0.5)
    return chances[rejects(np.minimum(first, total - first), total)].sum()


def chi_square_rejects(smaller, total):
    gap = np.maximum(total - 2 * smaller - 1, 0)
    return gap**2 > stats.chi2.isf(0.05, 1) * total


def exact_rejects(smaller, total):
    return 2 * stats.binom.cdf(smaller, total, 0.5) < 0.05


def five_by_two_t_level():
    """Return how often the 5x2 cv t test rejects ten independent normal differences.

    The numerator is the sum of half the difference within its replication, which is also in the
    denominator, and of an independent mean of variance one half.
    """
    half, rest = np.linspace(-9, 9, 1201)[:, None], np.linspace(0, 90, 3001)
    limit = stats.t.isf(0.025, 5) * np.sqrt((half**2 + rest) / 5)
    shift = half / np.sqrt(2)
    beyond = stats.norm.sf((limit - shift) * np.sqrt(2)) * 2
    inner = np.trapezoid(beyond * stats.chi2.pdf(rest, 4), rest, axis=1)
    return np.trapezoid(inner * stats.norm.pdf(half[:, 0]), half[:, 0])


#: Tests that are discrete or known to be off, with the level that they have.
ATTAINED = {
    "binomial": stats.binom.sf(stats.binom.isf(0.05, 100, 0.1), 100, 0.1),
    "normal approximation": stats.binom.sf(14, 100, 0.1),
    "sign": 2 * stats.binom.cdf(3, 15, 0.5),
    "permutation": 12 / 256,
    "wilcoxon": signed_rank_level(15),
    "mcnemar": mcnemar_level(chi_square_rejects),
    "mcnemar exact": mcnemar_level(exact_rejects),
    "5x2 t": five_by_two_t_level(),
    # Sums of squares of means and of halves are independent: f > c is F(5, 5) > 2c - 1.
    "5x2 F": stats.f.sf(2 * stats.f.isf(0.05, 10, 5) - 1, 5, 5),
}


def test_every_test_has_a_level_to_be_confirmed():
    assert {*EXACT, *LARGE, *ATTAINED} == set(simulated.PAIR_TESTS)


@pytest.mark.parametrize("test", EXACT)
def test_exact_tests_have_their_level(rate_of, near, test):
    assert rate_of(test) == near(0.05)


@pytest.mark.parametrize("test", LARGE)
def test_approximate_tests_have_their_level_in_large_samples(rate_of, near, test):
    assert rate_of(test, **LARGE[test]) == near(0.05)


@pytest.mark.parametrize("test", ATTAINED)
def test_discrete_tests_have_their_attainable_level(rate_of, near, test):
    assert rate_of(test) == near(ATTAINED[test])


def test_only_the_normal_approximation_exceeds_its_level():
    """Ten errors are expected: the tail of the binomial is longer than the normal one."""
    assert {test for test, level in ATTAINED.items() if level > 0.05} == {"normal approximation"}
    assert ATTAINED["normal approximation"] > 0.07


@pytest.mark.parametrize("test", simulated.PAIR_TESTS)
def test_power_grows_with_the_effect(test):
    effects = (
        [0.0, 0.08, 0.16]
        if test in ("binomial", "normal approximation", "runs t", "mcnemar", "mcnemar exact")
        else [0.0, 0.7, 1.4]
    )
    rates = simulate(test, effects, repeats=2000).table["rejection_rate"].to_numpy()
    assert (np.diff(rates) >= 0).all()
    assert rates[-1] > rates[0] + 0.15


def test_formulas_are_those_of_the_tests(replay):
    rng = np.random.default_rng(0)
    pairs = rng.normal(size=(3, 12, 2))
    comparison = simulated.hotelling(replay(pairs.copy()), 3, 0.0)
    assert_allclose(comparison, [hotelling_test(pair, 0 * pair).p_value for pair in pairs])
    flat = rng.normal(size=(3, 10))
    for function, test in (
        (simulated.five_by_two_t, five_by_two_t_test),
        (simulated.five_by_two_f, five_by_two_f_test),
        (simulated.cv_t, cv_t_test),
        (simulated.corrected_t, corrected_t_test),
    ):
        comparison = function(replay(np.zeros((3, 1)), flat), 3, 0.0, correlation=0.0)
        assert_allclose(comparison, [test(pair, 0 * pair).p_value for pair in flat])
    for function, test in (
        (simulated.permutation, permutation_test),
        (simulated.sign, sign_test),
    ):
        comparison = function(
            replay(flat), 3, 0.0, **{"pairs" if test is permutation_test else "rows": 10}
        )
        assert_allclose(comparison, [test(pair, 0 * pair).p_value for pair in flat])
    comparison = simulated.variance_ratio(replay(flat, 2 * flat[::-1]), 3, 0.0, size=10)
    expected = [
        variance_ratio_test(*pair).p_value for pair in zip(flat, 2 * flat[::-1], strict=True)
    ]
    assert_allclose(comparison, expected)


def test_mcnemar_counts_come_from_two_classifiers():
    rng = np.random.default_rng(0)
    first, second = simulated.disagreements(rng, 20_000, 0.1, 500, 0.2)
    assert first.mean() == pytest.approx(500 * 0.3 * 0.8, rel=0.01)
    assert second.mean() == pytest.approx(500 * 0.2 * 0.7, rel=0.01)
    p_values = simulated.mcnemar_exact(np.random.default_rng(1), 1, 0.0)
    one, other = simulated.disagreements(np.random.default_rng(1), 1, 0.0, 500, 0.2)
    assert_allclose(p_values, mcnemar(int(one[0]), int(other[0]), method="exact").p_value)
