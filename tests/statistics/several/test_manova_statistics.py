"""The four statistics: limits that agree with p-values, and Rao's exact cases."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from verulam.statistics import manova
from verulam.statistics._several.manova import directions_of, scatter
from verulam.statistics._several.manova_statistics import four_statistics, rao_power


@pytest.mark.parametrize("statistic", ["wilks", "pillai", "hotelling-lawley", "roy"])
@pytest.mark.parametrize(("groups", "measures"), [(2, 1), (3, 2), (4, 3), (5, 2)])
def test_critical_value_decides_as_the_p_value_does(statistic, groups, measures):
    decisions = set()
    for seed in range(20):
        rng = np.random.default_rng(seed)
        values = rng.normal(size=(groups, 8, measures))
        values[0] += seed % 2
        result = manova(values, statistic=statistic).result
        gap = result.statistic - result.critical_value
        assert (gap < 0 if statistic == "wilks" else gap > 0) == result.reject
        decisions.add(result.reject)
        at_limit = manova(values, statistic=statistic, alpha=result.p_value).result
        assert_allclose(at_limit.critical_value, result.statistic)
    assert decisions == {True, False}


def test_two_groups_give_all_four_the_same_f():
    values = np.random.default_rng(0).normal(size=(2, 8, 3))
    table = manova(values).statistics
    assert_allclose(table["F"], table["F"].iloc[0])
    assert_allclose(table["p_value"], stats.f.sf(table["F"].iloc[0], 3, 12))


@pytest.mark.parametrize(
    ("size", "effect", "power"), [(1, 1, 1.0), (1, 5, 1.0), (2, 3, 2.0), (4, 2, 2.0)]
)
def test_rao_is_exact_for_one_or_two_measures_or_effects(size, effect, power):
    assert rao_power(size, effect) == pytest.approx(power)


def test_no_difference_at_all():
    table = four_statistics(np.zeros(2), 2, 3, 30)
    assert_allclose(table["value"], [1, 0, 0, 0])
    assert_allclose(table["p_value"], 1.0)


@pytest.mark.slow
def test_sizes_of_the_four_under_normal_measures():
    """Three hold their level; Roy's F is an upper bound, so that its test rejects too often."""
    repeats, groups, rows, measures = 10_000, 3, 30, 2
    rng = np.random.default_rng(0)
    rejected = np.zeros(4)
    for _ in range(repeats):
        values = rng.normal(size=(groups, rows, measures))
        parts = scatter(list(values))
        roots, _ = directions_of(parts.between, parts.within, groups - 1)
        table = four_statistics(roots, measures, groups, groups * rows)
        rejected += table["p_value"].to_numpy() < 0.05
    sizes = rejected / repeats
    assert_allclose(sizes[:3], 0.05, atol=3.3 * np.sqrt(0.05 * 0.95 / repeats))
    assert 0.1 < sizes[3] < 0.25
