"""Simulated comparisons of several learners agree with the tests and hold their known levels."""

from itertools import combinations, permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from verulam.statistics import (
    contrast,
    control_test,
    fisher_lsd,
    friedman_test,
    iman_davenport_test,
    kruskal_wallis,
    manova,
    nemenyi_test,
    newman_keuls,
    one_way_anova,
    repeated_anova,
    scheffe,
    simulate,
    tukey_hsd,
    tukey_on_ranks,
    two_factor_anova,
    wilcoxon_holm,
)
from verulam.statistics._guidance import simulated_many as simulated

ROWS, LEARNERS = 15, 4
#: Degrees of freedom of the error of ten results of each learner.
FREEDOM = LEARNERS * 9
#: Tests whose null distribution is exact and continuous.
EXACT = ["one-way anova", "repeated anova", "two-factor anova", "contrast", "tukey", "manova"]


def any_pair(limit):
    """Return the chance that some t statistic of a pair exceeds a limit."""
    return stats.studentized_range.sf(limit * np.sqrt(2), LEARNERS, FREEDOM)


#: Families of t tests, with the level that they have when all learners are equal.
FAMILIES = {
    "none": any_pair(stats.t.isf(0.025, FREEDOM)),
    "bonferroni": any_pair(stats.t.isf(0.025 / 6, FREEDOM)),
    "holm": any_pair(stats.t.isf(0.025 / 6, FREEDOM)),
}


@pytest.fixture(scope="module")
def rank_sums():
    """Return all sums of ranks of four learners on fifteen data sets, with their chances."""
    size = 3 * ROWS + 1
    chances = np.zeros((size,) * 3)
    chances[0, 0, 0] = 1.0
    for _ in range(ROWS):
        grown = np.zeros_like(chances)
        for shift in permutations(range(LEARNERS), 3):
            there = tuple(slice(step, size) for step in shift)
            here = tuple(slice(0, size - step) for step in shift)
            grown[there] += chances[here] / 24
        chances = grown
    places = np.argwhere(chances > 0)
    first = places + ROWS
    last = ROWS * LEARNERS * (LEARNERS + 1) // 2 - first.sum(axis=1)
    return np.column_stack([first, last]), chances[tuple(places.T)]


def chi_square_of(sums):
    return 12 / (ROWS * LEARNERS * (LEARNERS + 1)) * ((sums - ROWS * 2.5) ** 2).sum(axis=1)


def f_of(sums):
    with np.errstate(divide="ignore"):
        return (ROWS - 1) * chi_square_of(sums) / (ROWS * (LEARNERS - 1) - chi_square_of(sums))


def error_of_ranks(sums):
    """Return the standard error of a mean rank, estimated from what the learners leave."""
    rest = ROWS * 5.0 - ((sums - ROWS * 2.5) ** 2).sum(axis=1) / ROWS
    return np.sqrt(np.maximum(rest, 1e-12) / (3 * (ROWS - 1)) / ROWS)


ERROR = np.sqrt(LEARNERS * (LEARNERS + 1) / (6 * ROWS))
#: Rank tests, as functions of the sums of ranks that say whether they reject.
RANK_TESTS = {
    "friedman": lambda sums: chi_square_of(sums) > stats.chi2.isf(0.05, 3),
    "iman-davenport": lambda sums: f_of(sums) > stats.f.isf(0.05, 3, 42),
    "nemenyi": lambda sums: (
        np.ptp(sums, axis=1) / ROWS / ERROR * np.sqrt(2)
        > stats.studentized_range.isf(0.05, LEARNERS, np.inf)
    ),
    "tukey on ranks": lambda sums: (
        np.ptp(sums, axis=1) / ROWS / error_of_ranks(sums)
        > stats.studentized_range.isf(0.05, LEARNERS, 42)
    ),
    "control": lambda sums: (
        np.abs(sums[:, 1:] - sums[:, :1]).max(axis=1) / ROWS / ERROR > stats.norm.isf(0.025 / 3)
    ),
}
OTHERS = {"lsd", "scheffe", "kruskal-wallis", "wilcoxon-holm"}


def test_every_test_has_a_level_to_be_confirmed():
    assert {*EXACT, *RANK_TESTS, *OTHERS} == set(simulated.MANY_TESTS)


@pytest.mark.parametrize("test", EXACT)
def test_exact_tests_have_their_level(rate_of, near, test):
    assert rate_of(test) == near(0.05)


@pytest.mark.parametrize("source", ["second", "interaction"])
def test_two_factors_and_their_interaction(rate_of, near, source):
    assert rate_of("two-factor anova", source=source) == near(0.05)


@pytest.mark.parametrize("test", RANK_TESTS)
def test_rank_tests_have_the_level_of_all_their_ranks(rate_of, near, rank_sums, test):
    sums, chances = rank_sums
    assert chances.sum() == pytest.approx(1.0)
    level = chances[RANK_TESTS[test](sums)].sum()
    assert rate_of(test) == near(level)
    assert level == pytest.approx(0.05, abs=0.012)


@pytest.mark.parametrize("adjust", FAMILIES)
def test_families_of_t_tests_have_their_level(rate_of, near, adjust):
    assert rate_of("lsd", adjust=adjust) == near(FAMILIES[adjust])


def test_plain_pairs_reject_four_times_too_often_and_adjusted_ones_do_not():
    assert FAMILIES["none"] == pytest.approx(0.2, abs=0.01)
    assert 0.035 < FAMILIES["bonferroni"] < 0.05


@pytest.mark.parametrize("adjust", ["hochberg", "benjamini-hochberg"])
def test_step_up_procedures_lie_between_bonferroni_and_the_level(adjust):
    rate = simulate("lsd", adjust=adjust, random_state=1).table["rejection_rate"][0]
    lowest = simulate("lsd", adjust="bonferroni", random_state=1).table["rejection_rate"][0]
    assert lowest <= rate < 0.05 + 0.007


def test_scheffe_is_wide_because_it_covers_every_contrast(rate_of, near):
    level = any_pair(np.sqrt(3 * stats.f.isf(0.05, 3, FREEDOM)))
    assert level < 0.03
    assert rate_of("scheffe") == near(level)


def test_pairwise_signed_ranks_stay_below():
    rate = simulate("wilcoxon-holm", random_state=1).table["rejection_rate"][0]
    assert 0.025 < rate < 0.05


def test_kruskal_wallis_over_all_divisions_of_twelve_ranks(rate_of, near):
    ranks = frozenset(range(1, 13))
    sums = np.array(
        [
            (sum(one), sum(other), 78 - sum(one) - sum(other))
            for one in combinations(ranks, 4)
            for other in combinations(ranks.difference(one), 4)
        ]
    )
    statistic = 12 / (12 * 13) * (sums**2 / 4).sum(axis=1) - 3 * 13
    level = np.mean(statistic > stats.chi2.isf(0.05, 2))
    assert rate_of("kruskal-wallis", rows=4, learners=3) == near(level)
    assert level < 0.05


def test_kruskal_wallis_in_large_samples(rate_of, near):
    assert rate_of("kruskal-wallis", rows=60) == near(0.05)


@pytest.mark.parametrize("test", simulated.MANY_TESTS)
def test_power_grows_with_the_effect(test):
    rates = simulate(test, [0.0, 1.2, 2.4], repeats=1000).table["rejection_rate"].to_numpy()
    assert (np.diff(rates) >= 0).all()
    assert rates[-1] > rates[0] + 0.15


def smallest(procedure):
    return lambda table: procedure(table).table["adjusted_p"].min()


@pytest.mark.parametrize(
    ("test", "real"),
    [
        ("one-way anova", lambda table: one_way_anova(table).p_value),
        ("repeated anova", lambda table: repeated_anova(table).p_value),
        ("kruskal-wallis", lambda table: kruskal_wallis(table).p_value),
        ("friedman", lambda table: friedman_test(table).p_value),
        ("iman-davenport", lambda table: iman_davenport_test(table).p_value),
        ("contrast", lambda table: contrast(table, [3, -1, -1, -1]).p_value),
        ("lsd", smallest(fisher_lsd)),
        ("tukey", smallest(tukey_hsd)),
        ("tukey", smallest(newman_keuls)),
        ("scheffe", smallest(scheffe)),
        ("nemenyi", smallest(nemenyi_test)),
        ("tukey on ranks", smallest(tukey_on_ranks)),
        ("control", smallest(lambda table: control_test(table, "learner 1"))),
        ("wilcoxon-holm", smallest(wilcoxon_holm)),
    ],
)
def test_formulas_are_those_of_the_tests(replay, test, real):
    tables, blocks = np.random.default_rng(0).normal(size=(3, 10, 4)), np.zeros((3, 10, 1))
    drawn = replay(tables.copy(), blocks)
    p_values = simulated.MANY_TESTS[test](drawn, 3, 0.0, rows=10, learners=4)
    assert_allclose(p_values, [real(table) for table in tables], atol=1e-5)


def test_manova_formula(replay):
    groups = np.random.default_rng(0).normal(size=(3, 4, 10, 2))
    p_values = simulated.manova(replay(groups.copy()), 3, 0.0)
    assert_allclose(p_values, [manova(group).result.p_value for group in groups])


def test_two_factor_formula(replay):
    values = np.random.default_rng(0).normal(size=(2, 3, 3, 4))
    first, second, _ = np.indices((3, 3, 4)).reshape(3, -1)
    for source in simulated.FACTORS:
        drawn = replay(values.copy())
        p_values = simulated.two_factor_anova(drawn, 2, 0.0, runs=4, source=source)
        real = [getattr(two_factor_anova(table.ravel(), first, second), source) for table in values]
        assert_allclose(p_values, [result.p_value for result in real])
