"""Simulated p-values agree with the tests they stand for, and every test holds its level."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from verulam.statistics import _simulated as simulated
from verulam.statistics import (
    five_by_two_t_test,
    friedman_test,
    hotelling_test,
    kruskal_wallis,
    manova,
    mcnemar,
    repeated_anova,
    simulate,
)

REPEATS = 10_000
MONTE_CARLO = 3.3 * np.sqrt(0.05 * 0.95 / REPEATS)

#: Tests whose null distribution is exact and continuous.
EXACT = ["z", "t", "cv t", "corrected t", "variance ratio", "one-way anova", "repeated anova",
         "hotelling", "manova"]  # fmt: skip
#: Discrete tests, with the level that they can reach.
ATTAINED = {
    "binomial": stats.binom.sf(stats.binom.isf(0.05, 100, 0.1), 100, 0.1),
    "sign": 2 * stats.binom.cdf(3, 15, 0.5),
    "permutation": 12 / 256,
}
#: Tests that approximate, with how far off they may be.
APPROXIMATE = {
    "delong": 0.008,
    "wilcoxon": 0.008,
    "kruskal-wallis": 0.01,
    "friedman": 0.01,
    "iman-davenport": 0.008,
    "runs t": 0.015,
}


@pytest.mark.parametrize("test", EXACT)
def test_exact_tests_have_their_level(test):
    assert simulate(test, random_state=1).table["rejection_rate"][0] == pytest.approx(
        0.05, abs=MONTE_CARLO
    )


@pytest.mark.parametrize("test", ATTAINED)
def test_discrete_tests_have_their_attainable_level(test):
    rate = simulate(test, random_state=1).table["rejection_rate"][0]
    assert rate == pytest.approx(ATTAINED[test], abs=MONTE_CARLO)
    assert rate < 0.05 + MONTE_CARLO


@pytest.mark.parametrize("test", APPROXIMATE)
def test_approximate_tests_are_near_their_level(test):
    rate = simulate(test, random_state=1).table["rejection_rate"][0]
    assert rate == pytest.approx(0.05, abs=APPROXIMATE[test])


@pytest.mark.parametrize("test", ["mcnemar", "mcnemar exact", "5x2 t", "5x2 F"])
def test_conservative_tests_stay_below(test):
    assert simulate(test).table["rejection_rate"][0] < 0.05


def test_normal_approximation_exceeds_its_level_for_few_errors():
    exact = stats.binom.sf(15 - 1, 100, 0.1)
    rate = simulate("normal approximation").table["rejection_rate"][0]
    assert rate == pytest.approx(exact, abs=MONTE_CARLO + 0.002)
    assert rate > 0.06


@pytest.mark.parametrize("test", [name for name in simulated.TESTS if "approx" not in name])
def test_power_grows_with_the_effect(test):
    effects = (
        [0.0, 0.08, 0.16]
        if test in ("binomial", "runs t", "mcnemar", "mcnemar exact")
        else [0.0, 0.7, 1.4]
    )
    rates = simulate(test, effects, repeats=2000).table["rejection_rate"].to_numpy()
    assert (np.diff(rates) >= 0).all()
    assert rates[-1] > rates[0] + 0.15


class Replay:
    """A generator that returns given tables instead of random ones."""

    def __init__(self, *tables):
        self.tables = list(tables)

    def normal(self, *_, **__):
        return self.tables.pop(0)


def test_formulas_are_those_of_the_tests():
    rng = np.random.default_rng(0)
    tables, blocks = rng.normal(size=(3, 10, 4)), np.zeros((3, 10, 1))
    for function, test in (
        (simulated.repeated_anova, repeated_anova),
        (simulated.friedman, friedman_test),
        (simulated.kruskal_wallis, kruskal_wallis),
    ):
        found = function(Replay(tables.copy(), blocks), 3, 0.0, rows=10, learners=4)
        assert_allclose(found, [test(table).p_value for table in tables])
    pairs = rng.normal(size=(3, 12, 2))
    found = simulated.hotelling(Replay(pairs.copy()), 3, 0.0)
    assert_allclose(found, [hotelling_test(each, 0 * each).p_value for each in pairs])
    groups = rng.normal(size=(3, 4, 10, 2))
    found = simulated.manova(Replay(groups.copy()), 3, 0.0)
    assert_allclose(found, [manova(each).result.p_value for each in groups])
    flat = rng.normal(size=(3, 10))
    found = simulated.five_by_two_t(Replay(np.zeros((3, 1)), flat), 3, 0.0)
    expected = [five_by_two_t_test(each, 0 * each).p_value for each in flat]
    assert_allclose(found, expected)


def test_mcnemar_counts_come_from_two_classifiers():
    rng = np.random.default_rng(0)
    first, second = simulated.disagreements(rng, 20_000, 0.1, 500, 0.2)
    assert first.mean() == pytest.approx(500 * 0.3 * 0.8, rel=0.01)
    assert second.mean() == pytest.approx(500 * 0.2 * 0.7, rel=0.01)
    found = simulated.mcnemar_exact(np.random.default_rng(1), 1, 0.0)
    one, other = simulated.disagreements(np.random.default_rng(1), 1, 0.0, 500, 0.2)
    assert_allclose(found, mcnemar(int(one[0]), int(other[0]), method="exact").p_value)
